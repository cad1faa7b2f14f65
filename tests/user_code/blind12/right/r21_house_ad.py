"""House ad against challengers: Gaussian batch reads, (epsilon, delta)-DP.

Arm 0 is a house ad with a contracted value, the other arms are challengers.  Each campaign day
starts by showing every challenger the same number of times, then the day's choice
serves.  When the day ends each challenger's total of the day is read once with
Gaussian noise; sigma is from the analytic Gaussian mechanism for sensitivity 1.  A challenger
serves the next day only if its latest noisy mean beats the house value.
Claim: (1.0, 1e-3)-DP.
"""
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 1.0, 1e-3
HOUSE_VALUE = 0.3
DAY = 12


@lru_cache(maxsize=None)
def analytic_sigma(epsilon, delta, sensitivity=1.0):
    """Smallest sigma of the exact Gaussian trade-off (Balle and Wang 2018)."""
    def excess(sigma):
        a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
        return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b) - delta
    return brentq(excess, 0.05, 100.0) * (1 + 1e-9)


def play_many(rewards, n_runs, rng):
    sigma = analytic_sigma(EPSILON, DELTA)
    horizon, k = rewards.shape
    rows = np.arange(n_runs)
    actions = np.zeros((n_runs, horizon), dtype=int)
    serving = np.zeros(n_runs, dtype=int)
    probes = 2 * (k - 1)
    for start in range(0, horizon, DAY):
        stop = min(start + DAY, horizon)
        totals, counts = np.zeros((n_runs, k)), np.zeros((n_runs, k))
        for t in range(start, stop):
            i = t - start
            a = np.full(n_runs, 1 + i % (k - 1)) if i < probes else serving
            actions[:, t] = a
            totals[rows, a] += rewards[t, a]
            counts[rows, a] += 1
        if stop == horizon:
            break
        noisy = totals + rng.normal(0.0, sigma, size=totals.shape)
        means = noisy / np.maximum(counts, 1)
        means[:, 0] = HOUSE_VALUE                       # contract, not data
        serving = means.argmax(axis=1)
    return actions
