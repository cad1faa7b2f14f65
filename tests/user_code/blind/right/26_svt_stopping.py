"""Alternate until the last arm seems clearly ahead of the first, then play it for good.

Privacy. The queries are q_t = (sum of the last arm) - (sum of the first arm) after each cycle. One reward moves every
later query by at most 1 and earlier ones not at all. AboveThreshold with threshold noise Laplace(2 / eps), drawn
once, and fresh query noise Laplace(4 / eps) is eps-DP up to and including its first positive answer. After that
no reward is used.
"""

import numpy as np

EPSILON = 1.0
THRESHOLD = 3.0


def play(rewards, rng):
    T, K = rewards.shape
    rho = rng.laplace(0, 2 / EPSILON)
    first, last = 0, K - 1
    lead, stopped = 0.0, False
    actions = np.empty(T, dtype=int)
    for t in range(T):
        a = last if stopped else t % K
        actions[t] = a
        if stopped:
            continue
        if a == last:
            lead += rewards[t, a]
        elif a == first:
            lead -= rewards[t, a]
        if a == last and lead + rng.laplace(0, 4 / EPSILON) >= THRESHOLD + rho:
            stopped = True
    return actions
