"""Exact tests of p <= e^epsilon q + delta from counts, and the confidence bounds that invert them.

Two designs are used. For delta = 0 the world of each run is tossed by a fair coin: among the runs that hit
the event, the number from world 1 is then binomial with success probability p / (p + q), which is at most
1 / (1 + e^-epsilon) under the claim. The test is exact, has no nuisance parameter and spends its whole
level on one tail. For delta > 0 the two sample sizes are fixed and two Clopper-Pearson limits are used.
"""

from __future__ import annotations

import math

from scipy import stats

LEAST_P_VALUE = 1e-50  # beta quantiles at smaller levels are not to be trusted


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def clopper_pearson_lower(hits: int, runs: int, level: float) -> float:
    """Lower confidence limit of a binomial proportion; it fails with probability at most `level`."""
    return 0.0 if hits == 0 else float(stats.beta.ppf(level, hits, runs - hits + 1))


def clopper_pearson_upper(hits: int, runs: int, level: float) -> float:
    """Upper confidence limit of a binomial proportion; it fails with probability at most `level`."""
    return 1.0 if hits == runs else float(stats.beta.isf(level, hits + 1, runs - hits))


def ratio_p_value(k1: int, k0: int, epsilon: float) -> float:
    """Exact p-value of p <= e^epsilon q, the worlds tossed by a fair coin.

    Parameters
    ----------
    k1, k0
        Runs of world 1 and of world 0 that hit the event.
    epsilon
        The claim.
    """
    if k1 == 0:
        return 1.0
    return float(stats.binom.sf(k1 - 1, k1 + k0, sigmoid(epsilon)))


def ratio_lower(k1: int, k0: int, level: float) -> float:
    """Lower confidence limit of log(p / q), the worlds tossed by a fair coin; -inf if nothing hit."""
    share = clopper_pearson_lower(k1, k1 + k0, level) if k1 else 0.0
    if share <= 0:
        return -math.inf
    # Near 1 the complement is computed by itself: 1 - share would cancel.
    other = float(stats.beta.sf(share, k1, k0 + 1)) if share == 1 else 1 - share
    return math.log(share) - math.log(other) if other > 0 else math.inf


def approximate_lower(k1: int, n1: int, k0: int, n0: int, delta: float, level: float) -> float:
    """Lower confidence limit of log((p - delta) / q) from two Clopper-Pearson limits of level / 2."""
    p = clopper_pearson_lower(k1, n1, level / 2)
    q = clopper_pearson_upper(k0, n0, level / 2)
    return math.log((p - delta) / q) if p > delta else -math.inf


def approximate_p_value(k1: int, n1: int, k0: int, n0: int, epsilon: float, delta: float) -> float:
    """P-value of p <= e^epsilon q + delta: the least level, from 1e-50, at which the limits refute it."""

    def refutes(log_level: float) -> bool:
        return approximate_lower(k1, n1, k0, n0, delta, math.exp(log_level)) > epsilon

    low, high = math.log(LEAST_P_VALUE), 0.0
    if not refutes(high):
        return 1.0
    if refutes(low):
        return math.exp(low)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return math.exp(high)


def rejection_power(p: float, q: float, runs: int, epsilon: float, alpha: float) -> float:
    """Probability that `ratio_p_value` falls to `alpha`, for 2 `runs` runs and true probabilities p, q.

    By the binomial law of the hits, the number of hits being set to its expectation.
    """
    hits = round(runs * (p + q))
    if hits == 0 or p <= 0:
        return 0.0
    need = stats.binom.isf(alpha, hits, sigmoid(epsilon)) + 1
    while need <= hits and stats.binom.sf(need - 1, hits, sigmoid(epsilon)) > alpha:
        need += 1
    return float(stats.binom.sf(need - 1, hits, p / (p + q)))
