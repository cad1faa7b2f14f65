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
from os import PathLike
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import (
    Ask,
    Batch,
    Data,
    Histogram,
    Memory,
    Met,
    NoMemory,
    Own,
    Query,
    State,
    Truncated,
)
from verifiable_dp.core.rights import Counter
from verifiable_dp.core.session import Session
from verifiable_dp.core.validate import FloatArray, IntArray, JsonDict

__all__ = [
    "Algorithm",
    "Ask",
    "Batch",
    "Data",
    "Histogram",
    "Memory",
    "NoMemory",
    "Outcome",
    "Query",
    "State",
    "Truncated",
    "Watch",
    "play",
]

Column = TypeVar("Column", FloatArray, IntArray)


class Algorithm(ABC):
    """Base class of every algorithm; subclasses are frozen dataclasses whose fields are the parameters.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    n_arms : int
        K; 1 for stopping rules.
    horizon : int
        T, the maximum number of rounds.
    bounds : (float, float)
        Range of the rewards.
    most_simulated : int or None
        The longest horizon that `simulate` accepts if it has to play round by round.
    """

    name: ClassVar[str]
    most_simulated: ClassVar[int | None] = None
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
    def contribution(self) -> float:
        """Largest absolute value that one reward adds to a sum of a complete block, in the whole run.

        A live session rounds what it sums to a grid on which sums of T such values are exact, see
        `session.Session`. Override it where rewards are unbounded, or where something else is asked of them.
        """
        return float(max(abs(bound) for bound in self.bounds))

    @property
    def claim(self) -> PrivacyClaim | None:
        """The privacy promise, or None for a non-private algorithm."""
        return None

    @property
    def parameters(self) -> JsonDict:
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
    def query(self, state: Own) -> Query:
        """Next block of each run."""

    @abstractmethod
    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Pass the answers (n, K) through the mechanism; return the new memory and the releases (n, m)."""

    @abstractmethod
    def decide(self, state: Own, query: Query, released: FloatArray) -> State:
        """Next public state, from public values only."""

    def margin(self, state: Own) -> FloatArray | None:
        """The gap (n,) at which an arm is removed, if `decide` depends on nothing else.

        With it the next public state is a function of the set of arms whose release lies more than the
        margin below the largest one; exact laws rest on it. None where releases matter in another way.
        """
        return None

    def output(self, state: Own) -> FloatArray:
        """Numbers that a finished run makes public in addition to its actions, (n, d)."""
        return np.zeros((len(state.run), 0))

    def session(
        self,
        *,
        seed: int | None = None,
        noise: Noise | None = None,
        path: str | PathLike[str] | None = None,
        key: bytes | None = None,
        counter: Counter | None = None,
        tick: float = 0.0,
    ) -> Session:
        """Start a live run; see `verifiable_dp.core.session.Session`."""
        return Session(self, seed=seed, noise=noise, path=path, key=key, counter=counter, tick=tick)

    def restore(
        self,
        path: str | PathLike[str],
        *,
        noise: Noise | None = None,
        seeded: bool = False,
        key: bytes | None = None,
        counter: Counter | None = None,
        tick: float = 0.0,
    ) -> Session:
        """Continue a live run from its file; see `verifiable_dp.core.session.Session.restore`."""
        return Session.restore(self, path, noise=noise, seeded=seeded, key=key, counter=counter, tick=tick)


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
    memory: Own = algorithm.private(run)
    pulls = np.zeros((n, algorithm.n_arms), np.int64)
    actions: list[IntArray] = []
    releases: list[FloatArray] = []
    ended: list[tuple[IntArray, State]] = []
    met = data if isinstance(data, Met) else None  # users choose by themselves
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
        if met is not None:
            query = met.meet(query, state.run)
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


def _column(n: int, position: IntArray, value: Column, missing: float) -> Column:
    if len(position) == n:
        return value
    out = np.full((n, *value.shape[1:]), missing, value.dtype)
    out[position] = value
    return out
