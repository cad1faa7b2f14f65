"""Which branches count as looked at."""

import ast
import dis

import pytest

from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.marks import where
from verifiable_dp.evidence.symbolic.coverage import Coverage


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
