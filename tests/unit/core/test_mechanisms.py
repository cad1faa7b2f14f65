"""Mechanisms state their scale and cost, and replay confirms both."""

import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core.mechanisms import AboveThreshold, AdaptiveTree, Exact, Laplace, Tree, wishart
from verifiable_dp.core.mechanisms.tree import update_nodes
from verifiable_dp.core.mechanisms.wishart import (
    KINDS,
    WishartRelease,
    WishartTree,
    epsilon_of,
    least_freedom,
)
from verifiable_dp.core.noise import Draw, Secure, Seeded
from verifiable_dp.core.symmetric import likelihood, matrix, outer, rows_of
from verifiable_dp.core.tapes import Recorder, Replayer
from verifiable_dp.core.validate import InputError

RUN = np.zeros(1, np.int64)
ONE = np.ones((1, 1), bool)
SIZES = [2**i for i in range(10, 21)] + [10**6, 2**20 - 1]


def prefix_sums(tree, items, noise):
    """Noisy prefix sums of one stream, as an algorithm would keep them."""
    memory, nodes, sums = tree.start(1, 1), np.zeros((1, tree.levels)), []
    for number, item in enumerate(items, start=1):
        memory, released = tree.insert(memory, np.array([[item]]), noise, RUN, ONE)
        nodes = update_nodes(nodes, np.array([number]), released[:, 0])
        sums.append(nodes.sum())
    return np.array(sums)


def test_laplace():
    mechanism = Laplace(2.0, 0.5)
    assert mechanism.scale == 4.0
    assert mechanism.cost() == 0.5
    assert mechanism.cost(-1.0) == 0.25
    assert Exact().cost(0) == 0.0
    assert Exact().cost(1e-9) == math.inf


@pytest.mark.parametrize("leaves", SIZES)
def test_the_first_item_enters_every_level(leaves):
    tree = Tree(leaves, 1.0)
    assert tree.levels == math.floor(math.log2(leaves)) + 1
    assert tree.nodes_of(1) == tree.levels
    assert tree.cost() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("leaves", SIZES)
@pytest.mark.parametrize("budget", ["log", "log2"])
def test_the_printed_budgets_overspend_by_a_known_factor(leaves, budget):
    tree = Tree(leaves, 1.0, budget=budget)
    factor = (math.floor(math.log2(leaves)) + 1) / {"log": math.log, "log2": math.log2}[budget](leaves)
    assert tree.cost() == pytest.approx(factor, abs=1e-9)
    assert tree.cost() > 1


@pytest.mark.parametrize("leaves", [1, 2, 5, 8, 13, 64, 100])
def test_nodes_are_counted_as_they_are_released(leaves):
    """Change one item: as many released nodes move as `nodes_of` says."""
    tree = Tree(leaves, 1.0)
    assert leaves > 0
    for item in range(1, leaves + 1):
        recorder = Recorder(Seeded(0))
        stream = np.zeros(leaves)
        prefix_sums(tree, stream, recorder)
        replayer = Replayer(recorder.tape(), 1)
        stream[item - 1] = 1.0
        prefix_sums(tree, stream, replayer)
        replayer.finish()
        assert replayer.cost[0] == pytest.approx(tree.cost(item), abs=1e-9)
        assert tree.cost(item) <= tree.cost(1) + 1e-12


def test_without_noise_the_tree_sums_exactly():
    rng = np.random.default_rng(0)
    items = rng.random(37)

    assert np.allclose(prefix_sums(Tree(37, 1.0), items, lambda draw: draw.value), np.cumsum(items))


def test_the_error_of_a_prefix_has_the_variance_of_its_set_bits():
    """Noise of the sum after i items: popcount(i) nodes of variance 2 b^2; 4000 seeds, 7 items."""
    tree, runs = Tree(7, 1.0), 4000
    memory, nodes = tree.start(runs, 1), np.zeros((runs, tree.levels))
    run, where = np.arange(runs), np.ones((runs, 1), bool)
    for number in range(1, 8):
        memory, released = tree.insert(memory, np.zeros((runs, 1)), Seeded(5), run, where)
        nodes = update_nodes(nodes, np.full(runs, number), released[:, 0])
        expected = 2 * tree.scale**2 * number.bit_count()
        # The variance of a sample variance of Laplace sums is at most 5 expected^2 / runs; 6 deviations.
        assert abs(nodes.sum(axis=1).var() / expected - 1) < 6 * math.sqrt(5 / runs)


