"""Alignment as a property: right algorithms cost at most epsilon on any input, broken ones are found out."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiable_dp import make
from verifiable_dp.core.neighbours import StreamPair, TablePair, interactive, streams, tables
from verifiable_dp.evidence.alignment.replay import TOLERANCE, replay
from verifiable_dp.evidence.alignment.searching import examine, falsify
from verifiable_dp.evidence.check import judged
from verifiable_dp.registry import entries as registry

HYPOTHESIS = settings(max_examples=40, deadline=None, derandomize=True)
NOISE = st.tuples(st.integers(0, 10**6), st.sampled_from((0, 1, -1)), st.booleans())


@given(tables(n_arms=3, horizon=9000), NOISE, st.sampled_from([0.1, 1.0, 4.0]))
@HYPOTHESIS
def test_dp_se_costs_epsilon_or_nothing(pair, noise, epsilon):
    """A reward is in one mean of one epoch, or in none; the transcript's loss is at most its cost."""
    algorithm = make("dp-se", n_arms=3, epsilon=epsilon, horizon=9000, beta=0.5)
    seed, sign, turned = noise
    done = replay(algorithm, pair, seed=seed, sign=sign, turned=turned)
    moved = abs(pair.worlds()[0] - pair.worlds()[1]).max()
    assert done.cost[0] == pytest.approx(epsilon * moved, abs=1e-9) or done.cost[0] == 0
    assert abs(done.loss[0]) <= done.cost[0] + 1e-9
    assert not done.diverged


@given(st.integers(1, 64), st.data())
@HYPOTHESIS
def test_the_tree_costs_what_its_closed_form_says(leaves, data):
    algorithm = make("tree-sum", epsilon=1.0, horizon=leaves)
    pair = data.draw(streams(horizon=leaves, levels=2))
    seed, _, turned = data.draw(NOISE)
    cost = replay(algorithm, pair, seed=seed, sign=1, turned=turned).cost[0]
    assert cost == pytest.approx(algorithm.mechanism.cost(pair.round + 1), abs=1e-9)
    assert cost <= 1 + TOLERANCE


@pytest.mark.parametrize(
    "leaves", [256, 1000, *(pytest.param(x, marks=pytest.mark.slow) for x in (2**10, 2**12))]
)
def test_the_tree_uses_its_whole_budget(leaves):
    pair = StreamPair(np.zeros(leaves), 0, 1.0)
    assert examine(make("tree-sum", epsilon=1.0, horizon=leaves), pair, seed=0).cost == pytest.approx(
        1, abs=1e-9
    )


@given(st.data(), st.sampled_from(["dp-nas", "dp-exponential-nas", "dp-ucb"]))
@HYPOTHESIS
def test_rules_and_indices_cost_at_most_epsilon(data, name):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**{**auditor.instance, **auditor.small})
    strategy = streams if algorithm.n_arms == 1 else tables
    arms = {} if algorithm.n_arms == 1 else {"n_arms": algorithm.n_arms}
    pair = data.draw(strategy(horizon=algorithm.horizon, bounds=algorithm.bounds, **arms))
    seed, sign, turned = data.draw(NOISE)
    done = replay(algorithm, pair, seed=seed, sign=sign, turned=turned, runs=4)
    assert not done.diverged
    assert (done.cost <= algorithm.claim.epsilon * (1 + TOLERANCE)).all()


@given(interactive(n_arms=2, horizon=40), NOISE)
@HYPOTHESIS
def test_an_adaptive_adversary_gains_nothing(pair, noise):
    seed, sign, turned = noise
    algorithm = make("dp-ucb", n_arms=2, epsilon=1.0, horizon=40)
    done = replay(algorithm, pair, seed=seed, sign=sign, turned=turned)
    assert done.cost[0] <= 1 + TOLERANCE


def test_the_printed_tree_budget_is_refuted_by_an_example_that_fits_on_a_screen():
    broken = make("tree-sum", epsilon=1.0, horizon=16, budget="log")
    found = falsify(broken, 1.0, seed=0, examples=200, visible=True)
    assert found.loss > 1
    assert found.loss == pytest.approx(5 / np.log(16), abs=1e-9)
    text = json.dumps(found.worst)
    assert len(text) < 2000
    assert found.worst["pair"]["rows"] == [[16, [0.0]]]
    assert found.worst["pair"]["round"] == 0
    # The correct tree, searched alike, shows nothing.
    assert (
        falsify(make("tree-sum", epsilon=1.0, horizon=16), 1.0, seed=0, examples=200, visible=True).loss
        <= 1 + 1e-9
    )


def test_the_search_repeats_itself():
    broken = make("tree-sum", epsilon=1.0, horizon=8, budget="log2")
    assert falsify(broken, 1.0, seed=3, examples=50) == falsify(broken, 1.0, seed=3, examples=50)


@pytest.mark.parametrize(
    "name", [n for n in registry.names() if registry.auditor(n).reference_epsilon is not None]
)
def test_algorithms_without_noise_leave_the_path(name):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**auditor.instance)
    found = examine(algorithm, auditor.pairs(algorithm)[0], seed=0)
    assert found.cost == np.inf
    assert found.divergence


def test_shared_noise_is_found_whichever_arm_changes():
    """One draw for all arms of an epoch: the change of any arm's sum cannot be hidden."""
    auditor = registry.auditor("dp-se")
    shared = next(m for m in auditor.mutants if m.name == "one draw for all arms")
    algorithm = make("dp-se", n_arms=3, epsilon=1.0, horizon=3000, beta=0.5)
    for arm in range(3):
        pair = TablePair(np.full((3000, 3), 0.5), arm, arm, 1.0)
        assert examine(shared.make(algorithm), pair, seed=0).cost == np.inf
        assert examine(algorithm, pair, seed=0).cost == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("visible", "cost", "loss", "verdict"),
    [
        (True, 1.0, 1.0, "not_refuted"),
        (True, 1.0, 1.0 + 1e-12, "not_refuted"),
        (True, 2.0, 1.5, "refuted"),
        (True, 2.0, 0.5, "inconclusive"),
        (True, "inf", "inf", "refuted"),
        (False, 1.0, 1.0, "not_refuted"),
        (False, 3.0, 3.0, "inconclusive"),
        (False, "inf", "inf", "inconclusive"),
    ],
)
def test_what_a_cost_means(visible, cost, loss, verdict):
    """A cost above epsilon refutes only where the adversary sees what it was paid for."""
    numbers = {
        "epsilon": 1.0,
        "visible": visible,
        "examined": 1,
        "max_cost": cost,
        "max_loss": loss,
        "divergence": "",
    }
    assert judged("alignment", numbers)["verdict"] == verdict
