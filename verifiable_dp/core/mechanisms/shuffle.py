"""Privacy amplification by shuffling: a closed form with its domain, and computed bounds for every n.

A shuffler hides who sent which of n reports. We state the effect in three ways: by the formula of Feldman,
McMillan & Talwar 2021 (Theorem III.1; eq. 10 of Hanna et al. 2022), which holds only on a domain; by their
reduction to clones, which gives an upper bound on delta for every randomiser and any n; and by counts of
reports above a threshold, which give a lower bound.

Source: Feldman, McMillan & Talwar, Hiding Among the Clones, FOCS 2021.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy import special

from verifiable_dp.core import validate
from verifiable_dp.core.roots import brentq
from verifiable_dp.core.validate import FloatArray, Given, InputError, IntArray

SEARCHED = 1e-5  # of the largest epsilon: what crossings are found to
THRESHOLDS = tuple(sign * j / 8 for j in range(9) for sign in (1, -1)[: 1 + (j > 0)])  # cuts of reports
_CUT = 1e-18  # probability of clone counts that are not looked at, either side
_SLACK = 1e-6  # relative error that upper bounds are raised by; logarithms of factorials have about 1e-8
_MOST = 10_000_000
_EQUAL = 1e-12  # relative: symmetric thresholds differ by rounding only

# A binary response: logarithms of the probabilities of 1 and of 0.
Bit = tuple[float, float]


# ---------------------------------------------------------------- the formula and its domain


def formula(local: float, n: int, delta: float) -> float:
    """f_{n,delta}(eps0), eq. 10, also outside its domain, as the printed algorithm computes it.

    Parameters
    ----------
    local
        eps0 of one report, at least 0.
    n
        Number of reports.
    delta
        In (0, 1).
    """
    root = math.exp(local / 2)
    inner = 8 * root * math.sqrt(math.log(4 / delta) / n) + 8 * root**2 / n
    return math.log1p(math.tanh(local / 2) * inner)


def domain(n: int, delta: float) -> float:
    """log(n / (16 log(2/delta))): the largest eps0 for which eq. 10 holds; negative where it never does."""
    return math.log(n / (16 * math.log(2 / delta)))


def _checked(n: Given, delta: Given) -> tuple[int, float, float]:
    """(n, delta, largest eps0), refused where the domain is empty."""
    chance = validate.probability("delta", delta)
    count = validate.integer("n", n, least=1)
    limit = domain(count, chance)
    if limit <= 0:
        least = math.floor(16 * math.log(2 / chance)) + 1
        raise InputError(f"n must be at least {least} at delta = {chance:g}, got {count}")
    return count, chance, limit


def amplified(local: float, n: int, delta: float) -> float:
    """Epsilon of n shuffled reports, each eps0-LDP, at this delta: eq. 10 on its domain.

    Raises
    ------
    InputError
        If delta is not in (0, 1), n is not above 16 log(2/delta), or eps0 not in
        (0, log(n / (16 log(2/delta)))].

    Source: Feldman et al. 2021, Theorem III.1.
    """
    count, chance, limit = _checked(n, delta)
    if not validate.positive("local", local) <= limit:
        raise InputError(
            f"local must lie in (0, {limit:.6g}] at n = {count}, delta = {chance:g}, got {local!r}"
        )
    return formula(float(local), count, chance)


@functools.lru_cache(maxsize=1 << 12)
def formula_inverse(epsilon: float, n: int, delta: float) -> float:
    """The eps0 with f_{n,delta}(eps0) = epsilon, whatever the domain: line 8 of the printed Algorithm 3."""
    high = 1.0
    while formula(high, n, delta) < epsilon:
        high *= 2
    return brentq(lambda local: formula(local, n, delta) - epsilon, 0.0, high, xtol=1e-13)


def local_epsilon(epsilon: float, n: int, delta: float) -> float:
    """An eps0 for which n shuffled reports are (epsilon, delta)-DP, for every n.

    max(epsilon, min(f^-1(epsilon), log(n / (16 log(2/delta))))): at most epsilon needs no shuffler, and
    within its domain the formula holds.
    """
    return max(epsilon, min(formula_inverse(epsilon, n, delta), domain(n, delta)))


# ---------------------------------------------------------------- counts of binary responses


def response(local: float) -> Bit:
    """The binary randomised response to an input 1: truthful with probability e^eps0/(1 + e^eps0)."""
    return -math.log1p(math.exp(-local)), -local - math.log1p(math.exp(-local))


def above(value: float, scale: float, threshold: float) -> Bit:
    """Whether value + Lap(scale) exceeds the threshold."""
    distance = value - threshold
    if scale == 0:
        return (0.0, -math.inf) if distance > 0 else (-math.inf, 0.0)
    small = -math.log(2) - abs(distance) / scale
    large = math.log1p(-math.exp(small))
    return (large, small) if distance > 0 else (small, large)


def _log_binomial(n: int, k: FloatArray, bit: Bit) -> FloatArray:
    """Logarithms of the Binomial(n) probabilities of k hits."""
    return np.asarray(_log_ways(n, k) + k * bit[0] + (n - k) * bit[1])


def _log_ways(n: float | FloatArray, k: FloatArray) -> FloatArray:
    """Logarithm of n choose k."""
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def count_deltas(n: int, changed: Bit, others: Bit, epsilon: float) -> tuple[float, float]:
    """Hockey-stick divergences of two counts of ones, in both directions.

    One is the count of n responses like `others`, the other the count of n - 1 such responses and one like
    `changed`, which is 1 more often. At k ones their ratio is r(k) = k/n p1/p0 + (1 - k/n) (1 - p1)/(1 - p0),
    so all terms of a sum have the same sign.

    Returns
    -------
    (float, float)
        P - e^epsilon Q with P the changed count, and Q - e^epsilon P.
    """
    if others[0] == -math.inf or others[1] == -math.inf:  # without noise
        return (1.0, 1.0) if changed[0] > others[0] else (0.0, 0.0)
    up, down = math.exp(min(changed[0] - others[0], 700.0)), math.exp(changed[1] - others[1])
    if not up > down:
        return 0.0, 0.0
    bound = math.exp(epsilon)
    width = 200 + math.ceil(40 * math.sqrt(n * math.exp(others[0] + others[1])))

    def ratio(k: FloatArray) -> FloatArray:
        return k / n * up + (1 - k / n) * down

    def total(first: int, last: int, excess: Callable[[FloatArray], FloatArray]) -> float:
        k = np.arange(max(first, 0), min(last, n) + 1, dtype=np.float64)
        terms = np.exp(_log_binomial(n, k, others)) * np.maximum(excess(ratio(k)), 0.0)
        return math.fsum(terms.tolist())

    # r > e^eps above the one mark, r < e^-eps below the other; both lie in the tails of Bin(n, p0).
    over = math.floor(n * min((bound - down) / (up - down), 2.0))
    under = math.ceil(n * max((1 / bound - down) / (up - down), -1.0))
    return (
        total(over, over + width, lambda r: r - bound),
        total(under - width, under, lambda r: 1 - bound * r),
    )


def response_delta(n: int, local: float, epsilon: float) -> float:
    """Delta at epsilon of n shuffled binary randomised responses with eps0 = `local`.

    The larger of both directions, maximised over the inputs of the other users: any number of ones for n up
    to 64; for larger n none, an eighth, a quarter, three eighths or half of them. If epsilon is not small,
    equal inputs are the worst.

    Parameters
    ----------
    n
        Number of users, at least 1.
    local
        eps0 > 0.
    epsilon
        At least 0.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    count, level = _users(n), _level(epsilon)
    right, wrong = response(validate.positive("local", local))
    if level >= local:
        return 0.0
    worst = max(count_deltas(count, (right, wrong), (wrong, right), level))
    half = count // 2  # half and more are mirror images of less
    ones = range(1, half + 1) if count <= 64 else [count * eighth // 8 for eighth in (1, 2, 3, 4)]
    return max([worst, *(_mixed_delta(count, m, (right, wrong), level) for m in ones if m < count)])


def _mixed_delta(n: int, ones: int, bit: Bit, epsilon: float) -> float:
    """As `count_deltas` of randomised responses where `ones` of the n - 1 others have input 1."""

    def counts(size: int, which: Bit) -> FloatArray:
        span = 100 + 14 * math.sqrt(size * math.exp(bit[0] + bit[1]))  # beyond it 1e-40 or less is left
        middle = size * math.exp(which[0])
        k = np.arange(max(0, math.floor(middle - span)), min(size, math.ceil(middle + span)) + 1)
        return np.exp(_log_binomial(size, k.astype(np.float64), which))

    others = np.convolve(counts(ones, bit), counts(n - 1 - ones, (bit[1], bit[0])))
    here, there = np.append(others, 0.0), np.insert(others, 0, 0.0)  # R(k), R(k - 1)
    p, q, bound = math.exp(bit[0]), math.exp(bit[1]), math.exp(epsilon)
    up = there * (p - bound * q) - here * (bound * p - q)
    down = here * (p - bound * q) - there * (bound * p - q)
    return max(math.fsum(np.maximum(side, 0.0).tolist()) for side in (up, down))


def laplace_delta(n: int, scale: float, epsilon: float, threshold: float = 0.0) -> float:
    """A lower bound on delta at epsilon of n shuffled reports r + Lap(scale), r in [-1, 1].

    The adversary counts the reports above the threshold; one reward is 1 or -1 and the others are -1. This is
    the larger delta of the two directions.

    Parameters
    ----------
    n
        Number of users, at least 1.
    scale
        Scale of the noise, at least 0: 2/eps0 for eps0-LDP reports.
    epsilon
        At least 0.
    threshold
        In [-1, 1].

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    count, level = _users(n), _level(epsilon)
    if not (math.isfinite(scale) and scale >= 0):
        raise InputError(f"scale must be finite and at least 0, got {scale!r}")
    if not -1 <= threshold <= 1:
        raise InputError(f"threshold must lie in [-1, 1], got {threshold!r}")
    if scale == 0:
        return 1.0  # the reports are the rewards
    one, zero = above(1.0, scale, threshold), above(-1.0, scale, threshold)
    return max(count_deltas(count, one, zero, level))


def worst_threshold(n: int, scale: float, epsilon: float) -> tuple[float, float]:
    """The largest `laplace_delta` over `THRESHOLDS`, and its threshold: the first of those that are equal."""
    found = [(laplace_delta(n, scale, epsilon, threshold), threshold) for threshold in THRESHOLDS]
    largest = max(delta for delta, _ in found)
    return next(pair for pair in found if pair[0] >= largest * (1 - _EQUAL))


def _users(n: Given) -> int:
    return validate.integer("n", n, least=1, most=_MOST)


def _level(epsilon: Given) -> float:
    number = float(epsilon)
    if not (math.isfinite(number) and number >= 0):
        raise InputError(f"epsilon must be finite and at least 0, got {epsilon!r}")
    return number


# ---------------------------------------------------------------- clones


def clones_delta(n: int, local: float, epsilon: float) -> float:
    r"""An upper bound on delta at epsilon of n shuffled reports of any eps0-LDP randomiser.

    C ~ Bin(n - 1, e^-eps0) of the others look like one of the two inputs of the user who changes, A ~ Bin(C,
    1/2) like the first; with D ~ Bernoulli(e^eps0/(e^eps0 + 1)) the reports reveal no more than (A + D,
    C - A + 1 - D) against (A + 1 - D, C - A + D). Given m = C + 1 their hockey-stick divergence is

    .. math:: 2 (2p - 1)(1 + e^\varepsilon)\, E (X/m - \tau)_+, \quad X \sim Bin(m, 1/2),
              \quad \tau = \frac12 + \frac{e^\varepsilon - 1}{2 (2p - 1)(1 + e^\varepsilon)},

    p = e^eps0/(e^eps0 + 1): a sum of positive terms. The tail that is cut off is added, and the result is
    increased by a millionth of itself. The bound is the same in both directions, and 0 for epsilon of at
    least eps0.

    Parameters
    ----------
    n
        Number of users, at least 1.
    local
        eps0 > 0.
    epsilon
        At least 0.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Source: Feldman et al. 2021, Theorem III.1 and its proof.
    """
    count, level = _users(n), _level(epsilon)
    if level >= validate.positive("local", local):
        return 0.0
    lean, sides = math.tanh(local / 2), 1 + math.exp(level)  # 2p - 1
    tau = 0.5 + math.expm1(level) / (2 * lean * sides)
    clone: Bit = (-local, math.log(-math.expm1(-local)))
    middle, span = (count - 1) * math.exp(-local), 100 + 12 * math.sqrt((count - 1) * math.exp(-local))
    c = np.arange(max(0, math.floor(middle - span)), min(count - 1, math.ceil(middle + span)) + 1)
    chance = np.exp(_log_binomial(count - 1, c.astype(np.float64), clone))
    inside = 2 * lean * sides * _excess(c + 1, tau)
    # Counts beyond 12 standard deviations (and 100) have less than the cut; there delta is at most 1.
    return min(1.0, (float(chance @ inside) + 2 * _CUT) * (1 + _SLACK))


def _excess(m: IntArray, tau: float) -> FloatArray:
    """E (X/m - tau)_+ for X ~ Bin(m, 1/2), by m (j,), tau > 1/2: terms are added until they are nothing."""
    size = m.astype(np.float64)
    k = np.floor(size * tau) + 1.0
    term = np.where(k <= size, np.exp(_log_ways(size, np.minimum(k, size)) - size * math.log(2)), 0.0)
    total = np.zeros(len(size))
    while True:
        total += term * (k / size - tau)
        term = term * np.maximum(size - k, 0.0) / (k + 1)
        k = k + 1
        if not (term > 1e-20 * total).any():
            return total


def least_epsilon(bound: Callable[[float], float], delta: float, most: float) -> float:
    """The least epsilon in [0, most] from which a decreasing upper `bound` on delta is at most `delta`."""
    return _crossing(bound, delta, most)[1]


def largest_epsilon(bound: Callable[[float], float], delta: float, most: float) -> float:
    """The largest epsilon in [0, most] up to which a decreasing lower `bound` on delta exceeds `delta`."""
    return _crossing(bound, delta, most)[0]


def _crossing(bound: Callable[[float], float], delta: float, most: float) -> tuple[float, float]:
    """Where a decreasing function crosses `delta`, from either side."""
    if bound(0.0) <= delta:
        return 0.0, 0.0
    if bound(most) > delta:
        return most, most
    low, high = 0.0, most
    while high - low > SEARCHED * most:
        middle = (low + high) / 2
        low, high = (low, middle) if bound(middle) <= delta else (middle, high)
    return low, high
