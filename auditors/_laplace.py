"""Tails of sums of Laplace variables: exact where the terms are equal, and bounds that always hold."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

FACTOR = 4.5  # of Lemma 4 of Hanna et al. 2022; 2 is printed, and 4 is too small as well


def log_tail(n: int, t: float) -> float:
    r"""Logarithm of P[S >= t], S a sum of `n` independent Laplace variables of scale 1, t >= 0; exact.

    By partial fractions of (1 - s^2)^-n the sum is, with probability a_j each, a Gamma variable of shape j
    or its negative, :math:`a_j = \binom{2n-j-1}{n-j} 2^{-(2n-j)}`; all terms are positive.
    For unequal terms l_i z_i with |l_i| <= 1 it is an upper bound: symmetric unimodal laws become no less
    peaked as a term grows.
    """
    j = np.arange(1, n + 1)
    shares = gammaln(2 * n - j) - gammaln(n - j + 1) - gammaln(n) - (2 * n - j) * math.log(2)
    steps = (j - 1) * (math.log(t) if t > 0 else 0.0) - gammaln(j) - t  # of Poisson's law
    steps[1:] = steps[1:] if t > 0 else -np.inf
    return float(logsumexp(shares + np.logaddexp.accumulate(steps)))


def log_lemma_4(n: float, t: float) -> float:
    r"""Lemma 4 of Hanna et al. 2022, corrected: a bound on `log_tail` for every t >= 0.

    :math:`-t^2/(4.5n)` for t <= n: at s = t/(2.25n) <= .445 it is :math:`-\log(1-s^2) \le 1.125 s^2`, so
    that :math:`-st - n\log(1-s^2) \le -t^2/(4.5n)`. Beyond, :math:`n\log(4/3) - t/2`, which is s = 1/2.
    """
    return -(t**2) / (FACTOR * n) if t <= n else n * math.log(4 / 3) - t / 2
