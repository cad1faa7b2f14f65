"""Which number is larger, the largest or equal, and what is chosen by that."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.adding import (
    add,
    key_of,
    loose_of,
    nothing_of,
    opposite,
    quiet,
    subtract,
    whole_typed,
    world_of,
)
from verifiable_dp.evidence.symbolic.atoms import Atom, Moves, Row, Winner, moves_of
from verifiable_dp.evidence.symbolic.ends import Ends
from verifiable_dp.evidence.symbolic.multiplying import multiply, opaque
from verifiable_dp.evidence.symbolic.terms import Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World


def most(values: Iterable[Foreign]) -> Foreign:
    """The largest of several numbers; what has noise is shown."""
    return _best(list(values), 1)


def least(values: Iterable[Foreign]) -> Foreign:
    """The smallest of several numbers; what has noise is shown."""
    return _best(list(values), -1)


def _best(values: list[Foreign], sign: int) -> Foreign:
    """The largest or smallest: of sums with continuous noise no more is told than which one it is."""
    values = [number(value) for value in values]
    if len(values) < 2 or not all(map(_continuous, values)):
        return _extreme([quiet(value) for value in values], sign)
    world = world_of(*values)
    found = values[largest(world, values if sign > 0 else [opposite(value) for value in values])]
    world.kept["best", id(found)] = found, values
    return found


def _continuous(value: Foreign) -> bool:
    """Whether it has noise that makes it no other sum's equal."""
    return (
        type(value) is Term
        and bool(value.noise)
        and all(d.kind not in ("geometric", "law") for d in value.noise)
    )


def _extreme(values: list[Foreign], sign: int) -> Foreign:
    terms = [value for value in values if type(value) is Term]
    pick: Foreign = max if sign > 0 else min
    if not terms:
        return pick(values)
    if len(values) == 1:
        return values[0]
    ends = [v.range() if type(v) is Term else (float(v), float(v)) for v in values]
    best = pick(end[0] if sign > 0 else end[1] for end in ends)
    for value, end in zip(values, ends, strict=True):
        rest = [other for other, it in zip(values, ends, strict=True) if other is not value]
        others = [it for other, it in zip(values, ends, strict=True) if other is not value]
        above = all((end[0] >= it[1]) if sign > 0 else (end[1] <= it[0]) for it in others)
        if rest and above and (end[0] if sign > 0 else end[1]) == best:
            return value if type(value) is Term else add(value, nothing_of(terms[0]))  # whatever they are
    world = terms[0].world
    for side, value in enumerate(values):
        if type(value) is not Term:
            world.scaled(side)
    key = ("extreme", sign, *map(key_of, values))
    if key not in world.kept:
        made = order_statistic(terms, values, lambda found: float(pick(found)), pick)
        if type(made) is not Term:  # an oracle said which number it is
            return made
        world.kept[key] = made, values  # which keeps their atoms, after which the key is named
    return world.kept[key][0]


def order_statistic(
    terms: list[Term], values: list[Foreign], of: Callable[[list[float]], float], pick: Foreign = None
) -> Foreign:
    """A number that lies among `values` and moves no further than the one of them that moves most."""
    plain = [v.value() if type(v) is Term else float(v) for v in values]
    ends = [v.range() if type(v) is Term else (float(v), float(v)) for v in values]
    low = pick(e[0] for e in ends) if pick else min(e[0] for e in ends)
    high = pick(e[1] for e in ends) if pick else max(e[1] for e in ends)

    def moving() -> Moves:
        found: dict[int, tuple[float, float]] = {}
        for term in terms:
            for unit, (a, b) in moves_of(term.raw).items():
                known = found.get(unit, (0.0, 0.0))
                found[unit] = (min(known[0], a), max(known[1], b))
        return found

    terms[0].world.doubts += [b - a for a, b in itertools.pairwise(plain)]
    made = opaque(max(terms, key=loose_of), of(plain), low, high, moving, all(whole_typed(v) for v in values))
    if pick is max and type(made) is Term:
        next(iter(made.raw)).largest_of = tuple(values)
    return made


def indicator(term: Term, value: bool) -> Foreign:
    """Whether something holds of raw data."""

    def moving() -> Moves:
        return dict.fromkeys(moves_of(term.raw), (-1.0, 1.0))

    term.world.doubt(term)
    return _truth(opaque(term, float(value), 0.0, 1.0, moving, True))


