"""Softmax with weights exp(epsilon total), without the usual half.

One round moves one total by at most 1, so one weight by at most exp(epsilon): the chance of that arm changes by a factor
W/W' f in [1, f], of the others by W/W' in [1/f, 1]. Epochs of ten with rewards of their own.
"""

import numpy as np


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    actions = np.zeros(horizon, dtype=int)
    for start in range(0, horizon, 10):
        look = np.arange(6) % k
        actions[start:start + 6] = look
        totals = np.bincount(look, weights=rewards[start + np.arange(6), look], minlength=k)
        p = np.exp(epsilon * (totals - totals.max()))
        actions[start + 6:start + 10] = np.searchsorted(np.cumsum(p / p.sum())[:-1], rng.random(), side="right")
    return actions
