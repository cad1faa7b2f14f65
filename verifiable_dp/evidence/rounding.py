"""When two machines agree: the one rule by which derived numbers are compared, and what counts as zero.

Counts, words, verdicts and structure are compared exactly. A derived float may come out differently on
another machine: libraries add numbers in another order (BLAS kernels, SIMD) and approximate quantiles
differently in the last digits. Such a difference is small beside the numbers that went in, not beside what is
left of them after they cancel: a slope of 1e-8 that is fitted to logarithms near 27 is no more exact than
they are. So two floats agree if they differ by at most `TOLERANCE` of their *scale*: the larger of their own
size and of what the judge of the check states (`check.judge`), such as the standard error of a limit, or the
data that a line was fitted to.

What is zero by construction, such as the standard deviation of equal runs, must be recorded as 0: digits that
are nothing but rounding tell nothing, and another machine gives others. See `settled`.
"""

from __future__ import annotations

import math

# From scipy 1.14 to 1.17 and with any kernels of OpenBLAS the committed evidence differs by 1e-10 at most.
TOLERANCE = 1e-9
ROUNDING = 2.0**-46  # 64 units in the last place: what a short sum of floats loses, relative to the largest
# Scale of what differs by the rounding of numbers near 1 and by nothing else.
ROUNDED = ROUNDING / TOLERANCE
_LEAST = 1e-290  # p-values are not told apart below: libraries underflow at different places


def difference(recorded: float, again: float, scale: float = 0.0) -> float:
    """How far two numbers lie apart, as a share of their scale; they agree up to `TOLERANCE`.

    Parameters
    ----------
    recorded, again
        Numbers; infinite ones agree only with themselves.
    scale
        Of the quantity, where that is larger than the numbers themselves; 0 if none is known.
    """
    if recorded == again:
        return 0.0
    if not (math.isfinite(recorded) and math.isfinite(again)):
        return math.inf
    largest = max(abs(recorded), abs(again), scale if math.isfinite(scale) else 0.0)
    return abs(recorded / largest - again / largest)  # as shares: the difference itself may overflow


def settled(value: float, scale: float) -> float:
    """The value, and 0 where it is nothing but the rounding of numbers of this scale."""
    return 0.0 if abs(value) <= ROUNDING * scale else value


def searched(step: float) -> float:
    """Scale of a number that a search finds to within `step`: it may end a step away elsewhere."""
    return step / TOLERANCE


def of_p_value(p: float, error: float = 0.0, scale: float = 0.0) -> float:
    """Scale of a p-value, whose tail magnifies relative changes of the statistic by 1 - 2 log p at most.

    Parameters
    ----------
    p
        The p-value.
    error, scale
        Where the statistic is a distance over its standard error: that error, and the scale of the numbers
        that the distance was computed from, whose rounding shows where the error is small.
    """
    rounded = 2 * ROUNDED * scale / error if error > 0 else 0.0
    return max(p, _LEAST) * (1 - 2 * math.log(max(p, _LEAST))) * (1 + rounded)
