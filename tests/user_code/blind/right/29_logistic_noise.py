"""Explore-then-commit with logistic noise.

Privacy. The logistic density with scale s is proportional to sech^2(x / 2s); the derivative of its log is
-tanh(x / 2s) / s, at most 1 / s in absolute value. Shifting by at most 1 changes the density by a factor
of at most e^(1/s) = e^eps for s = 1 / eps. One reward shifts one sum by at most 1; sums are released once.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    m = max(1, int(np.ceil(T ** (2 / 3) / K)))
    schedule = np.tile(np.arange(K), m)[:T]
    sums = np.bincount(schedule, weights=rewards[np.arange(len(schedule)), schedule], minlength=K)
    best = np.argmax(sums + rng.logistic(0.0, 1.0 / EPSILON, K))
    return np.concatenate([schedule, np.full(T - len(schedule), best)]).astype(int)
