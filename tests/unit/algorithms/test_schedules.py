"""Lengths, thresholds and scales of noise, in numbers that were worked out by hand from the listings.

Everything else about an algorithm is tested against its own definition; here a definition is held against its
paper.
"""

import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp import make, simulate
from verifiable_dp.algorithms import _posterior_blocks
from verifiable_dp.algorithms.adap_tt import AdaPTT
from verifiable_dp.algorithms.lazy_dp_ts import LazyDPTS
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Discrete, Pulled, Table, bernoulli
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.tapes import Recorder
from verifiable_dp.core.validate import InputError


@pytest.mark.parametrize(
    ("size", "epoch", "epsilon", "length", "limit"),
    [
        # sampling decides: 128 log 400 + 1; h = sqrt(log 400/(2 R)), c = log 200/(R/4).
        (5, 1, 0.25, 767.9074620298, 0.1801160402319),
        # privacy decides: 1600 log 200 + 1.
        (5, 1, 0.01, 8478.3077864769, 0.1625799808914),
        # the second epoch of two arms: 512 log 640 + 1.
        (2, 2, 1.0, 3309.2717062931, 0.0659767135042),
    ],
)
def test_epochs_of_dp_se(size, epoch, epsilon, length, limit):
    """R_e and 2 h_e + 2 c_e of lines 8, 15, 16 and 20 of Algorithm 3, at beta = .1."""
    algorithm = make("dp-se", n_arms=max(size, 2), epsilon=epsilon, horizon=100, beta=0.1)
    at = np.float64(size), np.float64(epoch)
    assert float(algorithm.pulls(*at)) == pytest.approx(length, rel=1e-9)
    assert float(algorithm.gap(*at)) == pytest.approx(limit, rel=1e-9)


def blocks(algorithm):
    """(start, rounds, whether it is released) of the blocks of a run that removes no arm."""
    state, found = algorithm.start(np.zeros(1, np.int64)), []
    while True:
        query = algorithm.query(state)
        if query.rounds[0] == 0:
            return found
        found.append((int(query.start[0]), int(query.rounds[0]), bool(query.complete[0])))
        state = algorithm.decide(state, query, np.zeros((1, algorithm.n_arms)))


