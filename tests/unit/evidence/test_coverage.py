"""Which branches count as looked at."""

import dis

import pytest

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
