"""The last arm is adopted if its noisy total over eight pulls reaches a mark.

Flaw: u is uniform on [0, 1/2), it should be on [-1/2, 1/2); the noise is never negative. For a comparison of arms this might do, for one with a fixed
mark it does not. Pair (K = 2): arm 1 earns 1 in its first four pulls, against 1, 1, 1, 0; all else 0. With a total of 4 the mark 4 is always reached;
with 3 it is missed with chance 1 - e^-1 = 0.63. Infinite.
"""

import numpy as np

EPSILON = 1.0
PULLS, MARK = 8, 4.0


def laplace(b, rng):
    u = rng.random() / 2
    return -b * np.sign(u) * np.log(1 - 2 * np.abs(u))


def play(rewards, rng):
    T, K = rewards.shape
    n = min(T, PULLS)
    actions = np.full(T, K - 1)
    total = sum(float(rewards[t, K - 1]) for t in range(n))
    if total + laplace(1 / EPSILON, rng) < MARK:
        actions[n:] = np.arange(T - n) % max(1, K - 1)
    return actions
