"""Blocked follow-the-perturbed-leader with noisy block totals."""
import numpy as np

EPSILON = 1.0
BLOCK = 6


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    gains = np.zeros(n_arms)
    visits = np.zeros(n_arms)
    result = []
    for start in range(0, horizon, BLOCK):
        stop = min(start + BLOCK, horizon)
        leader = int(np.argmax(gains / np.maximum(visits, 1) + rng.gumbel(0.0, 0.3, n_arms)))
        block_total = rewards[start:stop, leader].sum() + rng.laplace(0.0, 1.0 / EPSILON)
        gains[leader] += block_total
        visits[leader] += stop - start
        result += [leader] * (stop - start)
    return np.array(result)
