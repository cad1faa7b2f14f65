"""Algorithms of the framework's form, played with releases that are forced on them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Batch, Histogram, Memory, Query, State, Truncated
from verifiable_dp.core.noise import Draw, Outcome
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, IntArray

_GOLDEN = 0.6180339887498949
_STEPS = 60  # doublings, at most, in the search for the edge of a comparison
# Where all other rewards are in their range, where the changed one begins, and how far it goes. The first two
# are what a reward is charged by; the others show whether what is released follows from the draws alone.
VARIANTS = np.array(
    [
        [0, 0, 1],
        [1, -1, 1],
        [0.5, -0.5, 1],
        [0.5, -0.5 * _GOLDEN, _GOLDEN],
        [0.5, 0, _GOLDEN / 2],
        [0.3, 0, _GOLDEN],
    ]
)
CHARGED = 2
_LARGE = 1 << 20  # pulls of a charged answer: sums beyond would round the change
_OFF = 1e-6
AHEAD = 1e6  # how far a value that is forced lies beyond all others


class NotOfFormError(InputError):
    """The algorithm does something that the certificate does not cover."""


class PathsDifferError(NotOfFormError):
    """What a reward costs depends on the path that a run takes."""


def _range(algorithm: Algorithm, query: Query) -> tuple[FloatArray, FloatArray]:
    """The least and the largest value that a reward contributes to the answer, (n, K) each."""
    low, high = algorithm.bounds
    shape = query.active.shape
    ask = query.ask
    if ask is None:
        least, most = np.full(shape, float(low)), np.full(shape, float(high))
    elif type(ask) is Truncated:
        below, above = low - ask.centre, high - ask.centre
        least, most = np.maximum(-ask.limit, below), np.minimum(ask.limit, above)
        outside = (below < -ask.limit) | (above > ask.limit)  # such a reward counts as 0
        least, most = (
            np.where(outside, np.minimum(least, 0), least),
            np.where(outside, np.maximum(most, 0), most),
        )
    else:
        raise NotOfFormError(f"algorithm: {type(ask).__name__} has no known sensitivity")
    if not (np.isfinite(least).all() and np.isfinite(most).all()):
        raise NotOfFormError("algorithm: one reward can change an answer without limit")
    return least, most


def possible_answers(
    algorithm: Algorithm, query: Query, arm: IntArray, variant: IntArray, changed: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Answers on two neighbouring inputs, whose rewards of `arm` (n,) differ in one place where `changed`."""
    rows, pulls, kind = np.arange(len(arm)), query.pulls(), variant % len(VARIANTS)
    pulls = np.where((kind < CHARGED)[:, None], np.minimum(pulls, _LARGE), pulls)
    others, begin, size = VARIANTS[kind].T
    if type(query.ask) is Histogram:
        bins = query.ask.size
        here = (variant // len(VARIANTS)) % bins
        left = np.zeros((*pulls.shape, bins))
        left[rows, :, (others * (bins - 1)).astype(int)] = pulls
        left[rows, arm, (others * (bins - 1)).astype(int)] -= changed
        right = left.copy()
        left[rows, arm, here] += changed
        right[rows, arm, (here + 1) % bins] += changed
        return (left.squeeze(2), right.squeeze(2)) if bins == 1 else (left, right)
    least, most = _range(algorithm, query)
    left = pulls * (least + others[:, None] * (most - least))
    change = (most - least)[rows, arm] * changed
    left[rows, arm] += begin * change
    right = left.copy()
    right[rows, arm] += size * change
    return left, right


@dataclass
class Forced:
    """Answers the draws of one input: visible ones far from or near the exact value, hidden ones at the edge.

    Attributes
    ----------
    offset
        `offset(draw)` gives the distance from the exact value in scales, (n, m).
    yes
        What comes of comparisons.
    """

    run: IntArray
    offset: Callable[[Draw], FloatArray]
    yes: bool = False
    calls: list[tuple[Draw, FloatArray]] = field(default_factory=list)

    def __call__(self, draw: Draw) -> FloatArray:
        """What the draw is forced to be."""
        if not np.array_equal(draw.run, self.run):
            raise NotOfFormError("algorithm: runs share their draws")
        scale = np.where(draw.scale > 0, draw.scale, 1.0)
        if draw.hidden is None:
            out = draw.value + self.offset(draw) * scale
        elif draw.hidden.outcome is None:
            out = 0 * scale
        else:
            out = self._edge(draw.hidden.outcome, scale)
        self.calls.append((draw, out))
        return np.where(draw.where, out, np.nan)

    @property
    def compares(self) -> bool:
        """Whether anything came of hidden noise."""
        return any(draw.hidden and draw.hidden.outcome and draw.where.any() for draw, _ in self.calls)

    def _edge(self, outcome: Outcome, scale: FloatArray) -> FloatArray:
        """Noise that only just gives the answer asked for."""
        low, high = -scale, scale.copy()
        with np.errstate(invalid="ignore"):
            for _ in range(_STEPS):
                wide, short = outcome(low)["output"] > 0, ~(outcome(high)["output"] > 0)
                if not (wide | short).any():
                    break
                low, high = np.where(wide, 2 * low, low), np.where(short, 2 * high, high)
            while (high - low > _OFF * scale).any():
                middle = (low + high) / 2
                above = outcome(middle)["output"] > 0
                low, high = np.where(above, low, middle), np.where(above, middle, high)
        # A little off the edge, where rounding would decide.
        return high + _OFF * scale if self.yes else low - _OFF * scale


@dataclass
class _Echo:
    """Gives the other input the same outputs, and notes by how much its exact values have moved."""

    calls: Sequence[tuple[Draw, FloatArray]]
    moved: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)  # change and scale, (n, m)

    def __call__(self, draw: Draw) -> FloatArray:
        if len(self.moved) == len(self.calls):
            raise NotOfFormError("algorithm: the number of draws depends on the data")
        there, out = self.calls[len(self.moved)]
        same = (
            draw.value.shape == there.value.shape
            and np.array_equal(draw.where, there.where)
            and np.array_equal(draw.slot, there.slot)
            and np.array_equal(draw.scale[draw.where], there.scale[there.where])
            and (draw.hidden is None) == (there.hidden is None)
            and (draw.normal, draw.freedom) == (there.normal, there.freedom)
        )
        if not same:
            raise NotOfFormError("algorithm: draws depend on the data")
        if draw.hidden is None:
            change = np.abs(draw.value - there.value)
        else:
            shown = there.hidden.outcome(out) if there.hidden and there.hidden.outcome else {}
            shift = np.broadcast_to(np.nan_to_num(draw.hidden.shift(shown)), out.shape)
            change, out = np.abs(shift), out + (draw.value - there.value + shift)
            if draw.hidden.outcome and not equal(shown["output"], draw.hidden.outcome(out)["output"]):
                raise NotOfFormError("algorithm: the declared noise shift does not give the same output")
        self.moved.append((np.where(draw.where, change, 0.0), draw.scale))
        return np.where(draw.where, out, np.nan)

    def together(self) -> tuple[FloatArray, FloatArray]:
        """Changes and scales of all draws of the block, (n, m) each."""
        if not self.moved:
            return np.zeros((0, 0)), np.zeros((0, 0))
        return np.hstack([change for change, _ in self.moved]), np.hstack([scale for _, scale in self.moved])


