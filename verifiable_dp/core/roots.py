"""Brent's method for a zero of a function: `scipy.optimize` takes a quarter of a second to load."""

import math
from collections.abc import Callable

_STEPS = 100


def brentq(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = 2**-50,
) -> float:
    """Return a zero of `function` in [low, high], to the last bit that of `scipy.optimize.brentq`.

    Parameters
    ----------
    function
        Continuous; its values at both ends have different signs.
    low, high
        The ends.
    xtol, rtol
        The zero is exact to xtol + rtol |zero|.

    Raises
    ------
    ValueError
        If the signs at the ends agree.
    RuntimeError
        If 100 steps do not find it.
    """
    last, now = float(low), float(high)
    at_last, at_now = float(function(last)), float(function(now))
    if at_last == 0:
        return last
    if at_now == 0:
        return now
    if (at_last < 0) == (at_now < 0):
        raise ValueError(f"values at the ends must have different signs, got {at_last} and {at_now}")
    other = at_other = before = step = 0.0
    for _ in range(_STEPS):
        if at_last != 0 and at_now != 0 and (at_last < 0) != (at_now < 0):
            other, at_other = last, at_last
            before = step = now - last
        if abs(at_other) < abs(at_now):
            last, now, other = now, other, now
            at_last, at_now, at_other = at_now, at_other, at_now
        least, half = (xtol + rtol * abs(now)) / 2, (other - now) / 2
        if at_now == 0 or abs(half) < least:
            return now
        tried = math.inf
        if abs(before) > least and abs(at_now) < abs(at_last):
            if last == other:
                tried = -at_now * (now - last) / (at_now - at_last)
            else:
                slope, across = (at_last - at_now) / (last - now), (at_other - at_now) / (other - now)
                below = across * slope * (at_other - at_last)
                tried = -at_now * (at_other * across - at_last * slope) / below if below else math.inf
        if 2 * abs(tried) < min(abs(before), 3 * abs(half) - least):
            before, step = step, tried
        else:
            before = step = half
        last, at_last = now, at_now
        now += step if abs(step) > least else math.copysign(least, half)
        at_now = float(function(now))
    raise RuntimeError(f"no zero found in {_STEPS} steps; at {now}, the value is {at_now}")
