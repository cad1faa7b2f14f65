"""Explore-and-exploit phases with the analytic Gaussian mechanism.

Each phase pulls every arm three times, releases the vector of the phase's sums
with Gaussian noise and plays the noisy best arm for the rest of the phase.
One reward changes one coordinate of one vector by at most 1 (L2 sensitivity 1).
The noise is calibrated by the exact curve of Balle and Wang (2018).
Claims (epsilon, delta) = (1.0, 1e-3).
"""
import functools
import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 1.0, 1e-3
PHASE, PULLS = 16, 3


@functools.lru_cache(maxsize=None)
def analytic_sigma(epsilon, delta, sensitivity=1.0):
    def excess(log_sigma):
        mu = sensitivity / math.exp(log_sigma)
        return (norm.cdf(mu / 2 - epsilon / mu)
                - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta)
    root = math.exp(brentq(excess, math.log(1e-2), math.log(1e3), xtol=1e-12))
    return root * (1.0 + 1e-9)


def play(rewards, rng):
    T, K = rewards.shape
    sigma = analytic_sigma(EPSILON, DELTA)
    actions = []

    def pull(arm):
        t = len(actions)
        if t >= T:
            return 0.0
        actions.append(arm)
        return float(np.clip(rewards[t, arm], 0.0, 1.0))

    while len(actions) < T:
        sums = np.array([sum(pull(a) for _ in range(PULLS)) for a in range(K)])
        best = int(np.argmax(sums + sigma * rng.standard_normal(K)))
        for _ in range(PHASE - K * PULLS):
            pull(best)
    return np.array(actions[:T])
