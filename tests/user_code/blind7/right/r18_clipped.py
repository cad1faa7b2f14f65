"""Clips rewards to a public interval of width 1/2 and adds half the noise.

Right. A clipped reward lies in [0.25, 0.75] whatever was paid, so one reward changes one sum by at most
0.5, and noise of scale 0.5 / EPSILON is what is needed. The interval is a constant. The sums are released
once.
"""

import numpy as np

EPSILON = 1.0
LOW, HIGH = 0.25, 0.75


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = min(horizon, 5 * n_arms)
    t = np.arange(explore)
    seen = np.clip(rewards[t, t % n_arms], LOW, HIGH)
    sums = np.array([seen[t % n_arms == a].sum() for a in range(n_arms)])
    order = np.argsort(-(sums + rng.laplace(0, (HIGH - LOW) / EPSILON, n_arms)))
    rest = horizon - explore
    first = (3 * rest) // 4
    return np.concatenate([t % n_arms, np.repeat(order[:2], [first, rest - first])])
