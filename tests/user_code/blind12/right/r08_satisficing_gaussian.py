"""Satisficing search with Gaussian noise, all runs at once.

The arms are tried in order, M pulls each; the first arm whose noisy mean reaches LEVEL is
adopted.  If none does, the arm with the largest noisy mean is taken.  The noise is the
analytic Gaussian mechanism (Balle and Wang 2018) for a sum of sensitivity 1.
Claim: (epsilon, delta)-DP with epsilon = 1.0 and delta = 1e-3.
"""
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPS, DELTA = 1.0, 1e-3
M, LEVEL = 5, 0.8


def gaussian_delta(sigma, eps):
    a = 1.0 / (2.0 * sigma)
    b = eps * sigma
    return norm.cdf(a - b) - np.exp(eps) * norm.cdf(-a - b)


SIGMA = brentq(lambda s: gaussian_delta(s, EPS) - DELTA, 0.1, 50.0) * (1 + 1e-9)


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    out = np.full((n_runs, horizon), -1, dtype=int)
    adopted = np.full(n_runs, -1)
    noisy = np.full((n_runs, k), -np.inf)
    t = 0
    for arm in range(k):
        if t + M > horizon:
            break
        searching = adopted < 0
        block = rewards[t:t + M, arm].sum()
        noisy[:, arm] = (block + SIGMA * rng.standard_normal(n_runs)) / M
        out[:, t:t + M] = np.where(searching, arm, adopted)[:, None]
        adopted = np.where(searching & (noisy[:, arm] >= LEVEL), arm, adopted)
        t += M
    last = np.where(adopted < 0, np.argmax(noisy, axis=1), adopted)
    out[:, t:] = last[:, None]
    return out
