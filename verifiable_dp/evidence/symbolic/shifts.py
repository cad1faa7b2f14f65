"""How noise may move so that all that is seen stays: proposals for the judge, the cheapest of some.

A group of what is seen is a `Frame`, and a unit moves some entries in it. A proposal says for both directions
of the unit's change how the draws move. Nothing here is trusted: `judge.arithmetic` looks at every row again.
"""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import arithmetic, laws
from verifiable_dp.evidence.judge.arithmetic import Paid
from verifiable_dp.evidence.judge.certificate import (
    EQUAL,
    LEAST,
    MOST_ENTRIES,
    Corners,
    Frame,
    LinearShifts,
    MovedEntry,
    Pattern,
    Shifts,
    Weights,
)

READ = "law"  # the kind of a draw whose law was read off code
_TINY = 1e-9
_FEW_ROWS, MOST_ROWS = 12, 60
_NOTHING = Paid(math.inf)


@dataclass(frozen=True)
class FrameNoise:
    """A frame, and what the search knows of it besides.

    Attributes
    ----------
    frame
        For the judge.
    read
        Laws that were read off code, by draw.
    """

    frame: Frame
    read: tuple[tuple[int, Foreign], ...] = ()

    def turned(self) -> FrameNoise:
        """With the other answer to a comparison."""
        return replace(self, frame=self.frame.turned())

    @functools.cached_property
    def laws(self) -> list[laws.PricedLaw]:
        """Of the draws."""
        return [laws.law_of(*draw) for draw in self.frame.draws]

    @functools.cached_property
    def matrix(self) -> Foreign:
        """Weights of draws, row by row."""
        found = np.zeros((len(self.frame.rows), len(self.frame.draws)))
        for number, (_, noise) in enumerate(self.frame.rows):
            for draw, weight in noise:
                found[number, draw] = weight
        return found

    @functools.cached_property
    def inverse(self) -> Foreign:
        """The least shifts that leave all rows in place."""
        one = len(self.frame.rows) == 1
        return self.matrix.T / (self.matrix @ self.matrix.T) if one else np.linalg.pinv(self.matrix)

    @functools.cached_property
    def equal(self) -> Foreign:
        """Which rows show a number."""
        return np.array([relation == EQUAL for relation, _ in self.frame.rows])

    @functools.cached_property
    def often(self) -> Counter[int]:
        """In how many rows each draw stands."""
        return Counter(draw for _, noise in self.frame.rows for draw, _ in noise)

    @functools.cached_property
    def shared(self) -> list[int]:
        """Draws in more than one row."""
        return [draw for draw, times in self.often.items() if times > 1]

    @functools.cached_property
    def whole(self) -> bool:
        """Whether a law has steps, or one that was read, so that not every part of a shift has a price."""
        return bool(self.read) or any(law.whole for law in self.laws)

    @functools.cached_property
    def is_normal(self) -> bool:
        """Whether some noise is normal."""
        return any(law == "normal" for law, _ in self.frame.draws)

    def price(self, draw: int, shift: float) -> tuple[float, float]:
        """Of a draw."""
        for own, law in self.read:
            if own == draw:
                return (float(law.price(shift)) if shift else 0.0), 0.0
        return laws.price(self.frame.draws[draw][0], shift, self.frame.draws[draw][1])


class ShiftsPaid(NamedTuple):
    """Shifts for one direction, and what they cost."""

    shifts: Shifts
    paid: Paid


class PatternFound(NamedTuple):
    """What a unit pays in a group, by direction; the pattern, of frame 0, is None if there is no bound.

    `read` says whether a law that was read off code moves, so that the judge cannot price it; `moving` are
    the draws that move.
    """

    pattern: Pattern | None
    up: Paid
    down: Paid
    read: bool = False
    moving: frozenset[int] = frozenset()