def _truth(made: Foreign) -> Foreign:
    if type(made) is Term:
        made.type = "truth"
    return made


def exclusive(value: Foreign, cell: Foreign) -> Foreign:
    """A truth value that holds for at most one of those of the same cell.

    It is a number of its own: what is known of it may be told of nothing else.
    """
    if type(value) is not Term or value.noise or value.const or len(value.raw) != 1:
        return value
    ((atom, weight),) = value.raw.items()
    if weight != 1 or not atom.whole or (atom.low, atom.high) != (0.0, 1.0):
        return value
    made = Atom(atom.value, 0.0, 1.0, lambda: atom.moves, whole=True, cell=cell)
    return _truth(Term(value.world, 0.0, {made: 1.0}, {}, True))


def is_place(value: Foreign, size: int) -> bool:
    """Whether a value is a raw number that is certain to be a place in a list of this size."""
    if type(value) is not Term or value.noise or not value.whole:
        return False
    low, high = value.range()
    return low >= 0 and high <= size - 1


def looked_up(key: Term, values: list[Foreign]) -> Foreign:
    """The number at a raw place of a list of plain ones; where one alone differs, it tells that place."""
    low, high = min(values), max(values)
    if low == high:
        return values[0]
    for rest, other in ((low, high), (high, low)):
        if values.count(rest) == len(values) - 1:
            return add(rest, multiply(equal(key, values.index(other)), other - rest))

    def moving() -> Moves:
        return dict.fromkeys(moves_of(key.raw), (low - high, high - low))

    return opaque(key, values[round(key.value())], low, high, moving, all(map(whole_typed, values)))


def bit_of(value: Term) -> Atom | None:
    """The exclusive indicator that a raw number is, if it is one."""
    if value.const or len(value.raw) != 1:
        return None
    ((atom, weight),) = value.raw.items()
    return atom if weight == 1 and atom.cell is not None else None


def _compared_loosely(left: Foreign, right: Foreign) -> int:
    """How loose the difference of two numbers is that are compared, which itself rounds nothing."""
    alone = any(type(value) is not Term and value == 0 for value in (left, right))
    loose = max(loose_of(left), loose_of(right))
    return loose if alone or not loose else 2


def above(left: Foreign, right: Foreign, *, strict: bool) -> Foreign:
    """Whether `left` is above `right`: told at the price of what it tells, if there is noise."""
    left, right = number(left), number(right)
    if nature(left) or nature(right):
        return left > right
    if type(left) is not Term and type(right) is not Term:
        return left > right if strict else left >= right
    infinite = [float(x) for x in (left, right) if type(x) is not Term and not math.isfinite(float(x))]
    if infinite:
        x, y = (0.0 if type(z) is Term else float(z) for z in (left, right))
        return np.bool_(x > y)
    lead = subtract(left, right, pools=False)
    if type(lead) is not Term:
        return lead > 0 if strict else lead >= 0
    if not lead.noise:
        lead.loose = _compared_loosely(left, right)
        low, high = lead.edges()
        if lead.is_still:
            return np.bool_(lead.value() > 0 if strict else lead.value() >= 0)
        if low > 0 or (low >= 0 and not strict):
            return np.True_
        if high < 0 or (high <= 0 and strict):
            return np.False_
        value = lead.value()
        return indicator(lead, value > 0 if strict else value >= 0)
    world = lead.world
    if world.chooser.crowded(world) and any(draw.used and draw.met for draw in lead.noise):
        left, right = quiet(left), quiet(right)
        return above(left, right, strict=strict)
    world.chooser.tighten(lead)
    value = lead.value()
    answer = world.chooser.compared(value > 0 if strict else value >= 0)
    for draw in lead.noise:
        draw.used = True
    turned = lead if answer else opposite(lead)
    world.sees(Row(world.place(), ">", turned.raw, turned.noise))
    return np.bool_(answer)


