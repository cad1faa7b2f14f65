"""Sums and multiples of terms, and quotients of sums of exponentials, whose exponents are such sums."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.atoms import Atom, SymbolicDraw, merged, merged_draws, moves_of
from verifiable_dp.evidence.symbolic.terms import Term, is_term, number
from verifiable_dp.evidence.symbolic.world import World

_TINY = 1e-9


def term_of(
    world: World,
    const: float,
    raw: Foreign,
    noise: Foreign,
    whole: bool,
    ratio: Foreign = None,
    *,
    pools: bool = True,
) -> Foreign:
    """A term, or a plain number where nothing is unknown."""
    if world.pooling is not None and pools:
        noise = world.pooling(noise)
    if pools and not whole:  # a lead is taken by nobody but us, and whole numbers are not rounded
        world.reaches(abs(const))
    if not raw and not noise:
        return np.int64(const) if whole else np.float64(const)
    if raw and len(noise) == 1:
        # What a draw hides first is what it moves with in the neighbouring world.
        draw, weight = next(iter(noise.items()))
        if not draw.used:
            draw.met = {atom: own / weight for atom, own in raw.items()}
    made = Term(world, const, raw, noise, whole, ratio)
    made.loose = 0 if whole else 2
    return made


def loosened(made: Foreign, loose: int) -> Foreign:
    """What an operation made, which is as loose as that (`Term.loose`)."""
    if type(made) is Term:
        made.loose = 0 if made.whole else loose
    return made


def _looseness(left: Foreign, right: Foreign, sign: float = 1.0) -> int:
    """How loose a sum of two numbers is, or a difference (`Term.loose`)."""
    loose = max(loose_of(left), loose_of(right))
    if any(type(value) is not Term and value == 0 for value in (left, right)):
        return loose
    return max(loose, 1 if _is_above(left, 1.0) and _is_above(right, sign) else 2)


def loose_of(value: Foreign) -> int:
    """How loose a number is (`Term.loose`)."""
    return value.loose if type(value) is Term else 0


def _is_above(value: Foreign, sign: float) -> bool:
    """Whether nothing in a number, or in what is the opposite, is below 0."""
    const, raw, _ = _parts(value)
    ends = (sign * weight * end for atom, weight in raw.items() if weight for end in (atom.low, atom.high))
    return sign * const >= 0 and all(end >= 0 for end in ends)


def whole_typed(value: Foreign) -> bool:
    """Whether a number has the type of whole numbers."""
    return value.whole if type(value) is Term else isinstance(value, int | np.integer | np.bool_)


def world_of(*values: Foreign) -> World:
    """The run that the terms among these numbers belong to."""
    worlds: list[World] = [value.world for value in values if type(value) is Term]
    if any(world is not worlds[0] for world in worlds):
        raise worlds[0].stop("a run uses numbers of another run: the code keeps state between runs")
    return worlds[0]


def _parts(value: Foreign) -> tuple[float, Mapping[Atom, float], Mapping[SymbolicDraw, float]]:
    return (value.const, value.raw, value.noise) if type(value) is Term else (float(value), {}, {})


def either(made: Foreign, values: Iterable[Foreign]) -> Foreign:
    """One of several numbers as Python has it: a float, or a whole number if that one is."""
    values = list(values)
    if is_term(made) and not made.whole and any(map(_may_be_whole, values)):
        made = Term(made.world, made.const, made.raw, made.noise, False, made.ratio)
        made.type, made.world.mixes_types, made.loose = "either", True, max(map(loose_of, values))
    return made


def _may_be_whole(value: Foreign) -> bool:
    return whole_typed(value) or (type(value) is Term and value.type == "either")


def typed(made: Foreign, left: Foreign, right: Foreign) -> Foreign:
    """What a sum, difference or product makes of two numbers has the type that follows from theirs."""
    if type(made) is not Term:
        return made
    if any(type(v) is Term and v.type == "narrow" for v in (left, right)):
        if made.noise:
            raise made.world.stop(
                "noise is added to numbers with fewer than 64 bits, which have too few digits"
            )
        wide = any(type(v) is np.float64 for v in (left, right))
        made.type = "" if wide else "narrow"
        return made
    if made.whole:
        return made
    if _may_be_whole(left) and _may_be_whole(right):
        made.type = "either"
    return made


def add(left: Foreign, right: Foreign) -> Foreign:
    """The sum, as the traced code makes it."""
    left, right = _met(left, right)
    return _holding(plus(left, right), left, right)


def _holding(made: Foreign, *parts: Foreign) -> Foreign:
    """What the traced code has made of parts by adding them up."""
    if type(made) is Term:
        made.world.holds_sum(made, [part for part in parts if type(part) is Term])
    return made


def _met(*values: Foreign) -> tuple[Foreign, ...]:
    """Numbers that the traced code adds up."""
    numbers = tuple(map(number, values))
    found = [value for value in numbers if type(value) is Term]
    if found:
        world_of(*numbers).met(found)
    return numbers


def plus(left: Foreign, right: Foreign) -> Foreign:
    """The sum, as an argument about chances makes it."""
    left, right = number(left), number(right)
    if type(left) is not Term and type(right) is not Term:
        return left + right
    world = world_of(left, right)
    (a, raw, noise), (b, more, others) = _parts(left), _parts(right)
    made = term_of(
        world,
        a + b,
        merged(raw, more) if more else raw,
        merged_draws(noise, others) if others else noise,
        whole_typed(left) and whole_typed(right),
        Ratio.sum(left, right),
    )
    return typed(loosened(made, _looseness(left, right)), left, right)


def total(values: Iterable[Foreign]) -> Foreign:
    """The sum of many."""
    terms, const, whole = [], 0.0, True
    for value in values:
        value = number(value)
        whole = whole and whole_typed(value)
        if type(value) is Term:
            terms.append(value)
            const += value.const
        else:
            const += float(value)
    if not terms:
        return np.int64(const) if whole else np.float64(const)
    raw: dict[Atom, float] = {}
    noise: dict[SymbolicDraw, float] = {}
    terms[0].world.met(terms)
    for term in terms:
        for atom, weight in term.raw.items():
            raw[atom] = raw.get(atom, 0.0) + weight
        for draw, weight in term.noise.items():
            noise[draw] = noise.get(draw, 0.0) + weight
    plain = const - math.fsum(term.const for term in terms)
    above = plain >= 0 and all(_is_above(term, 1.0) for term in terms)
    loose = max(*map(loose_of, terms), 1 if above else 2)
    made = loosened(term_of(world_of(*terms), const, raw, noise, whole, Ratio.sum(*terms, plain)), loose)
    return _holding(made, *terms)


def subtract(left: Foreign, right: Foreign, *, pools: bool = True) -> Foreign:
    """The difference, as the traced code makes it."""
    left, right = _met(left, right)
    return _holding(minus(left, right, pools=pools), left, right)


def minus(left: Foreign, right: Foreign, *, pools: bool = True) -> Foreign:
    """As `plus`; of two draws that nothing else uses their noise may become one, if it `pools`."""
    left, right = number(left), number(right)
    if type(left) is not Term and type(right) is not Term:
        return left - right
    world = world_of(left, right)
    (a, raw, noise), (b, more, others) = _parts(left), _parts(right)
    made = term_of(
        world,
        a - b,
        merged(raw, more, -1.0) if more else raw,
        merged_draws(noise, others, -1.0) if others else noise,
        whole_typed(left) and whole_typed(right),
        Ratio.difference(left, right),
        pools=pools,
    )
    return typed(loosened(made, _looseness(left, right, -1.0)), left, right)


def quiet(value: Foreign) -> Foreign:
    """A number without noise: what has noise is shown."""
    value = number(value)
    return value.settle() if type(value) is Term and value.noise else value


def opposite(value: Foreign) -> Foreign:
    """The same below 0, which no number of the traced code scales."""
    value = number(value)
    return typed(times(value, -1.0, value.whole), value, -1) if type(value) is Term else -value


def nothing_of(term: Term) -> Foreign:
    """0, made of a term."""
    return times(term, 0.0, term.whole)


def times(term: Term, by: float, whole: bool) -> Foreign:
    """A multiple."""
    if not whole:  # whole numbers are not rounded
        term.world.reaches(abs(by) * _size(term))
    made = term_of(
        term.world,
        term.const * by,
        {atom: weight * by for atom, weight in term.raw.items()},
        {draw: weight * by for draw, weight in term.noise.items() if weight * by != 0},
        whole,
        term.ratio.times(by) if term.ratio is not None else None,
    )
    exact = abs(math.frexp(by)[0]) in (0.0, 0.5)  # powers of 2 round nothing
    return loosened(made, max(term.loose, int(not exact)))


_FAR = 40.0  # noise of scale 1 lies within, but for a chance of e^-40


def _size(term: Term) -> float:
    """How large the summands of a term can be; of quotients of exponentials, their weight."""
    known = term.ratio is None
    sizes = (abs(w) * (max(abs(a.low), abs(a.high)) if known else 1.0) for a, w in term.raw.items())
    finite = (size for size in sizes if math.isfinite(size))  # what has no bounds is as large as data are
    return max(max(finite, default=0.0), _FAR * max(map(abs, term.noise.values()), default=0.0))


def alike(a: Foreign, b: Foreign) -> bool:
    """Whether two terms are the same whatever the data are."""
    gap = minus(a, b)
    if not is_term(gap):
        return abs(float(gap)) <= _TINY
    return abs(gap.const) <= _TINY and all(abs(weight) <= _TINY for weight in gap.raw.values())


# ---------------------------------------------------------------- quotients of sums of exponentials


@dataclass(frozen=True, eq=False)
class Ratio:
    """A positive number as a quotient of sums of exponentials of terms.

    Attributes
    ----------
    above, below
        The terms; None below is 1.
    """

    above: tuple[Foreign, ...]
    below: tuple[Foreign, ...] | None

    @property
    def is_exponential(self) -> bool:
        """Whether it is one exponential."""
        return self.below is None and len(self.above) == 1

    @property
    def is_part(self) -> bool:
        """Whether all that is above stands below, too, so that it is at most 1."""
        return self.below is not None and _rest(self.below, self.above) is not None

    @property
    def is_one(self) -> bool:
        """Whether it is 1 whatever the data are."""
        above, below = ({}, {}) if self.below is None else (_sums(self.above), _sums(self.below))
        return (
            bool(above)
            and above.keys() == below.keys()
            and all(math.isclose(weight, below[raw], rel_tol=1e-6) for raw, weight in above.items())
        )

    @staticmethod
    def sum(*values: Foreign) -> Ratio | None:
        """The sum of ratios and of positive constants, over one denominator."""
        found = [v.ratio for v in values if type(v) is Term]
        ratios = [r for r in found if r is not None]
        if len(ratios) < len(found) or any(type(v) is not Term and float(v) < 0 for v in values):
            return None
        below = ratios[0].below
        if any(r.below is not below for r in ratios):
            return None
        terms = [term for r in ratios for term in r.above]
        for value in values:
            if type(value) is not Term and float(value) > 0:
                shift = math.log(float(value))
                terms += [shift] if below is None else [plus(term, shift) for term in below]
        return Ratio(tuple(terms), below)

    @staticmethod
    def difference(left: Foreign, right: Foreign) -> Ratio | None:
        """What is left of a ratio, or of 1, when some of its terms are taken away."""
        if type(right) is not Term:
            return left.ratio if float(right) == 0 else None
        if right.ratio is None:
            return None
        below = right.ratio.below
        if type(left) is Term:
            if left.ratio is None or left.ratio.below is not below:
                return None
            there = left.ratio.above
        elif below is not None and float(left) == 1:
            there = below
        else:
            return None
        rest = _rest(there, right.ratio.above)
        return Ratio(tuple(rest), below) if rest else None

    def times(self, by: float) -> Ratio | None:
        """Times a positive number; None of others."""
        if by == 1:
            return self
        return Ratio(tuple(plus(t, math.log(by)) for t in self.above), self.below) if by > 0 else None

    def by(self, other: Ratio) -> Ratio | None:
        """The product, if one of them is an exponential."""
        if other.is_exponential:
            return Ratio(tuple(plus(t, other.above[0]) for t in self.above), self.below)
        return other.by(self) if self.is_exponential else None

    def turned(self) -> Ratio:
        """The reciprocal."""
        return Ratio(self.below if self.below is not None else (0.0,), self.above)

    def moves(self) -> dict[int, tuple[float, float]]:
        """How far its logarithm can move, by unit."""
        below = self.below if self.below is not None else (0.0,)
        rows = [[_log_moves(minus(d, n)) for d in below] for n in self.above]
        units = {unit for row in rows for moves in row for unit in moves}
        still = (0.0, 0.0)
        found = {}
        for unit in units:
            each = [[moves.get(unit, still) for moves in row] for row in rows]
            low = min(-max(m[1] for m in row) for row in each)
            high = max(-min(m[0] for m in row) for row in each)
            found[unit] = (min(low, 0.0), max(high, 0.0))
        return found


def _raw_key(term: Foreign) -> Foreign:
    return frozenset((id(atom), weight) for atom, weight in term.raw.items()) if type(term) is Term else None


def key_of(term: Foreign) -> Foreign:
    """What is alike of two numbers that are the same multiples of the same atoms."""
    return _raw_key(term), term.const if type(term) is Term else float(term)


def counts_of(terms: Iterable[Foreign]) -> Counter[Foreign]:
    """How often each term is there."""
    return Counter(map(key_of, terms))


def _sums(terms: Iterable[Foreign], shift: float = 0.0) -> dict[Foreign, float]:
    """Weights of exponentials of the same multiples of atoms, over e^shift."""
    found: dict[Foreign, float] = {}
    for term in terms:
        raw, const = key_of(term)
        found[raw] = found.get(raw, 0.0) + math.exp(const - shift)
    return found


def _rest(terms: Sequence[Foreign], gone: Sequence[Foreign]) -> list[Foreign] | None:
    """What is left of a sum of exponentials without some of them; None if these are not all in it.

    Constants may have been added up before.
    """
    counts, rest = counts_of(gone), []
    for term in terms:
        if counts[key_of(term)]:
            counts[key_of(term)] -= 1
        else:
            rest.append(term)
    if not +counts:
        return rest
    shift = max(key_of(term)[1] for term in (*terms, *gone))
    left, away = _sums(terms, shift), _sums(gone, shift)
    if any(weight > (1 + 1e-9) * left.get(raw, 0.0) for raw, weight in away.items()):
        return None
    one = {key_of(term)[0]: term for term in terms}
    weights = {raw: weight - away.get(raw, 0.0) for raw, weight in left.items()}
    return [
        plus(one[raw], math.log(weight) + shift - key_of(one[raw])[1])
        for raw, weight in weights.items()
        if weight > 1e-6 * left[raw]
    ]


def _log_moves(term: Foreign) -> dict[int, tuple[float, float]]:
    return moves_of(term.raw) if type(term) is Term else {}
