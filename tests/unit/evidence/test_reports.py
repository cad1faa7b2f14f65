"""Upper bounds of claims in the local model: what leaves each user, with the black box switched off."""

import ast

import pytest

from tests.user_code import reported
from verifiable_dp.evidence.symbolic import rewriting
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.reports import Reporting
from verifiable_dp.evidence.symbolic.world import World


def found(play, *, local=True):
    return explore(Program(play, (24, 2), (0.0, 1.0), local=local), 2, most=6)


def by_name(plays):
    return pytest.mark.parametrize("play", plays, ids=lambda play: play.__name__)


BY_DAY = {reported.bits_in_the_loop, reported.noise_of_two_draws}


@by_name([pytest.param(one, marks=[] if one in BY_DAY else pytest.mark.slow) for one in reported.RIGHT])
def test_the_reports_of_a_reward_cost_what_is_claimed(play):
    got = found(play)
    assert got.words() == ""
    assert got.epsilon() == pytest.approx(reported.EPSILON)


@by_name(reported.LEAKS)
def test_reports_that_cost_more_have_no_bound_within_the_claim(play):
    assert found(play).epsilon() > 1.9


@by_name(reported.ONE_SIDED)
def test_a_noisy_value_that_the_collector_holds_is_seen_whole(play):
    """Control: the actions cost what is claimed."""
    assert found(play).epsilon() == float("inf")
    assert found(play, local=False).epsilon() == pytest.approx(1.0)


@by_name(reported.CENTRAL)
def test_what_is_made_of_several_rewards_is_no_report(play):
    """Control: in the central model, each has a bound."""
    got = found(play)
    assert got.epsilon() == float("inf")
    assert play is reported.bit_of_two or "several rounds are combined" in got.words()
    assert found(play, local=False).epsilon() <= 2 + 1e-9


@pytest.mark.parametrize(
    ("form", "play"),
    [
        ("visit_Assign", reported.one_sided),
        ("visit_Call", reported.one_sided_in_a_list),
        ("visit_Compare", reported.one_sided_in_a_condition),
        ("visit_Lambda", reported.one_sided_by_a_key),
        ("visit_GeneratorExp", reported.one_sided_in_a_queue),
        ("visit_For", reported.one_sided_in_a_loop),
        ("visit_AugAssign", reported.one_sided_in_two_steps),
        ("visit_Call", reported.one_sided_in_an_entry),
        ("visit_Call", reported.one_sided_in_place),
    ],
)
def test_a_form_that_shows_nothing_leaves_a_decision(monkeypatch, form, play):
    rewriting._compiled.cache_clear()
    monkeypatch.setattr(Reporting, form, Reporting.generic_visit)
    got = found(play).epsilon()
    rewriting._compiled.cache_clear()
    assert got == pytest.approx(1.0)


@pytest.mark.parametrize("change", ["np.add.at(totals, 0, noise)", "next(iter([totals]))[0] += noise"])
def test_what_is_changed_where_nothing_can_be_shown_ends_the_bound(change):
    tree = ast.parse(change)
    with pytest.raises(ValueError, match=r"changes an array|cannot be named"):
        Reporting().visit(tree)


@by_name(reported.CENTRAL)
def test_without_the_rule_what_is_made_of_several_rewards_has_its_central_bound(monkeypatch, play):
    monkeypatch.setattr(World, "is_report", lambda self, units: None)
    assert found(play).epsilon() <= 2 + 1e-9
