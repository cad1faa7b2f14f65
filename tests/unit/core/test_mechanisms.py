"""Mechanisms state their scale and cost, and replay confirms both."""

import math

import numpy as np
import pytest

from verifiable_dp.core.mechanisms import AboveThreshold, AdaptiveTree, Exact, Laplace, Tree
from verifiable_dp.core.mechanisms.tree import update_nodes
from verifiable_dp.core.noise import Seeded
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
