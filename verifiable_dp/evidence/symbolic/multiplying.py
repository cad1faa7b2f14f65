"""Products and quotients of terms, and numbers of which only bounds are known."""

from __future__ import annotations

import math
from collections.abc import Callable

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import users
from verifiable_dp.evidence.symbolic.adding import (
    Ratio,
    alike,
    loose_of,
    minus,
    quiet,
    subtract,
    term_of,
    times,
    typed,
    whole_typed,
)
from verifiable_dp.evidence.symbolic.atoms import Atom, Moves, moves_of
from verifiable_dp.evidence.symbolic.terms import Term, number
from verifiable_dp.evidence.symbolic.world import World

_SMALLEST = -744.0  # of which there are exponentials


def opaque(
    term: Term,
    value: float,
    low: float,
    high: float,
    moving: Callable[[], Moves],
    whole: bool = False,
    ratio: Ratio | None = None,
) -> Foreign:
    """A number that follows from the data in a way that only its bounds tell.

    Whatever moves, it stays between its bounds.
    """
    width = high - low

    def bounded() -> Moves:
        return {
            unit: (max(min(least, 0.0), -width), min(max(most, 0.0), width))
            for unit, (least, most) in moving().items()
        }

    if math.isnan(low) or math.isnan(high):
        raise term.world.stop_raw("a result from raw {data} may be undefined")
    over = math.isinf(low) or math.isinf(high)  # quotients of exponentials do not cancel, but overflow
    if (ratio is None or over) and not whole and all(map(math.isfinite, term.range())):
        term.world.reaches(max(abs(low), abs(high)))
    made = Term(term.world, 0.0, {Atom(value, low, high, bounded, whole): 1.0}, {}, whole, ratio)
    made.loose = 0 if whole else max(1, term.loose)
    return term.world.fixed(made) if whole and term.world.oracle is not None else made


def _hull(*products: float) -> tuple[float, float]:
    kept = [0.0 if math.isnan(p) else p for p in products]
    return min(kept), max(kept)


def _products(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """All products of two intervals."""
    return _hull(a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])


def multiply(left: Foreign, right: Foreign) -> Foreign:
    """The product."""
    left, right = number(left), number(right)
    if type(left) is Term and type(right) is Term:
        made = left.world.normals(left, right) if left.world.normals is not None else None
        if made is not None:
            return made
        left, right = quiet(left), quiet(right)
        if type(left) is Term and type(right) is Term:
            return _product(left, right)
    if type(left) is not Term and type(right) is not Term:
        return left * right
    side = int(type(left) is Term)
    term, by = (left, float(right)) if side else (right, float(left))
    if term.noise and term.raw:  # data that noise hides are scaled with it
        term.world.holds(side, term)
    else:
        term.world.scaled(side, raw=bool(term.raw), noise=term.noise)
        term.world.weighed.update(term.raw)
    if not math.isfinite(by):
        raise term.world.stop_raw("raw {data} are multiplied by a number that is not finite")
    return typed(times(term, by, whole_typed(left) and whole_typed(right)), left, right)


def _of_users(term: Term) -> bool:
    """Whether it is a sum of entries of contexts and rewards."""
    return all(atom.of is not None for atom, weight in term.raw.items() if weight)


def _expanded(left: Term, right: Term) -> Foreign:
    """A product of such sums as a sum of products, each of which is the same number wherever it stands."""
    raw: dict[Atom, float] = {}
    for term, by in ((left, right.const), (right, left.const)):
        for atom, weight in term.raw.items() if by else ():
            raw[atom] = raw.get(atom, 0.0) + by * weight
    for one, weight in left.raw.items():
        for other, by in right.raw.items():
            if weight and by:
                atom = _pair(left.world, one, other)
                raw[atom] = raw.get(atom, 0.0) + weight * by
    return term_of(left.world, left.const * right.const, raw, {}, False)


def _pair(world: World, one: Atom, other: Atom) -> Atom:
    key = frozenset((one, other))
    if key not in world.kept:
        mine = Term(world, 0.0, {one: 1.0}, {})
        made = _whole_product(mine, mine if other is one else Term(world, 0.0, {other: 1.0}, {}))
        world.kept[key] = next(iter(made.raw))
        world.kept[key].factors = (one, other)
    found: Atom = world.kept[key]
    return found


def _product(left: Term, right: Term) -> Foreign:
    if _of_users(left) and _of_users(right):
        return _expanded(left, right)
    return _whole_product(left, right)