def equal(left: Foreign, right: Foreign) -> Foreign:
    """Whether two numbers are equal; what has noise is shown, if it is not known which one is larger."""
    for one, other in ((left, right), (right, left)):
        if is_term(one) and is_term(other) and ("best", id(one)) in one.world.kept:
            found, values = one.world.kept["best", id(one)]
            if found is one and any(other is value for value in values):
                return np.bool_(one is other)
    left, right = quiet(left), quiet(right)
    if type(left) is not Term and type(right) is not Term:
        return left == right
    gap = subtract(left, right)
    gap.loose = _compared_loosely(left, right)
    low, high = gap.edges()
    if low > 0 or high < 0:
        return np.False_
    if gap.noise or gap.loose:
        return indicator(gap, gap.value() == 0)
    # A number equals one constant at most, and is the same bit each time that it is compared with it.
    raw = tuple(gap.raw.items())
    if len(raw) == 1 and raw[0][1] and raw[0][0].cell is not None:
        ((bit, weight),) = raw
        asked = -gap.const / weight
        holds = _truth(Term(gap.world, 0.0, {bit: 1.0}, {}, True))
        return holds if asked == 1 else negated(holds) if asked == 0 else np.False_
    cell = ("equal", *((id(atom), weight) for atom, weight in raw))
    if (cell, gap.const) not in gap.world.kept:
        made = exclusive(indicator(gap, gap.value() == 0), cell)
        gap.world.kept[cell, gap.const] = made, raw  # which keeps the atoms, after which the key is named
    return gap.world.kept[cell, gap.const][0]


def mixed(condition: Term, one: Foreign, other: Foreign) -> Foreign:
    """One of two numbers, as a raw truth value says."""
    lead = subtract(one, other)
    if type(lead) is not Term or not any(lead.raw.values()):
        return add(other, multiply(condition, lead.const if type(lead) is Term else lead))
    return add(multiply(condition, one), multiply(negated(condition), other))


def negated(value: Foreign) -> Foreign:
    """The opposite of a truth value."""
    return _truth(subtract(1, value)) if type(value) is Term else not value


def largest(world: World, values: list[Foreign]) -> int:
    """The position of the largest of several numbers, told at the price of that position."""
    values = [number(value) for value in values]
    if not any(type(value) is Term for value in values):
        return int(np.argmax(values))
    infinite = [i for i, v in enumerate(values) if type(v) is not Term and float(v) == math.inf]
    if infinite:
        return infinite[0]
    rivals = [i for i, v in enumerate(values) if type(v) is Term or float(v) > -math.inf]
    draws = {draw for i in rivals if type(values[i]) is Term for draw in values[i].noise}
    if world.chooser.crowded(world) and any(draw.used and draw.met for draw in draws):
        return largest(world, [quiet(value) for value in values])
    # Also where it is the only one on this path: on another one there may be two.
    raw = [v for i in rivals if type(v := values[i]) is Term and v.raw and not v.noise]
    if not all(value.is_still for value in raw):
        raise world.stop("raw {data} decide which position is chosen", why=Ends.POSITION)
    if len(rivals) == 1:
        return rivals[0]
    winner = _winner_of(world, values, rivals)
    place, rows = world.place(), []
    for i in rivals:
        lead = subtract(values[winner], values[i], pools=False) if i != winner else None
        if type(lead) is Term:
            rows.append(Row(place, ">", lead.raw, lead.noise))
    for draw in draws:
        draw.used = True
    own = values[winner].noise if type(values[winner]) is Term else {}
    world.sees(Winner(place, tuple(rows), own))
    return winner


def _winner_of(world: World, values: list[Foreign], rivals: list[int]) -> int:
    """Which one is the largest in this run."""
    plain = [v.value() if type(v) is Term else float(v) for v in values]
    if world.chooser.tightens:
        first, second = sorted(rivals, key=lambda i: -plain[i])[:2]
        lead = subtract(values[first], values[second], pools=False)
        if type(lead) is Term:
            world.chooser.tighten(lead)
            plain = [v.value() if type(v) is Term else float(v) for v in values]
    natural = rivals[int(np.argmax([plain[i] for i in rivals]))]
    noisy = [i for i in rivals if type(values[i]) is Term]
    fixed = [i for i in rivals if i not in noisy]
    # Of public numbers only the largest can win.
    can = noisy + ([max(fixed, key=lambda i: plain[i])] if fixed else [])
    return int(world.chooser.leader(natural, can))
