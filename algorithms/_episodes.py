"""One arm at a time: bandits that play an arm for a while, and episodes that double and forget."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Batch, Memory, Query, State
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class TurnState(State):
    """Public state of a bandit that plays one arm at a time.

    Attributes
    ----------
    pulls : (n, K) int
        How often each arm was pulled.
    estimate : (n, K) float
        What is known about each arm from its releases.
    active : (n, K) bool
        The arm that comes next.
    """

    released: ClassVar[tuple[str, ...]] = ("estimate",)

    pulls: IntArray
    estimate: FloatArray
    active: BoolArray


EDGE = 1e-15  # no chance of a coin is closer to 0 or 1


class Turns(Algorithm):
    """Pull each arm once, then play the arm with the largest index for some rounds; ties go to the first."""

    @property
    @abstractmethod
    def mechanism(self) -> Laplace:
        """The mechanism through which the sum of a block is released."""

    @abstractmethod
    def index(self, state: Own) -> FloatArray:
        """Index of each arm, (n, K), where every arm was pulled."""

    @abstractmethod
    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """New estimates (n, K), from the state before the block and the releases (NaN where none)."""

    def rounds(self, state: Own) -> IntArray:
        """How long the next arm is played, (n,)."""
        return np.ones(len(state.run), np.int64)

    def start(self, run: IntArray) -> TurnState:
        """Nothing pulled."""
        shape = (len(run), self.n_arms)
        zero = np.zeros(shape, np.int64)
        first = np.zeros(shape, bool)
        first[:, 0] = True
        return TurnState(run, zero[:, 0], zero, np.zeros(shape), first)

    def query(self, state: Own) -> Query:
        """Some rounds of one arm, cut at the horizon."""
        wanted, left = self.rounds(state), self.horizon - state.t
        return Query(state.t, np.minimum(wanted, left), state.active, wanted <= left)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sum of the block, with its own noise."""
        slot = state.t[:, None] * self.n_arms + np.arange(self.n_arms)
        where = query.active & query.complete[:, None]
        return memory, self.mechanism.release(answer, noise, state.run, slot, where)

    def decide(self, state: Own, query: Query, released: FloatArray) -> Own:
        """Count the pulls, read the releases, choose the next arm."""
        after = replace(
            state,
            t=state.t + query.rounds,
            pulls=state.pulls + query.pulls(),
            estimate=self.estimates(state, query, released),
        )
        return replace(after, active=self.choice(after, released)[:, None] == np.arange(self.n_arms))

    def choice(self, state: Own, released: FloatArray) -> IntArray:
        """The arm that comes next, (n,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            best = self.index(state).argmax(axis=1)
        return np.asarray(np.where(state.t < self.n_arms, state.t, best))


class Episodes(Turns):
    """An arm is played until its pulls have doubled; its estimate is the mean of that episode alone.

    A listing computes the index from the length of the last episode, (n, K), and its noisy mean.
    """

    epsilon: float
    statement: ClassVar[Source]

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters the mean of one episode; the proof covers every noisy mean."""
        return PrivacyClaim(self.epsilon, observe="releases", source=self.statement)

    @property
    def mechanism(self) -> Laplace:
        """One reward changes one sum by at most 1, so means get Lap(1/(n epsilon))."""
        return Laplace(1.0, self.epsilon)

    def rounds(self, state: Own) -> IntArray:
        """As many rounds as the arm has had before."""
        return np.asarray(np.maximum((state.pulls * state.active).sum(axis=1), 1))

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """The mean of the episode."""
        return np.where(np.isnan(released), state.estimate, released / np.maximum(query.pulls(), 1))

    def last(self, state: Own) -> FloatArray:
        """Length of each arm's last episode, (n, K): half of its pulls, or its first one."""
        return np.asarray(np.maximum(state.pulls / 2, 1.0))


@dataclass(frozen=True)
class Buffers(Batch):
    """Private side: sums (n, K) of the rewards since each arm's last release."""

    sums: FloatArray


class Batches(Turns):
    """The next arm is chosen in every round; an arm's rewards are released in batches that double.

    Coins are public: each is computed from a Laplace draw that does not depend on data.
    """

    epsilon: float

    @property
    @abstractmethod
    def coins(self) -> int:
        """Number of coins that are tossed in a round."""

    @abstractmethod
    def full(self, pulls: IntArray) -> BoolArray:
        """Whether an arm's batch is full after so many pulls, (n, K)."""

    @abstractmethod
    def size(self, pulls: IntArray) -> IntArray:
        """Rewards of the batch that is full after so many pulls, (n, K)."""

    @property
    def mechanism(self) -> Laplace:
        """Mechanism for the sum of a batch."""
        return Laplace(1.0, self.epsilon)

    def private(self, run: IntArray) -> Memory:
        """No rewards."""
        return Buffers(np.zeros((len(run), self.n_arms)))

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Columns: the sum of a batch that is full, and the coins of the next round."""
        sums, n, width = memory.sums + answer, len(answer), self.n_arms + self.coins
        full = query.active & query.complete[:, None] & self.full(state.pulls + query.pulls())
        scale = np.repeat([self.mechanism.scale, 1.0], [self.n_arms, self.coins])
        draw = Draw(
            np.hstack([sums, np.zeros((n, self.coins))]),
            np.broadcast_to(scale, (n, width)),
            state.run,
            state.t[:, None] * width + np.arange(width),
            np.hstack([full, np.repeat(query.complete[:, None], self.coins, axis=1)]),
        )
        return Buffers(self.kept(sums, full)), noise(draw)

    def kept(self, sums: FloatArray, full: BoolArray) -> FloatArray:
        """What stays private after a release: a full batch is forgotten."""
        return np.where(full, 0.0, sums)

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """Mean of the arm's last batch."""
        batch, sums = self.size(state.pulls + query.pulls()), released[:, : self.n_arms]
        return np.asarray(np.where(np.isnan(sums), state.estimate, sums / np.maximum(batch, 1)))

    def chances(self, released: FloatArray) -> FloatArray:
        """The coins as numbers in (0, 1), (n, coins)."""
        coin = np.nan_to_num(released[:, self.n_arms :])
        tail = np.exp(-np.abs(coin)) / 2
        return np.asarray(np.clip(np.where(coin < 0, tail, 1 - tail), EDGE, 1 - EDGE))
