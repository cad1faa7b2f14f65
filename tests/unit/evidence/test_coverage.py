"""Which branches count as looked at."""

import ast
import dis

import pytest

from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.marks import where
from verifiable_dp.evidence.symbolic.cases import parsed
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.last_cases import LastCases


def below(drawn):
    return 1 if drawn < 0.5 else 2


ASKED = (below.__code__, next(s.offset for s in dis.get_instructions(below) if s.opname == "COMPARE_OP"))


@pytest.mark.parametrize(
    ("compared", "missed"),
    [
        ({}, True),
        ({ASKED: [2, 0]}, False),  # each time with one possible answer
        ({ASKED: [2, 1]}, True),  # once with two
        ({ASKED: [1, 0]}, True),  # once of something else than uniform draws
    ],
)
def test_a_comparison_need_not_go_both_ways_only_if_it_never_could(compared, missed):
    coverage = Coverage(frozenset([__file__]))
    with coverage.watching():
        below(0.1)
        below(0.2)
    coverage.compared |= compared
    found = [place.line for place, _ in coverage.missed({}, strict=True)]
    assert found == [below.__code__.co_firstlineno + 1] * missed


def test_what_went_both_ways_is_not_missed():
    coverage = Coverage(frozenset([__file__]))
    with coverage.watching():
        below(0.1)
        below(0.9)
    assert coverage.missed({}, strict=True) == []


DRAWN = "\n  if rng.random() < 0.5: break"


@pytest.mark.parametrize(
    ("text", "endless"),
    [
        ("import itertools\ndef f(rng):\n for x in itertools.count():" + DRAWN, True),
        ("from itertools import count\ndef f(rng):\n for x in count(1):" + DRAWN, True),
        ("from itertools import cycle\ndef f(n_arms, rng):\n for x in cycle(range(n_arms)):" + DRAWN, True),
        ("from itertools import repeat\ndef f(rng):\n for x in repeat(1):" + DRAWN, True),
        ("from itertools import repeat\ndef f(rng):\n for x in repeat(1, 2):" + DRAWN, False),
        ("def count(): yield 1\ndef f(rng):\n for x in count():" + DRAWN, False),
        ("import itertools\ndef f(itertools, rng):\n for x in itertools.count():" + DRAWN, False),
        ("from itertools import cycle\ndef f(rng):\n for x in cycle(range(rng.poisson(1))):" + DRAWN, False),
        ("def f(rng):\n for x in range(rng.poisson(1)): pass", False),
        ("def f(n_arms, rng):\n for x in range(n_arms):" + DRAWN, False),  # its end may be seldom reached
        ("def f(n_arms):\n for x in range(n_arms): pass", True),
    ],
)
def test_loops_over_what_has_no_end_need_not_end(text, endless, tmp_path):
    """Broken variants: whatever has the name of a count is endless; so is every cycle."""
    file, scope = tmp_path / "loops.py", {}
    file.write_text(text, "utf-8")
    exec(compile(text, str(file), "exec"), scope)
    (loop,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    code = scope["f"].__code__
    said = Language({str(file): scope}, [code], {code: {"rng": "generator", "n_arms": "public"}})
    assert said.public(str(file), where(loop)) == endless


@pytest.mark.parametrize(
    ("before", "asked", "holds"),
    [
        ("def f(x):\n s = 'a' if x else 'b'", "s", True),
        ("def f(x):\n s = 'a'\n if x: s = 'b'", "s", True),
        ("def f(x):\n s = 'a'\n if x: s = 'c'", "s", False),
        ("def f(x):\n s, n = x", "s", False),
        ("def f(s):\n pass", "s", False),
        ("def f(x):\n s = 'a'\n try: x()\n except TypeError as s: pass", "s", False),
        ("def f(x):\n s = 'a'\n import os as s", "s", False),
        ("def f(x):\n s = 'a'\n s += x", "s", False),
        ("def f(x):\n x.s = 'a'\n x.s = 'b'", "x.s", True),
        ("class C:\n s = 'c'\ndef f(x):\n x.s = 'a'\n x.s = 'b'", "x.s", False),
        ("def f(x):\n s = ('a', x)", "s[0]", True),
        ("def f(x):\n s = (*x, 'a')", "s[1]", False),
        ("def f(x):\n s = 'a'\n exec(x)", "s", False),
    ],
)
def test_the_last_case_of_constants_that_all_stand_in_the_file_holds(before, asked, holds):
    """Broken variants: an exception gives a name nothing; a class does not set its fields; no exec."""
    tree = parsed(f"{before}\n if {asked} == 'a': return 1\n elif {asked} == 'b': return 2\n")
    last = [node for node in ast.walk(tree) if isinstance(node, ast.If)][-1]
    assert LastCases(tree).holds(where(last.test)) == holds


@pytest.mark.parametrize(("of", "holds"), [("E", True), ("P", False)])
def test_members_of_an_enumeration_are_known_by_its_name(of, holds):
    text = "class E(Enum):\n A = 1\n B = 2\nclass P:\n A = 1\n B = 2\n"
    text += (
        f"def f(x):\n s = {of}.A if x else {of}.B\n if s is {of}.A: return 1\n elif s is {of}.B: return 2\n"
    )
    tree = parsed(text)
    last = [node for node in ast.walk(tree) if isinstance(node, ast.If)][-1]
    assert LastCases(tree).holds(where(last.test)) == holds