def equal(left: object, right: object) -> bool:
    """Whether arrays, or batches of them, are equal to the last bits."""
    if isinstance(left, Batch):
        return all(equal(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    if left is None or right is None:
        return left is right
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind != "f":
        return np.array_equal(left, right)
    return left.shape == right.shape and np.allclose(left, right, rtol=1e-12, atol=0, equal_nan=True)


@dataclass(frozen=True)
class Block:
    """A block on two neighbouring inputs whose releases are the same."""

    memories: tuple[Memory, Memory]
    after: State
    changes: FloatArray  # (n, m)
    scales: FloatArray
    slots: FloatArray  # (n, m), NaN where nothing is drawn
    counts: IntArray | None
    compares: bool
    normal: bool

    @functools.cached_property
    def cost(self) -> FloatArray:
        """Cost of each row, (n,); mu where the noise is normal."""
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(self.changes > 0, self.changes / self.scales, 0.0)
        return np.asarray(np.sqrt((each**2).sum(axis=1)) if self.normal else each.sum(axis=1))


def played_block(
    algorithm: Algorithm,
    state: State,
    memories: tuple[Memory, Memory],
    query: Query,
    answers: tuple[FloatArray, FloatArray],
    forced: Forced,
) -> Block:
    """Play a block on both inputs; refuse whatever differs but the exact values of draws."""
    left, shown = algorithm.release(state, memories[0], query, answers[0], forced)
    echo = _Echo(forced.calls)
    right, other = algorithm.release(state, memories[1], query, answers[1], echo)
    if len(echo.moved) < len(forced.calls):
        raise NotOfFormError("algorithm: the number of draws depends on the data")
    if np.isinf(shown).any():
        raise NotOfFormError("the algorithm publishes infinite values")
    if not equal(shown, other):
        raise NotOfFormError("algorithm: what is published differs although every release is the same")
    after = algorithm.decide(state, query, shown)
    if not equal(after, algorithm.decide(state, query, other)):
        raise NotOfFormError("algorithm: decisions differ although every release is the same")
    if not (np.all(after.t >= query.start + query.rounds) and np.all(query.start >= state.t)):
        raise NotOfFormError("algorithm: blocks overlap")
    slots = [np.where(draw.where, draw.slot.astype(float), np.nan) for draw, _ in forced.calls]
    counts = [draw.count for draw, _ in forced.calls if draw.count is not None]
    kinds = {(draw.normal, draw.freedom) for draw, _ in forced.calls}
    if len(kinds) > 1 or any(freedom for _, freedom in kinds):
        raise NotOfFormError("the algorithm's noise is neither all Laplace nor all normal")
    n = len(query.rounds)
    return Block(
        (left, right),
        after,
        *(echo.together() if forced.calls else (np.zeros((n, 0)), np.zeros((n, 0)))),
        np.hstack(slots) if slots else np.zeros((n, 0)),
        counts[0] if len(counts) == 1 else None,
        forced.compares,
        (True, 0) in kinds,
    )


Terms = tuple[tuple[float, float, int], ...]  # (change, scale, times)


@dataclass(frozen=True)
class Reach:
    """What one replaced reward costs in a public state: terms (change, scale, times), as in a certificate."""

    state: str
    terms: Terms

    @property
    def cost(self) -> float:
        """The sum of times * change / scale."""
        return sum(times * change / scale if scale > 0 else np.inf for change, scale, times in self.terms)


def terms_of(changes: FloatArray, scales: FloatArray) -> Terms:
    """Terms of one row, equal ones together."""
    found: dict[tuple[float, float], int] = {}
    for change, scale in zip(changes.tolist(), scales.tolist(), strict=True):
        if change > 0:
            key = (float(f"{change:.12g}"), float(f"{scale:.12g}"))
            found[key] = found.get(key, 0) + 1
    return tuple((change, scale, times) for (change, scale), times in sorted(found.items()))


def key_of(state: Batch, row: int, free: tuple[str, ...]) -> bytes:
    """Everything of a row of a public state but the fields `free`."""
    parts = []
    for f in fields(state):
        if f.name in free:
            continue
        value = getattr(state, f.name)
        parts.append(
            key_of(value, row, free) if isinstance(value, Batch) else np.asarray(value[row]).tobytes()
        )
    return b"|".join(parts)


def firsts(numbers: IntArray) -> IntArray:
    """Where each of some numbers, 0 or above and equal ones together, stands first."""
    return np.flatnonzero(np.diff(numbers, prepend=-1))


def linear(cost: FloatArray, size: FloatArray, place: IntArray) -> None:
    """Refuse answers that do not enter linearly: costs (n,) by place that do not grow with the change."""
    unit = cost / size
    order = np.argsort(place, kind="stable")
    at = firsts(place[order])
    least, most = np.minimum.reduceat(unit[order], at), np.maximum.reduceat(unit[order], at)
    with np.errstate(invalid="ignore"):
        if not np.all((most <= least * (1 + 1e-6)) | (most == least)):
            raise NotOfFormError("algorithm: releases are not linear in the rewards")


def slots_between(slots: FloatArray, row: IntArray, states: int) -> tuple[FloatArray, FloatArray]:
    """Least and largest slot of each state, infinite without one; refuse slots that are drawn twice."""
    first, last = np.full(states, np.inf), np.full(states, -np.inf)
    if slots.shape[1]:
        order = np.sort(slots, axis=1)
        if (np.diff(order, axis=1) == 0).any():
            raise NotOfFormError("algorithm: a draw is used twice in a block")
        np.minimum.at(first, row, np.fmin.reduce(slots, axis=1, initial=np.inf))
        np.maximum.at(last, row, np.fmax.reduce(slots, axis=1, initial=-np.inf))
    return first, last
