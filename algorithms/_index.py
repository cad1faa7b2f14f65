"""The index family: each round pulls the arm of the largest index; one release after each pull."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray, IntArray
from verifiable_dp.algorithm import Algorithm, Query, State


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
    """Pull each arm once, then always the arm of the largest index; ties go to the first."""

    @abstractmethod
    def index(self, state: Any) -> FloatArray:
        """Index of each arm, (n, K), where every arm was pulled."""

    def start(self, run: IntArray) -> IndexState:
        """Nothing pulled."""
        shape = (len(run), self.n_arms)
        return IndexState(run, np.zeros(len(run), np.int64), np.zeros(shape, np.int64), np.zeros(shape))

    def query(self, state: IndexState) -> Query:
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
    def estimates(self, state: Any, query: Query, released: FloatArray) -> IndexState:
        """Public state with the new estimate of the pulled arm."""
