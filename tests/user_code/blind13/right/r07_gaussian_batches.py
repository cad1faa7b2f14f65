"""Greedy batches with an optimistic default and the analytic Gaussian mechanism.

The current arm is played for a batch of five rounds; the batch total is released
once with Gaussian noise; the arm with the best average of released totals (an
arm not tried yet counts as 0.6) is played next.
Claim: (epsilon, delta) = (2.0, 1e-3).  Calibration after Balle and Wang (2018).
"""
import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 2.0, 1e-3
BATCH = 5
DEFAULT = 0.6


def gaussian_sigma(epsilon, delta, sensitivity=1.0):
    def excess(sigma):
        a = 0.5 / sigma
        b = epsilon * sigma
        return norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta

    return sensitivity * (brentq(excess, 0.05, 50.0) + 1e-6)


SIGMA = gaussian_sigma(EPSILON, DELTA)


def make_learner(k, release):
    sums, batches = [0.0] * k, [0] * k

    def estimate(arm):
        if batches[arm] == 0:
            return DEFAULT
        return sums[arm] / (BATCH * batches[arm])

    def best():
        return max(range(k), key=estimate)

    def learn(arm, total):
        sums[arm] += release(total)
        batches[arm] += 1

    return best, learn


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    best, learn = make_learner(k, lambda total: total + SIGMA * rng.standard_normal())
    out = np.zeros(horizon, dtype=int)
    for start in range(0, horizon, BATCH):
        stop = min(start + BATCH, horizon)
        arm = best()
        out[start:stop] = arm
        learn(arm, float(rewards[start:stop, arm].sum()))
    return out
