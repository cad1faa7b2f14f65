"""Algorithms for heavy-tailed rewards: their numbers, their truncation, and the listing that is wrong."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp import make, simulate
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.algorithms.linucb import LinUCB
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors import ldp_robust_se as local
from verifiable_dp.auditors._settings import s2
from verifiable_dp.auditors.linucb import outside, regret_bound
from verifiable_dp.core.algorithm import Histogram, Query, Truncated, play
from verifiable_dp.core.environments import Huber, Pareto, Pulled, StudentT, Table, TwoPoint, bernoulli
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.noise import Draw, Seeded, key_of
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.regret.scaling import scaling

PARAMETERS = {"n_arms": 2, "epsilon": 1.0, "horizon": 400, "v": 1.0, "u": 1.0, "beta": 0.5}
NAMES = ["dp-robust-se", "ldp-robust-se"]


def small(name):
    return make(name, **PARAMETERS, constants=0.05 if name == "dp-robust-se" else 0.02)


def test_moments_of_the_experiments():
    """u of ALGORITHMS: 5.595 at v = .5 and 8.142 at v = .9."""
    assert s2("S1", 0.5).moment(1.5) == pytest.approx(5.595, abs=5e-4)
    assert s2("S3", 0.9).moment(1.9) == pytest.approx(8.142, abs=5e-4)
    with pytest.raises(InputError, match="order"):
        s2("S1", 0.5).moment(1.55)


def test_the_first_epoch_is_as_long_as_the_constants_say():
    """DP Robust SE of S2's experiments ends it after 3 to 4e8 pulls (v = .5, epsilon = 1)."""
    algorithm = make("dp-robust-se", n_arms=5, epsilon=1.0, horizon=10**9, v=0.5, u=s2("S1", 0.5).moment(1.5))
    log = math.log(4 * 5 * 10**9)
    assert algorithm.schedule[0][1, 5] == math.ceil(algorithm.u**2 * 48**3 * log + 1)
    assert 1e7 < algorithm.schedule[0][1, 5] * 5 < 5e8


@pytest.mark.parametrize("name", NAMES)
def test_the_worst_reward_costs_epsilon_and_one_outside_nothing(name):
    algorithm = small(name)
    limit = algorithm.search_bounds[1]
    table = np.zeros((400, 2))
    table[0, 0] = -limit
    pair = TablePair(table, 0, 0, limit, (-limit, limit))
    assert searching.examine(algorithm, pair, seed=0).cost == pytest.approx(1.0, abs=1e-9)
    assert searching.examine(algorithm, family.outside(algorithm), seed=0).cost == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("field", "value"),
    [("v", 0.0), ("v", 1.5), ("v", float("nan")), ("u", 0.0), ("constants", "mine"), ("constants", -1.0)],
)
def test_bad_parameters_are_refused(name, field, value):
    with pytest.raises(InputError, match=field) as error:
        make(name, **{**PARAMETERS, field: value})
    assert "\n" not in str(error.value)


def test_the_factor_on_the_constants_keeps_threshold_and_precision_together():
    for name in NAMES:
        for factor in ("proof", 0.1):
            algorithm = make(name, **{**PARAMETERS, "horizon": 10**9}, constants=factor)
            assert algorithm.schedule[1][3, 2] == pytest.approx(2.0**-3 / 2, rel=0.05)


def test_the_printed_local_listing_separates_tied_arms():
    """v = u = epsilon = 1, K = 5, two tied best arms: the printed threshold lies far below the noise."""
    best = bernoulli([0.6, 0.6, 0.1, 0.1, 0.1])
    lost = {}
    for variant in ("corrected", "printed"):
        algorithm = make(
            "ldp-robust-se", n_arms=5, epsilon=1.0, horizon=10**12, v=1.0, u=1.0, beta=0.1, variant=variant
        )
        if variant == "printed":  # its first epoch, at D = 1/4
            assert algorithm.schedule[1][1, 5] < 0.01
        run = simulate(algorithm, best, runs=200, seed=0, points=2)
        lost[variant] = np.mean(~run.active[:, :2].all(axis=1))
    assert lost["corrected"] == 0
    assert lost["printed"] > 0.5


