"""Environments: the settings of the paper, exact laws, tables and adversaries."""

import numpy as np
import pytest

from verifiable_dp import make, simulate
from verifiable_dp.auditors._settings import hard, s1
from verifiable_dp.core import environments
from verifiable_dp.core.adversaries import flatter
from verifiable_dp.core.algorithm import Query, Truncated
from verifiable_dp.core.environments import Discrete, Draws, Interactive, Table, bernoulli, two_point
from verifiable_dp.core.neighbours import InteractivePair
from verifiable_dp.core.validate import InputError


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


@pytest.mark.parametrize("name", ["se", "dp-se", "dp-ucb"])
def test_the_horizon_alone_can_be_recorded(name):
    """By definitions and by compiled loops, which draw the same as where round 1 is recorded too."""
    means, sizes = bernoulli([0.3, 0.5, 0.8]), {"runs": 5, "seed": 3}
    rule = make(name, n_arms=3, horizon=3000, **({} if name == "se" else {"epsilon": 1.0}))
    one, two = (simulate(rule, means, points=points, **sizes) for points in (1, 2))
    assert one.times.tolist() == [3000]
    assert one.regrets[:, 0] == pytest.approx(one.regret)
    assert (one.pulls == two.pulls).all()


@pytest.mark.parametrize("name", ["runs", "seed", "workers", "points"])
def test_bad_arguments_of_simulate_are_refused(name):
    with pytest.raises(InputError, match=name):
        simulate(make("se", n_arms=2, horizon=10), bernoulli([0.9, 0.5]), **{name: -1})


def test_an_environment_must_fit():
    with pytest.raises(InputError, match="environment"):
        simulate(make("se", n_arms=2, horizon=10), bernoulli([0.9, 0.5, 0.1]))
    with pytest.raises(InputError, match="environment"):
        simulate(make("se", n_arms=2, horizon=10), environments.TwoPoint((0.0, 1.0), -1.0, 1.0))


# ---------------------------------------------------------------- finitely many rewards, hard instances

HARD = [(5, [0.05, 0.02]), (8, [0.1, 0.08]), (9, [0.1, 0.1, 0.1]), (10, [0.19]), (11, [0.01])]


@pytest.mark.parametrize("v", [0.1, 0.5, 1.0])
@pytest.mark.parametrize(("theorem", "gaps"), HARD)
def test_hard_instances_keep_their_moments_and_gaps(theorem, gaps, v):
    env = hard(theorem, v=v, gaps=gaps)
    assert env.gaps == pytest.approx([0.0, *gaps])
    assert env.moment(1 + v) == pytest.approx(0.5)
    assert set(map(len, env.rewards)) == {2}
    for arm, gap in enumerate(gaps, start=1):
        other = hard(theorem, v=v, gaps=gaps, changed=arm)
        assert int(np.argmax(other.means)) == arm
        assert other.means[arm] == pytest.approx(env.means[0] + gap)
        assert other.moment(1 + v) <= 1 + 1e-9
        kept = [a for a in range(env.n_arms) if a != arm]
        assert all(env.rewards[a] == other.rewards[a] for a in kept)
        assert all(env.chances[a] == other.chances[a] for a in kept)


def test_means_of_the_hard_instances():
    """Two arms: 5/2 and 3/2 gaps; several: s = (2 mu)^(1/v) and chances s^(1+v)/2."""
    assert hard(10, v=0.5, gaps=[0.1]).means == pytest.approx((0.25, 0.15))
    assert hard(10, v=0.5, gaps=[0.1], changed=1).means == pytest.approx((0.25, 0.35))
    five = hard(5, v=0.5, gaps=[0.05])
    assert five.means == pytest.approx((1 / 6, 1 / 6 - 0.05))
    assert five.rewards[0][1] == pytest.approx(9.0)
    assert five.chances[0][1] == pytest.approx(1 / 54)
    assert len(hard(5, v=0.5, gaps=[0.05], changed=1).rewards[1]) == 3


@pytest.mark.parametrize(
    ("theorem", "changes", "name"),
    [
        (6, {}, "theorem"),
        (10, {"v": 0.0}, "v"),
        (10, {"v": 1.5}, "v"),
        (10, {"gaps": [0.3]}, "gaps"),
        (10, {"gaps": [0.1, 0.1]}, "gaps"),
        (10, {"gaps": []}, "gaps"),
        (10, {"gaps": [0.0]}, "gaps"),
        (10, {"gaps": [0.1], "changed": 2}, "changed"),
        (5, {"gaps": [0.1]}, "gaps"),
        (8, {"gaps": [0.1, 0.02]}, "gaps"),
        (9, {"gaps": [0.1, 0.02]}, "gaps"),
    ],
)
def test_bad_hard_instances_are_refused(theorem, changes, name):
    with pytest.raises(InputError, match=name) as error:
        hard(theorem, **{"v": 0.5, "gaps": [0.1], **changes})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rewards", "chances", "name"),
    [
        ((), (), "rewards"),
        (((0.0, 1.0),), ((1.0,),), "rewards"),
        (((0.0, 1.0),), ((0.5, 0.6),), "chances"),
        (((0.0, 1.0),), ((1.5, -0.5),), "chances"),
        (((0.0, float("inf")),), ((0.5, 0.5),), "rewards"),
    ],
)
def test_bad_finite_laws_are_refused(rewards, chances, name):
    with pytest.raises(InputError, match=name):
        Discrete(rewards, chances)


@pytest.mark.parametrize("limit", [None, 2.0])
def test_a_multinomial_draw_is_a_sum_of_pulls(limit):
    """Three rewards, 30 pulls: mean and variance of block sums and of sums one by one, 6 standard errors."""
    env = Discrete(((0.0, 1.0, 5.0), (0.0, 1.0)), ((0.7, 0.2, 0.1), (0.5, 0.5)))
    n, pulls = 20_000, 30
    ask = None if limit is None else Truncated(np.full((n, 2), limit), np.zeros((n, 2)))
    base = query(0, pulls, np.tile([True, False], (n, 1)))
    kept = np.array([0.0, 1.0, 5.0 if limit is None else 0.0])
    mean = pulls * kept @ [0.7, 0.2, 0.1]
    variance = pulls * kept**2 @ [0.7, 0.2, 0.1] - mean**2 / pulls
    asked = Query(base.start, base.rounds, base.active, base.complete, ask)
    for data in (env.data(1), Draws(env, 1)):
        sums = data.answer(asked, np.arange(n))
        assert not sums[:, 1].any()
        assert abs(sums[:, 0].mean() - mean) < 6 * np.sqrt(variance / n)
        assert abs(sums[:, 0].mean() - 1.05 * mean) > 6 * np.sqrt(variance / n)
        assert abs(sums[:, 0].var() / variance - 1) < 6 * np.sqrt(5 / n)
