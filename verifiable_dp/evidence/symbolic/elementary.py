"""Functions of one number: powers, roots, logarithms and exponentials, limits and rounding."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import terms, users
from verifiable_dp.evidence.symbolic.adding import Ratio, minus, opposite, plus, quiet, typed, world_of
from verifiable_dp.evidence.symbolic.atoms import Moves, SymbolicDraw, moves_of
from verifiable_dp.evidence.symbolic.comparing import equal, least, most, negated
from verifiable_dp.evidence.symbolic.multiplying import divide, is_shifted, multiply, opaque
from verifiable_dp.evidence.symbolic.terms import Term, is_term, number
from verifiable_dp.evidence.symbolic.world import unseen

_LARGEST = 709.0  # of which there is an exponential


def power(left: Foreign, right: Foreign) -> Foreign:
    """The power."""
    if is_term(left) and type(right) is not Term and float(right) == 2:
        return multiply(left, left)
    left, right = quiet(left), quiet(right)
    if type(left) is not Term and type(right) is not Term:
        return left**right
    if type(left) is Term and type(right) is not Term:
        if float(right) == 1:
            return left
        if float(right) == 0.5:
            return root(left)
        if float(right) == -1:
            return divide(1.0, left)
    if type(left) is not Term and float(left) > 0:
        return exponential(multiply(math.log(float(left)), right))
    raise world_of(left, right).stop_raw("we cannot bound how much a power of raw {data} changes")


def _through(
    term: Foreign, function: Foreign, moving: Callable[[Term], Moves], domain: float, what: str
) -> Foreign:
    """An increasing function of a term that is above `domain`."""
    term = quiet(term)
    if type(term) is not Term:
        return function(term)
    low, high = term.range()
    if low < domain:
        low, high = users.form_range(term) or (low, high)
    if low < domain:
        raise term.world.stop_raw(
            f"we cannot bound how much the {what} of raw {{data}} changes where they may be too small"
        )
    with np.errstate(all="ignore"):
        return opaque(
            term,
            float(function(term.value())),
            float(function(low)),
            float(function(high)),
            lambda: moving(term),
        )


def _steepest(term: Term, slope: Callable[[float], float]) -> Moves:
    """Moves of an increasing function that is steepest at its lower end: `slope(size of the move)`."""
    return {u: (-slope(-a), slope(b)) for u, (a, b) in moves_of(term.raw).items()}


def _alone(term: Foreign) -> tuple[SymbolicDraw, float] | None:
    """The exponential draw that a number is, with its scale, if nothing else uses it; it is used up then."""
    if not is_term(term) or term.raw or term.const or len(term.noise) != 1:
        return None
    ((draw, weight),) = term.noise.items()
    if draw.kind != "exponential" or draw.used or draw.met or weight <= 0:
        return None
    draw.used = True
    term.world.finishing.append(functools.partial(unseen, term.world, draw))
    return draw, weight


def root(term: Foreign) -> Foreign:
    """The square root; that of exponential noise, times a normal draw, is Laplace noise."""
    if (alone := _alone(term)) is not None:
        draw, weight = alone
        return Term(term.world, 0.0, {}, {SymbolicDraw("root", math.sqrt(draw.value)): math.sqrt(weight)})

    def moving(term: Term) -> Moves:
        low = max(term.range()[0], 0.0)
        return _steepest(term, lambda move: math.sqrt(low + move) - math.sqrt(low))

    return _through(term, np.sqrt, moving, 0.0, "square root")


def logarithm(term: Foreign) -> Foreign:
    """The logarithm; that of exponential noise is Gumbel noise with the other sign."""
    if (alone := _alone(term)) is not None:
        draw, weight = alone
        return Term(term.world, math.log(weight), {}, {SymbolicDraw("gumbel", -math.log(draw.value)): -1.0})
    term = quiet(term)
    if type(term) is Term and term.ratio is not None and term.ratio.is_exponential:
        return term.ratio.above[0]

    def moving(term: Term) -> Moves:
        low = term.range()[0]
        found = _steepest(term, lambda move: math.log1p(move / low))
        if term.ratio is None:
            return found
        known = term.ratio.moves()
        return {u: (max(a, known[u][0]), min(b, known[u][1])) for u, (a, b) in found.items() if u in known}

    if type(term) is Term and term.range()[0] <= 0:
        raise term.world.stop_raw(
            "we cannot bound how much the logarithm of raw {data} changes, because they may be 0"
        )
    found = _through(term, np.log, moving, 0.0, "logarithm")
    if type(term) is Term and term.ratio is not None and term.ratio.below is None:
        next(iter(found.raw)).log_of = term.ratio.above
    return found


def _of_exponential(term: Term) -> Ratio:
    """The exponential of a term as a quotient of sums of exponentials."""
    for atom, weight in term.raw.items():
        if atom.log_of and abs(weight) == 1:
            rest = plus(term, Term(term.world, 0.0, {atom: -weight}, {}))
            rest = Term(term.world, rest.const, {a: w for a, w in rest.raw.items() if a is not atom}, {})
            if weight < 0:
                return Ratio((rest,), atom.log_of)
            return Ratio(tuple(plus(rest, t) for t in atom.log_of), None)
    return Ratio((term,), None)


def exponential(term: Foreign) -> Foreign:
    """The exponential."""
    term = quiet(term)
    if type(term) is not Term:
        return np.exp(term)
    if not any((*term.raw.values(), *term.noise.values())):
        return np.exp(term.const)  # of the difference of a number from itself
    low, high = term.range()
    if high > _LARGEST and not is_shifted(term):
        raise term.world.stop_raw("the exponential of raw {data} may be too large for a float")
    if high > 700:
        high = math.inf

    def moving(term: Term) -> Moves:
        top = math.exp(high) if high < 700 else math.inf
        # At most from the largest value down, or up to it.
        found = {}
        for u, (a, b) in moves_of(term.raw).items():
            down = top * math.expm1(a) if a < 0 else 0.0
            up = top * -math.expm1(-b) if b > 0 else 0.0
            found[u] = (down, up)
        return found

    with np.errstate(all="ignore"):
        return opaque(
            term,
            math.exp(min(term.value(), 709.0)),
            math.exp(max(low, -745.0)) if math.isfinite(low) else 0.0,
            math.exp(high) if high < 700 else math.inf,
            lambda: moving(term),
            ratio=_of_exponential(term),
        )


def limited(term: Foreign, low: Foreign, high: Foreign) -> Foreign:
    """The number kept between two public ones."""
    term, low, high = number(term), quiet(low), quiet(high)
    if type(term) is not Term and type(low) is not Term and type(high) is not Term:
        return np.minimum(np.maximum(term, low), high)
    if type(low) is Term or type(high) is Term:
        return least([most([term, low]), high])
    if term.noise:
        return np.minimum(np.maximum(term.settle(), low), high)
    low, high = float(low), float(high)
    bottom, top = term.range()
    if low <= bottom and top <= high:
        return term
    gaps = (minus(term, end, pools=False) for end in (low, high) if math.isfinite(end))
    term.world.doubt(*filter(is_term, gaps))
    value = min(max(term.value(), low), high)
    ends = min(max(bottom, low), high), min(max(top, low), high)
    made = opaque(term, value, *ends, lambda: moves_of(term.raw), term.whole and _is_whole(low, high))
    if type(made) is Term:
        made.loose = min(made.loose, 1)  # rounding takes nothing beyond these ends
    return made


def _is_whole(*values: float) -> bool:
    return all(not math.isfinite(value) or value == round(value) for value in values)


def absolute(term: Foreign) -> Foreign:
    """The absolute value."""
    term = quiet(term)
    if type(term) is not Term:
        return abs(term)
    low, high = term.range()
    if low >= 0:
        return term
    if high <= 0:
        return opposite(term)
    term.world.doubt(term)

    def moving() -> Moves:
        return {u: (-max(-a, b), max(-a, b)) for u, (a, b) in moves_of(term.raw).items()}

    return typed(opaque(term, abs(term.value()), 0.0, max(-low, high), moving, term.whole), term, 0)


def rounded(term: Foreign, function: Foreign) -> Foreign:
    """Rounded down, up, or to the nearest whole number."""
    term = number(term)
    if type(term) is Term and term.whole:
        return term
    term = quiet(term)
    if type(term) is not Term:
        return function(term)
    low, high = term.edges()
    slack = terms.ROUNDS * bool(term.loose)

    def furthest(move: float) -> float:
        # To even: .5 goes to 0 and 1.5 to 2.
        return float(math.floor(move) + 1) if function is np.rint and move > 0 else float(math.ceil(move))

    def moving() -> Moves:
        return {u: (-furthest(slack - a), furthest(b + slack)) for u, (a, b) in moves_of(term.raw).items()}

    return opaque(
        term, float(function(term.value())), float(function(low)), float(function(high)), moving, True
    )


def cast(value: Foreign, kind: str) -> Foreign:
    """The number as one of a kind of NumPy's."""
    value = number(value)
    if type(value) is not Term:
        return {"f": np.float64, "b": np.bool_}.get(kind, np.int64)(value)
    if kind == "f":
        if not value.whole:
            return value
        made = Term(value.world, value.const, value.raw, value.noise, False, value.ratio)
        made.loose = value.loose
        return made
    if kind in "iu":
        if value.type == "truth":
            return Term(value.world, value.const, value.raw, value.noise, True, value.ratio)
        return value if value.whole else rounded(value, np.trunc)
    if kind == "b":
        return negated(equal(value, 0))
    raise value.world.stop("data or noise are converted to a type that we cannot follow")
