"""Tree sums: the tree mechanism by itself, releasing the prefix sums of one stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import FloatArray, IntArray
from verifiable_dp.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.algorithms import papers
from verifiable_dp.claims import PrivacyClaim, Source
from verifiable_dp.mechanisms import Tree, TreeMemory
from verifiable_dp.noise import Noise


@dataclass(frozen=True)
class TreeSum(Algorithm):
    """Release, after each item, the node of the tree that the item completes.

    The error of a prefix sum is O(log^{1.5} T / epsilon) with constant probability.

    Parameters
    ----------
    epsilon
        Privacy budget of the whole stream.
    horizon
        T >= 1, the number of items; at least 2 for the logarithmic budgets.
    budget
        ``levels``, or ``log`` and ``log2`` as printed elsewhere; see `mechanisms.Tree`.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    epsilon: float
    horizon: int
    budget: str = "levels"
    name: ClassVar[str] = "tree-sum"

    def __post_init__(self) -> None:
        _validate.positive("epsilon", self.epsilon)
        _validate.integer("horizon", self.horizon, least=1)
        Tree(self.horizon, self.epsilon, budget=self.budget)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """One stream."""
        return 1

    @property
    def claim(self) -> PrivacyClaim:
        """Chan, Shi & Song; `log` is the budget that Tao et al. print in Algorithm 2 and claim in Lemma 2."""
        if self.budget == "levels":
            return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.CHAN, "Theorem 3.5"))
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.TAO, "Algorithm 2"))

    @property
    def mechanism(self) -> Tree:
        """The tree."""
        return Tree(self.horizon, self.epsilon, budget=self.budget)

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
        return State(state.run, state.t + 1)
