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
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import BoolArray, FloatArray, InputError, IntArray
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.noise import Noise
from verifiable_dp.session import Session


@dataclass(frozen=True)
class Batch:
    """A frozen record of arrays with a common leading axis."""

    def take(self, index: Any) -> Self:
        """The rows `index`."""
        return type(self)(**{f.name: getattr(self, f.name)[index] for f in dataclasses.fields(self)})

    @classmethod
    def join(cls, parts: Sequence[Self], order: IntArray) -> Self:
        """Rows of all `parts`, reordered by `order`."""
        return cls(
            **{
                f.name: np.concatenate([getattr(part, f.name) for part in parts])[order]
                for f in dataclasses.fields(cls)
            }
        )


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
    """

    start: IntArray
    rounds: IntArray
    active: BoolArray
    complete: BoolArray

    def pulls(self) -> IntArray:
        """How often each arm is pulled, (n, K)."""
        if len(self.rounds) and self.rounds.max() <= 1:
            return np.asarray(self.active & (self.rounds > 0)[:, None], dtype=np.int64)
        size = np.maximum(self.active.sum(axis=1), 1)
        sweeps, rest = np.divmod(self.rounds, size)
        rank = np.cumsum(self.active, axis=1)
        pulled = self.active * (sweeps[:, None] + (rank <= rest[:, None]))
        return np.asarray(pulled, dtype=np.int64)

    def codes(self) -> IntArray:
        """The active sets as integers (n,), bit a for arm a; at most 62 arms."""
        return np.asarray(self.active @ (np.int64(1) << np.arange(self.active.shape[1])), dtype=np.int64)


class Data(Protocol):
    """What answers queries."""

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """Sums of the block's rewards by arm, (n, K)."""
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

    def output(self, state: Any) -> FloatArray:
        """Numbers that a finished run makes public beside its actions, (n, d)."""
        return np.zeros((len(state.run), 0))

    def session(self, *, seed: int | None = None, noise: Noise | None = None) -> Session:
        """Start a live run; see `verifiable_dp.session.Session`."""
        return Session(self, seed=seed, noise=noise)


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


def rounds_of(actions: Sequence[int], blocks: Sequence[int], n_arms: int) -> list[int]:
    """Arm of every round of one run, from its block codes and block lengths."""
    arms: list[int] = []
    for code, length in zip(actions, blocks, strict=True):
        active = [a for a in range(n_arms) if code >> a & 1]
        arms.extend(active[i % len(active)] for i in range(length))
    return arms


def check_fits(algorithm: Algorithm, table: FloatArray) -> FloatArray:
    """Return `table` (T, K) if the algorithm can be run on it.

    Raises
    ------
    InputError
        If the shape or the range of the rewards does not fit.
    """
    table = _validate.rewards("rewards", table, algorithm.bounds, ndim=2)
    if table.shape[1] != algorithm.n_arms or table.shape[0] < algorithm.horizon:
        raise InputError(
            f"rewards must have shape (at least {algorithm.horizon}, {algorithm.n_arms}), got {table.shape}"
        )
    return table
