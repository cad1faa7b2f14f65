"""Sliding-window UCB in blocks of four visits, Gaussian noise on block sums.

Claim: (epsilon, delta) = (1, 1e-3) for one changed reward.
Proof.  A reward enters the sum of one block only and moves it by at most 1; the sum is released once with
normal noise.  sigma solves Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) = delta, the exact condition of
Balle and Wang for sensitivity 1, so this one release is (eps, delta)-DP.  Everything before it has the same
law for both inputs and everything after it is computed from released block means and unchanged rewards.
"""
from collections import deque
from functools import lru_cache
import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON = 1.0
DELTA = 1e-3
ARMS = 3
HORIZON = 60
BLOCK = 4
WINDOW = 3


@lru_cache(maxsize=None)
def sigma_for(epsilon, delta):
    def excess(s):
        a, b = 1.0 / (2.0 * s), epsilon * s
        return norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta
    return brentq(excess, 0.2, 50.0, xtol=1e-13)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    sigma = sigma_for(EPSILON, DELTA)
    recent = [deque(maxlen=WINDOW) for _ in range(n_arms)]

    def index(arm, step):
        kept = recent[arm]
        if not kept:
            return math.inf
        bonus = math.sqrt(math.log(1 + step) / (2.0 * BLOCK * len(kept)))
        return sum(kept) / len(kept) + bonus

    actions = []
    step = 0
    while len(actions) < horizon:
        arm = max(range(n_arms), key=lambda a: index(a, step))
        start = len(actions)
        stop = min(start + BLOCK, horizon)
        actions.extend([arm] * (stop - start))
        total = float(rewards[start:stop, arm].sum())
        recent[arm].append((total + rng.normal(0.0, sigma)) / BLOCK)
        step += BLOCK
    return np.array(actions, dtype=int)