@pytest.mark.parametrize("v", [0.5, 1.0])
def test_pulls_grow_with_the_corrected_exponent_and_not_with_the_printed_one(v):
    """Theorem 7: the 99 % interval of the fitted exponent holds 2(1+v)/v and not (1+v)/v."""
    algorithm = LDPRobustSE(2, 1.0, 1 << 62, v, 1.0, beta=0.1)
    points = local.pulls_by_gap(algorithm, 20, 0)
    assert len(points) >= 4
    right = local.exponent(v)
    for confidence in (0.99, 0.995):  # of either limit: intervals of 98 % and 99 %
        found = scaling(
            "rate", points, exponent=right, margin=0.9, log_power=0.0, confidence=confidence
        ).result
        assert found["lower_limit"] <= right <= found["upper_limit"]
        assert not found["lower_limit"] <= right / 2 <= found["upper_limit"]


# ---------------------------------------------------------------- what is asked of rewards


def test_truncated_sums_and_histograms_of_a_table():
    table = np.array([[1.0, -3.0], [0.5, 2.0], [5.0, 0.25]])
    active = np.ones((1, 2), bool)
    zero = np.zeros(1, np.int64)
    about = (zero, zero + 3, active, np.ones(1, bool))
    limit = np.full((1, 2), 2.0)
    # Rounds go to arms 0, 1, 0: rewards 1 and 5, and 2.
    plain = Table(table).answer(Query(*about), zero)
    cut = Table(table).answer(Query(*about, Truncated(limit, np.zeros((1, 2)))), zero)
    moved = Table(table).answer(Query(*about, Truncated(limit, np.full((1, 2), 4.0))), zero)
    bins = Table(table).answer(Query(*about, Histogram(np.array([[0.0, 1.0, 3.0]]))), zero)
    assert plain.tolist() == [[6.0, 2.0]]
    assert cut.tolist() == [[1.0, 2.0]]
    assert moved.tolist() == [[1.0, -2.0]]
    assert bins.tolist() == [[[0.0, 1.0], [0.0, 1.0]]]


def test_unequal_pulls_follow_one_another():
    query = Query(
        np.zeros(1, np.int64),
        np.array([5]),
        np.ones((1, 3), bool),
        np.ones(1, bool),
        None,
        np.array([[2, 0, 4]]),
    )
    assert query.pulls().tolist() == [[2, 0, 3]]
    assert [int(query.arm(np.array([i]))[0]) for i in range(5)] == [0, 0, 2, 2, 2]
    table = np.arange(15.0).reshape(5, 3)
    assert Table(table).answer(query, np.zeros(1, np.int64)).tolist() == [[0 + 3, 0, 8 + 11 + 14]]


def test_two_point_rewards_answer_exactly_what_is_asked():
    """Truncated sums of +-1 rewards from binomial counts: mean within 6 standard errors."""
    n, env = 20_000, TwoPoint((0.2, 0.2), -1.0, 1.0)
    ask = Truncated(np.full((n, 2), 0.5), np.full((n, 2), 1.0))  # keeps +1 alone, as 0
    both = Truncated(np.full((n, 2), 5.0), np.full((n, 2), 1.0))
    zero = np.zeros(n, np.int64)
    about = (zero, zero + 20, np.ones((n, 2), bool), np.ones(n, bool))
    assert not env.data(0).answer(Query(*about, ask), np.arange(n)).any()
    seen = env.data(0).answer(Query(*about, both), np.arange(n))
    assert abs(seen.mean() - 10 * -0.8) < 6 * 2 * math.sqrt(10 * 0.24 / n)


@pytest.mark.parametrize(
    ("environment", "law"),
    [
        (Pareto((0.9, 0.5), 2.5), stats.pareto(2.5, scale=0.9 * 1.5 / 2.5)),
        (StudentT((0.9, 0.5), 3.0, 2.0), stats.t(3.0, loc=0.9, scale=2.0)),
    ],
)
def test_heavy_tails_have_their_law(environment, law):
    x = environment.draw(np.random.default_rng(0), 0, 50_000)
    assert stats.kstest(x, law.cdf).pvalue > 1e-3
    assert stats.kstest(x * 1.05, law.cdf).pvalue < 1e-3
    assert law.mean() == pytest.approx(0.9)
    assert environment.gaps.tolist() == pytest.approx([0.0, 0.4])