@functools.lru_cache(maxsize=1 << 12)
def found(
    noise: FrameNoise,
    entries: tuple[MovedEntry, ...],
    offsets: tuple[Weights, ...] | None,
    few: bool,
    told: bool,
) -> PatternFound:
    """The cheapest of some proposals.

    Parameters
    ----------
    noise, entries
        What is seen, and what a unit moves of it.
    offsets
        For each entry, by draw, what of it the draw was first added to, if moving draws with that leaves all
        in place; else None.
    few
        Whether linear programs may be solved.
    told
        Whether draws move with their offsets and in no other way.
    """
    ways = entries, tuple(one.turned() for one in entries)
    both = [_best(noise, way, offsets, few, told) for way in ways]
    otherwise: list[ShiftsPaid | None] = []
    if noise.frame.is_compared:
        turned, negated = noise.turned(), [tuple(one.negated() for one in way) for way in ways]
        otherwise = [_best(turned, way, offsets, few, told) for way in negated]
    if None in (*both, *otherwise):
        return PatternFound(None, _NOTHING, _NOTHING)
    up, down, *other = [one for one in (*both, *otherwise) if one is not None]
    pattern = Pattern(
        0, entries, up.shifts, down.shifts, (other[0].shifts, other[1].shifts) if other else None
    )
    paid = [up.paid, down.paid]
    if other:
        paid = [one.dearer(two.paid) for one, two in zip(paid, other, strict=True)]
    if noise.frame.maximum:
        paid = [paid[0].dearer(paid[1])] * 2
    moving = frozenset[int]().union(*(_moving(one.shifts) for one in (up, down, *other)))
    read = any(draw in moving for draw, _ in noise.read)
    return PatternFound(pattern, paid[0], paid[1], read, moving)


def _moving(shifts: Shifts) -> set[int]:
    if isinstance(shifts, LinearShifts):
        return {draw for draw, *_ in shifts.terms}
    return {draw for corner in shifts.values for draw, _ in corner}


def _best(
    noise: FrameNoise,
    entries: tuple[MovedEntry, ...],
    offsets: tuple[Weights, ...] | None,
    few: bool,
    told: bool,
) -> ShiftsPaid | None:
    """The cheapest shifts for one direction of a change; None if none has a finite price."""
    best: ShiftsPaid | None = None
    for shifts in _proposals(noise, entries, offsets, few, told):
        paid = arithmetic.cost(noise.frame, entries, shifts, noise.price)
        cheaper = math.isfinite(paid.loss) and (best is None or paid < best.paid)
        if cheaper and not arithmetic.wrong(noise.frame, entries, shifts):
            best = ShiftsPaid(shifts, paid)
    return best


def _proposals(
    noise: FrameNoise,
    entries: tuple[MovedEntry, ...],
    offsets: tuple[Weights, ...] | None,
    few: bool,
    told: bool,
) -> Iterator[Shifts]:
    rows = len(noise.frame.rows)
    if noise.is_normal:
        if all(law == "normal" for law, _ in noise.frame.draws) and rows <= 4 * MOST_ROWS:
            yield from _least_squares(noise, entries)
        elif offsets is not None:  # what is drawn around hidden numbers stays
            yield _with_offsets(offsets)
        elif few and rows <= MOST_ROWS:
            yield from _programmed(noise, entries)
        return
    if told and rows > 1 and offsets is not None:
        yield _with_offsets(offsets)
        return
    if rows == 1:
        yield from _of_one_row(noise, entries)
        return
    best = False
    for made in _of_a_maximum(noise, entries) if noise.frame.maximum else ():
        best = True
        yield made
    if offsets is not None:
        best = True
        yield _with_offsets(offsets)
    for made in _of_one_draw(noise, entries):
        best = True
        yield made
    single = all(relation == EQUAL and len(own) == 1 for relation, own in noise.frame.rows)
    simple = best and (noise.frame.maximum or single)
    # Of one shared draw the best move is known, and what moves with its own noise is rarely dearer.
    known = best and (rows > _FEW_ROWS or len(noise.shared) == 1)
    if not (simple or known or noise.whole or rows > MOST_ROWS) and few:
        yield from _programmed(noise, entries)


# ---------------------------------------------------------------- closed forms


def _with_offsets(offsets: Sequence[Weights]) -> LinearShifts:
    """Every draw moves with what it was first added to."""
    by: dict[int, list[tuple[int, float]]] = {}
    for entry, own in enumerate(offsets):
        for draw, weight in own:
            if weight:
                by.setdefault(draw, []).append((entry, -weight))
    return LinearShifts(tuple((draw, 0.0, tuple(each)) for draw, each in by.items()))


