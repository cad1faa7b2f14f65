"""Mechanisms state their scale and cost, and replay confirms both.

Zeros by Brent's method, by which costs are found, are those of SciPy, to the last bit.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import verifiable_dp as vdp
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.api import rerun
from verifiable_dp.auditors.shuffled_linear import auditor, batches
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import (
    AboveThreshold,
    AdaptiveTree,
    Exact,
    Laplace,
    Tree,
    above_threshold,
    laplace,
    shuffle,
    wishart,
)
from verifiable_dp.core.mechanisms.tree import update_nodes
from verifiable_dp.core.mechanisms.wishart import (
    KINDS,
    WishartRelease,
    WishartTree,
    epsilon_of,
    least_freedom,
)
from verifiable_dp.core.noise import Draw, Secure, Seeded, altered
from verifiable_dp.core.roots import brentq
from verifiable_dp.core.symmetric import likelihood, matrix, outer, rows_of
from verifiable_dp.core.tapes import Recorder, Replayer
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise

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
    with pytest.raises(InputError, match="supports only Laplace noise"):
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


# Amplification by shuffling: the formula and its domain, bounds on delta against brute force, the rung.


DELTA_OF_SHUFFLE = 1e-6
AXES_OF_SHUFFLE = ((1.0, 0.0), (0.0, 1.0))


def counts(bits):
    """Law of the number of ones of independent bits."""
    law = np.array([1.0])
    for p in bits:
        law = np.convolve(law, [1 - p, p])
    return law


def divergence(left, right, epsilon):
    return float(np.maximum(left - math.exp(epsilon) * right, 0).sum())


def both_ways(left, right, epsilon):
    return max(divergence(left, right, epsilon), divergence(right, left, epsilon))


def response_by_hand(n, local, epsilon):
    """All inputs of the others."""
    p = 1 / (1 + math.exp(-local))
    found = []
    for ones in range(n):
        others = [p] * ones + [1 - p] * (n - 1 - ones)
        found.append(both_ways(counts([*others, p]), counts([*others, 1 - p]), epsilon))
    return max(found)


def clones_by_hand(n, local, epsilon):
    """The explicit pair of distributions over two counts, in both directions."""
    p, q = math.exp(local) / (1 + math.exp(local)), math.exp(-local)
    left, right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for c in range(n):
        for a in range(c + 1):
            chance = math.comb(n - 1, c) * q**c * (1 - q) ** (n - 1 - c) * math.comb(c, a) / 2**c
            for one in (0, 1):
                yes, no = (p, 1 - p) if one else (1 - p, p)
                left[a + one, c - a + 1 - one] += chance * yes
                right[a + one, c - a + 1 - one] += chance * no
    return both_ways(left, right, epsilon)


def exceeds(value, scale, threshold):
    """P[value + Lap(scale) > threshold]."""
    x = (threshold - value) / scale
    return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)


# ---------------------------------------------------------------- the formula


def test_the_formula_is_equation_10():
    n, local = 500, 1.3
    grown = math.exp(local)
    inner = 8 * math.sqrt(grown * math.log(4 / DELTA_OF_SHUFFLE)) / math.sqrt(n) + 8 * grown / n
    assert shuffle.formula(local, n, DELTA_OF_SHUFFLE) == pytest.approx(
        math.log(1 + (grown - 1) / (grown + 1) * inner)
    )


@given(st.floats(0.01, 8), st.integers(1, 10**6), st.floats(1e-12, 0.5))
@settings(max_examples=200, deadline=None)
def test_the_inverse_inverts(epsilon, n, delta):
    local = shuffle.formula_inverse(epsilon, n, delta)
    assert shuffle.formula(local, n, delta) == pytest.approx(epsilon, rel=1e-9)
    chosen = shuffle.local_epsilon(epsilon, n, delta)
    assert epsilon <= chosen <= max(epsilon, local)
    assert chosen == epsilon or chosen <= shuffle.domain(n, delta)
    if chosen > epsilon:
        assert shuffle.amplified(chosen, n, delta) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "first", "n", "delta"),
    [
        ("delta", 0.1, 1000, 0.0),
        ("delta", 0.1, 1000, 1.0),
        ("delta", 0.1, 1000, float("nan")),
        ("n must be at least 233", 0.1, 232, DELTA_OF_SHUFFLE),
        ("n", 0.1, 0, DELTA_OF_SHUFFLE),
        ("n", 0.1, 1000.5, DELTA_OF_SHUFFLE),
        ("local", 0.0, 1000, DELTA_OF_SHUFFLE),
        ("local", -1.0, 1000, DELTA_OF_SHUFFLE),
        ("local", float("inf"), 1000, DELTA_OF_SHUFFLE),
        ("local must lie in .0, 1.46", 5.0, 1000, DELTA_OF_SHUFFLE),
    ],
)
def test_outside_the_domain_it_is_refused_in_one_line(name, first, n, delta):
    with pytest.raises(InputError, match=name) as error:
        shuffle.amplified(first, n, delta)
    assert "\n" not in str(error.value)


def test_the_least_n_of_the_domain():
    assert shuffle.domain(233, DELTA_OF_SHUFFLE) > 0 > shuffle.domain(232, DELTA_OF_SHUFFLE)
    assert shuffle.amplified(shuffle.domain(233, DELTA_OF_SHUFFLE), 233, DELTA_OF_SHUFFLE) > 0


@pytest.mark.parametrize("n", [300, 1000, 10_000, 10**6])
@pytest.mark.parametrize("delta", [1e-8, 1e-6, 1e-3])
def test_the_formula_holds_on_its_domain(n, delta):
    """Theorem III.1 against the reduction that proves it."""
    limit = shuffle.domain(n, delta)
    assert (limit > 0) is ((n, delta) != (300, 1e-8))
    for local in np.linspace(0.05, 1, 6) * limit if limit > 0 else []:
        assert shuffle.clones_delta(n, local, shuffle.amplified(local, n, delta)) <= delta


@pytest.mark.parametrize(("n", "expected"), [(1000, 0.031), (100, 0.018)])
def test_the_formula_fails_outside_its_domain(n, expected):
    """Shuffled binary responses at f^-1(3): delta is four orders above 1e-6."""
    local = shuffle.formula_inverse(3.0, n, DELTA_OF_SHUFFLE)
    assert local > shuffle.domain(n, DELTA_OF_SHUFFLE)
    assert shuffle.response_delta(n, local, 3.0) == pytest.approx(expected, abs=5e-4)
    with pytest.raises(InputError, match=r"local|n must"):
        shuffle.amplified(local, n, DELTA_OF_SHUFFLE)


# ---------------------------------------------------------------- brute force


LOCALS = [0.2, 0.7, 1.5, 3.0, 5.0]
LEVELS = [0.0, 0.05, 0.3, 0.6, 1.0, 1.4, 2.5, 4.0]


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("local", LOCALS)
def test_counts_of_responses_are_exact(n, local):
    for epsilon in LEVELS:
        expected = response_by_hand(n, local, epsilon)
        assert shuffle.response_delta(n, local, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("local", LOCALS)
def test_clones_bound_from_above_by_a_millionth(n, local):
    for epsilon in LEVELS:
        expected = clones_by_hand(n, local, epsilon)
        bound = shuffle.clones_delta(n, local, epsilon)
        assert bound >= expected - 1e-15
        assert bound == pytest.approx(expected, rel=3e-6, abs=1e-13)
        assert bound >= shuffle.response_delta(n, local, epsilon) - 1e-15


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("threshold", [-1.0, -0.5, 0.0, 0.75, 1.0])
def test_counts_of_laplace_reports_are_exact(n, scale, threshold):
    one, zero = exceeds(1, scale, threshold), exceeds(-1, scale, threshold)
    left, right = counts([*[zero] * (n - 1), one]), counts([zero] * n)
    for epsilon in LEVELS:
        found = shuffle.laplace_delta(n, scale, epsilon, threshold)
        assert found == pytest.approx(both_ways(left, right, epsilon), rel=1e-9, abs=1e-13)
        assert found <= shuffle.clones_delta(n, 2 / scale, epsilon) + 1e-15


def test_a_threshold_of_zero_is_a_binary_response():
    """Right with probability 1 - exp(-eps0/2)/2."""
    local, n = 3.0, 200
    as_response = math.log(2 * math.exp(local / 2) - 1)
    for epsilon in (0.6, 1.0, 2.0):
        assert shuffle.laplace_delta(n, 2 / local, epsilon) == pytest.approx(
            max(
                shuffle.count_deltas(
                    n, shuffle.response(as_response), shuffle.response(as_response)[::-1], epsilon
                )
            )
        )


def test_one_report_is_not_amplified():
    """delta of the Laplace mechanism itself bounds what a threshold shows; at 1 the full ratio is seen."""
    local, epsilon = 3.0, 1.0
    whole = 1 - math.exp((epsilon - local) / 2)
    assert (
        shuffle.worst_threshold(1, 2 / local, epsilon)[0] <= whole <= shuffle.clones_delta(1, local, epsilon)
    )
    assert shuffle.laplace_delta(1, 2 / local, epsilon, 1.0) == pytest.approx(0.5 * (1 - math.exp(-2)))
    assert shuffle.laplace_delta(5, 0.0, epsilon) == 1.0


@given(st.integers(1, 400), st.floats(0.05, 6), st.floats(0.0, 5), st.floats(0.01, 2), st.integers(1, 50))
@settings(max_examples=150, deadline=None)
def test_bounds_are_monotone(n, local, epsilon, more, others):
    slack = 1 + 1e-5
    upper = shuffle.clones_delta(n, local, epsilon)
    lower = shuffle.worst_threshold(n, 2 / local, epsilon)[0]
    assert 0 <= lower <= upper * slack + 1e-15
    assert upper <= 1
    assert shuffle.clones_delta(n, local, epsilon + more) <= upper * slack + 1e-17
    assert shuffle.clones_delta(n, local + more, epsilon) * slack + 1e-17 >= upper
    assert shuffle.clones_delta(n + others, local, epsilon) <= upper * slack + 1e-17
    assert (
        shuffle.laplace_delta(n, 2 / local, epsilon + more)
        <= shuffle.laplace_delta(n, 2 / local, epsilon) + 1e-15
    )
    assert shuffle.clones_delta(n, local, local) == 0.0


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize(("local", "epsilon"), [(0.5, 0.1), (2.0, 0.3), (4.0, 1.0), (6.0, 2.0)])
def test_larger_counts_agree_with_sums_over_other_formulas(n, local, epsilon):
    """Survival functions in place of sums of terms; both lose digits elsewhere."""
    p, grown = 1 / (1 + math.exp(-local)), math.exp(epsilon)
    k = np.arange(n + 1)
    q_law = stats.binom.pmf(k, n, 1 - p)
    p_law = p * stats.binom.pmf(k - 1, n - 1, 1 - p) + (1 - p) * stats.binom.pmf(k, n - 1, 1 - p)
    alike = both_ways(p_law, q_law, epsilon)
    right, wrong = shuffle.response(local)
    found = max(shuffle.count_deltas(n, (right, wrong), (wrong, right), epsilon))
    assert found == pytest.approx(alike, rel=1e-6, abs=1e-12)
    total = 0.0
    for c, chance in enumerate(stats.binom.pmf(np.arange(n), n - 1, math.exp(-local))):
        if chance > 1e-25:
            a = np.arange(c + 2)
            one, two = stats.binom.pmf(a - 1, c, 0.5), stats.binom.pmf(a, c, 0.5)
            total += chance * np.maximum(p * one + (1 - p) * two - grown * ((1 - p) * one + p * two), 0).sum()
    bound = shuffle.clones_delta(n, local, epsilon)
    assert bound == pytest.approx(total, rel=1e-5, abs=1e-12)
    assert bound >= total - 1e-14


@pytest.mark.parametrize("n", [10**5, 10**6])
def test_a_million_reports(n):
    local, epsilon = 8.0, 0.1
    lower, exact = (
        shuffle.worst_threshold(n, 2 / local, epsilon)[0],
        shuffle.response_delta(n, local, epsilon),
    )
    assert 0 < lower < exact < shuffle.clones_delta(n, local, epsilon) < 1
    assert shuffle.clones_delta(n, 1.0, 0.5) <= 3e-18


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (shuffle.response_delta, (0, 1.0, 1.0), "n"),
        (shuffle.response_delta, (5, 0.0, 1.0), "local"),
        (shuffle.response_delta, (5, 1.0, -1.0), "epsilon"),
        (shuffle.clones_delta, (1.5, 1.0, 1.0), "n"),
        (shuffle.clones_delta, (5, float("inf"), 1.0), "local"),
        (shuffle.clones_delta, (5, 1.0, float("nan")), "epsilon"),
        (shuffle.laplace_delta, (5, -1.0, 1.0), "scale"),
        (shuffle.laplace_delta, (5, 1.0, 1.0, 2.0), "threshold"),
        (shuffle.laplace_delta, (10**9, 1.0, 1.0), "n"),
    ],
)
def test_bad_arguments_are_refused(call, arguments, name):
    with pytest.raises(InputError, match=name) as error:
        call(*arguments)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- the rung, against samples


def measured(n, scale, epsilon, event, runs, seed):
    """P[event] - e^epsilon Q[event] for the count of reports above 0, and its standard error."""
    rng = np.random.default_rng(seed)
    rewards = np.full((2, n), -1.0)
    rewards[0, 0] = 1.0
    shares = []
    for world in rewards:
        reports = world + rng.laplace(scale=scale, size=(runs, n))
        rng.permuted(reports, axis=1, out=reports)
        shares.append(float(event[(reports > 0).sum(axis=1)].mean()))
    p, q = shares
    error = math.sqrt((p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)) / runs)
    return p - math.exp(epsilon) * q, error


def test_samples_agree_with_the_exact_delta_and_not_with_that_of_other_noise():
    n, local, epsilon, runs = 6, 2.0, 0.5, 400_000
    scale = 2 / local
    one, zero = exceeds(1, scale, 0), exceeds(-1, scale, 0)
    left, right = counts([*[zero] * (n - 1), one]), counts([zero] * n)
    up, down = divergence(left, right, epsilon), divergence(right, left, epsilon)
    assert shuffle.laplace_delta(n, scale, epsilon) == pytest.approx(max(up, down))
    event = left > math.exp(epsilon) * right
    found, error = measured(n, scale, epsilon, event, runs, seed=0)
    assert abs(found - up) <= 6 * error  # false alarm 2e-9
    for factor in (0.7, 1.3):  # the control: noise that is off by three tenths
        found, error = measured(n, factor * scale, epsilon, event, runs, seed=1)
        assert abs(found - up) > 6 * error


def test_a_batch_is_read_off_the_algorithm():
    algorithm = ShuffledLinear(AXES_OF_SHUFFLE, 1.0, 60_000)
    found = batches(algorithm)
    assert [batch.number for batch in found] == sorted(batch.number for batch in found)
    for batch in found:
        assert batch.crowd == batch.clients >= algorithm.size(batch.number) - 1e-6
        assert batch.scale == pytest.approx(2 / shuffle.local_epsilon(1.0, batch.clients, DELTA_OF_SHUFFLE))
    halved = batches(AlteredNoise(algorithm, 0.5))
    assert [b.scale for b in halved] == pytest.approx([b.scale / 2 for b in found])
    assert {b.scale for b in batches(AlteredNoise(algorithm, 0.0))} == {0.0}
    assert found[-1].scale < 2  # amplified: less noise than epsilon alone needs


def test_batches_stop_at_the_horizon():
    algorithm = ShuffledLinear(AXES_OF_SHUFFLE, 1.0, 2990)
    assert sum(batch.clients for batch in batches(algorithm)) <= 2990
    assert max(batch.number for batch in batches(algorithm)) < algorithm.last_batch


def test_smaller_batches_are_looked_at_too():
    algorithm = ShuffledLinear(on_sphere(12, 4, 0), 1.0, 60_000)
    sizes = {}
    for batch in batches(algorithm):
        sizes.setdefault(batch.number, []).append(batch.clients)
    assert any(len(found) == 2 for found in sizes.values())
    for number, found in sizes.items():
        assert min(found) >= math.ceil(round(algorithm.size(number), 6))


@pytest.mark.parametrize(
    "epsilon", [1.0, 8.0, *(pytest.param(e, marks=pytest.mark.slow) for e in (0.1, 0.5, 2.0, 4.0))]
)
@pytest.mark.parametrize("delta", [1e-6, *(pytest.param(d, marks=pytest.mark.slow) for d in (1e-8, 1e-3))])
def test_the_corrected_noise_keeps_its_promise_and_half_of_it_does_not(epsilon, delta):
    algorithm = ShuffledLinear(AXES_OF_SHUFFLE, epsilon, 1_000_000, delta=delta)
    claim = algorithm.claim
    assert (claim.epsilon, claim.delta, claim.observe, claim.trust_model) == (
        epsilon,
        delta,
        "shuffled",
        "shuffle",
    )
    assert {c.verdict for c in auditor.exact(algorithm, claim)} == {"not_refuted"}
    assert "refuted" in {c.verdict for c in auditor.exact(AlteredNoise(algorithm, 0.5), claim)}


def test_between_the_bounds_nothing_is_decided():
    batch = exact_shuffle.ShuffledBatch(
        1, 1000, 1000, 2 / shuffle.formula_inverse(3.0, 1000, DELTA_OF_SHUFFLE)
    )
    found = exact_shuffle.check(batch, PrivacyClaim(3.0, DELTA_OF_SHUFFLE, observe="shuffled"), (-1.0, 1.0))
    assert found.verdict == "inconclusive"
    assert found.result["delta_lower"] < DELTA_OF_SHUFFLE < found.result["delta_upper"]
    wide = exact_shuffle.check(
        exact_shuffle.ShuffledBatch(1, 1000, 1000, batch.scale * 5),
        PrivacyClaim(3.0, DELTA_OF_SHUFFLE),
        (0.0, 10.0),
    )
    assert wide.result["local_epsilon"] == pytest.approx(found.result["local_epsilon"])


# ---------------------------------------------------------------- the audit


def audited(**changes):
    options = {key: changes.pop(key) for key in ("epsilon", "delta", "observe") if key in changes}
    algorithm = ShuffledLinear(**{**auditor.instance, **changes})
    return vdp.audit(algorithm, mutants=False, **options)


@pytest.mark.slow
def test_the_claims_own_delta_is_audited():
    report = audited()
    assert report.record["claim"]["delta"] == DELTA_OF_SHUFFLE
    assert report.verdict == "not_refuted"
    power = report.record["power"]
    assert power["by"] == "exact"
    assert (
        report.record["claim"]["epsilon"]
        < power["smallest_epsilon"]
        < 1.1 * report.record["claim"]["epsilon"]
    )


@pytest.mark.parametrize(
    ("claim", "verdicts"),
    [
        ({"epsilon": 3.0}, {"refuted"}),
        pytest.param({"delta": 0.0}, {"refuted", "inconclusive"}, marks=pytest.mark.slow),
    ],
)
def test_a_stronger_claim_is_refuted(claim, verdicts):
    assert audited(**claim).verdict in verdicts


def test_the_printed_listing_is_refuted_with_a_counterexample():
    report = audited(variant="printed")
    assert report.verdict == "refuted"
    first = report.record["counterexamples"][0]
    assert first["delta_lower"] > 1e4 * DELTA_OF_SHUFFLE
    assert first["pair"]["type"] == "stream"
    assert report.epsilon_lower > 4
    assert "delta at least" in report.summary()
    assert "Rung 2" in report.to_html()


@pytest.mark.slow
def test_a_record_verifies_and_comes_out_again(tmp_path):
    for variant in ("corrected", "printed"):
        path = audited(variant=variant).save(tmp_path, stem=variant)[0]
        assert verify(path, rerun=rerun).checks > 9


class Shared(ShuffledLinear):
    """All reports of the run have the noise of the first action."""

    def release(self, state, memory, query, answer, noise):
        return super().release(state, memory, query, answer, altered(noise, reslot=np.zeros_like))


def test_what_alignment_finds_is_not_passed_over(monkeypatch):
    """Shared noise does not show in a scale: the premise of the bounds fails, so nothing is decided."""
    monkeypatch.setattr(registry, "find", lambda algorithm: replace(auditor, algorithm=Shared))
    report = vdp.audit(Shared(**auditor.instance), mutants=False)
    assert report.record["checks"][0]["result"]["verdict"] == "inconclusive"
    assert report.verdict == "inconclusive"


@pytest.mark.parametrize("observe", ["actions", "releases", "reports"])
def test_only_shuffled_reports_are_what_the_claim_is_about(observe):
    with pytest.raises(InputError, match="observe must be 'shuffled'"):
        audited(observe=observe)
    with pytest.raises(InputError, match="observe must be 'actions' or 'releases'"):
        vdp.audit("dp-linear", observe="shuffled")


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, float("nan"), None])
def test_a_bad_delta_is_refused_in_one_line(delta):
    with pytest.raises(InputError, match="delta") as error:
        ShuffledLinear(AXES_OF_SHUFFLE, 1.0, 1000, delta=delta)
    assert "\n" not in str(error.value)


def test_the_printed_noise_and_the_corrected_one():
    clients = np.array([40, 0, 5000, 1_000_000])
    corrected, printed = (
        ShuffledLinear(AXES_OF_SHUFFLE, 1.0, 10**6, variant=v) for v in ("corrected", "printed")
    )
    for n, right, wrong in zip(
        clients.tolist(), corrected.scales(clients), printed.scales(clients), strict=True
    ):
        if n:
            assert right == pytest.approx(2 / shuffle.local_epsilon(1.0, n, DELTA_OF_SHUFFLE))
            assert wrong == pytest.approx(1 / shuffle.formula_inverse(1.0, n, DELTA_OF_SHUFFLE))
    assert corrected.scales(clients)[0] == 2.0  # too few to hide among
    assert corrected.scales(clients)[3] < 0.6


# Mechanisms of one draw or two: their scales, what they cost, and how their noise moves.


RUNS = np.arange(2)
SLOT = np.array([3, 4])
BOTH = np.array([True, True])


class Asked:
    """A source that adds a known number and keeps what it was asked for."""

    def __init__(self, added=0.0):
        self.added, self.draws = added, []

    def __call__(self, draw):
        self.draws.append(draw)
        return np.where(draw.where, draw.value + self.added, np.nan)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon", "scale"), [(1.0, 0.5, 2.0), (3.0, 1.5, 2.0), (0.5, 1.0, 0.5)]
)
def test_laplace_at_a_scale(sensitivity, epsilon, scale):
    mechanism, noise = laplace.Laplace(sensitivity, epsilon), Asked(0.25)
    where = np.array([[True, True], [True, False]])
    out = mechanism.release(np.ones((2, 2)), noise, RUNS, np.zeros((2, 2), int), where)
    [draw] = noise.draws
    assert (mechanism.scale, mechanism.cost()) == (scale, epsilon)
    assert draw.scale.tolist() == [[scale] * 2] * 2
    assert np.array_equal(out, [[1.25, 1.25], [1.25, math.nan]], equal_nan=True)


@pytest.mark.parametrize(("shift", "cost"), [(0.0, 0.0), (1.0, 0.5), (-1.0, 0.5), (-2.0, 1.0)])
def test_what_a_shift_costs(shift, cost):
    assert laplace.Laplace(1.0, 0.5).cost(shift) == cost


@pytest.mark.parametrize(("shift", "cost"), [(None, math.inf), (0.0, 0.0), (1e-9, math.inf)])
def test_exact_values_cost_everything(shift, cost):
    noise = Asked()
    out = laplace.Exact().release(np.ones((2, 1)), noise, RUNS, SLOT[:, None], BOTH[:, None])
    assert laplace.Exact().cost(shift) == cost
    assert (noise.draws[0].scale.tolist(), out.tolist()) == ([[0.0]] * 2, [[1.0]] * 2)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda x: laplace.Laplace(x, 1.0), "sensitivity"),
        (lambda x: laplace.Laplace(1.0, x), "epsilon"),
        (lambda x: above_threshold.AboveThreshold(x, 1.0, 1.0), "sensitivity"),
        (lambda x: above_threshold.AboveThreshold(1.0, x, 1.0), "threshold_scale"),
        (lambda x: above_threshold.AboveThreshold(1.0, 1.0, x), "query_scale"),
    ],
)
@pytest.mark.parametrize("wrong", [0.0, -1.0, math.inf, math.nan])
def test_numbers_that_are_refused(make, name, wrong):
    with pytest.raises(InputError, match=name):
        make(wrong)


RULE = above_threshold.AboveThreshold(0.5, 2.0, 4.0)


def test_the_cost_of_all_answers():
    assert RULE.cost() == 0.5 / 2 + 2 * 0.5 / 4


def test_the_noise_of_a_threshold():
    noise = Asked(7.0)
    assert RULE.threshold_noise(noise, RUNS, SLOT).tolist() == [7.0, 7.0]
    [draw] = noise.draws
    assert (draw.scale.tolist(), draw.slot.tolist()) == ([[2.0]] * 2, [[3], [4]])
    assert draw.where.all()
    assert draw.hidden.shift({}) == 0.5  # up by the sensitivity
    assert draw.hidden.outcome is None


@pytest.mark.parametrize(
    ("gap", "nu", "rho", "above"),
    [
        (0.0, 1.0, 1.0, 1.0),
        (0.0, 1.0, math.nextafter(1.0, 2), 0.0),
        (-1.0, 1.0, 0.0, 1.0),
        (-1.5, 1.0, 0.0, 0.0),
    ],
)
def test_an_answer(gap, nu, rho, above):
    noise = Asked(nu)
    where = np.array([True, False])
    found = RULE.answer(np.array([gap, gap]), np.array([rho, rho]), noise, RUNS, SLOT, where)
    assert np.array_equal(found, [above, math.nan], equal_nan=True)
    assert noise.draws[0].scale.tolist() == [[4.0]] * 2


@pytest.mark.parametrize(("output", "before", "shift"), [(1.0, 0.25, 0.5 + 0.25 - 1.0), (0.0, 0.25, 0.0)])
def test_the_noise_of_a_positive_answer_moves(output, before, shift):
    """By the sensitivity and the difference of the queries; that of a negative one stays."""
    noise = Asked()
    RULE.answer(np.array([1.0]), np.zeros(1), noise, RUNS[:1], SLOT[:1], BOTH[:1])
    shown = {"output": np.array([[output]]), "gap": np.array([[before]])}
    assert noise.draws[0].hidden.shift(shown).tolist() == [[shift]]


def test_rounding_is_allowed_for():
    noise = Asked()
    RULE.threshold_noise(noise, RUNS, SLOT)
    assert 0 < noise.draws[0].excess < 1e-5


# ---------------------------------------------------------------- zeros by Brent's method


_SHAPES = {
    "line": lambda x, zero: x - zero,
    "cube": lambda x, zero: (x - zero) ** 3,
    "flat": lambda x, zero: math.expm1(20 * (x - zero)),
    "steep": lambda x, zero: math.atan(1e4 * (x - zero)),
    "tiny": lambda x, zero: 1e-200 * math.sinh(x - zero),
    "step": lambda x, zero: 1.0 if x > zero else -1.0,
}


@pytest.mark.parametrize("shape", _SHAPES)
@given(
    zero=st.floats(-5, 5),
    low=st.floats(1e-6, 9),
    high=st.floats(1e-6, 9),
    tolerances=st.sampled_from([{}, {"xtol": 1e-13, "rtol": 1e-12}, {"xtol": 1e-3}]),
)
def test_zeros_are_those_of_scipy(shape, zero, low, high, tolerances):
    calls = []
    for solve in (brentq, optimize.brentq):
        seen = []

        def function(x, seen=seen):
            seen.append(x)
            return _SHAPES[shape](x, zero)

        try:
            found = solve(function, zero - low, zero + high, **tolerances)
        except RuntimeError:
            found = None
        calls.append((found, seen))
    assert calls[0] == calls[1]


def test_ends_of_one_sign_are_refused():
    with pytest.raises(ValueError, match=r"must have different signs, got 1\.0 and 4\.0"):
        brentq(lambda x: x * x, 1, 2)
    assert brentq(lambda x: x, 0, 1) == brentq(lambda x: x, -1, 0) == 0
