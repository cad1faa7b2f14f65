"""Draws every arm of a block from the exponential mechanism on the block before.

Right. Each round of a block of B rounds makes a fresh draw with probability proportional to exp(eps0 *
S_a), where S_a are sums of the block before, and eps0 = EPSILON / B. One reward changes one score by at
most 1, so a draw costs eps0 (numerator and normaliser move together), and the sums of a block serve for the
B draws of the next one only.
"""

import numpy as np

EPSILON = 2.0
BLOCK = 4


def draw(scores, eps0, rng):
    weights = np.cumsum(np.exp(eps0 * (scores - scores.max())))
    return int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    scores, nxt = np.zeros(n_arms), np.zeros(n_arms)
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        if t and t % BLOCK == 0:
            scores, nxt = nxt, np.zeros(n_arms)
        arm = min(draw(scores, EPSILON / BLOCK, rng), n_arms - 1)
        nxt[arm] += rewards[t, arm]
        actions[t] = arm
    return actions