def expected(first_guess, horizon, n_arms=2, epsilon=1.0):
    """The same from the definition: guess g is in force up to round g/2, its epochs start from the first."""
    found, t, guess = [], 0, first_guess
    while t < horizon:
        end, epoch = min(guess // 2, horizon), 1
        while t < end:
            log = math.log(8 * n_arms * epoch**2 * guess), math.log(4 * n_arms * epoch**2 * guess)
            pulls = math.ceil(max(32 * log[0] * 4**epoch, 8 * log[1] * 2**epoch / epsilon) + 1)
            rounds = min(n_arms * pulls, end - t)
            found.append((t, rounds, rounds == n_arms * pulls))
            t, epoch = t + rounds, epoch + 1
        guess *= 2
    return found


def test_every_restart_begins_with_the_first_epoch_of_its_guess():
    """Guess 2^19 is in force from round 2^17 to 2^18: epochs of 2 * 2042, 2 * 8874 and 2 * 37151 pulls."""
    found = blocks(make("dp-se-doubling", n_arms=2, epsilon=1.0, horizon=2**18))
    assert found == expected(1024, 2**18)
    assert [row for row in found if row[0] >= 2**17] == [
        (131072, 4084, True),
        (135156, 17748, True),
        (152904, 74302, True),
        (227206, 34938, False),
    ]


@pytest.mark.parametrize(("first_guess", "horizon", "epsilon"), [(4096, 10**6, 0.05), (2**17, 300_001, 1.0)])
def test_restarts_of_other_instances(first_guess, horizon, epsilon):
    algorithm = make("dp-se-doubling", n_arms=3, epsilon=epsilon, horizon=horizon, first_guess=first_guess)
    found = blocks(algorithm)
    assert found == expected(first_guess, horizon, 3, epsilon)
    assert sum(rounds for _, rounds, _ in found) == horizon
    assert any(complete for _, _, complete in found)


# ---------------------------------------------------------------- noise

ACTIONS = ((1.0, 0.0), (0.0, 1.0))


def scales(name, table_value=0.0, **parameters):
    """All scales of noise that a run uses, rounded, and its algorithm."""
    algorithm = make(name, **parameters)
    recorder = Recorder(Seeded(0))
    table = np.full((algorithm.horizon, algorithm.n_arms), table_value)
    play(algorithm, Table(table), recorder, np.zeros(1, np.int64))
    tape = recorder.tape()
    # A draw that is visited again is used twice.
    assert not tape.releases.address[:, 2].any()
    used = [entries.columns["scale"] for entries in (tape.releases, tape.hidden) if len(entries.address)]
    return sorted({round(float(scale), 9) for scale in np.concatenate(used)})


@pytest.mark.parametrize(
    ("name", "parameters", "found"),
    [
        # one reward moves a sum by 1
        ("dp-se", {"n_arms": 2, "epsilon": 0.5, "horizon": 8000, "beta": 0.9}, [2.0]),  # two epochs
        ("dp-se-doubling", {"n_arms": 2, "epsilon": 0.5, "horizon": 4000, "first_guess": 8192}, [2.0]),
        # levels/epsilon, of 4 levels; times K where the budget is split
        ("tree-sum", {"epsilon": 0.5, "horizon": 8}, [8.0]),
        ("dp-ucb", {"n_arms": 2, "epsilon": 0.5, "horizon": 8, "budget": "per-arm"}, [8.0]),
        ("dp-ucb", {"n_arms": 2, "epsilon": 0.5, "horizon": 8}, [16.0]),
        # rewards in [-1, 1] move a sum by 2
        ("dp-linear", {"actions": ACTIONS, "epsilon": 0.5, "horizon": 400}, [4.0]),
        ("dp-linear", {"actions": ACTIONS, "epsilon": 0.5, "horizon": 400, "variant": "printed"}, [2.0]),
        ("ldp-linear", {"actions": ACTIONS, "epsilon": 0.5, "horizon": 400}, [4.0]),
        # 4R/epsilon of the estimate, 12R/epsilon of threshold and comparisons, R = 1
        ("dp-nas", {"epsilon": 2.0, "alpha": 0.9, "beta": 0.9, "horizon": 300}, [2.0, 6.0]),
        ("dp-exponential-nas", {"epsilon": 2.0, "alpha": 0.9, "beta": 0.9, "horizon": 4096}, [2.0, 6.0]),
    ],
)
def test_scales_of_noise_are_those_of_the_listings(name, parameters, found):
    value = 1.0 if name.endswith("nas") else 0.0
    assert scales(name, value, **parameters) == found


@pytest.mark.parametrize(
    ("name", "pulls", "root"), [("dp-robust-se", 5.76, 1.0), ("ldp-robust-se", 1.57351936, 0.5)]
)
def test_noise_of_truncated_rewards_is_twice_their_limit(name, pulls, root):
    """B_1 = (u R_1^root epsilon/l^root)^(1/2), Lap(2 B/epsilon): constants .05 (24 * .1)^2 = 5.76, …"""
    constants = {"dp-robust-se": 0.05, "ldp-robust-se": 0.02}[name]
    factor = {"dp-robust-se": 4, "ldp-robust-se": 8}[name]
    epsilon, beta, log = 2.0, 0.5, math.log(factor * 2 / 0.5)
    if name == "dp-robust-se":
        length = math.ceil(pulls * log / epsilon + 1)
    else:
        length = math.ceil(pulls * log / epsilon**2 + log)
    limit = math.sqrt(length**root * epsilon / log**root)
    parameters = {"n_arms": 2, "epsilon": epsilon, "v": 1.0, "u": 1.0, "beta": beta, "constants": constants}
    assert scales(name, horizon=2 * length, **parameters) == [round(2 * limit / epsilon, 9)]


def test_noise_of_a_growing_tree_covers_both_signs():
    """2 B_n levels/epsilon where item n completes a node: B_n = factor n^power."""
    algorithm = make("adaptive-tree", epsilon=2.0, horizon=8, v=1.0, u=1.0)
    limits = [float(algorithm.mechanism.limit(n)) for n in range(1, 9)]
    assert len(set(limits)) == 8
    assert scales("adaptive-tree", epsilon=2.0, horizon=8, v=1.0, u=1.0) == pytest.approx(
        [2 * limit * 4 / 2.0 for limit in limits], abs=1e-8
    )


# Bandits that play one arm at a time, at long horizons: the definition's runs, or its law.


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
