"""Reads every second reward and takes credit for subsampling.

Leak. The sample is the even rounds of the exploration, which everybody knows, so that nothing is amplified:
the noise is that of eps0 = ln(1 + 2 (e^EPSILON - 1)) = 1.49 for a claim of 1. Worst pair: a reward that is
read decides whether the gap of the arms is 0 or -1.
"""

import numpy as np

EPSILON, RATE = 1.0, 0.5
INNER = np.log1p(np.expm1(EPSILON) / RATE)


def play(rewards, rng):
    horizon, _ = rewards.shape
    explore = np.repeat([0, 1], 8)
    seen = rewards[np.arange(16), explore]
    sample = seen[::2]
    gap = sample[:4].sum() - sample[4:].sum()
    best = 0 if gap + rng.laplace(0, 1 / INNER) >= 0 else 1
    return np.concatenate([explore, np.full(horizon - 16, best)])
