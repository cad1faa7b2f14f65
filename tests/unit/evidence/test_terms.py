"""Numbers that stand for others: how far they may lie, and what rounding adds to that."""

from types import SimpleNamespace

import pytest

from verifiable_dp.evidence.symbolic import terms
from verifiable_dp.evidence.symbolic.terms import _ROUNDS, Term

WORLD = SimpleNamespace(count=lambda: None)
ENDS = {"reward": (0.0, 1.0), "loss": (-2.0, 0.0)}


class Entry:
    """What a number is a multiple of."""

    def __init__(self, name):
        self.low, self.high = ENDS[name]


@pytest.mark.parametrize(
    ("const", "raw", "loose", "edges"),
    [
        (0.0, {"reward": 3.0}, 0, (0.0, 3.0)),
        (1.0, {"reward": 3.0}, 0, (1.0, 4.0)),
        (1.0, {"reward": -3.0}, 0, (-2.0, 1.0)),
        (0.0, {"reward": 1.0, "loss": -2.0}, 0, (0.0, 5.0)),
        (0.0, {"reward": 0.0, "loss": 1.0}, 0, (-2.0, 0.0)),
        # to add up numbers of one sign, rounded, does not change it
        (0.0, {"reward": 3.0}, 1, (0.0, 3.0 + 3 * _ROUNDS)),
        (0.0, {"reward": -3.0}, 1, (-3.0 - 3 * _ROUNDS, 0.0)),
        (0.0, {"reward": 0.5}, 1, (0.0, 0.5 + _ROUNDS)),  # from 1 on rounding grows with the number
        # but a constant may cancel, and numbers that have cancelled may have any sign
        (3.0, {"reward": -3.0}, 1, (-3 * _ROUNDS, 3.0 + 3 * _ROUNDS)),
        (-3.0, {"reward": 3.0}, 1, (-3.0 - 3 * _ROUNDS, 3 * _ROUNDS)),
        (0.0, {"reward": 3.0}, 2, (-3 * _ROUNDS, 3.0 + 3 * _ROUNDS)),
        (0.0, {"reward": -3.0}, 2, (-3.0 - 3 * _ROUNDS, 3 * _ROUNDS)),
        (0.0, {"reward": 1.0, "loss": 1.0}, 1, (-2.0 - 2 * _ROUNDS, 1.0 + 2 * _ROUNDS)),
    ],
)
def test_the_edges_of_a_number(const, raw, loose, edges):
    term = Term(WORLD, const, {Entry(name): weight for name, weight in raw.items()}, {})
    term.loose = loose
    assert term.edges() == pytest.approx(edges, rel=1e-12, abs=0)


@pytest.mark.parametrize("exponent", [1, 1.0])
def test_the_first_power_is_the_number(exponent):
    """Broken variant: a power of a tracked number is asked of the number itself, without end."""
    term = Term(WORLD, 1.0, {Entry("reward"): 3.0}, {})
    assert terms.power(term, exponent) is term
