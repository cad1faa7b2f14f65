"""Attributes that are one number of all objects, whichever of them a draw chooses."""

import ast
import sys
import types

import pytest

from tests.user_code import objects
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.singles import Singles
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.symbolic.paths import Program, explore

KEPT = "class A:\n def __init__(self, scale): self.scale = scale\n"
BOTH = "class A:\n def __init__(self, e):\n  self.e = e\n  self.scale = 2 / self.e\n"
TWO = "def one():\n s = 1.0\n return A(s)\ndef two():\n s = 0.1\n return A(s)\n"
FIELD = "from dataclasses import dataclass\n@dataclass\nclass A:\n scale: float\n"
SET = "class A:\n def __init__(self): self.scale = 1.0\n"


def followed(source, roles, look):
    """What is seen of the statements of a file, as they are followed, and of the module that it makes."""
    tree, made = ast.parse(source), types.ModuleType("made")
    made.__file__ = "a.py"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "made", made)
        exec(compile(tree, "a.py", "exec"), vars(made))
        names = Names({"a.py": File(tree, vars(made))})
        ran = {node for nodes in names.coded.values() for node in nodes}
        said = Statements(names, {made.play.__code__: roles}, ran)
        said.run()
        return look(said, made)


def single(source):
    """Whether `scale` is one number of all objects of a file, whose function `play` is called."""
    roles = {"epsilon": "public", "rewards": "data"}
    return followed(source, roles, lambda said, made: said.single_attribute("scale"))


@pytest.mark.parametrize(
    "source",
    [
        SET + "def play(): return [A(), A()]",
        KEPT + "def play(): return [A(2.0) for _ in range(3)]",
        KEPT + "def play(epsilon): return [A(1 / epsilon), A(1 / epsilon)]",
        KEPT + "LEVEL = 1.0\ndef play():\n half = LEVEL / 2\n return A(-half), A(-half)",
        BOTH + "def play(epsilon): return A(epsilon)",
    ],
)
def test_what_one_expression_gives_is_one_number(source):
    assert single(source)


@pytest.mark.parametrize(
    "source",
    [
        KEPT + "def play(): return [A(1.0), A(0.1)]",
        KEPT + "def play(): return [A(s) for s in (1.0, 0.1)]",
        KEPT + "def play(): return list(map(A, (1.0, 0.1)))",
        KEPT + TWO + "def play(): return one(), two()",
        KEPT + "def play():\n s = 1.0\n a = A(s)\n s = 0.1\n return a, A(s)",
        KEPT + "def play(rewards): return A(rewards[0])",
        KEPT + "LEVEL = 1.0\ndef play():\n global LEVEL\n a = A(LEVEL)\n LEVEL = 0.1\n return a, A(LEVEL)",
        KEPT + "def two(s=0.1): return A(s)\ndef play(): return two(1.0), two()",
        "class A:\n def __init__(self, s):\n  s = s + id(self)\n  self.scale = s\ndef play(): return A(1.0)",
        SET + " def tune(self): self.scale = 0.1\ndef play():\n a = A()\n a.tune()\n return a, A()",
        SET + "def play():\n a = A()\n for a.scale in (1.0, 0.1): pass\n return a, A()",
        SET + "def play():\n a = A()\n a.scale /= 10\n return a, A()",
        SET + "class B:\n scale = 0.1\ndef play(): return A(), B()",
        SET + "class B:\n @property\n def scale(self): return 0.1\ndef play(): return A(), B()",
        SET + "class B:\n def __getattr__(self, name): return 0.1\ndef play(): return A(), B()",
        FIELD + "def play(): return A(1.0), A(0.1)",
    ],
)
def test_what_several_give_may_be_others(source):
    assert not single(source)


def bound(play):
    return explore(Program(play, (60, 2), (0.0, 1.0)), 2, most=14).epsilon()


def test_noise_of_an_object_that_a_draw_chooses_hides_as_that_of_the_others(monkeypatch):
    """Control: without the rule, there is no bound."""
    assert bound(objects.one_scale) == pytest.approx(1.0)
    monkeypatch.setattr(Singles, "single_attribute", lambda self, name: False)
    assert bound(objects.one_scale) > 100


def test_a_rare_object_with_less_noise_has_no_bound(monkeypatch):
    """Control: if each attribute were taken for one number, it would have one."""
    assert bound(objects.rare_scale) > 100
    monkeypatch.setattr(Singles, "single_attribute", lambda self, name: name == "width")
    assert bound(objects.rare_scale) == pytest.approx(1.0)


def test_what_a_class_inherits_from_a_library_is_not_known():
    source = "import array\nclass A(array.array): pass\nclass B: pass\nclass C(B): pass\ndef play(): pass"

    def whole(said, made):
        kinds = [next(ref for _, ref in said.names.of_object(one).own) for one in (made.A, made.B, made.C)]
        return [said.is_whole(kind) for kind in kinds]

    assert followed(source, {}, whole) == [False, True, True]
