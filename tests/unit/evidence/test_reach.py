"""Which modules of the user a target reaches: by objects and imports; all beside it only if it searches."""

import importlib
import sys

import pytest

from verifiable_dp.evidence.tracing.reach import scopes_of

HELPER = """
def add(value): return value + 1
class Adder:
    __slots__ = ('by',)
    def __call__(self, value): return value
"""
TARGETS = {
    "a name": "from helper import add\ndef play(x): return add(x)",
    "a module": "import helper\ndef play(x): return helper.add(x)",
    "an import while it runs": "def play(x):\n    from helper import add\n    return add(x)",
    "a table": "import helper\n"
    "TABLE = {'a': [(helper.add,)]}\ndel helper\ndef play(x): return TABLE['a'][0][0](x)",
    "an object": "import helper\nADDER = helper.Adder()\ndel helper\ndef play(x): return ADDER(x)",
    "an attribute": "import helper\nclass Holds:\n    def __init__(self): self.part = helper.Adder()\n"
    "HELD = Holds()\ndel helper, Holds\ndef play(x): return HELD.part(x)",
    "a slot": "import helper\n"
    "HELD = helper.Adder()\nHELD.by = helper.add\ndel helper\ndef play(x): return HELD.by(x)",
    "a closure": "import helper\ndef made(by):\n    def play(x): return by['f'](x)\n    return play\n"
    "play = made({'f': helper.add})\ndel helper",
    "a default": "import helper\ndef play(x, by=helper.add): return by(x)\ndel helper",
    "a partial": "import functools, helper\n"
    "play = functools.partial(lambda by, x: by(x), helper.add)\ndel helper",
    "a cache": "import functools, helper\n"
    "ADD = functools.lru_cache(helper.add)\ndel helper\ndef play(x): return ADD(x)",
    "a base class": "import helper\nclass Own(helper.Adder): pass\ndel helper\ndef play(x): return Own()(x)",
    "a library's object": "import numpy as np, helper\nADD = np.vectorize(helper.add)\ndel helper\n"
    "def play(x): return ADD(x)",
    "a weak table": "import weakref, helper\nHELD = weakref.WeakValueDictionary(a=helper.add)\ndel helper\n"
    "def play(x): return HELD['a'](x)",
    "a global by name": "from helper import add\ndef play(x): return globals()['add'](x)",
    "modules by name": "import sys\ndef play(x): return sys.modules['helper'].add(x)",
    "an import by name": "import importlib\ndef play(x): return importlib.import_module('helper').add(x)",
}
SEARCHING = ("modules by name", "an import by name")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """What a target with helper and unused reaches, by the names of the files."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {"helper": HELPER, "unused": "def far(x): return x"}.items():
        (tmp_path / f"{name}.py").write_text(text)

    def reached(text):
        (tmp_path / "target.py").write_text(text)
        modules = [importlib.import_module(name) for name in ("helper", "unused", "target")]
        assert modules[-1].play(1) in (1, 2)
        return {file.rpartition("/")[2] for file in scopes_of(modules[-1].play)}

    yield reached
    for name in ("helper", "unused", "target"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("how", TARGETS)
def test_what_a_target_uses_is_reached_and_no_more(how, files):
    """Negative control: a module beside it that it does not use."""
    beside = {"unused.py"} if how in SEARCHING else set()
    assert files(TARGETS[how]) == {"target.py", "helper.py"} | beside


def test_what_others_use_is_not_reached(files):
    """A module of tests, say: its other functions have nothing to do with the target."""
    others = "import helper, unused\ndef other(x): return unused.far(x)\ndef last(): eval('1')\n"
    assert files(others + "def play(x): return helper.add(x)") == {"target.py", "helper.py"}


def test_numbers_lead_nowhere(files):
    assert files("DATA = [0.5] * 10**6\ndef play(x): return x + 1") == {"target.py"}
