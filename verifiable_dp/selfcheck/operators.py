"""Named operators that break an algorithm: each puts one fault into any algorithm of the framework's form.

An operator wraps an algorithm and changes what passes through its doors: the noise that a release draws
(`ChangedNoise`), the answers that a release gets (`ChangedAnswer`), what is asked of the rewards
(`ChangedAsk`), or when blocks end (`Overlapping`, `Driven`). It knows nothing of the algorithm but what a few
runs show (`Traits`), so that it applies to third parties' algorithms as to ours.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core import plugins
from verifiable_dp.core.algorithm import Ask, Memory, Query, State, Truncated
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import FloatArray, InputError, IntArray
from verifiable_dp.registry.wrapped import Wrapped
from verifiable_dp.selfcheck.noise_operators import law_operators, scale_operators, sharing_operators
from verifiable_dp.selfcheck.operator_forms import (
    FAMILIES,
    Break,
    Operator,
    Traits,
    always,
    asks_sums,
    not_known,
)

GROUP = "verifiable_dp.operators"


# ---------------------------------------------------------------- answers


@dataclass(frozen=True)
class ChangedAnswer(Wrapped):
    """An algorithm whose release gets changed answers: `change(answer, query)`."""

    change: Callable[[FloatArray, Query], FloatArray]

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed answer."""
        return super().release(state, memory, query, self.change(answer, query), noise)


@dataclass(frozen=True)
class Kept:
    """Private side of a run that keeps answers: the memory underneath, and one past answer of each shape."""

    inner: Memory
    past: tuple[FloatArray, ...] = ()

    def take(self, index: IntArray) -> Kept:
        """The rows `index`."""
        return Kept(self.inner.take(index), tuple(part[index] for part in self.past))

    def of(self, answer: FloatArray) -> FloatArray:
        """The past answer of this shape, zero at first."""
        alike = [part for part in self.past if part.shape == answer.shape]
        return alike[0] if alike else np.zeros_like(answer)

    def keep(self, inner: Memory, answer: FloatArray) -> Kept:
        """After another answer."""
        return Kept(inner, (*(part for part in self.past if part.shape != answer.shape), answer))


