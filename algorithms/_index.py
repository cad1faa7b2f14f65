"""The index family: each round pulls the arm with the largest index; one release after each pull."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.mechanisms import Tree, TreeMemory
from verifiable_dp.core.mechanisms.tree import update_nodes
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class IndexState(State):
    """Public state of an index policy.

    Attributes
    ----------
    pulls : (n, K) int
        How often each arm was pulled.
    estimate : (n, K) float
        Released (noisy or exact) sum of the rewards of each arm.
    """

    pulls: IntArray
    estimate: FloatArray


class Index(Algorithm):
    """Pull each arm once, then always the arm with the largest index; ties go to the first."""

    @abstractmethod
    def index(self, state: Own) -> FloatArray:
        """Index of each arm, (n, K), where every arm was pulled."""

    def start(self, run: IntArray) -> IndexState:
        """Nothing pulled."""
        shape = (len(run), self.n_arms)
        return IndexState(run, np.zeros(len(run), np.int64), np.zeros(shape, np.int64), np.zeros(shape))

    def query(self, state: Own) -> Query:
        """One round."""
        n = len(state.run)
        arm = state.t if state.t[0] < self.n_arms else self.index(state).argmax(axis=1)
        rounds = (state.t < self.horizon).astype(np.int64)
        return Query(state.t, rounds, arm[:, None] == np.arange(self.n_arms), np.ones(n, bool))

    def decide(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """Count the pull; `estimates` reads the release."""
        counted = replace(state, t=state.t + 1, pulls=state.pulls + query.active)
        return self.estimates(counted, query, released)

    @abstractmethod
    def estimates(self, state: Own, query: Query, released: FloatArray) -> IndexState:
        """Public state with the new estimate of the pulled arm."""


class PrefixSums(Algorithm):
    """A tree mechanism by itself: after each item of a stream it releases the node that this completes."""

    @property
    @abstractmethod
    def mechanism(self) -> Tree:
        """The tree."""

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """One stream."""
        return 1

    def start(self, run: IntArray) -> State:
        """No items."""
        return State(run, np.zeros(len(run), np.int64))

    def private(self, run: IntArray) -> TreeMemory:
        """Exact sums of the open nodes."""
        return self.mechanism.start(len(run), 1)

    def query(self, state: State) -> Query:
        """One item."""
        n = len(state.run)
        rounds = (state.t < self.horizon).astype(np.int64)
        return Query(state.t, rounds, np.ones((n, 1), bool), np.ones(n, bool))

    def release(
        self, state: State, memory: TreeMemory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The completed node."""
        return self.mechanism.insert(memory, answer, noise, state.run, query.active)

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """Count the item."""
        return State(state.run, state.t + query.rounds)


@dataclass(frozen=True)
class TreeState(IndexState):
    """Public state of an index policy on noisy sums.

    Attributes
    ----------
    nodes : (n, K, levels) float
        Released nodes of each arm's tree that make up its current prefix sum.
    """

    nodes: FloatArray


class TreeIndex(Index):
    """An index policy in which each arm's rewards pass through a tree mechanism of T leaves."""

    @property
    @abstractmethod
    def mechanism(self) -> Tree:
        """Tree of one arm."""

    def start(self, run: IntArray) -> TreeState:
        """Nothing is pulled yet, and trees are empty."""
        base = super().start(run)
        nodes = np.zeros((len(run), self.n_arms, self.mechanism.levels))
        return TreeState(base.run, base.t, base.pulls, base.estimate, nodes)

    def private(self, run: IntArray) -> TreeMemory:
        """Exact sums of the open nodes."""
        return self.mechanism.start(len(run), self.n_arms)

    def release(
        self, state: Own, memory: TreeMemory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The node that the pulled arm's reward completes."""
        return self.mechanism.insert(memory, answer, noise, state.run, query.active)

    def estimates(self, state: TreeState, query: Query, released: FloatArray) -> TreeState:
        """Noisy prefix sum of the pulled arm."""
        rows, arm = np.arange(len(state.run)), query.active.argmax(axis=1)
        nodes, estimate = state.nodes.copy(), state.estimate.copy()
        fresh = update_nodes(state.nodes[rows, arm], state.pulls[rows, arm], released[rows, arm])
        nodes[rows, arm] = fresh
        estimate[rows, arm] = fresh.sum(axis=1)
        return replace(state, nodes=nodes, estimate=estimate)
