"""The elimination family: epochs of round-robin pulls, each ended by a release and a removal of arms."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray, IntArray
from verifiable_dp.algorithm import Algorithm, Query, State


@dataclass(frozen=True)
class EliminationState(State):
    """Public state of an elimination algorithm.

    Attributes
    ----------
    epoch : (n,) int
        Number of the current epoch, from 1.
    active : (n, K) bool
        Arms not eliminated: the set S.
    """

    epoch: IntArray
    active: BoolArray

    @property
    def size(self) -> IntArray:
        """|S| of each run, (n,)."""
        return np.asarray(self.active.sum(axis=1))


class Elimination(Algorithm):
    """Pull every active arm `epoch_length` times, release, remove; the last arm plays on to the horizon."""

    @abstractmethod
    def epoch_length(self, state: Any) -> IntArray:
        """Pulls of each active arm in the current epoch, (n,)."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """Arms to remove (n, K), given the releases (n, K), NaN for inactive arms: those beyond `margin`."""
        margin = self.margin(state)
        assert margin is not None, "an elimination states its margin or overrides `removed`"
        best = np.fmax.reduce(released, axis=1, initial=-np.inf)
        return np.asarray(best[:, None] - released > margin[:, None])

    def start(self, run: IntArray) -> EliminationState:
        """All arms are active."""
        n = len(run)
        zero = np.zeros(n, np.int64)
        return EliminationState(run, zero, zero + 1, np.ones((n, self.n_arms), bool))

    def stop(self, state: Any) -> IntArray:
        """Round at which the current block must end at the latest, (n,)."""
        return np.full(len(state.run), self.horizon, np.int64)

    def query(self, state: EliminationState) -> Query:
        """One epoch, cut at the horizon; a single arm plays to the end."""
        left = self.stop(state) - state.t
        size = state.size
        wanted = np.where(size > 1, self.epoch_length(state) * size, left)
        complete = (wanted <= left) & (size > 1)
        return Query(state.t, np.minimum(wanted, left), state.active, complete)

    def decide(self, state: EliminationState, query: Query, released: FloatArray) -> EliminationState:
        """Remove arms where the epoch was completed."""
        with np.errstate(invalid="ignore"):
            gone = self.removed(state, released) & query.complete[:, None]
        return replace(
            state,
            t=state.t + query.rounds,
            epoch=state.epoch + query.complete,
            active=state.active & ~gone,
        )
