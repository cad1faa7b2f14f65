"""Every round of a block draws from the exponential mechanism on the block before, at the full epsilon.

Leak. One draw with weights exp(EPSILON * S_a) costs EPSILON, since a single score moves. But three draws
are made from each block's sums. Worst pair: with two arms, a block of the first arm alone that earns 3 or
2; drawing the other arm three times has the log ratio 3 ln((1 + e^3) / (1 + e^2)) = 2.77 for a claim of 1.
"""

import numpy as np

EPSILON = 1.0
BLOCK = 3


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    scores = np.zeros(n_arms)
    actions = []
    while len(actions) < horizon:
        weights = np.exp(EPSILON * scores)
        cumulative = np.cumsum(weights) / weights.sum()
        block = np.searchsorted(cumulative[:-1], rng.random(BLOCK), side="right")[: horizon - len(actions)]
        scores = np.zeros(n_arms)
        for arm in block:
            scores[arm] += rewards[len(actions), arm]
            actions.append(int(arm))
    return np.array(actions)