def _whole_product(left: Term, right: Term) -> Foreign:
    mine, theirs = left.range(), right.range()
    low, high = _products(mine, theirs)
    if left is right:
        low = max(low, 0.0)

    def moving() -> Moves:
        # x'y' - xy = x'(y' - y) + y(x' - x)
        a, b = moves_of(left.raw), moves_of(right.raw)
        found = {}
        for unit in a.keys() | b.keys():
            one, other = _products(mine, b.get(unit, (0.0, 0.0))), _products(theirs, a.get(unit, (0.0, 0.0)))
            found[unit] = (one[0] + other[0], one[1] + other[1])
        return found

    ratio = left.ratio.by(right.ratio) if left.ratio is not None and right.ratio is not None else None
    looser = max(left, right, key=loose_of)
    return opaque(looser, left.value() * right.value(), low, high, moving, left.whole and right.whole, ratio)


def _reciprocal(term: Term) -> Foreign:
    low, high = term.range()
    if low <= 0 <= high:
        raise term.world.stop_raw("a number is divided by raw {data} that may be 0")

    def moving() -> Moves:
        # 1/y' - 1/y = -(y' - y)/(y y')
        least, most = 1 / max(low * low, high * high), 1 / min(low * low, high * high)
        return {u: _products((-most, -least), move) for u, move in moves_of(term.raw).items()}

    ratio = term.ratio.turned() if term.ratio is not None else None
    return opaque(term, 1 / term.value(), 1 / high, 1 / low, moving, ratio=ratio)


def divide(left: Foreign, right: Foreign) -> Foreign:
    """The quotient."""
    left, right = number(left), number(right)
    if type(right) is Term:
        right = quiet(right)
        right = right.const if type(right) is Term and not any(right.raw.values()) else right
    if type(right) is not Term:
        if type(left) is not Term:
            return left / right
        if float(right) == 0 or not math.isfinite(float(right)):
            if left.noise:
                return left.settle() / right
            raise left.world.stop_raw("raw {data} are divided by 0 or by a number that is not finite")
        found = multiply(left, 1 / float(right))
        if type(found) is Term:
            found.whole, found.type = False, ""
        return found
    if type(left) is Term:
        left = quiet(left)
    if type(left) is Term:
        known = users.shortened(left, right)
        known = _quotient(left, right) if known is None else known
        if known is not None:
            return known
    return multiply(left, _reciprocal(right))


def is_shifted(term: Foreign) -> bool:
    """Whether it is what one of several numbers is above the largest of them: never above 0."""
    for atom, weight in term.raw.items() if type(term) is Term else ():
        parts = atom.largest_of or (atom.log_of if weight == -1 else ())
        if weight < 0 and parts:
            rest = minus(term, Term(term.world, 0.0, {atom: weight}, {}))
            return any(alike(rest, multiply(part, -weight)) for part in parts)
    return False


def _quotient(left: Term, right: Term) -> Foreign:
    """The quotient of two numbers as a term; None if they have no such form."""
    if left.ratio is None or right.ratio is None:
        return None
    if left.ratio.below is not right.ratio.below:
        return None
    made = Ratio(left.ratio.above, right.ratio.above)
    small = all((t.range()[0] if type(t) is Term else t) < _SMALLEST for t in right.ratio.above)
    if small and not any(map(is_shifted, right.ratio.above)):
        raise left.world.stop_raw("exponentials of raw {data} may all be too small for a float")
    value = left.value() / right.value()

    def moving() -> Moves:
        return {unit: (math.expm1(low), -math.expm1(-high)) for unit, (low, high) in made.moves().items()}

    if made.is_part:
        return opaque(left, value, 0.0, 1.0, moving, ratio=made)
    return opaque(
        left, value, 0.0, math.inf, lambda: dict.fromkeys(made.moves(), (-math.inf, math.inf)), ratio=made
    )


def remainder(left: Foreign, right: Foreign) -> Foreign:
    """The remainder by a public number; what has noise is shown."""
    left, right = quiet(left), number(right)
    right = right.settle() if type(right) is Term else right
    if type(left) is not Term:
        return left % right
    if not left.whole or right != round(right) or not right > 0:
        raise left.world.stop_raw("we cannot follow a remainder (%) of raw {data}")
    low, high = (math.floor(end / right) for end in left.range())
    if low != high:
        raise left.world.stop_raw("we cannot follow a remainder (%) of raw {data}")
    return subtract(left, low * int(right))
