"""Which branches count as looked at."""

import ast
import dis

import pytest

from verifiable_dp.evidence.symbolic.cases import parsed
from verifiable_dp.evidence.symbolic.constancy import Constancy, where
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


@pytest.mark.parametrize(
    ("text", "endless"),
    [
        ("import itertools\ndef f():\n for x in itertools.count(): pass", True),
        ("from itertools import count\ndef f():\n for x in count(1): pass", True),
        ("from itertools import cycle\ndef f(n_arms):\n for x in cycle(range(n_arms)): pass", True),
        ("from itertools import repeat\ndef f():\n for x in repeat(1): pass", True),
        ("from itertools import repeat\ndef f():\n for x in repeat(1, 2): pass", False),
        ("from helper import count\ndef f():\n for x in count(): pass", False),
        ("from itertools import count\ndef count(): yield 1\ndef f():\n for x in count(): pass", False),
        ("import itertools\ndef f(itertools):\n for x in itertools.count(): pass", False),
        ("from itertools import cycle\ndef f(rng):\n for x in cycle(range(rng.poisson(1))): pass", False),
        ("def f(rng):\n for x in range(rng.poisson(1)): pass", False),
    ],
)
def test_loops_over_what_has_no_end_need_not_end(text, endless):
    tree = parsed(text)
    (loop,) = (node for node in ast.walk(tree) if isinstance(node, ast.For))
    filled = frozenset((("f", 2, "n_arms", "public"),))
    read = Constancy(tree, frozenset(), frozenset(("itertools", "range")), filled)
    line, column, end_line, end_column = where(loop)
    assert read.constant(dis.Positions(line, end_line, column, end_column)) == endless
