"""The power that an audit states: only what is caught with .95, and what its own repeats show."""

from dataclasses import dataclass, replace

import pytest

from verifiable_dp.auditing import power
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import Event
from verifiable_dp.evidence.blackbox.scores import Likelihood
from verifiable_dp.evidence.blackbox.statistics import least_factor
from verifiable_dp.evidence.blackbox.test import Plan, Selected
from verifiable_dp.targets.releases import DataPair

CLAIM, PLAN = PrivacyClaim(1.0), Plan(100, 1000, 2000)


@dataclass(frozen=True)
class Variant:
    """A sampler of which only the factor is of interest."""

    factor: float
    seed: int = 0


@pytest.fixture
def world(monkeypatch):
    """Powers and refuted repeats by factor, in place of runs; an event's promise carries the factor."""
    shown = {"power": {}, "refuted": {}, "level": set()}

    def select(sampler, pairs, plan, *, delta, workers):
        event = Event(Likelihood(), 0.0, False, sampler.factor, (0.5, 0.1), 100)
        return [Selected(0, pairs[0], event)], [0]

    def rejection(p, q, plan, claim, alpha):
        shown["level"].add(alpha)
        return shown["power"][shown["now"]]

    def shares(event):
        shown["now"] = event.promise
        return event.shares

    def repeat(sampler, picked, plan, terms, repeats):
        shown["level"].add(terms.alpha)
        return shown["refuted"].get(sampler.factor, repeats)

    monkeypatch.setattr(blackbox, "select", select)
    monkeypatch.setattr(Event, "careful_shares", shares)
    monkeypatch.setattr(power, "rejection", rejection)
    monkeypatch.setattr(power, "_repeat", repeat)
    return shown


def stated(**options):
    return power.of_black_box(
        Variant,
        [DataPair(0.0, 1.0)],
        PLAN,
        blackbox.Terms(CLAIM, alpha=1e-4),
        true_epsilon=lambda factor: 10 * factor,
        repeats=3,
        **options,
    )


@pytest.mark.parametrize("runs", [None, 10**9])
def test_the_least_factor_is_the_first_that_is_caught_with_95_percent(world, runs):
    """.949 is not enough; by bisection it comes out as by trying one after the other."""
    world["power"] = {f: 0.97 if f >= 2.0 else 0.949 for f in power.FACTORS}
    found = stated(runs=runs)
    assert (found["noise_divided_by"], found["smallest_epsilon"]) == (2.0, 20.0)
    assert (found["probability"], found["repeats_refuted"]) == (0.95, 3)
    assert world["level"] == {1e-4}


def test_a_factor_whose_repeats_are_not_all_refuted_is_passed_over(world):
    world["power"] = dict.fromkeys(power.FACTORS, 1.0)
    world["refuted"] = {1.05: 2, 1.1: 0}
    assert stated()["noise_divided_by"] == 1.2
    world["refuted"] = dict.fromkeys(power.FACTORS, 2)
    assert stated() is None


def test_without_power_nothing_is_stated(world):
    world["power"] = dict.fromkeys(power.FACTORS, 0.9)
    assert stated() is None
    assert stated(runs=10**9) is None


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_what_is_detectable_is_refuted_with_95_percent_and_less_is_not(delta):
    claim = replace(CLAIM, delta=delta)
    least = power.detectable(0.1, PLAN, claim, 1e-6)
    assert 1.0 < least < 3.0
    for epsilon, holds in ((least, True), (0.99 * least, False)):
        share = min(1.0, 0.1 * 2.718281828459045**epsilon + delta)
        assert (power.rejection(share, 0.1, PLAN, claim, 1e-6) >= 0.95) == holds


def test_the_least_factor_by_bisection():
    assert least_factor(lambda factor: factor >= 1.37, 1e-3) == pytest.approx(1.37, abs=1e-3)
    assert least_factor(lambda factor: factor >= 37, 1e-3) == pytest.approx(37, abs=1e-3)
    assert least_factor(lambda factor: False, 1e-3) is None


def test_what_delta_allows_for_is_not_refuted():
    """Control: without a delta the same event refutes."""
    plan = Plan(0, 0, 1000)
    assert power.rejection(0.1, 0.0, plan, PrivacyClaim(1.0, 0.5), 1e-6) < 1e-6
    assert power.rejection(0.1, 0.0, plan, PrivacyClaim(1.0), 1e-6) > 0.99
