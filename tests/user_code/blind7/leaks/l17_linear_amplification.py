"""A secret sample of one reward in four, and noise for four times the epsilon.

Leak. Amplification is taken for linear: eps0 = EPSILON / q. In truth a sample with rate q makes ln(1 + q
(e^eps0 - 1)) of eps0. Worst pair: the first arm never pays, or pays once: the mark 1 is passed with
probability e^-4 / 2 or (3/4) e^-4 / 2 + (1/4) / 2, a ratio of e^2.67 for a claim of 1.
"""

import numpy as np

EPSILON, RATE = 1.0, 0.25
PULLS = 8


def play(rewards, rng):
    horizon, _ = rewards.shape
    inner = EPSILON / RATE
    sample = [rewards[t, 0] for t in range(PULLS) if rng.random() < RATE]
    noisy = sum(sample) + rng.laplace(0, 1 / inner)
    arm = 0 if noisy > PULLS * RATE / 2 else 1
    return np.array([0] * PULLS + [arm] * (horizon - PULLS))