def _cheapest(
    noise: FrameNoise, draws: Sequence[tuple[int, float]], move: float, exact: bool
) -> tuple[Foreign, float]:
    """How one of these draws moves a sum by so much, at least unless it is `exact`, and the least cost."""
    best: tuple[Foreign, float] = (), math.inf
    if move == 0:
        return (), 0.0
    for draw, weight in draws:
        if weight == 0:  # masks that cancel
            continue
        shift = move / weight
        if noise.laws[draw].whole:
            near = round(shift)
            if abs(shift - near) <= _TINY * abs(shift):
                shift = float(near)
            elif exact:
                continue
            else:
                shift = math.copysign(math.ceil(abs(shift)), shift)
        paid = noise.price(draw, shift)[0]
        if paid < best[1]:
            best = ((draw, shift),), paid
    return best


def _of_one_row(noise: FrameNoise, entries: tuple[MovedEntry, ...]) -> Iterator[Shifts]:
    """The best shift of one draw, which is the best of all for one row."""
    ((relation, draws),) = noise.frame.rows
    low, high = _range(entries, 0)
    if relation == LEAST:
        move, _ = _cheapest(noise, draws, max(-low, 0.0), exact=False)
        if move or low >= 0:
            yield LinearShifts(tuple((draw, shift, ()) for draw, shift in move))
        return
    ends = [_cheapest(noise, draws, -end, exact=True) for end in (low, high)]
    if all(math.isfinite(paid) for _, paid in ends):
        yield Corners(tuple(move for move, _ in ends))


def _range(entries: Sequence[MovedEntry], row: int) -> tuple[float, float]:
    """Between which numbers a row moves."""
    low = high = 0.0
    for one in entries:
        weight = dict(one.weights).get(row, 0.0)
        ends = weight * one.low, weight * one.high
        low, high = low + min(ends), high + max(ends)
    return low, high


def _of_a_maximum(noise: FrameNoise, entries: Sequence[MovedEntry]) -> Iterator[Shifts]:
    """Shift the winner's noise by what the others gain most, or each of the others' by what it gains."""
    rows, leads = [own for _, own in noise.frame.rows], [dict(own) for _, own in noise.frame.rows]
    own = [(draw, weight) for draw, weight in rows[0] if all(lead.get(draw) == weight for lead in leads)]
    named = {draw for draw, _ in own}
    theirs = [[(draw, weight) for draw, weight in row if draw not in named] for row in rows]
    if any(times > 1 for times in Counter(draw for row in theirs for draw, _ in row).values()):
        return
    needs = [max(-_range(entries, row)[0], 0.0) for row in range(len(rows))]
    # The cost is convex and bends only where the winner's shift suffices for one more of the others.
    for most in {0.0, *needs}:
        moves = [_cheapest(noise, own, most, exact=False)]
        moves += [
            _cheapest(noise, each, max(need - most, 0.0), exact=False)
            for each, need in zip(theirs, needs, strict=True)
        ]
        if all(math.isfinite(paid) for _, paid in moves):
            yield LinearShifts(tuple((draw, shift, ()) for move, _ in moves for draw, shift in move))


def _of_one_draw(noise: FrameNoise, entries: tuple[MovedEntry, ...]) -> Iterator[Shifts]:
    """One draw that several rows share moves, as a sparse vector's threshold does, and each row's own."""
    if not noise.shared or len(noise.shared) > MOST_ENTRIES or noise.whole:
        return
    own = [_own_draws(noise, row) for row in range(len(noise.frame.rows))]
    columns = _columns(noise, entries)
    for draw in noise.shared:
        weights = noise.matrix[:, draw]
        if len(entries) <= MOST_ENTRIES:
            corners = [
                _moved(noise, draw, weights, own, columns @ np.array(corner))
                for corner in arithmetic.corners(entries)
            ]
            if None not in corners:
                yield Corners(tuple(corners))  # type: ignore[arg-type]  # none of them is None
        else:
            yield from _for_all(noise, draw, weights, own, entries)


