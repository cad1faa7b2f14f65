"""Intervals beside their claims: strips of cards, the plot of all, strength, and how a record was made."""

import json

import pytest
from msgspec.structs import replace

from tests.committed import REPORTS
from verifiable_dp.record import how
from verifiable_dp.record.model import Record
from verifiable_dp.render import forest, strength, strips

HOLDS, REFUTED = (
    Record.of(json.loads((REPORTS / name / "record.json").read_text("utf-8")))
    for name in ("dp-se", "dp-linear-printed")
)


def interval(least, most, claim=1.0):
    return strips.Interval(least, most, claim, False, "not_refuted")


@pytest.mark.parametrize(
    ("one", "left", "width"),
    [
        (interval(0.125, 1.0), 0, 50),  # from an eighth of the claim up to it
        (interval(1.0, 8.0), 50, 50),
        (interval(0.5, None), 33, 67),  # no upper bound: to the end
        (interval(0.0, 0.0), 0, 1),
        (interval(4.0, 4.0, 2.0), 67, 1),  # in units of the claim
    ],
)
def test_a_strip_is_even_for_each_doubling(one, left, width):
    """Broken variants: a linear scale; epsilon itself in place of multiples of the claim."""
    assert (one.left, one.width, one.claim) == (left, width, 50)


def test_a_refuted_record_has_no_upper_bound_on_its_strip():
    assert strips.of(HOLDS).most == pytest.approx(HOLDS.bound.epsilon)
    assert strips.of(REFUTED).most is None
    assert strips.of(REFUTED).least > REFUTED.claimed.epsilon
    assert strips.of(replace(HOLDS, checks=())) is None


def test_a_strip_has_the_ends_of_the_headline():
    """Broken variant: the bound of samples where it lies above the upper one."""
    above = strips.of(replace(HOLDS, epsilon_lower=1.004))
    assert "at least 1, at most 1 " in above.words
    assert above.brief == "Bar: epsilon, if assumptions hold. Mark: promise."
    assert interval(2.0, None).brief.startswith("Bar: epsilon, upper end open.")
    assert above.ends == (0.125, 8)


def test_a_refutation_makes_strength_no_question():
    assert strength.strength(REFUTED).state == "none"
    assert strength.strength(HOLDS).state == "strong"
    assert strength.strength(HOLDS).full == 100


def test_the_plot_names_each_record():
    svg = forest.forest([HOLDS, REFUTED])
    assert svg.count("dp-linear") >= 1
    assert "promise" in svg


def test_who_counted_and_where_code_ran_is_said():
    """Broken variant: a record that was counted by its own process says nothing else."""
    made = HOLDS.provenance
    assert how.notes(HOLDS) == []
    caged = replace(HOLDS, provenance=replace(made, cage=["no network"], in_process="as was asked for"))
    ran, cage = how.notes(caged)
    assert "in the process of the audit, as was asked for" in ran
    assert cage.endswith("no network")
    assert "repeated 7 runs." in how.counted(7)


@pytest.mark.parametrize("rounds", [None, 1, 3, 400, 10**6])
def test_declared_rounds_are_marked_where_an_attacker_is_how_sure(rounds):
    """Control: without a declaration, and with one round of a person, nothing is."""
    declared = {"contribution": {"max_rounds_per_user": rounds}} if rounds else None
    shown = forest.certainty(replace(HOLDS, declarations=declared))
    assert (shown == forest.certainty(HOLDS)) is (rounds in (None, 1))
