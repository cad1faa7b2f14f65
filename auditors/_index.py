"""What the auditors of the index family share: neighbours in the first round, errors of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.algorithms._index import PrefixSums, TreeIndex, TreeState
from verifiable_dp.auditors._first_neighbours import first_round
from verifiable_dp.core.algorithm import Algorithm, Batch, Memory, Query, play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms.tree import SLOT_BITS, AdaptiveTree, Tree, update_nodes
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.noise import Draw, Noise, Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.mutants import noise_times, shared
from verifiable_dp.registry.theorems import TRIALS, TheoremTrial
from verifiable_dp.registry.wrapped import Listed, with_parameters


def first_rewards(algorithm: Algorithm) -> list[TablePair]:
    """The first reward of arm 0, 0 against 1, in tables of zeros, halves, ones, one good arm, alternation.

    Being first, it enters every sum of its arm, and in a tree the most nodes.
    """
    shape = (algorithm.horizon, algorithm.n_arms)
    favoured = np.zeros(shape)
    favoured[:, 0] = 1.0
    alternating = np.zeros(shape)
    alternating[::2] = 1.0
    return [
        first_round(table)
        for table in (
            np.full(shape, 0.5),
            favoured,
            np.zeros(shape),
            np.ones(shape),
            1 - favoured,
            alternating,
        )
    ]


def worst_cost(algorithm: TreeIndex | PrefixSums) -> float:
    """Privacy loss of the costliest item of one arm, pulled as often as the other arms' first pulls allow."""
    tree, items = algorithm.mechanism, algorithm.horizon - algorithm.n_arms + 1
    if isinstance(tree, AdaptiveTree):
        return float(tree.cost(tree.worst(items), items))
    # The first item is the worst: it enters the nodes 1, 2, 4, ... up to the number of items.
    return float(items.bit_length() * tree.sensitivity / tree.scale)


def largest_tree_error(algorithm: Algorithm, runs: int, seed: int) -> FloatArray:
    """Largest error of any released prefix sum of any arm, by run (n,), where all rewards are 0."""
    data = Table(np.zeros((algorithm.horizon, algorithm.n_arms)))
    done = play(algorithm, data, Seeded(seed), np.arange(runs))
    k, rows = algorithm.n_arms, np.arange(runs)
    nodes = np.zeros((runs, k, algorithm.horizon.bit_length()))
    pulls = np.zeros((runs, k), np.int64)
    worst = np.zeros(runs)
    arms = np.log2(done.actions).round().astype(np.int64)  # one bit is set
    released = done.released.reshape(runs, algorithm.horizon, k)
    for t in range(algorithm.horizon):
        arm = arms[:, t]
        pulls[rows, arm] += 1
        fresh = update_nodes(nodes[rows, arm], pulls[rows, arm], released[rows, t, arm])
        nodes[rows, arm] = fresh
        worst = np.maximum(worst, np.abs(fresh.sum(axis=1)))
    return worst


@dataclass(frozen=True)
class Sums(Batch):
    """Private side of an algorithm that keeps whole sums: (n, K)."""

    sums: FloatArray


class Redrawn(TreeIndex):
    """Mixed in: the whole sum of an arm is released at each pull, with the noise of one node."""

    def private(self, run: IntArray) -> Sums:  # type: ignore[override]
        """Nothing yet."""
        return Sums(np.zeros((len(run), self.n_arms)))

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sum so far plus fresh noise."""
        sums = memory.sums + answer
        number = state.pulls + query.active
        slot = (np.arange(self.n_arms, dtype=np.int64) << SLOT_BITS) | number
        return Sums(sums), noise(Draw(sums, self.mechanism.scales(number), state.run, slot, query.active))

    def estimates(self, state: TreeState, query: Query, released: FloatArray) -> TreeState:
        """The release is the estimate."""
        return replace(state, estimate=np.where(query.active, np.nan_to_num(released), state.estimate))


class RedrawnSum:
    """Mixed into a tree sum: the whole prefix sum is released each time, with the noise of one node."""

    mechanism: Tree

    def private(self, run: IntArray) -> Sums:
        """Nothing yet."""
        return Sums(np.zeros((len(run), 1)))

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sum so far plus fresh noise."""
        sums, slot = memory.sums + answer, (state.t + 1)[:, None]
        scale = self.mechanism.scales(slot)
        return Sums(sums), noise(Draw(sums, scale, state.run, slot, query.active))


# Slots of a tree with the item left out: one draw for all nodes of a column.
SAME_NODE = shared(lambda rule, slot: (slot >> SLOT_BITS) << SLOT_BITS)
# Of the listing that divides the budget by log T.
PRINTED_NOISE = noise_times(
    lambda rule: with_parameters(rule, variant="printed").mechanism.divisor / rule.mechanism.divisor
)


@dataclass(frozen=True)
class TreeError:
    """With probability 1 - gamma no released prefix sum is off by more than `limit(rule, gamma)`."""

    limit: Callable[[Listed, float], float]
    gamma: float = 0.1

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """The error of all prefix sums together."""
        rule = trial.rule
        bound = self.limit(rule, self.gamma)
        error = largest_tree_error(trial.algorithm, trial.runs(TRIALS), trial.seed)
        yield trial.probability(
            f"over {rule.horizon} items",
            error > bound,
            self.gamma,
            horizon=rule.horizon,
            epsilon=rule.epsilon,
            bound=bound,
        )