def _columns(noise: FrameNoise, entries: Sequence[MovedEntry]) -> Foreign:
    """Weights of entries, row by row."""
    found = np.zeros((len(noise.frame.rows), len(entries)))
    for entry, one in enumerate(entries):
        for row, weight in one.weights:
            found[row, entry] = weight
    return found


class _Own(NamedTuple):
    """Cost of moving a row up or down by 1 with a draw that stands in no other row, and which one that is."""

    prices: tuple[float, float]
    draws: tuple[int, int]


def _own_draws(noise: FrameNoise, row: int) -> _Own:
    best, draws = [math.inf, math.inf], [-1, -1]
    for draw, weight in noise.frame.rows[row][1]:
        if noise.often[draw] == 1 and weight:
            law = noise.laws[draw]
            prices = (law.up, law.down) if weight > 0 else (law.down, law.up)
            for way, price in enumerate(prices):
                if price / abs(weight) < best[way]:
                    best[way], draws[way] = price / abs(weight), draw
    return _Own((best[0], best[1]), (draws[0], draws[1]))


def _moved(
    noise: FrameNoise, draw: int, weights: Foreign, own: Sequence[_Own], shift: Foreign
) -> Weights | None:
    """The cheapest way to undo a shift of the rows by one shared draw, and what is left by each row's own.

    That is convex in the draw's move and bends where a row needs no more, so that one of these is best.
    """
    prices = np.array([one.prices for one in own]).T
    prices[1, ~noise.equal] = 0.0  # whatever leads may lead by more
    moves = np.unique(np.append(-shift[weights != 0] / weights[weights != 0], 0.0))
    left = -(shift + moves[:, None] * weights)
    left[np.abs(left) < _TINY * 1e-3 * (1 + np.abs(shift).max())] = 0.0
    law = noise.laws[draw]
    with np.errstate(invalid="ignore"):
        each = np.where(left > 0, left * prices[0], np.where(left < 0, -left * prices[1], 0.0)).sum(axis=1)
        first = np.where(moves > 0, moves * law.up, np.where(moves < 0, -moves * law.down, 0.0))
    best = int((each + first).argmin())
    if not math.isfinite((each + first)[best]):
        return None
    found = [(draw, float(moves[best]))] if moves[best] else []
    for row, need in enumerate(left[best].tolist()):
        if need > 0 or (need < 0 and noise.equal[row]):
            other = own[row].draws[need < 0]
            found.append((other, need / float(noise.matrix[row, other])))
    return tuple(found)


def _for_all(
    noise: FrameNoise, draw: int, weights: Foreign, own: Sequence[_Own], entries: Sequence[MovedEntry]
) -> Iterator[LinearShifts]:
    """A move of the shared draw that does for all that a unit can do at once, and of each row's own draw.

    Each row is taken to move within its range, whatever the others do: what units pay is no less for that.
    """
    ranges = [_range(entries, row) for row in range(len(weights))]
    ends = {
        -end / float(weights[row]) for row, both in enumerate(ranges) for end in both if weights[row] and end
    }
    best, least = None, math.inf
    for move in {0.0, *ends}:
        terms = _terms_for(noise, draw, move, weights, own, entries, ranges)
        paid = math.inf
        if terms is not None:
            paid = arithmetic.cost(noise.frame, entries, LinearShifts(terms), noise.price).loss
        if paid < least:
            best, least = terms, paid
    if best is not None:
        yield LinearShifts(best)


def _terms_for(
    noise: FrameNoise,
    draw: int,
    move: float,
    weights: Foreign,
    own: Sequence[_Own],
    entries: Sequence[MovedEntry],
    ranges: Sequence[tuple[float, float]],
) -> tuple[tuple[int, float, Weights], ...] | None:
    terms: list[tuple[int, float, Weights]] = [(draw, move, ())] if move else []
    for row, (low, high) in enumerate(ranges):
        if noise.equal[row]:
            by = [(e, dict(one.weights).get(row, 0.0)) for e, one in enumerate(entries)]
            constant = -move * float(weights[row])
            if constant or any(weight for _, weight in by):
                other = own[row].draws[abs(low) > abs(high)]
                if other < 0:
                    return None
                scale = float(noise.matrix[row, other])
                parts = tuple((e, -weight / scale) for e, weight in by if weight)
                terms.append((other, constant / scale, parts))
        elif (need := -(low + move * float(weights[row]))) > _TINY * 1e-3 * (1 + abs(low) + abs(high)):
            other = own[row].draws[0]
            if other < 0:
                return None
            terms.append((other, need / float(noise.matrix[row, other]), ()))
    return tuple(terms)


