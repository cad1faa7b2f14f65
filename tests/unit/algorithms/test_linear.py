"""Linear bandits: design and net, formulas, horizons, privacy cost, and the leak of the printed listing."""

import itertools
import json
import math

import numpy as np
import pytest

from verifiable_dp import simulate
from verifiable_dp.algorithms import _linear, dp_linear, ldp_linear, linear_elimination
from verifiable_dp.algorithms._design import ball_net, coordinates, core_limit, design, net, spread
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditors._laplace import FACTOR, log_lemma_4, log_tail
from verifiable_dp.auditors._linear import CIRCLE
from verifiable_dp.auditors.dp_linear import laplace_tail, net_size, pairs, sets, width_failure
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table, TwoPoint
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import searching

AXES = ((1.0, 0.0), (0.0, 1.0))
LEAK = {"actions": AXES, "epsilon": 1.0, "horizon": 100}


def difference_tail(m):
    """P[Lap(1) - Lap(1) > m] for m >= 0."""
    return math.exp(-m) * (2 + m) / 4


# ---------------------------------------------------------------- design and net


def random_set(n, d, kind, seed):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, d))
    if kind == "stretched":
        a *= np.logspace(0, -4, d)
    elif kind == "heavy":
        a = a**3
    elif kind == "subspace" and d > 1:
        a = a[:, : d // 2] @ rng.standard_normal((d // 2, d))
    return a / np.linalg.norm(a, axis=1).max()


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("kind", ["round", "stretched", "heavy", "subspace"])
@pytest.mark.parametrize("core", [True, False])
def test_a_design_is_optimal_up_to_a_factor_two(d, kind, core):
    for seed, n in enumerate([d + 1, 3 * d, 40, 300]):
        actions = random_set(n, d, kind, seed)
        weights = design(actions, core=core)
        points = coordinates(actions)
        assert weights.sum() == pytest.approx(1)
        assert spread(points, weights).max() <= 2 * points.shape[1] + 1e-9
        assert points.shape[1] == (d // 2 if kind == "subspace" and d > 1 else d)
        if core:
            assert (weights > 0).sum() <= core_limit(d)
        else:
            assert (weights > 0).all()
        assert np.array_equal(weights, design(actions, core=core))


@pytest.mark.parametrize("d", range(2, 21))
@pytest.mark.parametrize("kind", ["round", "stretched", "heavy"])
def test_core_sets_are_small_at_all_sizes(d, kind):
    """At most 4 d log log d + 16 actions, and max |a|^2 at most 2 d, from K = d to K = 1000."""
    for seed, n in enumerate([d, 2 * d, 100, 1000]):
        actions = random_set(n, d, kind, seed)
        weights = design(actions)
        assert spread(coordinates(actions), weights).max() <= 2 * d + 1e-9
        assert d <= (weights > 0).sum() <= core_limit(d)


@pytest.mark.parametrize("d", [2, pytest.param(10, marks=pytest.mark.slow), 20])
@pytest.mark.parametrize("core", [True, False])
@pytest.mark.parametrize("kind", [DPLinear, LDPLinear, ShuffledLinear, LinearElimination])
def test_a_thousand_actions_and_ten_million_rounds(d, core, kind):
    """The largest experiment of the paper, with and without core set, and in more dimensions."""
    actions = on_sphere(1000, d, 0)
    environment = TwoPoint(tuple(np.array(actions) @ np.array(on_sphere(2, d, 1)[0])), -1, 1)
    private = {} if kind is LinearElimination else {"epsilon": 1.0}
    algorithm = kind(actions, horizon=10**7, core=core, **private)
    done = simulate(algorithm, environment, runs=2, seed=0, points=2)
    assert (done.pulls.sum(axis=1) == 10**7).all()
    assert (done.active.sum(axis=1) < 200).all()
    best = int(np.argmin(environment.gaps))
    assert done.active[:, best].all()
    played = (done.pulls > 0).sum(axis=1)
    assert (played > 900).all() if not core else (played < 400).all()


def test_a_design_of_degenerate_sets():
    assert design(np.zeros((3, 2))).tolist() == [1, 0, 0]
    assert design(np.array([[0.0, 0], [0.5, 0.5]])).tolist() == [0, 1]
    twins = design(np.array([[1.0, 0], [1, 0], [0, 1]]))
    assert (twins > 0).sum() == 2
    assert design(np.array([[1.0, 1e-6], [1, -1e-6], [0.5, 0]])).max() < 1


@pytest.mark.parametrize(("d", "zeta"), [(1, 0.1), (2, 0.1), (2, 0.3), (3, 0.2), (4, 0.5)])
def test_a_net_covers_the_ball(d, zeta):
    points = ball_net(d, zeta)
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((2000, d))
    ball *= (rng.random(2000) ** (1 / d) / np.linalg.norm(ball, axis=1))[:, None]
    ball[:1000] /= np.linalg.norm(ball[:1000], axis=1)[:, None]  # half of them on the sphere
    squares = np.sum(ball**2, axis=1)[:, None] - 2 * ball @ points.T + np.sum(points**2, axis=1)
    assert np.sqrt(np.maximum(squares.min(axis=1), 0)).max() <= zeta + 1e-9
    assert np.linalg.norm(points, axis=1).max() <= 1 + 1e-9
    assert len(points) <= net_size(d, zeta)  # Lemma 1
    assert np.linalg.matrix_rank(points) == d


def test_a_net_that_is_too_fine_is_refused():
    with pytest.raises(InputError, match="zeta"):
        ball_net(3, 1e-4)
    with pytest.raises(InputError, match="zeta"):
        ball_net(2, 1.5)
    assert (design(ball_net(2, 0.1)) > 0).sum() <= core_limit(2)


@pytest.mark.parametrize("zeta", [0.01, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_a_net_of_a_given_set(d, zeta):
    """Lemma 1: in the set, within zeta of all its points, small, and spanning."""
    given = list(sets(d, 3))
    assert len(given) == 3
    for name, points in given:
        chosen = list(net(points, zeta))
        assert len(set(chosen)) == len(chosen) <= min(net_size(d, zeta), len(points)), name
        near = np.linalg.norm(points[:, None] - points[None, chosen], axis=2).min(axis=1)
        assert near.max() <= zeta, name
        assert np.linalg.matrix_rank(points[chosen]) == d, name


def test_a_net_is_made_as_the_points_come():
    """Of an endless enumeration, holding no more than it has given."""
    circle = ((math.cos(x), math.sin(x)) for x in itertools.count())
    first = list(itertools.islice(net(circle, 0.5), 7))
    assert first == [0, 1, 2, 3, 4, 5, 12]
    assert next(net(circle, 1e-9)) == 0
    with pytest.raises(InputError, match="zeta"):
        next(net([(0.0, 1.0)], 0.0))


def test_the_first_batch_is_a_net_of_the_actions():
    """Line 2 of Algorithms 1 to 3: of two actions within 1/T of each other one is played."""
    twins = ((1.0, 0.0), (0.9999, 0.0), (0.0, 1.0), (0.0, 0.99))
    for kind in (DPLinear, LDPLinear, ShuffledLinear):
        assert kind(twins, 1.0, 1000).first.tolist() == [True, False, True, True]
        assert kind(twins, 1.0, 10**6).first.all()
    rule = DPLinear(((0.3, 0.0), (0.3, 0.01), (0.31, 0.0), (-1.0, 0.0)), 1.0, 9)
    assert rule.first.tolist() == [True, True, False, True]  # the second one for the span
    played = simulate(DPLinear(twins, 1.0, 1000), TwoPoint((0.5, 0.5, 0, 0), -1, 1), runs=3).pulls
    assert (played[:, 1] == 0).all()
    assert LinearElimination(twins, 1000).first.all()  # the baseline has no such line


# ---------------------------------------------------------------- formulas


def test_growth_and_batches():
    for horizon in (8, 100, 2990, 10**6, 10**7):
        assert math.e <= dp_linear.growth(horizon) <= math.e**2
        assert dp_linear.batches(horizon) == int(math.log(horizon)) - 1
    share = {
        t: sum(dp_linear.growth(t) ** i for i in range(1, dp_linear.batches(t) + 1)) / t
        for t in (10**6, 10**7)
    }
    assert share[10**6] == pytest.approx(0.46, abs=0.01)
    assert share[10**7] == pytest.approx(0.96, abs=0.01)


def test_width_is_the_printed_formula():
    q, d, size, core, eps, t = 20.0, 3, 7, 4, 0.5, 1000
    log = math.log(4 * size * t**2)
    printed = math.sqrt(4 * d / q * log) + (2 * core * d + 2 * d * log) / (eps * q)
    values = [dp_linear.width(q, d, size, core, scale=s / eps, horizon=t, beta=1 / t) for s in (1.0, 2.0)]
    assert values[0] == pytest.approx(printed)
    assert values[1] - math.sqrt(4 * d / q * log) == pytest.approx(2 * (printed - math.sqrt(4 * d / q * log)))


def test_local_width_is_the_printed_formula():
    algorithm = LDPLinear(AXES, 0.5, 1000, variant="printed")
    q, log = algorithm.size(2), math.log(4 * 2 * 1000**2)
    printed = math.sqrt(4 * 2 / q * log) + 2 * 2 / (q * 0.5) * math.sqrt((q + 2) * log)
    assert algorithm.width(2, 2, 2) == pytest.approx(printed)


def test_local_width_covers_sums_of_laplace_draws():
    """Where one draw dominates and where many are added, at exp(-5): 2 exp(-5) = .0135."""
    rng = np.random.default_rng(0)
    for n, pulls in ((1, 4.0), (50, 200.0)):
        each = math.sqrt(2 * 1 / pulls / n)  # Q = 2d/q^i in n equal parts
        noise = np.abs(each * rng.laplace(scale=2.0, size=(100_000, n)).sum(axis=1))
        private = ldp_linear.width(pulls, 1, 5.0, 1.0) - math.sqrt(4 * 5.0 / pulls)
        assert (noise > private).mean() < 2 * math.exp(-5)


def test_width_of_the_baseline_is_the_tail_of_its_pulls():
    n = linear_elimination.pulls(3, 2, 10, 0.1)
    assert math.sqrt(2 * (2 * 2 / n) * math.log(10 * 3 * 4 / 0.1)) == pytest.approx(2**-3)


def test_estimates_are_least_squares():
    algorithm = DPLinear(on_sphere(30, 4, 0), 1.0, 10_000)
    done = algorithm.plan(3, np.ones(30, bool))
    actions = np.array(algorithm.actions)
    theta = np.array([0.3, -0.2, 0.5, 0.1])
    sums = (done.counts * (actions @ theta))[None]
    assert algorithm.estimates(done, sums)[0] == pytest.approx(actions @ theta)
    assert (done.counts[done.core] >= 1).all()
    assert done.counts.sum() <= algorithm.size(3) + len(done.core)


def test_a_subspace_is_estimated_on_itself():
    actions = ((1.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.0, 0.0, 0.8), (0.0, 0.5, 0.0))
    algorithm = DPLinear(actions, 1.0, 1000)
    done = algorithm.plan(2, np.array([True, True, False, False]))
    assert algorithm.estimates(done, done.counts[None] * 0.4)[0] == pytest.approx([0.4, 0.2, 0.0, 0.0])


@pytest.mark.parametrize("horizon", [8, 9, 21, 55, 100, 149, 404, 1097, 2981, 2990, 3000, 8104, 22027])
@pytest.mark.parametrize("core", [True, False])
def test_the_horizon_is_never_exceeded(horizon, core):
    for kind in (
        DPLinear(on_sphere(12, 3, 1), 1.0, horizon, core=core),
        ShuffledLinear(on_sphere(12, 3, 1), 1.0, horizon, core=core),
        LinearElimination(on_sphere(12, 3, 1), horizon),
    ):
        done = simulate(kind, TwoPoint((0.0,) * 12, -1, 1), runs=5, seed=0)
        assert (done.pulls.sum(axis=1) == horizon).all()


def test_printed_batches_exceed_the_horizon_at_2990():
    q = dp_linear.growth(2990)
    assert sum(q**i for i in range(1, dp_linear.batches(2990) + 1)) > 2990


# ---------------------------------------------------------------- parameters


def test_parameters_survive_json():
    algorithm = DPLinear([[1, 0], [0, 1]], 1.0, 100)
    again = DPLinear(**json.loads(json.dumps(algorithm.parameters)))
    assert again == algorithm
    assert hash(again) == hash(algorithm)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("actions", ((1.0, 0.0),)),
        ("actions", ((1.0, 0.0), (0.0,))),
        ("actions", ((2.0, 0.0), (0.0, 1.0))),
        ("actions", ((0.0, 0.0), (0.0, 0.0))),
        ("actions", ((1.0, 0.0), (0.5, 0.0))),
        ("actions", ((math.nan, 0.0), (0.0, 1.0))),
        ("actions", "ab"),
        ("epsilon", 0.0),
        ("horizon", 7),
        ("beta", 1.0),
        ("variant", "other"),
        ("core", 1),
    ],
)
def test_a_bad_parameter_is_refused_in_one_line(field, value):
    with pytest.raises(InputError, match=field) as error:
        DPLinear(**{**LEAK, field: value})
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- privacy


@pytest.mark.parametrize(("variant", "factor"), [("corrected", 1), ("printed", 2)])
@pytest.mark.parametrize("epsilon", [0.3, *(pytest.param(e, marks=pytest.mark.slow) for e in (1.0, 4.0))])
@pytest.mark.parametrize("core", [True, False])
@pytest.mark.parametrize("kind", [DPLinear, LDPLinear])
def test_the_cost_is_epsilon_and_twice_that_as_printed(kind, variant, factor, epsilon, core):
    algorithm = kind(on_sphere(5, 2, 3), epsilon, 500, variant=variant, core=core)
    costs = [searching.examine(algorithm, pair, seed=0).cost for pair in pairs(algorithm)]
    assert costs == [pytest.approx(factor * epsilon)] * len(costs)
    assert costs


def final_share(variant, world, runs=200_000):
    """How often e1 plays on, with e2 ahead by 4 or by 2 in the last batch."""
    algorithm = DPLinear(**LEAK, variant=variant)
    table = pairs(algorithm)[1].worlds()[world]
    outcome = play(algorithm, Table(table), Seeded(5, (world,)), np.arange(runs), keep=())
    assert outcome.final.active.all()
    return float((outcome.final.leader == 0).mean())


def test_the_leak_of_the_printed_listing():
    """One reward changes P[final action = e1] from .0275 to .1354, by e^1.595 > e^1."""
    pair = pairs(DPLinear(**LEAK, variant="printed"))[1]
    last = slice(pair.round, pair.round + 32)
    assert [w[last, 0][:16].sum() - w[last, 1][16:].sum() for w in pair.worlds()] == pytest.approx([-4, -2])
    exact = difference_tail(4), difference_tail(2)
    assert exact == pytest.approx((0.0275, 0.1354), abs=1e-4)
    assert math.log(exact[1] / exact[0]) == pytest.approx(1.595, abs=1e-3)
    measured = [final_share("printed", world) for world in (0, 1)]
    assert measured == pytest.approx(exact, rel=0.08)  # 6 standard errors
    assert math.log(measured[1] / measured[0]) > 1.3


def test_the_corrected_listing_does_not_leak_there():
    measured = [final_share("corrected", world) for world in (0, 1)]
    assert measured == pytest.approx((difference_tail(2), difference_tail(1)), rel=0.04)
    assert math.log(measured[1] / measured[0]) < 1


def test_exact_tails_of_laplace_sums():
    """Against simulation, the closed forms of one and two terms, and the median."""
    assert math.exp(log_tail(1, 3.0)) == pytest.approx(math.exp(-3) / 2)
    assert math.exp(log_tail(2, 3.0)) == pytest.approx((1 + 3 / 2) * math.exp(-3) / 2)
    assert math.exp(log_tail(50, 0.0)) == pytest.approx(0.5)
    rng = np.random.default_rng(0)
    above = sum(int((rng.laplace(size=(20_000, 100)).sum(axis=1) >= 40).sum()) for _ in range(10))
    exact = math.exp(log_tail(100, 40.0))
    assert abs(above - 200_000 * exact) < 6 * math.sqrt(200_000 * exact)  # 1e-8


def test_unequal_weights_make_the_tail_no_larger():
    """Weights 1, .7, .2 against three ones: peakedness."""
    runs = np.random.default_rng(1).laplace(size=(400_000, 3))
    above = int((runs @ np.array([1.0, 0.7, 0.2]) >= 4).sum())
    assert above / 400_000 + 6 * math.sqrt(above) / 400_000 < math.exp(log_tail(3, 4.0))


def lemma_4_ratio(factor, sizes=(1, 2, 3, 5, 10, 30, 100, 300, 1000)):
    """Largest P[sum >= t]/exp(-t^2/(factor n)) over n and t <= n."""
    points = [(n, n * x) for n in sizes for x in np.linspace(0.05, 1, 20)]
    return max(math.exp(log_tail(n, t) + t**2 / (factor * n)) for n, t in points)


def log_chernoff(n, t):
    """The least of -st - n log(1 - s^2), which is reached at s = (sqrt(n^2 + t^2) - n) / t."""
    s = t / (math.hypot(n, t) + n)
    return -s * t - n * math.log1p(-(s * s))


def test_lemma_4_over_n_and_t():
    """With 2, as printed, and with 4 it is exceeded; with 4.5 it holds, and Chernoff's bound is between."""
    assert lemma_4_ratio(FACTOR) < 0.5
    assert lemma_4_ratio(4.0) > 4e8
    assert lemma_4_ratio(2.0, (100,)) > 7
    assert math.exp(log_tail(200, 200.0) + 200**2 / 800) == pytest.approx(4.43, abs=0.01)
    for n in (1, 3, 30, 300):
        for x in (0.01, 0.3, 1.0, 1.001, 2.0, 20.0):
            tail, chernoff, lemma = (f(n, n * x) for f in (log_tail, log_chernoff, log_lemma_4))
            assert tail < chernoff <= lemma + 1e-12
    assert log_tail(16, 50.0) - (8 - 50) == pytest.approx(math.log(1.6818e6), abs=1e-3)  # second case
    assert laplace_tail(100, 40.0) == pytest.approx(math.exp(-1600 / 450))


def test_the_gamma_of_the_central_model_holds():
    """All failures together stay below beta for a million actions; with 2/3 of the noise they do not."""
    at = [(t, k, b) for t in (8, 100, 10**6, 10**9) for k in (2, 10, 10**6) for b in (1 / t, 0.1, 0.9)]
    assert max(width_failure(*point) / point[2] for point in at) < 0.9
    assert width_failure(10**6, 10, 1e-6, factor=2 / 3) > 1e-6
    assert width_failure(8, 10**9, 0.1) > 0.1  # what the bound does not cover
    # gamma is what was proved: sqrt(2cL) for samples and c (|C| + L) times the scale for noise, c = 2d/q.
    rule = DPLinear(CIRCLE, 0.5, 10**5, 0.1)
    norm, log = 4 / rule.size(3), math.log(4 * 10 * 10**5 / 0.1)
    assert rule.width(3, 10, 4) == pytest.approx(math.sqrt(2 * norm * log) + norm * (4 + log) * 2 / 0.5)


def test_a_shuffled_report_costs_its_own_epsilon():
    """The first batch is too small to be amplified; the last one is not."""
    algorithm = ShuffledLinear(on_sphere(5, 2, 3), 1.0, 60_000)
    first, last = pairs(algorithm)[0], pairs(algorithm)[1]
    assert searching.examine(algorithm, first, seed=0).cost == pytest.approx(1.0)
    assert searching.examine(algorithm, last, seed=0).cost > 3


def test_shuffling_is_between_the_local_and_the_central_model():
    """Mean regret at epsilon = .3, T = 1e6 on the instance of the paper: each model beats the next."""
    actions = on_sphere(10, 2, 0)
    environment = TwoPoint(tuple(np.array(actions) @ np.array([0.6, 0.8])), -1, 1)
    central, shuffled, local = (
        simulate(kind(actions, 0.3, 10**6), environment, runs=10, seed=1, points=2).regret.mean()
        for kind in (DPLinear, ShuffledLinear, LDPLinear)
    )
    assert central < shuffled < local


# ---------------------------------------------------------------- regret


def test_the_core_set_pays():
    """Many actions: with noise on each of them hardly anything is learned."""
    actions = on_sphere(200, 2, 0)
    environment = TwoPoint(tuple(np.array(actions) @ np.array([0.6, 0.8])), -1, 1)
    regret = {
        core: simulate(DPLinear(actions, 0.2, 100_000, core=core), environment, runs=10, seed=1).regret.mean()
        for core in (True, False)
    }
    assert regret[True] < 0.8 * regret[False]


def test_estimates_do_not_depend_on_the_last_digits_of_libraries(monkeypatch):
    """A pseudo-inverse of another machine: ties between estimates would be broken otherwise there.

    Negative control: without rounding the rows of the solver differ.
    """
    actions = on_sphere(12, 4, 0)
    asked = (actions, np.ones(12, bool).tobytes(), True, 50.0)
    here = _linear.plan.__wrapped__(*asked)
    rng, pinv = np.random.default_rng(0), np.linalg.pinv
    noisy = []

    def elsewhere(matrix, **options):
        found = pinv(matrix, **options)
        noisy.append(found * (1 + rng.integers(-4, 5, found.shape) * 2.0**-52))
        return noisy[-1]

    monkeypatch.setattr(np.linalg, "pinv", elsewhere)
    there = _linear.plan.__wrapped__(*asked)
    vectors = np.array(actions)[here.core]
    assert (vectors @ noisy[0] != here.solver).any()
    assert np.array_equal(here.solver, there.solver)
    assert np.allclose(here.solver, vectors @ noisy[0], rtol=1e-9)
    assert not _linear._rounded(np.zeros((1, 2))).any()