@pytest.mark.parametrize(
    ("kind", "values"), [("point", {9.0}), ("symmetric", {-9.0, 9.0}), ("adversarial", {-9.0})]
)
def test_contamination(kind, values):
    x = Huber(StudentT((0.9, 0.5), 30.0), 0.1, kind, 9.0).draw(np.random.default_rng(0), 0, 20_000)
    outliers = x[np.isin(x, [-9.0, 9.0])]
    assert set(outliers) == values
    assert abs(len(outliers) / 20_000 - 0.1) < 6 * math.sqrt(0.09 / 20_000)


@pytest.mark.parametrize(
    ("make_it", "name"),
    [
        (lambda: Pareto((0.0, 1.0), 2.0), "means"),
        (lambda: Pareto((1.0,), 1.0), "shape"),
        (lambda: StudentT((1.0,), 1.0), "df"),
        (lambda: StudentT((1.0,), 2.0, 0.0), "spread"),
        (lambda: Huber(Pareto((1.0,), 2.0), 0.5), "alpha"),
        (lambda: Huber(Pareto((1.0,), 2.0), 0.1, "sly"), "kind"),
        (lambda: Huber(Pareto((1.0,), 2.0), 0.1, size=-1.0), "size"),
        (lambda: s2("S4", 0.5), "setting"),
        (lambda: s2("S1", 0.0), "v"),
    ],
)
def test_bad_environments_are_refused(make_it, name):
    with pytest.raises(InputError, match=name):
        make_it()


def test_heavy_tailed_arms_are_told_apart():
    """With constants scaled down, on Pareto arms: pulls go to the best one, and say nothing of the proof."""
    env = Pareto((2.0, 0.4), 3.0)
    algorithm = make(
        "dp-robust-se",
        n_arms=2,
        epsilon=1.0,
        horizon=20_000,
        v=1.0,
        u=env.moment(2.0),
        beta=0.1,
        constants=0.1,
    )
    run = simulate(algorithm, env, runs=20, seed=0, points=2)
    assert (run.pulls[:, 0] > 15_000).all()


# ---------------------------------------------------------------- sums of reports


@pytest.mark.parametrize("count", [1, 3, 200])
def test_a_sum_of_reports_has_its_law(count):
    n = 20_000
    shape = (n, 1)
    one = np.zeros(shape, np.int64)
    where = np.ones(shape, bool)
    x = Seeded(1)(Draw(np.zeros(shape), np.full(shape, 2.0), np.arange(n), one, where, one + count))[:, 0]
    reference = np.random.default_rng(0).laplace(0, 2.0, (n, count)).sum(axis=1)
    assert stats.ks_2samp(x, reference).pvalue > 1e-3
    assert stats.ks_2samp(x * 1.1, reference).pvalue < 1e-3


def test_runs_of_the_local_algorithm_end_at_the_horizon():
    algorithm = small("ldp-robust-se")
    outcome = play(algorithm, Table(np.zeros((400, 2))), Seeded(0), np.arange(50))
    assert (outcome.pulls.sum(axis=1) == 400).all()


@pytest.mark.parametrize(("limit", "centre"), [(1e3, 0.0), (5.0, 1.0)])
def test_long_truncated_sums_have_their_mean(limit, centre):
    """Twenty million Pareto draws in blocks: within 6 standard errors, and not with a mean 1 % off."""
    n, shape = 20_000_000, 2.5
    env = Pareto((0.9,), shape)
    scale = 0.9 * (shape - 1) / shape
    ask = Truncated(np.full((1, 1), limit), np.full((1, 1), centre))
    zero = np.zeros(1, np.int64)
    query = Query(zero, zero + n, np.ones((1, 1), bool), np.ones(1, bool), ask)
    mean = float(env.data(0).answer(query, zero)[0, 0]) / n
    law = stats.pareto(shape, scale=scale)
    ends = (max(scale, centre - limit), centre + limit)
    expected, square = (law.expect(lambda x, p=p: (x - centre) ** p, lb=ends[0], ub=ends[1]) for p in (1, 2))
    error = math.sqrt((square - expected**2) / n)
    assert abs(mean - expected) < 6 * error
    assert abs(mean - expected * 1.01) > 6 * error


# LinUCB: regression and index against linear algebra, the compiled loop, parameters.


AXES = ((1.0, 0.0), (0.0, 1.0))


class Rounds:
    """Keeps the arms of one run."""

    def __init__(self):
        self.arms = []

    def block(self, position, query):
        self.arms.append(int(query.active[0].argmax()))


