"""Exact tests of p <= e^epsilon q + delta from counts, and the confidence bounds that invert them.

Two designs are used. For delta = 0 the world of each run is tossed by a fair coin: among the runs that hit
the event, the number from world 1 is then binomial with success probability p / (p + q), which is at most
1 / (1 + e^-epsilon) under the claim. The test is exact, has no nuisance parameter and spends its whole
level on one tail. For delta > 0 the two sample sizes are fixed, and the nuisance q is maximised over: see
`verifiable_dp.evidence.blackbox.unconditional`.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable

from scipy import special

from verifiable_dp.core.roots import brentq
from verifiable_dp.evidence.blackbox.unconditional import Design


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def at_least(hits: int, runs: int, p: float) -> float:
    """Probability of so many hits or more, of a binomial number."""
    if hits <= 0:
        return 1.0
    return float(special.betainc(hits, runs - hits + 1, p)) if hits <= runs else 0.0


def clopper_pearson_lower(hits: int, runs: int, level: float) -> float:
    """Lower confidence limit of a binomial proportion; it fails with probability at most `level`."""
    return 0.0 if hits == 0 else float(special.betaincinv(hits, runs - hits + 1, level))


def clopper_pearson_upper(hits: int, runs: int, level: float) -> float:
    """Upper confidence limit of a binomial proportion; it fails with probability at most `level`."""
    return 1.0 if hits == runs else float(special.betainccinv(hits + 1, runs - hits, level))


def ratio_p_value(k1: int, k0: int, epsilon: float) -> float:
    """Exact p-value of p <= e^epsilon q, the worlds tossed by a fair coin.

    Parameters
    ----------
    k1, k0
        Runs of world 1 and of world 0 that hit the event.
    epsilon
        The claim.
    """
    return at_least(k1, k1 + k0, sigmoid(epsilon))


def ratio_lower(k1: int, k0: int, level: float) -> float:
    """Lower confidence limit of log(p / q), the worlds tossed by a fair coin; -inf if nothing hit."""
    share = clopper_pearson_lower(k1, k1 + k0, level) if k1 else 0.0
    if share <= 0:
        return -math.inf
    # Near 1 the complement is computed by itself: 1 - share would cancel.
    other = float(special.betainccinv(k0 + 1, k1, level)) if share == 1 else 1 - share
    return math.log(share) - math.log(other)


# An audit asks for these, and asks again when it verifies the record that it has made.
_judged_again = functools.lru_cache(maxsize=1 << 12)


@_judged_again
def approximate_p_value(k1: int, n1: int, k0: int, n0: int, epsilon: float, delta: float) -> float:
    """Exact p-value of p <= e^epsilon q + delta, the sample sizes being fixed; at least 1e-50.

    Parameters
    ----------
    k1, n1
        Hits and runs of the world with probability p.
    k0, n0
        Of the world with probability q.
    epsilon, delta
        The claim.
    """
    return Design(n1, n0, epsilon, delta).p_value(k1, k0)


def p_value(k1: int, n1: int, k0: int, n0: int, epsilon: float, delta: float) -> float:
    """Of p <= e^epsilon q + delta: `ratio_p_value` if delta is 0, else `approximate_p_value`."""
    if delta == 0:
        return ratio_p_value(k1, k0, epsilon)
    return approximate_p_value(k1, n1, k0, n0, epsilon, delta)


@_judged_again
def approximate_lower(k1: int, n1: int, k0: int, n0: int, delta: float, level: float) -> float:
    """Lower confidence limit of log((p - delta) / q): below it the p-value is at most `level`.

    -inf where the hits do not even show p > delta.
    """
    if k1 <= delta * n1:
        return -math.inf
    # With no hit at all the estimate is that of a hundredth of one: there the data agree with any claim.
    share = max(k0, _NO_HIT) / n0
    point = math.log((k1 / n1 - delta) / share)
    unit = log_ratio_error(k1, n1, k0, n0, delta)

    def p_value(epsilon: float) -> float:
        return Design(n1, n0, epsilon, delta).p_value(k1, k0)

    return _limit(p_value, _FAR, point, unit, level, hits=k1)


@_judged_again
def delta_lower(k1: int, n1: int, k0: int, n0: int, epsilon: float, level: float) -> float:
    """Lower confidence limit of p - e^epsilon q, and 0 if that is below 0; see `approximate_p_value`."""
    point = k1 / n1 - math.exp(epsilon) * k0 / n0
    if point <= 0:
        return 0.0
    unit = difference_error(k1, n1, k0, n0, epsilon)

    def p_value(delta: float) -> float:
        return Design(n1, n0, epsilon, delta).p_value(k1, k0)

    return max(0.0, _limit(p_value, 0.0, point, unit, level, hits=k1))


SEARCHED = 1e-5  # standard errors that limits found by a search are exact to
_FAR = -20.0  # epsilons below are not looked at
_FEW, _FEWER = 1000, 200  # hits up to which single outcomes show in the p-value, a little and clearly
_NO_HIT = 0.01  # what no hit at all stands for
# The search of a limit: steps along straight lines, how near ends it, and how far below its end is looked.
_TRIES, _NEAR, _FINE, _EXACT = 8, 1e-6, 1e-7, 1e-12
_SURE = 1 - 1e-15  # a p-value of 1 has no place on the normal scale
_LOOKS, _SPAN = 24, 2.0  # how often, and how many standard errors back, it is looked for falls


def log_ratio_error(k1: int, n1: int, k0: int, n0: int, delta: float) -> float:
    """Standard error of log((p - delta) / q) as it is estimated; infinite where p is not above delta."""
    more = k1 / n1 - delta
    if more <= 0:
        return math.inf
    return _error(k1, n1, max(k0, 0.5), n0, more / (max(k0, _NO_HIT) / n0)) / more


def difference_error(k1: int, n1: int, k0: int, n0: int, epsilon: float) -> float:
    """Standard error of p - e^epsilon q as it is estimated."""
    return _error(k1, n1, max(k0, 0.5), n0, math.exp(epsilon))


def _error(k1: float, n1: int, k0: float, n0: int, factor: float) -> float:
    """Standard error of p - factor q."""
    return math.sqrt(k1 * max(n1 - k1, 0.5) / n1**3 + factor**2 * k0 * max(n0 - k0, 0.5) / n0**3)


def _limit(
    p_value: Callable[[float], float], low: float, high: float, unit: float, level: float, *, hits: int
) -> float:
    """Where a p-value exceeds `level` for the first time, rounded down.

    It increases but for the single outcomes that leave its region as the claim grows: with few hits these
    make it fall again here and there. A twentieth of the level is kept for that, and with fewer hits the
    places before the crossing are looked at, too.
    """
    level /= 1.05 if hits <= _FEW else 1.0
    found, before = _last(p_value, low, high, unit, level), -math.inf
    for i in range(_LOOKS if hits <= _FEWER and math.isfinite(found) else 0):
        x = max(low, found - _SPAN * unit * (1 - i / _LOOKS))
        if p_value(x) > level:
            return before
        before = x
    return found


def _last(p_value: Callable[[float], float], low: float, high: float, unit: float, level: float) -> float:
    """Where an increasing p-value passes `level`, rounded down; -inf if it is above it at `low`.

    At `high` it is far above; `unit` is about the change that moves it by one standard error.
    """
    target = float(special.ndtri(level))

    def excess(x: float) -> float:
        # On the normal scale a p-value is nearly a straight line.
        return float(special.ndtri(min(p_value(x), _SURE))) - target

    x, slope = max(low, high + unit * min(target, 0.0)), 1 / unit
    before: tuple[float, float] | None = None
    for _ in range(_TRIES):
        found = excess(x)
        if before is not None and (found - before[1]) * (x - before[0]) > 0:
            slope = (found - before[1]) / (x - before[0])
        if abs(found) < _NEAR:
            return _below(excess, x, 2 * _NEAR / slope)
        before = x, found
        low, high = (x, high) if found < 0 else (low, x)
        if not low < x - found / slope < high:
            break
        x -= found / slope
    if excess(low) > 0:
        return -math.inf
    return _below(excess, brentq(excess, low, high, xtol=_FINE * unit, rtol=_EXACT), 2 * _FINE * unit)


def _below(excess: Callable[[float], float], x: float, step: float) -> float:
    """A point a little below `x` that the test does refute."""
    for _ in range(20):
        if excess(x - step) <= 0:
            return x - step
        step *= 4
    return -math.inf


def rejection_power(p: float, q: float, runs: int, epsilon: float, alpha: float) -> float:
    """Probability that `ratio_p_value` falls to `alpha`, for 2 `runs` runs and true probabilities p, q.

    By the binomial law of the hits, the number of hits being set to its expectation.
    """
    hits = round(runs * (p + q))
    if hits == 0 or p <= 0:
        return 0.0
    claimed = sigmoid(epsilon)
    need = bisect.bisect_left(range(hits + 1), True, key=lambda k: at_least(k, hits, claimed) <= alpha)
    return at_least(need, hits, p / (p + q))


def approximate_power(p: float, q: float, runs: int, epsilon: float, delta: float, alpha: float) -> float:
    """Probability that `approximate_p_value` falls to `alpha`, for `runs` runs a side.

    Parameters
    ----------
    p, q
        True probabilities of the event.
    runs
        On each input.
    epsilon, delta, alpha
        The claim and the level.
    """
    return Design(runs, runs, epsilon, delta).power(p, q, alpha)


DETECT = 2.0  # times the claim: what has to be detectable where nothing is proved
DETECTED = 0.95  # probability with which what is called detectable is refuted
_FARTHEST, DETECTABLE_STEP = 64.0, 1e-3  # factors of the claim: the largest, and how closely one is found


def detectable(k1: int, n1: int, n0: int, epsilon: float, delta: float, alpha: float) -> float:
    """The least true epsilon that the test made would have refuted with probability .95, at its event.

    The event keeps the share that it had where it is more frequent, p = k1/n1; a true epsilon x makes it as
    rare as (p - delta) e^-x on the other input. Infinite if no epsilon up to 64 times the claim is detected.

    Parameters
    ----------
    k1, n1, n0
        Hits and runs where the event is more frequent, and runs on the other input.
    epsilon, delta, alpha
        The claim, and the level of the test.
    """
    p, runs = k1 / n1, (n1 + n0) // 2

    def caught(factor: float) -> bool:
        q = (p - delta) * math.exp(-factor * epsilon)
        if delta > 0:
            return approximate_power(p, q, runs, epsilon, delta, alpha) >= DETECTED
        return rejection_power(p, q, runs, epsilon, alpha) >= DETECTED

    least = least_factor(caught, DETECTABLE_STEP) if p > delta else None
    return math.inf if least is None else least * epsilon


def least_factor(caught: Callable[[float], bool], tolerance: float) -> float | None:
    """The least factor in (1, 64] that is caught, by bisection; None if none is."""
    low, high = 1.0, 2.0
    while not caught(high):
        low, high = high, 2 * high
        if high > _FARTHEST:
            return None
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (low, middle) if caught(middle) else (middle, high)
    return high
