"""What an algorithm is: query, release, decide; and the loop that plays it.

An algorithm is written once, on a leading axis of independent runs, and in three moves:

    query(state)                  which block of rewards comes next: a function of the public state
    release(state, ..., noise)    the block's sums through a mechanism: the only door to the data
    decide(state, query, released)   the next public state: post-processing

Whether it is simulated, audited, replayed or used live is a matter of what answers the queries and what
draws the noise.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray, IntArray
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.noise import Noise
from verifiable_dp.session import Session


@dataclass(frozen=True)
class Batch:
    """A frozen record of arrays with a common leading axis."""

    def take(self, index: Any) -> Self:
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


def _rows(value: Any, index: Any) -> Any:
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
    """

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
        """How often each arm is pulled, (n, K)."""
        if self.counts is not None:
            ends = np.minimum(np.cumsum(self.counts, axis=1), self.rounds[:, None])
            return np.diff(ends, axis=1, prepend=0)
        if len(self.rounds) and self.rounds.max() <= 1:
            return np.asarray(self.active & (self.rounds > 0)[:, None], dtype=np.int64)
        size = np.maximum(self.active.sum(axis=1), 1)
        sweeps, rest = np.divmod(self.rounds, size)
        rank = np.cumsum(self.active, axis=1)
        pulled = self.active * (sweeps[:, None] + (rank <= rest[:, None]))
        return np.asarray(pulled, dtype=np.int64)

    def arm(self, step: IntArray) -> IntArray:
        """Arm of the round number `step` (n,) of each block, (n,)."""
        if self.counts is not None:
            return np.asarray((np.cumsum(self.counts, axis=1) <= step[:, None]).sum(axis=1), dtype=np.int64)
        rank = step % np.maximum(self.active.sum(axis=1), 1)
        return np.asarray((np.cumsum(self.active, axis=1) <= rank[:, None]).sum(axis=1), dtype=np.int64)

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


class Algorithm(ABC):
    """Base of every algorithm; subclasses are frozen dataclasses whose fields are the parameters.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    n_arms : int
        K; 1 for stopping rules.
    horizon : int
        T, the most rounds that are played.
    bounds : (float, float)
        Range of the rewards.
    """

    name: ClassVar[str]
    n_arms: int
    horizon: int

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return (0.0, 1.0)

    @property
    def search_bounds(self) -> tuple[float, float]:
        """Finite range of the rewards that a search for counterexamples tries."""
        return self.bounds

    @property
    def claim(self) -> PrivacyClaim | None:
        """The privacy promise, or None for a non-private algorithm."""
        return None

    @property
    def parameters(self) -> dict[str, Any]:
        """Constructor arguments: `type(self)(**parameters)` makes the same algorithm."""
        if not dataclasses.is_dataclass(self):
            raise TypeError(f"{type(self).__name__} must be a dataclass, or override `parameters`")
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}

    @abstractmethod
    def start(self, run: IntArray) -> State:
        """Public state of fresh runs with numbers `run` (n,)."""

    def private(self, run: IntArray) -> Memory:
        """Private memory of fresh runs."""
        return NoMemory(run)

    @abstractmethod
    def query(self, state: Any) -> Query:
        """Next block of each run."""

    @abstractmethod
    def release(
        self, state: Any, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Pass the answers (n, K) through the mechanism; return the new memory and the releases (n, m)."""

    @abstractmethod
    def decide(self, state: Any, query: Query, released: FloatArray) -> State:
        """Next public state, from public things only."""

    def margin(self, state: Any) -> FloatArray | None:
        """The gap by which an arm falls out, (n,), where that is all that `decide` looks at.

        With it the next public state is a function of the set of arms whose release lies more than the
        margin below the largest one; exact laws rest on it. None where releases matter in another way.
        """
        return None

    def output(self, state: Any) -> FloatArray:
        """Numbers that a finished run makes public beside its actions, (n, d)."""
        return np.zeros((len(state.run), 0))

    def session(self, *, seed: int | None = None, noise: Noise | None = None) -> Session:
        """Start a live run; see `verifiable_dp.session.Session`."""
        return Session(self, seed=seed, noise=noise)

    def restore(
        self, path: str | PathLike[str], *, noise: Noise | None = None, again: bool = False
    ) -> Session:
        """Go on with a saved live run; see `verifiable_dp.session.Session.restore`."""
        return Session.restore(self, path, noise=noise, again=again)


@dataclass(frozen=True)
class Outcome:
    """What n runs did.

    Attributes
    ----------
    pulls : (n, K) int
        How often each arm was pulled.
    actions : (n, s) int
        Code of the active set of each block, -1 after the end; it determines the arm of every round.
    released : (n, m) float
        Every value that left through the mechanism, in order, NaN where none did.
    output : (n, d) float
        Numbers made public at the end.
    final : State
        Public state at the end.
    """

    pulls: IntArray
    actions: IntArray
    released: FloatArray
    output: FloatArray
    final: State


class Watch(Protocol):
    """Follows a run block by block."""

    def block(self, position: IntArray, query: Query) -> None:
        """Called before each block with the rows `position` of the runs that are still on."""
        ...


def play(
    algorithm: Algorithm,
    data: Data,
    noise: Noise,
    run: IntArray,
    *,
    keep: Sequence[str] = ("actions", "released"),
    watch: Watch | None = None,
) -> Outcome:
    """Play runs with numbers `run` (n,) to their end.

    Parameters
    ----------
    algorithm, data, noise
        What is played, what answers its queries, what draws its noise.
    run
        Numbers of the runs, (n,).
    keep
        Which of ``actions`` and ``released`` to return; the others come back with no columns.
    watch
        Called for every block.

    Returns
    -------
    Outcome
        Arrays with n rows.
    """
    n = len(run)
    position = np.arange(n)
    state: State = algorithm.start(run)
    memory: Any = algorithm.private(run)
    pulls = np.zeros((n, algorithm.n_arms), np.int64)
    actions: list[IntArray] = []
    releases: list[FloatArray] = []
    ended: list[tuple[IntArray, State]] = []
    while len(position):
        query = algorithm.query(state)
        on = query.rounds > 0
        if not on.all():
            ended.append((position[~on], state.take(~on)))
            index = np.flatnonzero(on)
            position, state, memory, query = (
                position[on],
                state.take(on),
                memory.take(index),
                query.take(on),
            )
            if not len(position):
                break
        if watch is not None:
            watch.block(position, query)
        pulls[position] += query.pulls()
        answer = data.answer(query, state.run)
        memory, released = algorithm.release(state, memory, query, answer, noise)
        state = algorithm.decide(state, query, released)
        if "actions" in keep:
            actions.append(_column(n, position, query.codes(), -1))
        if "released" in keep:
            releases.append(_column(n, position, released, np.nan))
    order = np.argsort(np.concatenate([rows for rows, _ in ended])) if ended else np.arange(0)
    final = type(state).join([part for _, part in ended], order) if ended else state
    return Outcome(
        pulls,
        np.column_stack(actions) if actions else np.zeros((n, 0), np.int64),
        np.column_stack(releases) if releases else np.zeros((n, 0)),
        algorithm.output(final),
        final,
    )


def _column(n: int, position: IntArray, value: Any, missing: Any) -> Any:
    if len(position) == n:
        return value
    out = np.full((n, *value.shape[1:]), missing, value.dtype)
    out[position] = value
    return out