# ---------------------------------------------------------------- normal noise


def _least_squares(noise: FrameNoise, entries: Sequence[MovedEntry]) -> Iterator[LinearShifts]:
    """The least shifts of normal noise, all that depends on it being shown."""
    columns = _columns(noise, entries)
    shifts = noise.inverse @ columns
    missed = np.abs(noise.matrix @ shifts - columns)
    if (missed > _TINY * np.abs(columns).max(axis=0, initial=0.0)).any():
        return
    small = _TINY * 1e-3 * np.abs(shifts).max(axis=0, initial=0.0)
    terms = []
    for draw, row in enumerate(shifts.tolist()):
        by = tuple((e, -own) for e, own in enumerate(row) if abs(own) > small[e])
        if by:
            terms.append((draw, 0.0, by))
    yield LinearShifts(tuple(terms))


# ---------------------------------------------------------------- linear programs


def _programmed(noise: FrameNoise, entries: Sequence[MovedEntry]) -> Iterator[Corners]:
    """The best shifts at every corner."""
    if len(entries) > MOST_ENTRIES:
        return
    columns, solver = _columns(noise, entries), _Solver.of(noise)
    found = []
    for corner in arithmetic.corners(entries):
        solved = solver.least(columns @ np.array(corner))
        if solved is None:
            return
        found.append(solved)
    yield Corners(tuple(found))


@dataclass
class _Solver:
    """Linear programs that differ in how far the rows move."""

    matrix: Foreign
    equal: Foreign
    prices: Foreign
    owners: list[tuple[int, float]]
    known: dict[bytes, Weights | None]

    @classmethod
    def of(cls, noise: FrameNoise) -> _Solver:
        """For these rows."""
        columns, prices, owners = [], [], []
        for draw, law in enumerate(noise.laws):
            for sign, price in ((1.0, law.up), (-1.0, law.down)):
                if math.isfinite(price):
                    columns.append(sign * noise.matrix[:, draw])
                    prices.append(price)
                    owners.append((draw, sign))
        matrix = np.array(columns).T.reshape(len(noise.frame.rows), -1)
        return cls(matrix, noise.equal, np.array(prices), owners, {})

    def least(self, shift: Foreign) -> Weights | None:
        """The cheapest shifts; None if none follows."""
        key = shift.tobytes()
        if key not in self.known:
            self.known[key] = self._solved(shift)
        return self.known[key]

    def _solved(self, shift: Foreign) -> Weights | None:
        from scipy.optimize import linprog

        equal, above = self.equal, ~self.equal
        if not self.matrix.shape[1]:
            return None if (equal & (shift != 0)).any() or (shift < 0).any() else ()
        solved = linprog(
            self.prices,
            A_ub=-self.matrix[above] if above.any() else None,
            b_ub=shift[above] if above.any() else None,
            A_eq=self.matrix[equal] if equal.any() else None,
            b_eq=-shift[equal] if equal.any() else None,
            method="highs",
        )
        return self._polished(solved.x, shift) if solved.status == 0 else None

    def _polished(self, values: Foreign, shift: Foreign) -> Weights | None:
        """A solver is right to 1e-7 only: what is used is solved once more, in the rows that bind."""
        used = values > _TINY * (1 + np.abs(shift).max())
        values = np.where(used, values, 0.0)
        size = 1e-6 * (1 + np.abs(shift).max())
        for _ in range(3):
            left = shift + self.matrix @ values
            binding = self.equal | (left < size)
            if used.any() and binding.any():
                values[used] -= np.linalg.lstsq(self.matrix[binding][:, used], left[binding], rcond=None)[0]
        found = defaultdict[int, float](float)
        for (draw, sign), value in zip(self.owners, values.tolist(), strict=True):
            if value < 0:
                return None
            found[draw] += sign * value
        return tuple((draw, float(move)) for draw, move in found.items() if move)
