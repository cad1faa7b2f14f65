"""What passes between an algorithm and the data: its public state, its queries, and what answers them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray

Own = Any  # type: ignore[explicit-any]  # state or memory of an algorithm, which narrows it to its classes


@dataclass(frozen=True)
class Batch:
    """A frozen record of arrays with a common leading axis."""

    def take(self, index: IntArray | BoolArray) -> Self:
        """The rows `index`."""
        return type(self)(**{f.name: _rows(getattr(self, f.name), index) for f in dataclasses.fields(self)})

    @classmethod
    def join(cls, parts: Sequence[Self], order: IntArray) -> Self:
        """Rows of all `parts`, reordered by `order`."""
        return cls(
            **{
                f.name: np.concatenate([getattr(part, f.name) for part in parts])[order]
                for f in dataclasses.fields(cls)
            }
        )


def _rows(value: Batch | FloatArray | None, index: IntArray | BoolArray) -> Batch | FloatArray | None:
    if value is None:
        return None
    return value.take(index) if isinstance(value, Batch) else value[index]


@dataclass(frozen=True)
class State(Batch):
    """Public state of n runs. Subclasses add arrays.

    Attributes
    ----------
    run : (n,) int
        Number of each run: it addresses the noise.
    t : (n,) int
        Rounds played so far.
    released
        Names of the fields that hold released values, of which nothing but the one arm `active` that comes
        next depends. A certificate then tries every arm instead of every value.
    """

    released: ClassVar[tuple[str, ...]] = ()

    run: IntArray
    t: IntArray


class Memory(Protocol):
    """Private side of a mechanism, by run."""

    def take(self, index: IntArray) -> Memory:
        """The rows `index`."""
        ...


@dataclass(frozen=True)
class NoMemory(Batch):
    """The memory of a mechanism that keeps nothing."""

    run: IntArray


class Ask(Batch):
    """What is asked of each reward of a block; the answer is the sum over its rewards by arm.

    Subclasses are frozen dataclasses of arrays with n rows. Without one the sum of the rewards is asked for.
    """

    @property
    def size(self) -> int:
        """Numbers that are asked for, m."""
        return 1

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """What rewards (p,) of rows (p,) and arms (p,) contribute, (p,) or (p, m) if m > 1."""
        raise NotImplementedError

    def spread(self) -> FloatArray | None:
        """How far apart what two rewards contribute can be, by arm (n, K) or (n, 1); of one number if m > 1.

        None: as far as the algorithm's `contribution` lets it be.
        """
        return None


@dataclass(frozen=True)
class Truncated(Ask):
    """Sums of x - centre over the rewards with abs(x - centre) <= limit.

    Attributes
    ----------
    limit, centre : (n, K) float
        By arm.
    """

    limit: FloatArray
    centre: FloatArray

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`."""
        moved = rewards - self.centre[row, arm]
        return np.where(np.abs(moved) <= self.limit[row, arm], moved, 0.0)

    def spread(self) -> FloatArray:
        """See `Ask.spread`."""
        return 2 * self.limit


@dataclass(frozen=True)
class Histogram(Ask):
    """Numbers of rewards in [edge_j, edge_j + 1); rewards outside all bins are not counted.

    Attributes
    ----------
    edges : (n, m + 1) float
        Increasing.
    """

    edges: FloatArray

    @property
    def size(self) -> int:
        """Number of bins m."""
        return int(self.edges.shape[1]) - 1

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`."""
        edges, x = self.edges[row], rewards[:, None]
        return ((edges[:, :-1] <= x) & (x < edges[:, 1:])).astype(np.float64)

    def spread(self) -> FloatArray:
        """See `Ask.spread`; the same for every arm."""
        return np.ones((len(self.edges), 1))


@dataclass(frozen=True)
class Query(Batch):
    """A block of rounds: the active arms are pulled in turn, in ascending order; then sums are asked for.

    Attributes
    ----------
    start : (n,) int
        First round of the block, from 0.
    rounds : (n,) int
        Length of the block; 0 says that the run is over.
    active : (n, K) bool
        Arms that take part.
    complete : (n,) bool
        Whether the block ends in a release; the last block of a run may be cut short.
    ask : Ask or None
        What is asked of the rewards; None for their sum.
    counts : (n, K) int or None
        Pulls by arm where they differ: arms follow one another in ascending order, each with all its
        pulls, and a block that is cut short loses its last ones. A function of the public state, so that
        `active` still tells what was played.
    """

    start: IntArray
    rounds: IntArray
    active: BoolArray
    complete: BoolArray
    ask: Ask | None = None
    counts: IntArray | None = None

    def pulls(self) -> IntArray:
        """How often each arm is pulled, (n, K); not to be changed in place."""
        return self._pulls

    @functools.cached_property  # each block of a simulation asks for it up to five times
    def _pulls(self) -> IntArray:
        if self.counts is not None:
            ends = np.minimum(np.cumsum(self.counts, axis=1), self.rounds[:, None])
            return np.diff(ends, axis=1, prepend=0)
        if len(self.rounds) and self.rounds.max() <= 1:
            return np.asarray(self.active & (self.rounds > 0)[:, None], dtype=np.int64)
        size = np.maximum(self.active.sum(axis=1), 1)
        sweeps, rest = np.divmod(self.rounds, size)
        pulled = self.active * (sweeps[:, None] + (self._ranks <= rest[:, None]))
        return np.asarray(pulled, dtype=np.int64)

    @functools.cached_property  # a session asks for it in each round
    def _ranks(self) -> IntArray:
        """How many arms are active up to each."""
        return np.cumsum(self.active, axis=1)

    def arm(self, step: IntArray) -> IntArray:
        """Arm of the round number `step` (n,) of each block, (n,)."""
        if self.counts is not None:
            return np.asarray((np.cumsum(self.counts, axis=1) <= step[:, None]).sum(axis=1), dtype=np.int64)
        rank = step % np.maximum(self._ranks[:, -1], 1)
        return np.asarray((self._ranks <= rank[:, None]).sum(axis=1), dtype=np.int64)

    def codes(self) -> IntArray:
        """The active sets as integers (n,): bit a for arm a up to 62 arms, sums of random weights beyond."""
        arms = self.active.shape[1]
        if arms <= 62:
            return np.asarray(self.active @ (np.int64(1) << np.arange(arms)), dtype=np.int64)
        return np.asarray(self.active @ _weights(arms), dtype=np.int64)


@functools.cache
def _weights(arms: int) -> IntArray:
    """Random weights, (arms,), whose sums stay below 2^62."""
    return np.random.Generator(np.random.Philox(20220707)).integers(0, 2**62 // arms, arms)


class Data(Protocol):
    """What answers queries."""

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """Sums over the block's rewards of what is asked, by arm: (n, K), or (n, K, m) if m > 1."""
        ...


@runtime_checkable
class Met(Protocol):
    """Data of users who are asked one by one, and who know which arm they take from what they bring."""

    def meet(self, query: Query, run: IntArray) -> Query:
        """The query with the arm that each user takes as the active one; none where nobody may see it."""
        ...
