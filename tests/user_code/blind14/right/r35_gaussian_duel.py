"""Two-armed duel with Gaussian noise: (epsilon, delta) = (2.0, 1e-3).

Each block of twelve rounds compares the arms afresh: eight alternating probes
give one gap statistic of sensitivity one, noised with the analytic Gaussian
mechanism, and the winner gets the four rounds that follow.
"""
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPS, DELTA = 2.0, 1e-3
PROBES, BLOCK = 8, 12


def analytic_sigma(eps, delta, sensitivity=1.0):
    def excess(sigma):
        a = sensitivity / (2 * sigma)
        b = eps * sigma / sensitivity
        return norm.cdf(a - b) - np.exp(eps) * norm.cdf(-a - b) - delta
    root = brentq(excess, 0.05, 50.0, xtol=1e-12)
    return root * (1 + 1e-9)


SIGMA = analytic_sigma(EPS, DELTA)


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    assert K == 2
    blocks = []
    for start in range(0, T, BLOCK):
        stop = min(start + BLOCK, T)
        probes = np.arange(start, min(start + PROBES, stop))
        arms = (probes - start) % 2
        part = np.tile(arms, (n_runs, 1))
        if stop - start > PROBES:
            gap = np.dot(rewards[probes, arms], np.where(arms == 1, 1.0, -1.0))
            z = gap + rng.normal(0.0, SIGMA, size=n_runs)
            winner = (z > 0).astype(int)
            part = np.hstack([part, np.repeat(winner[:, None], stop - start - PROBES, axis=1)])
        blocks.append(part)
    return np.hstack(blocks)
