"""Bandits that play one arm at a time, at long horizons: the definition's runs, or its law."""

import numpy as np
import pytest
from scipy import stats

from verifiable_dp import make, simulate
from verifiable_dp.algorithms import _posterior_blocks
from verifiable_dp.algorithms.adap_tt import AdaPTT
from verifiable_dp.algorithms.lazy_dp_ts import LazyDPTS
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Discrete, Pulled, bernoulli
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.validate import InputError

LEVEL = 1e-6
RUNS = 250


def test_the_loop_of_adap_tt_is_the_definition_beyond_the_round_in_which_an_arm_is_found():
    place, rule, run = bernoulli([0.5, 0.9, 0.1]), AdaPTT(3, 1.0, 2000), np.arange(20)
    times = np.array([1, 100, 1999, 2000])
    pulls, at, output = rule.kernel(place, 3, run, times)
    outcome = play(rule, Pulled(place, key_of(3, (1,)), np.zeros((20, 3), np.int64)), Seeded(3, (0,)), run)
    assert np.array_equal(pulls, outcome.pulls)
    assert np.array_equal(output, outcome.output, equal_nan=True)
    assert (at.sum(axis=2) == times).all()
    assert np.isfinite(output).all()
    assert len(np.unique(output[:, 0])) > 3


@pytest.fixture(scope="module")
def plain():
    """Pulls of the first arm after 20 and 60 rounds, by the definition; runs of its own."""
    rule, place, times = LazyDPTS(2, 1.0, 60), bernoulli([0.9, 0.3]), np.array([20, 60])
    found = []
    for horizon in times.tolist():
        run = np.arange(5000)
        short = LazyDPTS(2, 1.0, horizon)
        found.append(play(short, place.data(horizon, (1,)), Seeded(horizon, (0,)), run, keep=()).pulls[:, 0])
    return rule, place, times, found


def p_value(plain):
    rule, place, times, found = plain
    _, at, _ = rule.kernel(place, 5, np.arange(RUNS), times)
    assert (at.sum(axis=2) == times).all()
    return min(stats.ks_2samp(at[:, i, 0], pulls).pvalue for i, pulls in enumerate(found))


def test_blocks_of_lazy_dp_ts_have_the_law_of_the_definition(plain):
    assert p_value(plain) > LEVEL


def test_blocks_that_miss_what_another_arm_may_do_have_another_law(plain, monkeypatch):
    zones = _posterior_blocks._zones

    def fewer(posterior, t, widest):
        lead, found, width = zones(posterior, t, widest)
        return lead, np.where(np.arange(len(found)) == lead, found, found / 4), width

    monkeypatch.setattr(_posterior_blocks, "_zones", fewer)
    assert p_value(plain) < LEVEL


def test_draws_that_forget_why_they_are_made_have_another_law(plain, monkeypatch):
    draws = _posterior_blocks._draws
    monkeypatch.setattr(
        _posterior_blocks,
        "_draws",
        lambda rng, lead, zones, a, b: draws(rng, lead, np.full_like(zones, 1 - 1e-9), a, b),
    )
    assert p_value(plain) < LEVEL


@pytest.mark.parametrize("name", ["lazy-dp-ts", "adap-tt"])
def test_a_run_of_a_million_million_rounds(name):
    rule = make(name, n_arms=3, epsilon=1.0, horizon=10**12)
    done = simulate(rule, bernoulli([0.9, 0.1, 0.1]), runs=2, points=30)
    assert (done.pulls.sum(axis=1) == 10**12).all()
    assert (done.regret > 50).all()
    assert (done.regret < 1e4).all()


@pytest.mark.parametrize("name", ["ucb1", "ldp-ucb"])
def test_rewards_of_three_values_are_played_by_the_definition(name):
    place = Discrete(((0.0, 0.5, 1.0),) * 2, ((0.1, 0.2, 0.7), (0.7, 0.2, 0.1)))
    parameters = {} if name == "ucb1" else {"epsilon": 1.0}
    done = simulate(make(name, n_arms=2, horizon=300, **parameters), place, runs=20)
    assert done.pulls.sum() == 20 * 300
    if name == "ucb1":
        assert done.pulls[:, 0].mean() > 200


@pytest.mark.parametrize(("name", "most"), [("ldp-ucb", 10**10), ("dp-adversarial", 10**7)])
def test_a_horizon_that_would_take_hours_round_by_round_is_refused(name, most):
    place = bernoulli([0.9, 0.1])
    with pytest.raises(InputError, match=f"horizon must be at most {most} to simulate {name}"):
        simulate(make(name, n_arms=2, epsilon=1.0, horizon=most + 1), place, runs=1)
    assert simulate(make("dp-se", n_arms=2, epsilon=1.0, horizon=most + 1), place, runs=1).pulls.sum() > most