@pytest.mark.parametrize("move", [-1.0, 0.0, 0.5, 1.0])
def test_above_threshold_pays_at_most_its_cost(move):
    """Queries that all move by up to the sensitivity: the declared shift reproduces the answers."""
    mechanism = AboveThreshold(1.0, 2.0, 4.0)
    runs, asked = 300, 12
    run = np.arange(runs)
    gaps = np.random.default_rng(1).normal(-2, 2, (asked, runs))

    def answers(noise, shift):
        rho = mechanism.threshold_noise(noise, run, np.zeros(runs, np.int64))
        on = np.ones(runs, bool)
        for i in range(asked):
            slot = np.full(runs, i + 1)
            above = mechanism.answer(gaps[i] + shift, rho, noise, run, slot, on)
            on &= ~(above > 0)

    recorder = Recorder(Seeded(2))
    answers(recorder, 0.0)
    replayer = Replayer(recorder.tape(), runs)
    answers(replayer, move)
    replayer.finish()
    assert not replayer.diverged
    assert (replayer.cost <= mechanism.cost() + 1e-9).all()


def test_above_threshold_does_not_cover_a_larger_move():
    """Negative control: a move of twice the sensitivity breaks the alignment somewhere."""
    mechanism = AboveThreshold(1.0, 2.0, 4.0)
    runs = 2000
    run, slot = np.arange(runs), np.ones(runs, np.int64)

    def answer(noise, gap):
        rho = mechanism.threshold_noise(noise, run, np.zeros(runs, np.int64))
        mechanism.answer(np.full(runs, gap), rho, noise, run, slot, np.ones(runs, bool))

    recorder = Recorder(Seeded(2))
    answer(recorder, 0.0)
    replayer = Replayer(recorder.tape(), runs)
    answer(replayer, 2.0)
    assert replayer.diverged


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Laplace(0.0, 1.0), "sensitivity"),
        (lambda: Laplace(1.0, float("inf")), "epsilon"),
        (lambda: Laplace(1.0, float("nan")), "epsilon"),
        (lambda: Tree(0, 1.0), "leaves"),
        (lambda: Tree(1, 1.0, budget="log"), "leaves"),
        (lambda: Tree(8, -1.0), "epsilon"),
        (lambda: Tree(8, 1.0, budget="ln"), "budget"),
        (lambda: Tree(1 << 40, 1.0), "leaves"),
        (lambda: AboveThreshold(1.0, 0.0, 1.0), "threshold_scale"),
        (lambda: AboveThreshold(1.0, 1.0, -1.0), "query_scale"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(make, name):
    with pytest.raises(InputError, match=name) as raised:
        make()
    assert "\n" not in str(raised.value)


# ---------------------------------------------------------------- what a tree costs


def test_known_factors_of_the_printed_tree():
    for leaves, budget, factor in (
        (1 << 20, "log", 1.515),
        (10**6, "log", 1.448),
        (1 << 20, "log2", 1.05),
        ((1 << 20) - 1, "log2", 1.0),
    ):
        assert Tree(leaves, 1.0, budget=budget).cost() == pytest.approx(factor, abs=6e-4)


@pytest.mark.parametrize("power", [0.5, 2 / 3])
@pytest.mark.parametrize("leaves", [64, 100, 1023])
def test_the_cost_of_an_adaptive_tree_is_a_sum_over_its_blocks(power, leaves):
    tree = AdaptiveTree(leaves, 1.0, factor=3.0, power=power)
    end = np.arange(1, leaves + 1)
    for item in (1, leaves // 2 + 1, leaves, tree.worst()):
        holds = (end - (end & -end) < item) & (item <= end)
        by_hand = float((item**power / end[holds] ** power).sum()) / tree.divisor
        assert tree.cost(item) == pytest.approx(by_hand, abs=1e-12)
        assert tree.cost(item) <= tree.cost(tree.worst()) + 1e-12


# Wishart noise: its draws, the law of what it hides, and the degrees of freedom that a promise takes. All
# samples are seeded. The negative controls are laws of other degrees of freedom, and changes that one item
# cannot make.


SIZE, FREEDOM, CHANGE, TIMES, DELTA = 3, 40, 3.0, 2, 0.05
RELEASES = (WishartRelease(CHANGE, FREEDOM, SIZE, TIMES),)
AXES = np.eye(SIZE)
CHANGES = {
    "add": -CHANGE * np.outer(AXES[0], AXES[0]),
    "remove": CHANGE * np.outer(AXES[0], AXES[0]),
    "replace": CHANGE * (np.outer(AXES[0], AXES[0]) - np.outer(AXES[1], AXES[1])),
}
N = 20_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("freedom", [200, 2000])
def test_the_deviation_of_a_loss_is_about_what_its_law_says(kind, freedom):
    """The grid of losses follows from it: too small, and mass lies beyond its ends."""
    release = WishartRelease(CHANGE, freedom, SIZE, 1)
    levels = np.linspace(-2, 2, 4001)
    share = wishart._LAWS[kind](release)(levels)[0]  # above each level
    masses, middle = -np.diff(share), (levels[1:] + levels[:-1]) / 2
    mean = masses @ middle
    assert wishart._deviation(release, kind) == pytest.approx(np.sqrt(masses @ (middle - mean) ** 2), rel=0.1)


def entries(matrices):
    rows, columns = np.triu_indices(matrices.shape[-1])
    return matrices[..., rows, columns] * np.where(rows == columns, 1.0, 2**0.5)


def drawn(n, freedom=FREEDOM, scale=1.0, seed=3):
    """Noise of the door alone, (n, p, p)."""
    m = SIZE * (SIZE + 1) // 2
    value, slot = np.zeros((n, m)), np.broadcast_to(np.arange(m), (n, m))
    where, run = np.ones((n, m), bool), np.arange(n)
    draw = Draw(value, np.full((n, m), scale), run, slot, where, freedom=freedom)
    return matrix(Seeded(seed)(draw), SIZE)


def exceeded(change, epsilon, freedom=FREEDOM, times=TIMES, n=N):
    """Delta at epsilon of releases whose exact matrices are `change` and 0, and its standard error."""
    rng, loss = np.random.default_rng(5), np.zeros(n)
    for _ in range(times):
        noise = stats.wishart.rvs(freedom, np.eye(SIZE), size=n, random_state=rng)
        here = np.broadcast_to(entries(change), (n, 6))
        output = here + entries(noise - freedom * np.eye(SIZE))
        loss += likelihood(output, here, np.zeros((n, 6)), np.ones(n), freedom)[0]
    part = np.maximum(0.0, -np.expm1(epsilon - loss))
    return part.mean(), part.std() / math.sqrt(n)


def test_draws_have_the_law_of_wishart_matrices_less_their_mean():
    noise = drawn(20_000) + FREEDOM * np.eye(SIZE)
    assert np.linalg.eigvalsh(noise).min() > 0
    z = np.array([0.6, 0.0, 0.8])
    complement = 1 / np.einsum("i,nij,j->n", z, np.linalg.inv(noise), z)
    corner = noise[:, 0, 1] / np.sqrt(noise[:, 0, 0] * noise[:, 1, 1])
    half = (FREEDOM - 1) / 2
    for value, law, other in (
        (np.trace(noise, axis1=1, axis2=2), stats.chi2(SIZE * FREEDOM), stats.chi2(SIZE * FREEDOM + 1)),
        (complement, stats.chi2(FREEDOM - SIZE + 1), stats.chi2(FREEDOM - SIZE + 2)),
        ((1 + corner) / 2, stats.beta(half, half), stats.beta(1.3 * half, 1.3 * half)),
    ):
        assert stats.kstest(value, law.cdf).pvalue > 1e-9
        assert stats.kstest(value, other.cdf).pvalue < 1e-9
    assert np.allclose(drawn(5, scale=0.5), 0.5 * drawn(5))


def test_vectors_of_entries_say_how_many_rows_there_are():
    for size in range(1, 9):
        assert rows_of(outer(np.ones((1, size))).shape[1]) == size


def test_secure_samplers_have_no_such_noise():
    one = np.ones((1, 1))
    draw = Draw(one, one, np.zeros(1, np.int64), np.zeros((1, 1), np.int64), one > 0, freedom=3)
    with pytest.raises(InputError, match="Laplace noise only"):
        object.__new__(Secure)(draw)  # OpenDP is not needed to say so


@pytest.mark.parametrize("kind", KINDS)
def test_the_law_of_the_loss_is_that_of_sampled_matrices(kind):
    epsilon = epsilon_of(RELEASES, DELTA, (kind,))
    found, error = exceeded(CHANGES[kind], epsilon)
    assert abs(found - DELTA) < 6 * error
    other = epsilon_of((WishartRelease(CHANGE, FREEDOM + 8, SIZE, TIMES),), DELTA, (kind,))
    found, error = exceeded(CHANGES[kind], other)
    assert found - DELTA > 6 * error


def test_no_change_that_one_replaced_item_makes_costs_more():
    rng, epsilon = np.random.default_rng(0), epsilon_of(RELEASES, DELTA)
    most = math.sqrt(CHANGE)
    for _ in range(8):
        lengths = most * rng.choice([0.3, 0.8, 1.0], 2)
        z, y = (v / np.linalg.norm(v) * x for v, x in zip(rng.standard_normal((2, 3)), lengths, strict=True))
        found, error = exceeded(np.outer(z, z) - np.outer(y, y), epsilon, n=5000)
        assert found - DELTA < 6 * error
    found, error = exceeded(1.3 * CHANGES["replace"], epsilon)
    assert found - DELTA > 6 * error


def test_rounding_up_bounds_from_above_and_rounding_down_from_below():
    assert len(KINDS) == 3
    for kind in KINDS:
        every = (wishart.COARSE, wishart.FINE, 2 * wishart.FINE)
        coarse, fine, finest = (epsilon_of(RELEASES, DELTA, (kind,), cells=cells) for cells in every)
        least = epsilon_of(RELEASES, DELTA, (kind,), least=True)
        assert 0.97 * finest < least < finest * (1 + 1e-12)
        assert finest <= fine <= coarse < 1.001 * finest


def test_releases_of_other_noise_add_up():
    whole = epsilon_of(RELEASES, DELTA)
    split = (WishartRelease(CHANGE, FREEDOM, SIZE), WishartRelease(CHANGE, FREEDOM, SIZE))
    assert epsilon_of(split, DELTA) == pytest.approx(whole, rel=1e-6)
    assert epsilon_of((*RELEASES, WishartRelease(0.0, FREEDOM, SIZE)), DELTA) == whole
    assert epsilon_of((*RELEASES, WishartRelease(0.5, FREEDOM, SIZE)), DELTA) > whole
    assert epsilon_of((), DELTA) == 0


def test_without_noise_or_freedom_there_is_no_bound():
    assert epsilon_of((WishartRelease(math.inf, FREEDOM, SIZE),), DELTA) == math.inf
    assert epsilon_of((WishartRelease(1.0, SIZE + 1, SIZE),), DELTA) == math.inf
    # The support tells of a change that the noise cannot reach.
    assert epsilon_of((WishartRelease(1000.0, FREEDOM, SIZE),), DELTA) == math.inf


def test_the_degrees_of_freedom_are_the_least_that_keep_the_promise():
    for epsilon, delta, times in ((1.0, 1e-3, 4), (2.0, 0.01, 2)):
        k = least_freedom(epsilon, delta, CHANGE, SIZE, times)
        cost = [epsilon_of((WishartRelease(CHANGE, each, SIZE, times),), delta) for each in (k, k - 1)]
        assert cost[0] <= epsilon < cost[1] * (1 + 1e-3)
    public = SIZE + math.ceil(224 * 7 * math.log(8 * 7 / 1e-3) * math.log(2 / 1e-3))
    assert public > 500 * least_freedom(1.0, 1e-3, 2.0, SIZE, 7)


@pytest.mark.parametrize(("field", "value"), [("size", 0), ("freedom", 2), ("freedom", 3.5), ("unit", 0.0)])
def test_a_tree_refuses_what_is_out_of_range(field, value):
    with pytest.raises(InputError, match=field):
        WishartTree(**{"leaves": 8, "size": 3, "freedom": 9, field: value})
