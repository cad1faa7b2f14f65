"""Environments: the settings of the paper, exact laws, tables and adversaries."""

import numpy as np
import pytest

from verifiable_dp import environments, make, simulate
from verifiable_dp._validate import InputError
from verifiable_dp.algorithm import Query
from verifiable_dp.environments import Interactive, Table, bernoulli, s1, two_point
from verifiable_dp.neighbours import InteractivePair, flatter


def query(start, rounds, active):
    active = np.array(active, bool)
    n = len(active)
    return Query(np.full(n, start), np.full(n, rounds), active, np.ones(n, bool))


def test_settings_of_the_experiments():
    assert s1("C1").means == (0.75, 0.7, 0.7, 0.7, 0.7)
    assert s1("C2").means == pytest.approx((0.75, 0.625, 0.5, 0.375, 0.25))
    assert s1("C3").means == pytest.approx((0.75, 0.53125, 0.375, 0.28125, 0.25))
    assert s1("C4").means == pytest.approx((0.75, 0.71875, 0.625, 0.46875, 0.25))
    assert s1("C1", 3).n_arms == 3
    assert s1("C2").gaps[0] == 0


@pytest.mark.parametrize(
    ("make_it", "name"),
    [
        (lambda: bernoulli([0.5, 1.5]), "means"),
        (lambda: bernoulli([0.5, float("nan")]), "means"),
        (lambda: bernoulli([]), "means"),
        (lambda: s1("C5"), "setting"),
        (lambda: s1("C1", 1), "n_arms"),
        (lambda: two_point(0.0, 0.0), "radius"),
        (lambda: environments.TwoPoint((0.5,), 1.0, 1.0), "bounds"),
    ],
)
def test_bad_environments_are_refused(make_it, name):
    with pytest.raises(InputError, match=name):
        make_it()


def test_a_table_is_summed_in_turn_over_the_active_arms():
    table = np.arange(24, dtype=float).reshape(8, 3) / 100
    answer = Table(table).answer(query(1, 5, [[True, False, True], [True, True, True]]), np.arange(2))
    # Rounds 1 to 5 go to arms 0, 2, 0, 2, 0 and to arms 0, 1, 2, 0, 1.
    assert answer[0] == pytest.approx([(3 + 9 + 15) / 100, 0, (8 + 14) / 100])
    assert answer[1] == pytest.approx([(3 + 12) / 100, (7 + 16) / 100, 11 / 100])


def test_block_sums_are_binomial():
    """Mean and variance of 20 000 sums of 50 pulls, within 6 standard errors; p + .02 lies outside."""
    n, pulls, p = 20_000, 50, 0.3
    data = bernoulli([p, 0.9]).data(5)
    sums = data.answer(query(0, pulls, np.tile([True, False], (n, 1))), np.arange(n))
    assert not sums[:, 1].any()
    error = np.sqrt(pulls * p * (1 - p) / n)
    assert abs(sums[:, 0].mean() - pulls * p) < 6 * error
    assert abs(sums[:, 0].mean() - pulls * (p + 0.02)) > 6 * error
    assert abs(sums[:, 0].var() / (pulls * p * (1 - p)) - 1) < 6 * np.sqrt(2 / n)


def test_two_point_rewards_lie_on_both_bounds():
    env = two_point(0.5, 2.0)
    data = env.pulled(1, 1000)
    sums = data.answer(query(0, 1, np.ones((1000, 1), bool)), np.arange(1000))
    assert set(np.unique(sums)) == {-2.0, 2.0}
    assert abs(np.mean(sums == 2.0) - 0.625) < 6 * np.sqrt(0.625 * 0.375 / 1000)


def test_an_adversary_sees_the_actions():
    pair = InteractivePair(flatter((0.0, 1.0), 1), 2, 0.0, 1.0, (0.0, 1.0))
    for world in (0, 1):
        data = Interactive(pair, world, 2, 1)
        first = data.answer(query(0, 2, [[True, True]]), np.zeros(1, np.int64))
        second = data.answer(query(2, 2, [[True, True]]), np.zeros(1, np.int64))
        assert first.tolist() == [[0.0, 1.0]]
        assert second.tolist() == [[float(world), 1.0]]


def test_regret_curves_end_at_the_regret():
    run = simulate(
        make("dp-se", n_arms=3, epsilon=1.0, horizon=50_000), bernoulli([0.9, 0.5, 0.1]), runs=5, seed=1
    )
    assert run.regret.shape == (5,)
    assert run.regrets[:, -1] == pytest.approx(run.regret)
    assert (np.diff(run.regrets, axis=1) >= 0).all()
    curve = run.curve()
    assert list(curve.columns) == ["t", "mean", "std", "low", "high"]
    assert curve["t"].iloc[-1] == 50_000
    assert curve["mean"].iloc[-1] == pytest.approx(run.regret.mean())


@pytest.mark.parametrize("name", ["runs", "seed", "workers", "points"])
def test_bad_arguments_of_simulate_are_refused(name):
    with pytest.raises(InputError, match=name):
        simulate(make("se", n_arms=2, horizon=10), bernoulli([0.9, 0.5]), **{name: -1})


def test_an_environment_must_fit():
    with pytest.raises(InputError, match="environment"):
        simulate(make("se", n_arms=2, horizon=10), bernoulli([0.9, 0.5, 0.1]))
    with pytest.raises(InputError, match="environment"):
        simulate(make("se", n_arms=2, horizon=10), environments.TwoPoint((0.0, 1.0), -1.0, 1.0))