@pytest.mark.parametrize(("k", "d"), [(2, 1), (7, 3), (30, 5)])
@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_the_state_is_that_of_a_ridge_regression(k, d, ridge):
    algorithm = LinUCB(on_sphere(k, d, 0), 300, ridge=ridge, beta=0.05)
    actions = np.array(algorithm.actions)
    table = np.random.default_rng(1).uniform(-1, 1, (300, k))
    rounds = Rounds()
    final = play(algorithm, Table(table), Seeded(0), np.zeros(1, np.int64), watch=rounds).final
    played = actions[rounds.arms]
    paid = table[np.arange(300), rounds.arms]
    matrix = ridge * np.eye(d) + played.T @ played
    assert final.inverse[0] == pytest.approx(np.linalg.inv(matrix), rel=1e-8, abs=1e-12)
    assert final.moment[0] == pytest.approx(played.T @ paid)
    assert final.log_ratio[0] == pytest.approx(np.linalg.slogdet(matrix / ridge)[1])
    radius = math.sqrt(2 * math.log(1 / 0.05) + np.linalg.slogdet(matrix / ridge)[1]) + math.sqrt(ridge)
    assert algorithm.radius(final)[0] == pytest.approx(radius)
    theta = np.linalg.solve(matrix, played.T @ paid)
    norms = np.sqrt(np.einsum("ki,ij,kj->k", actions, np.linalg.inv(matrix), actions))
    assert final.norms[0] == pytest.approx(norms**2, rel=1e-8)
    assert algorithm.index(final)[0] == pytest.approx(actions @ theta + radius * norms)


def test_the_first_action_is_the_longest_and_ties_go_to_the_first():
    for actions, first in ((AXES, 0), (((0.5, 0.0), (0.0, 1.0), (1.0, 0.0)), 1)):
        algorithm = LinUCB(actions, 10)
        query = algorithm.query(algorithm.start(np.zeros(1, np.int64)))
        assert int(query.active[0].argmax()) == first


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_plays_the_definition(seed):
    """More actions and dimensions than in the contract."""
    algorithm = LinUCB(on_sphere(12, 4, seed), 400, ridge=0.5)
    means = np.array(algorithm.actions) @ np.array([0.5, -0.3, 0.2, 0.6])
    environment = TwoPoint(tuple(means), -1.0, 1.0)
    run = np.arange(6)
    pulls, at, _ = algorithm.kernel(environment, seed, run, np.array([1, 57, 400]))
    rewards = Pulled(environment, key_of(seed, (1,)), np.zeros((6, 12), np.int64))
    assert np.array_equal(pulls, play(algorithm, rewards, Seeded(seed, (0,)), run, keep=()).pulls)
    assert at.sum(axis=2).tolist() == [[1, 57, 400]] * 6


@pytest.mark.slow
def test_the_regret_grows_as_a_root_at_most():
    """Twelve actions on the circle: a hundred times the rounds cost less than ten times the regret."""
    actions = on_sphere(12, 2, 3)
    environment = TwoPoint(tuple(np.array(actions) @ np.array([0.6, 0.8])), -1, 1)
    short, long = (
        simulate(LinUCB(actions, t), environment, runs=20, seed=0, points=2).regret.mean()
        for t in (3000, 300_000)
    )
    assert long < 10 * short
    assert long < regret_bound(environment.gaps, LinUCB(actions, 300_000))


def test_the_ellipsoid_holds_theta_and_a_tenth_of_it_does_not():
    algorithm = LinUCB(on_sphere(10, 2, 0), 500, beta=0.1)
    assert outside(algorithm, 0, 200, 0).mean() <= 0.1

    class Tenth(LinUCB):
        def radius(self, state):
            return super().radius(state) / 10

    assert outside(Tenth(**algorithm.parameters), 0, 200, 0).mean() > 0.5


def test_parameters_survive_json():
    algorithm = LinUCB([[1, 0], [0, 1]], 100)
    assert LinUCB(**json.loads(json.dumps(algorithm.parameters))) == algorithm


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("actions", ((1.0, 0.0),)),
        ("actions", ((2.0, 0.0), (0.0, 1.0))),
        ("horizon", 1),
        ("ridge", 0.0),
        ("ridge", math.inf),
        ("ridge", None),
        ("beta", 1.0),
    ],
)
def test_a_bad_parameter_is_refused_in_one_line(field, value):
    with pytest.raises(InputError, match=field) as error:
        LinUCB(**{"actions": AXES, "horizon": 100, field: value})
    assert "\n" not in str(error.value)
