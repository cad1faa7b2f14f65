"""The elimination family: epochs of round-robin pulls, each ended by a release and a removal of arms."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


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


class Mechanism(Protocol):
    """The mechanism through which sums are released."""

    def release(
        self, value: FloatArray, noise: Noise, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Release `value` (n, K); NaN where `where` is False."""
        ...


class Elimination(Algorithm):
    """Pull every active arm, release the sums, remove the arms far behind; the last arm plays to the end.

    From |S| and the number of the epoch, which are arrays that broadcast, a listing determines how often an
    arm is pulled, which gap between released means removes it, and which mechanism releases its sum.
    """

    @abstractmethod
    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """Pulls of each active arm in an epoch, before they are rounded up."""

    @abstractmethod
    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """Gap of released means that removes an arm."""

    def mechanism(self, size: IntArray, epoch: IntArray) -> Mechanism:
        """Mechanism for the sum of one arm in one epoch."""
        raise NotImplementedError

    def table(self, quantity: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """`quantity(size, epoch)` by epoch and |S|, (epochs, K + 1)."""
        # Row 0 and column 0 stand for nothing; they repeat their neighbours. Epochs at least double.
        epoch = np.maximum(np.arange(3 + int(np.log2(self.horizon))), 1.0)[:, None]
        size = np.maximum(np.arange(self.n_arms + 1), 1.0)[None, :]
        with np.errstate(over="ignore"):
            return np.broadcast_to(quantity(size, epoch), (len(epoch), size.size))

    @functools.cached_property
    def schedule(self) -> tuple[IntArray, FloatArray]:
        """Tables of pulls, which are whole numbers, and of gaps."""
        most = 2.0**62 // self.n_arms  # whole numbers end there
        pulls = np.ceil(np.minimum(self.table(self.pulls), most))
        return pulls.astype(np.int64), self.table(self.gap)

    def plan(self, state: Own) -> tuple[IntArray, FloatArray]:
        """Pulls of each arm in the current epoch, and the gap of means that removes one, (n,) each."""
        pulls, gap = self.schedule
        return pulls[state.epoch, state.size], gap[state.epoch, state.size]

    def start(self, run: IntArray) -> EliminationState:
        """All arms are active."""
        n = len(run)
        zero = np.zeros(n, np.int64)
        return EliminationState(run, zero, zero + 1, np.ones((n, self.n_arms), bool))

    def stop(self, state: Own) -> IntArray:
        """Round at which the current block must end at the latest, (n,)."""
        return np.full(len(state.run), self.horizon, np.int64)

    def query(self, state: Own) -> Query:
        """One epoch, cut at the horizon; a single arm plays to the end."""
        left = self.stop(state) - state.t
        size = state.size
        wanted = np.where(size > 1, self.plan(state)[0] * size, left)
        complete = (wanted <= left) & (size > 1)
        return Query(state.t, np.minimum(wanted, left), state.active, complete)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of this epoch alone, each with its own noise."""
        mechanism = self.mechanism(state.size[:, None], state.epoch[:, None])
        return memory, mechanism.release(answer, noise, state.run, *self.addresses(state, query))

    def addresses(self, state: Own, query: Query) -> tuple[IntArray, BoolArray]:
        """Slots of the noise of an epoch's sums, and which of them are released, (n, K) each."""
        slot = state.epoch[:, None] * self.n_arms + np.arange(self.n_arms)
        return slot, query.active & query.complete[:, None]

    def margin(self, state: Own) -> FloatArray | None:
        """The gap of means, for sums."""
        pulls, gap = self.plan(state)
        return np.asarray(gap * pulls)

    def compared(self, state: Own, released: FloatArray) -> FloatArray:
        """Scores by which arms are compared, (n, K), NaN for inactive arms; larger is better."""
        return released

    def removed(self, state: Own, released: FloatArray) -> BoolArray:
        """Arms to remove (n, K): those that lie more than the margin below the largest."""
        margin = self.margin(state)
        assert margin is not None, "an elimination states its margin or overrides `removed`"
        value = self.compared(state, released)
        best = np.fmax.reduce(value, axis=1, initial=-np.inf)
        return np.asarray(best[:, None] - value > margin[:, None])

    def decide(self, state: Own, query: Query, released: FloatArray) -> Own:
        """Remove arms where the epoch was completed."""
        with np.errstate(invalid="ignore"):
            gone = self.removed(state, released) & query.complete[:, None]
        return replace(
            state,
            t=state.t + query.rounds,
            epoch=state.epoch + query.complete,
            active=state.active & ~gone,
        )