@dataclass(frozen=True)
class Lingering(Wrapped):
    """Rewards of earlier blocks enter later ones: all of them, or those of the block before alone."""

    everything: bool

    def private(self, run: IntArray) -> Memory:
        """Nothing kept."""
        return Kept(super().private(run))

    def release(
        self, state: State, memory: Kept, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, of more rewards."""
        more = answer + memory.of(answer)
        after, released = super().release(state, memory.inner, query, more, noise)
        return memory.keep(after, more if self.everything else answer), released


@dataclass(frozen=True)
class Cached(Wrapped):
    """A release is looked up by the exact value: what equals the value before is answered as that was."""

    def private(self, run: IntArray) -> Memory:
        """Nothing cached."""
        return Kept(super().private(run))

    def release(
        self, state: State, memory: Kept, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, unless it is in the cache."""
        values: list[FloatArray] = []

        def source(draw: Draw) -> FloatArray:
            if draw.hidden is None:
                values.append(draw.value)
            return noise(draw)

        after, released = super().release(state, memory.inner, query, answer, source)
        value = values[-1] if values else None
        if value is None or value.shape != released.shape:
            return Kept(after, memory.past), released
        if memory.past and memory.past[0].shape == value.shape:
            before, then = memory.past
            alike = (before == value) & ~np.isnan(then) & ~np.isnan(released)
            released = np.where(alike, then, released)
        return Kept(after, (value, released)), released


@dataclass(frozen=True)
class Logged(Wrapped):
    """The exact answers are published along with the releases."""

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Releases, and the exact answers in further columns."""
        after, released = super().release(state, memory, query, answer, noise)
        return after, np.column_stack([released, answer.reshape(len(answer), -1)])

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath, of its own columns."""
        further = int(np.prod(_size_of(query)))
        return super().decide(state, query, released[:, :-further])


def _size_of(query: Query) -> tuple[int, ...]:
    arms = query.active.shape[1]
    return (arms, 1 if query.ask is None else query.ask.size)


def _multiplied(factor: float) -> Operator:
    return Operator(
        f"sensitivity x{factor:g}",
        f"rewards are scaled by {factor:g} before the noise is added, so the sensitivity is wrong",
        "answer",
        lambda algorithm: ChangedAnswer(algorithm, lambda answer, query: factor * answer),
        lambda found: asks_sums(found) or found.hidden,
        always(factor),
    )


def _answer_operators() -> list[Operator]:
    return [
        *(_multiplied(factor) for factor in (1.1, 1.5, 2.0, 4.0)),
        Operator(
            "no forgetting",
            "the rewards of all earlier blocks enter each release",
            "answer",
            lambda algorithm: Lingering(algorithm, True),
            lambda found: (asks_sums(found) or found.hidden) and found.blocks > 1,
            not_known,
        ),
        Operator(
            "late leak",
            "the rewards of a block enter the block's own release and the next release",
            "answer",
            lambda algorithm: Lingering(algorithm, False),
            lambda found: (asks_sums(found) or found.hidden) and found.blocks > 1,
            not_known,
        ),
        Operator(
            "cached releases",
            "if a value equals the previous one, the previous release is repeated",
            "answer",
            Cached,
            lambda found: asks_sums(found) and found.visible and found.blocks > 1,
            not_known,
        ),
        Operator(
            "exact log",
            "exact answers are published along with the releases",
            "answer",
            Logged,
            lambda found: asks_sums(found) and found.visible,
            always(np.inf),
        ),
    ]


# ---------------------------------------------------------------- truncation


@dataclass(frozen=True)
class ChangedAsk(Wrapped):
    """An algorithm that asks something else of its rewards where it asks for truncated sums.

    Parameters
    ----------
    inner
        The algorithm.
    ask
        `ask(truncated)` gives what is asked instead; None for the plain sum.
    after
        `after(answer, query)` changes the answer, `query` being that of the algorithm underneath.
    """

    ask: Callable[[Truncated], Ask | None]
    after: Callable[[FloatArray, Query], FloatArray] | None = None

    def query(self, state: State) -> Query:
        """As the algorithm underneath, asking something else."""
        query = super().query(state)
        return replace(query, ask=self.ask(query.ask)) if isinstance(query.ask, Truncated) else query

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, of the changed answer."""
        own = super().query(state)
        if self.after is not None and isinstance(own.ask, Truncated):
            answer = self.after(answer, own)
        return super().release(state, memory, own, answer, noise)


@dataclass(frozen=True)
class OutsideNoise(Truncated):
    """Sums of x - centre over the rewards with abs(x - centre) > limit: the wrong side."""

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`."""
        moved = rewards - self.centre[row, arm]
        return np.where(np.abs(moved) > self.limit[row, arm], moved, 0.0)


@dataclass(frozen=True)
class AllButLast(Truncated):
    """As `Truncated`, but for the last reward of an arm in the block, which is not truncated."""

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`; all rewards are of one arm, or each is of its own row."""
        inside = super().values(rewards, row, arm)
        last = np.append(row[1:] != row[:-1], True) if len(row) else np.zeros(0, bool)
        return np.where(last, rewards - self.centre[row, arm], inside)


@dataclass(frozen=True)
class Upper(Truncated):
    """Sums of x - centre over the rewards with x - centre <= limit: the lower side is forgotten."""

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`."""
        moved = rewards - self.centre[row, arm]
        return np.where(moved <= self.limit[row, arm], moved, 0.0)


def _clip_sum(answer: FloatArray, query: Query) -> FloatArray:
    """The sum clipped at as many limits as there were rewards."""
    assert isinstance(query.ask, Truncated)
    most = query.ask.limit * np.maximum(query.pulls(), 1)
    return np.clip(answer, -most, most)


def _ask(
    ask: Callable[[Truncated], Ask | None], after: Callable[[FloatArray, Query], FloatArray] | None = None
) -> Break:
    return lambda algorithm: ChangedAsk(algorithm, ask, after)


def _truncates(found: Traits) -> bool:
    return found.truncated and not found.shuffled


def _truncation_operators() -> list[Operator]:
    return [
        Operator(
            "truncation left out",
            "rewards are added up unclipped, whatever their size",
            "truncation",
            _ask(lambda ask: None),
            _truncates,
            always(np.inf),
        ),
        Operator(
            "clipped after summing",
            "the sum of n rewards is clipped at n times the limit, but single rewards are not clipped",
            "truncation",
            _ask(lambda ask: None, _clip_sum),
            lambda found: _truncates(found),
            not_known,
        ),
        Operator(
            "wrong truncation side",
            "rewards within the limit are left out, and rewards beyond it are added up",
            "truncation",
            _ask(lambda ask: OutsideNoise(ask.limit, ask.centre)),
            _truncates,
            always(np.inf),
        ),
        Operator(
            "lower side not truncated",
            "large rewards are truncated, but very negative ones are not",
            "truncation",
            _ask(lambda ask: Upper(ask.limit, ask.centre)),
            _truncates,
            always(np.inf),
        ),
        Operator(
            "last reward not truncated",
            "the last reward of an arm in a block is added without truncation",
            "truncation",
            _ask(lambda ask: AllButLast(ask.limit, ask.centre)),
            _truncates,
            always(np.inf),
        ),
        Operator(
            "limit x2",
            "rewards are truncated at twice the limit that the noise is calibrated to",
            "truncation",
            _ask(lambda ask: Truncated(2 * ask.limit, ask.centre)),
            _truncates,
            always(2.0),
        ),
    ]


# ---------------------------------------------------------------- schedule


@dataclass(frozen=True)
class Overlapping(Wrapped):
    """Blocks reach into the next one by a sweep of the arms: those rewards enter twice."""

    def query(self, state: State) -> Query:
        """The block, and the first rounds of the next one."""
        query = super().query(state)
        further = np.where(query.rounds > 0, np.maximum(query.active.sum(axis=1), 1), 0)
        further = np.minimum(further, np.maximum(self.horizon - query.start - query.rounds, 0))
        counts = query.counts
        if counts is not None:  # the arms follow one another, and the last one goes on
            last = query.active.shape[1] - 1 - query.active[:, ::-1].argmax(axis=1)
            counts = counts + further[:, None] * (np.arange(query.active.shape[1]) == last[:, None])
        return replace(query, rounds=query.rounds + further, counts=counts)

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, which takes the answer for that of its own block."""
        return super().release(state, memory, super().query(state), answer, noise)

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath: the next block starts where it should."""
        return super().decide(state, super().query(state), released)


@dataclass(frozen=True)
class Driven(Wrapped):
    """Exact answers reach the schedule, as a further public column: a run ends, or skips a round.

    Parameters
    ----------
    inner
        The algorithm.
    stops
        Whether the run ends where an exact answer lies high; else it skips a round there.
    """

    stops: bool

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Releases, and whether an exact answer lies in the upper half of its range."""
        after, released = super().release(state, memory, query, answer, noise)
        low, high = self.search_bounds
        sums = answer.reshape(len(answer), self.n_arms, -1)[:, :, 0]
        middle = query.pulls() * (low + high) / 2
        return after, np.column_stack([released, (sums > middle).any(axis=1)])

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath, then on to another round where the column says so."""
        after = super().decide(state, query, released[:, :-1])
        # Index policies go through the first K rounds together.
        further = (released[:, -1] > 0) & (after.t >= self.n_arms)
        moved = np.minimum(after.t + (self.horizon if self.stops else 1), self.horizon)
        return replace(after, t=np.where(further, np.maximum(moved, after.t), after.t))


def _schedule_operators() -> list[Operator]:
    return [
        Operator(
            "early peek",
            "a block also reads the first rounds of the next block, which reads these rounds again",
            "schedule",
            Overlapping,
            lambda found: (asks_sums(found) or found.hidden) and found.blocks > 1,
            not_known,
        ),
        Operator(
            "data-dependent batch length",
            "a round is skipped after a block whose exact sum lies in the upper half of its range",
            "schedule",
            lambda algorithm: Driven(algorithm, False),
            lambda found: not found.shuffled,
            always(np.inf),
        ),
        Operator(
            "early stop",
            "the run ends after a block whose exact sum lies in the upper half of its range",
            "schedule",
            lambda algorithm: Driven(algorithm, True),
            lambda found: not found.shuffled,
            always(np.inf),
        ),
    ]


@functools.cache
def operators() -> tuple[Operator, ...]:
    """All operators, by family: ours, and those that other packages register."""
    found = [
        *scale_operators(),
        *law_operators(),
        *sharing_operators(),
        *_answer_operators(),
        *_truncation_operators(),
        *_schedule_operators(),
        *(plugins.registered(GROUP, name, Operator) for name in plugins.names(GROUP)),
    ]
    for name, times in Counter(operator.name for operator in found).items():
        if times > 1:
            raise InputError(f"operator: {name!r} is registered {times} times; names must be distinct")
    return tuple(sorted(found, key=lambda operator: FAMILIES.index(operator.family)))


def operator(name: str) -> Operator:
    """The operator of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    known = {each.name: each for each in operators()}
    if name not in known:
        raise InputError(f"operator: unknown name {name!r}; known names are {', '.join(known)}")
    return known[name]
