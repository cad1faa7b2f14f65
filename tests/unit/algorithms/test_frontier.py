"""Bandits of 2024 to 2026: their divergences, chances and tables, against slower definitions."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from verifiable_dp import make
from verifiable_dp.algorithms.dp_adversarial import half_tsallis
from verifiable_dp.algorithms.dp_klucb import divergence, largest
from verifiable_dp.auditors import dp_adversarial, dp_klucb
from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.errata import bench
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import InputError

LEVELS = (0.05, 0.5, 1.0, 3.0)


def points(n=60):
    rng = np.random.default_rng(0)
    for _ in range(n):
        x, y = np.sort(rng.uniform(size=2))
        yield x, y, rng.choice(LEVELS)


def test_the_divergence_is_the_least_over_what_lies_between():
    for x, y, epsilon in points():
        z = np.linspace(x, y, 20_001)[:-1]
        entropy = z * np.log(z / y) + (1 - z) * np.log((1 - z) / (1 - y))
        assert divergence(x, y, epsilon) == pytest.approx((epsilon * (z - x) + entropy).min(), abs=1e-7)
        rates = np.linspace(0, epsilon, 20_001)  # and Chernoff's exponent with noise that allows epsilon
        chernoff = -rates * x - np.log(1 + y * np.expm1(-rates))
        assert divergence(x, y, epsilon) == pytest.approx(chernoff.max(), abs=1e-7)
    assert divergence(0.5, 0.5, 1.0) == divergence(0.6, 0.5, 1.0) == 0
    assert divergence(0.25, 1.0, 2.0) == pytest.approx(1.5)  # epsilon (1 - x)
    assert divergence(0.0, 0.5, 9.0) == pytest.approx(-math.log(0.5 + 0.5 * math.exp(-9)))


def test_the_index_is_where_the_divergence_reaches_its_level():
    for x, y, epsilon in points():
        level = float(divergence(x, y, epsilon))
        assert largest(np.array([x]), np.array([level]), epsilon)[0] == pytest.approx(y, abs=1e-6)
    assert largest(np.array([0.3]), np.array([50.0]), 1.0)[0] == 1.0
    # Were the noise left out of account, the index would be that of KL-UCB: smaller.
    assert (
        largest(np.array([0.1]), np.array([0.5]), 0.1)[0] > largest(np.array([0.1]), np.array([0.5]), 9.0)[0]
    )


def test_what_is_known_of_gaps_alone_is_no_more_than_the_divergence():
    given = [*points()]
    assert given
    for x, y, epsilon in given:
        known = dp_klucb.least_information(np.array([y - x]), epsilon)[0]
        assert known <= divergence(x, y, epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(("charge", "stuck"), [(0.0, True), (None, False)])
def test_without_a_charge_for_its_sums_imed_keeps_to_a_wrong_arm_in_some_runs(charge, stuck):
    """The finding behind the charge, at seeds that are fixed: regret above a tenth of T max gap."""
    rule = make(
        "dp-imed", n_arms=5, epsilon=0.1, horizon=10**6, **({} if charge is None else {"charge": charge})
    )
    regret = simulate(rule, s1("C2", 5), runs=600, seed=3, points=1).regret
    assert (regret.max() > 0.05 * 10**6) == stuck
    assert np.median(regret) < 2000


def test_sums_add_up_and_each_reward_is_released_once():
    rule = make("dp-klucb", n_arms=2, epsilon=1.0, horizon=200)
    rewards = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
    done = play(rule, Table(rewards), Seeded(1), np.zeros(1, np.int64))
    released = done.released[0].reshape(-1, 2)
    at = np.nansum(released, axis=0) / done.final.estimate[0]  # pulls of each arm at its last release
    assert at == pytest.approx(at.round(), abs=1e-9)
    lengths = [1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 140]  # n + max(1, ceil(n/2))
    assert at.round().tolist() == [lengths[n - 1] for n in np.isfinite(released).sum(axis=0)]
    assert (at <= done.final.pulls[0]).all()


def test_the_chances_of_tsallis_inf_add_up():
    rng = np.random.default_rng(0)
    losses, rate = rng.uniform(-5, 50, (20, 4)), rng.uniform(0.01, 1, (20, 1))
    found = half_tsallis(losses, rate)
    for row, h, chances in zip(losses, rate[:, 0], found, strict=True):
        root = brentq(
            lambda x, row=row, h=h: (4 / (h * (row - x)) ** 2).sum() - 1, row.min() - 1e4, row.min() - 1e-9
        )
        assert chances == pytest.approx(4 / (h * (row - root)) ** 2, rel=1e-6)
    assert np.isfinite(half_tsallis(np.array([[0.0, 1e15]]), np.ones((1, 1)))).all()


@pytest.mark.parametrize("base", ["exp3", "tsallis-inf"])
def test_estimates_are_losses_over_chances(base):
    """By loops over the batches of a run, the last of which the horizon cuts."""
    rule = make("dp-adversarial", n_arms=3, epsilon=0.5, horizon=21, base=base)
    rewards = np.random.default_rng(1).uniform(size=(21, 3))
    done = play(rule, Table(rewards), Seeded(2), np.zeros(1, np.int64))
    arms = np.log2(done.actions[0]).round().astype(int)
    assert len(arms) == 11
    losses = np.zeros(3)
    for number in range(1, 10):  # the first batch is not used, the last is not released
        state = done.final.__class__(
            done.final.run, np.array([2 * number]), done.final.pulls, losses[None], done.final.active
        )
        told = 1 - done.released[0].reshape(-1, 4)[number, arms[number]] / 2
        losses[arms[number]] += (
            np.clip(told, -rule.most, 1 + rule.most) / rule.chances(state)[0, arms[number]]
        )
    assert done.final.estimate[0] == pytest.approx(losses)
    coins = done.released[0].reshape(-1, 4)[:-1, 3]
    assert np.isfinite(coins).all()


def test_regret_in_hindsight_by_loops():
    rule = make("dp-adversarial", n_arms=2, epsilon=0.4, horizon=50)
    for table in (dp_adversarial.late(50, 2), dp_adversarial.taking_turns(50, 2)):
        found = dp_adversarial.hindsight(rule, table, 3, seed=5)
        for run in range(3):
            done = play(rule, Table(table), Seeded(5), np.array([run]))
            arms = np.log2(done.actions[0]).round().astype(int)
            earned = sum(table[t, arms[t // rule.batch]] for t in range(50))
            assert found[run] == pytest.approx(table.sum(axis=0).max() - earned)


@pytest.mark.parametrize(
    ("name", "about", "words"),
    [
        ("dp-klucb", {"growth": 1.0}, "growth must lie in"),
        ("dp-klucb", {"growth": 2.5}, "growth must lie in"),
        ("dp-imed", {"charge": -1.0}, "charge must be finite and at least 0"),
        ("dp-adversarial", {"base": "exp4"}, "base must be one of"),
    ],
)
def test_parameters_out_of_range_are_refused(name, about, words):
    with pytest.raises(InputError, match=words):
        make(name, n_arms=2, epsilon=1.0, horizon=10, **about)


def test_the_bench_finds_the_largest_ratio():
    step = bench.Step("x y <= 6", lambda at: at["x"] * at["y"] / 6, {"x": (1.0, 2.0), "y": (1.0, 3.0)})
    assert step.check().verdict == "consistent"
    assert step.check().statistics["at"] == {"x": 2.0, "y": 3.0}
    assert step.check().statistics["points"] == 4
    above = bench.Step("x y <= 5.9", lambda at: at["x"] * at["y"] / 5.9, step.grid)
    assert above.check().verdict == "contradicted"
    found = bench.Mended((above,), (step,))(0)
    assert found.counterexample == {"x": 2.0, "y": 3.0, "left over right": pytest.approx(6 / 5.9)}
