"""What NumPy's elementwise functions make of single numbers, of which some are tracked."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import numpy as np
from scipy import special

from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic import adding, atoms, comparing, elementary, multiplying, term_operators
from verifiable_dp.evidence.symbolic.ends import Ends
from verifiable_dp.evidence.symbolic.terms import Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World


def hidden(value: Foreign) -> bool:
    """Whether an entry is anything but a plain number."""
    return is_term(value) or is_lazy(value)


def is_lazy(value: Foreign) -> bool:
    """Whether it is a random number that is public once it is used."""
    return bool(nature(value))


def as_python(value: Foreign) -> Foreign:
    """A scalar of NumPy's as Python's number."""
    return value.item() if issubclass(type(value), np.generic) else value


def public_number(world: World, value: Foreign, what: str, why: Ends = Ends.DATA) -> Foreign:
    """A plain number; the bound ends if it is raw."""
    if is_lazy(value):
        value = value.plain()
    value = number(value)
    return value.public(what, why) if type(value) is Term else value


def ordinary(value: Foreign) -> Foreign:
    """A uniform draw as noise or a public number."""
    if nature(value) == "veiled":
        return value.plain()
    return value.term() if is_lazy(value) else value


def _compare(strict: bool, turned: bool) -> Callable[[Foreign, Foreign], Foreign]:
    def compare(left: Foreign, right: Foreign) -> Foreign:
        if turned:
            left, right = right, left
        if is_lazy(left) or is_lazy(right):
            return left > right
        return comparing.above(left, right, strict=strict)

    return compare


def _either(of_uniform: Foreign, of_term: Foreign) -> Callable[[Foreign], Foreign]:
    """A function of one number."""

    def call(value: Foreign) -> Foreign:
        if nature(value) in ("uniform", "coin"):
            return value.through(of_uniform)
        return of_term(value)

    return call


def _is_bit(value: Foreign) -> bool:
    """Whether a number is 0 or 1, or a truth value."""
    if not is_term(value):
        return isinstance(value, int | np.integer | np.bool_) and value in (0, 1)
    low, high = value.range()
    return bool(value.whole and low >= 0 and high <= 1)


def truth_of(value: Foreign) -> Foreign:
    """The truth value of a number, which may be raw."""
    if not (is_term(value) and not value.noise):
        return bool(value)
    return value if _is_bit(value) else comparing.negated(comparing.equal(value, 0))


def _with_a_bit(of: Foreign, left: Foreign, right: Foreign) -> Foreign:
    """What a public truth value makes of a coin, which stays hidden; None of anything else."""
    for coin, bit in ((left, right), (right, left)):
        if (
            of in (both_of, either_of)
            and nature(coin) == "coin"
            and isinstance(bit, bool | np.bool_)
            and not nature(bit)
        ):
            return coin if bool(bit) is (of is both_of) else np.bool_(bit)
    return None


def both_of(left: Foreign, right: Foreign) -> Foreign:
    """Whether both hold."""
    if (coin := _with_a_bit(both_of, left, right)) is not None:
        return coin
    left, right = truth_of(left), truth_of(right)
    if is_term(left) or is_term(right):
        return multiplying.multiply(left, right)
    return left and right


def either_of(left: Foreign, right: Foreign) -> Foreign:
    """Whether one of them holds."""
    return comparing.negated(both_of(comparing.negated(truth_of(left)), comparing.negated(truth_of(right))))


def _xor(left: Foreign, right: Foreign) -> Foreign:
    for coin, bit in ((left, right), (right, left)):
        if nature(coin) == "coin" and is_term(bit) and not bit.noise and _is_bit(bit):
            made = coin.mixed(comparing.negated(bit), bit)
            if made is not None:
                return made
    return _bitwise(np.bitwise_xor, _one_of_two)(left, right)


def _one_of_two(left: Foreign, right: Foreign) -> Foreign:
    both = multiplying.multiply(left, right)
    return adding.subtract(adding.add(left, right), multiplying.multiply(both, 2))


def _bitwise(
    ufunc: Foreign, of: Callable[[Foreign, Foreign], Foreign] | None = None
) -> Callable[[Foreign, Foreign], Foreign]:
    """An operation on bits of numbers: of single raw ones as `of` says, of others if they are public."""

    def call(left: Foreign, right: Foreign) -> Foreign:
        if of is not None and (coin := _with_a_bit(of, left, right)) is not None:
            return coin
        left, right = (v.plain() if is_lazy(v) else adding.quiet(v) for v in (left, right))
        if not is_term(left) and not is_term(right):
            return ufunc(left, right)
        if of is None or not (_is_bit(left) and _is_bit(right)):
            raise (left if is_term(left) else right).world.stop_raw(
                f"we cannot bound how much np.{ufunc.__name__} of raw {{data}} changes"
            )
        return of(left, right)

    return call


def _invert(value: Foreign) -> Foreign:
    value = adding.quiet(value)
    return _negate(value) if not is_term(value) or _is_bit(value) else adding.subtract(-1, value)


def _sign(value: Foreign) -> Foreign:
    value = adding.quiet(value)
    if not is_term(value):
        return np.sign(value)
    low, high = value.range()
    if low > 0 or high < 0:
        return np.float64(np.sign(low if low > 0 else high))
    units = atoms.moves_of(value.raw)
    return multiplying.opaque(
        value, float(np.sign(value.value())), -1.0, 1.0, lambda: dict.fromkeys(units, (-2.0, 2.0)), True
    )


def _copysign(size: Foreign, sign: Foreign) -> Foreign:
    if nature(sign) == "uniform" and not hidden(size):
        sign.source.shape(0)
        return sign.through(functools.partial(np.copysign, float(size)))
    if nature(size) == nature(sign) == "uniform" and size.source is sign.source and not size.source.is_public:
        return size.joined(sign, np.copysign)
    return multiplying.multiply(elementary.absolute(ordinary(size)), _sign(ordinary(sign)))


def _negate(value: Foreign) -> Foreign:
    if nature(value) == "coin":
        return value.turned()
    return comparing.negated(truth_of(value))


def _operator(of_uniform: Foreign, of_term: Foreign) -> Callable[[Foreign, Foreign], Foreign]:
    """An operation of two numbers."""

    def call(left: Foreign, right: Foreign) -> Foreign:
        left, right = (as_python(number(v)) for v in (left, right))
        if of_uniform is operator.mul and nature(right) == "coin":
            left, right = right, left  # that knows what it means to it
        if is_lazy(left) or is_lazy(right):
            return of_uniform(left, right)
        if is_term(left) != is_term(right) and of_uniform not in (operator.add, operator.sub):
            term_operators.weighed(left if is_term(left) else right, int(is_term(left)))
        return of_term(left, right)

    return call


def _end(ufunc: Foreign, of_terms: Foreign) -> Callable[[Foreign, Foreign], Foreign]:
    """The larger or smaller of two numbers."""

    def call(left: Foreign, right: Foreign) -> Foreign:
        side = int(nature(left) == "uniform")
        if nature(right) == "uniform":
            left, right = right, left
        if nature(left) == "uniform" and not hidden(right):
            left.source.shape(side)
            return left.through(lambda u: ufunc(u, float(right)))
        return of_terms([ordinary(left), ordinary(right)])

    return call


def _of_draws(function: Foreign) -> Foreign:
    """What gives noise of known laws for uniform draws, and nothing that is followed for raw data."""

    def otherwise(value: Foreign) -> Foreign:
        value = adding.quiet(value)
        return function(value.settle() if is_term(value) else value)

    return _either(function, otherwise)


def _one_draw(coin: Foreign, one: Foreign, other: Foreign) -> bool:
    """Whether all three are functions of the same uniform draw, which was not shown."""
    alike = nature(one) == "uniform" and nature(other) == "uniform"
    return alike and one.source is other.source is coin.source and not coin.source.is_public


def choose(condition: Foreign, one: Foreign, other: Foreign) -> Foreign:
    """One of two numbers, as a truth value says."""
    condition = number(condition)
    if nature(condition) == "coin" and _one_draw(condition, one, other):
        c, x, y = condition.function, one.function, other.function
        return type(one)(one.source, lambda u: np.where(c(u), x(u), y(u)))
    if is_term(condition) and not condition.noise:
        for side in (1, 2):
            term_operators.weighed(condition, side)
        return comparing.mixed(condition, ordinary(one), ordinary(other))
    if not is_term(one) and not is_term(other):
        return one if bool(condition) else other
    if nature(condition) == "coin" and not any(is_term(v) and v.noise for v in (one, other)):
        mixed = condition.mixed(one, other)
        if mixed is not None:
            return mixed
    picked, left = (one, other) if bool(condition) else (other, one)
    # What is not picked may be picked on another path: raw data that stays out here is still raw.
    hidden = is_term(left) and left.raw
    return adding.add(picked, adding.nothing_of(left)) if hidden and not is_term(picked) else picked


NO_BOUND = "we cannot bound how much a function of raw {data} changes"
ELEMENTWISE: dict[Foreign, Function[Foreign]] = {
    np.add: _operator(operator.add, adding.add),
    np.subtract: _operator(operator.sub, adding.subtract),
    np.multiply: _operator(operator.mul, multiplying.multiply),
    np.true_divide: _operator(operator.truediv, multiplying.divide),
    np.power: _operator(operator.pow, elementary.power),
    np.float_power: _operator(operator.pow, elementary.power),
    np.negative: _either(np.negative, adding.opposite),
    np.positive: lambda v: v,
    np.abs: _either(np.abs, elementary.absolute),
    np.copysign: lambda a, b: _copysign(a, b),
    np.fabs: _either(np.abs, elementary.absolute),
    np.sqrt: _either(np.sqrt, elementary.root),
    np.square: _either(np.square, lambda v: multiplying.multiply(v, v)),
    np.exp: _either(np.exp, elementary.exponential),
    np.log: _either(np.log, elementary.logarithm),
    np.logaddexp: lambda a, b: elementary.logarithm(
        adding.add(*(elementary.exponential(ordinary(v)) for v in (a, b)))
    ),
    np.remainder: lambda a, b: multiplying.remainder(ordinary(a), ordinary(b)),
    np.log1p: _either(np.log1p, lambda v: elementary.logarithm(adding.add(v, 1.0))),
    np.sign: _either(np.sign, _sign),
    **{of: _of_draws(of) for of in (np.tan, np.sin, np.cos, np.expm1, np.log2, np.log10, np.arctanh)},
    np.floor: _either(np.floor, lambda v: elementary.rounded(v, np.floor)),
    np.ceil: _either(np.ceil, lambda v: elementary.rounded(v, np.ceil)),
    np.rint: lambda v: elementary.rounded(v, np.rint),
    np.trunc: lambda v: elementary.rounded(v, np.trunc),
    np.maximum: _end(np.maximum, comparing.most),
    np.minimum: _end(np.minimum, comparing.least),
    np.fmax: _end(np.maximum, comparing.most),
    np.fmin: _end(np.minimum, comparing.least),
    np.greater: _compare(True, False),
    np.greater_equal: _compare(False, False),
    np.less: _compare(True, True),
    np.less_equal: _compare(False, True),
    np.equal: comparing.equal,
    np.not_equal: lambda a, b: comparing.negated(comparing.equal(a, b)),
    np.logical_not: _negate,
    np.invert: _invert,
    np.logical_and: both_of,
    np.bitwise_and: _bitwise(np.bitwise_and, both_of),
    np.logical_or: either_of,
    np.bitwise_or: _bitwise(np.bitwise_or, either_of),
    np.left_shift: _bitwise(np.left_shift),
    np.right_shift: _bitwise(np.right_shift),
    np.bitwise_xor: lambda a, b: _xor(a, b),
    np.logical_xor: lambda a, b: _xor(*(v if nature(v) == "coin" else truth_of(v) for v in (a, b))),
    np.floor_divide: lambda a, b: elementary.rounded(multiplying.divide(ordinary(a), ordinary(b)), np.floor),
    np.isnan: lambda v: np.False_,
    np.isinf: lambda v: np.False_,
    np.isfinite: lambda v: np.True_,
    special.ndtri: _either(
        special.ndtri, lambda v: special.ndtri(public_number(v.world, v, NO_BOUND) if is_term(v) else v)
    ),
    special.expit: _either(
        special.expit,
        lambda v: multiplying.divide(
            1.0, adding.add(elementary.exponential(multiplying.multiply(v, -1)), 1.0)
        ),
    ),
}
TRUTHS = frozenset((np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal))
