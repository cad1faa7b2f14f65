"""Asks again in every round, with a budget that is divided by the square root of the number of rounds.

Leak. Advanced composition pays with a delta, and none is claimed here: n answers of EPSILON / sqrt(n) each
cost EPSILON sqrt(n). Worst pair: the arms' sums are equal or differ by 1; each of 16 rounds plays the first
arm with probability 1/2 or e^(-EPSILON / 4) / 2, and fresh noise makes them independent: 4 times the claim.
"""

import numpy as np

EPSILON = 0.5


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = 4 * n_arms
    rounds = horizon - explore
    scale = np.sqrt(rounds) / EPSILON
    t = np.arange(explore)
    sums = np.array([rewards[t[t % n_arms == a], a].sum() for a in range(n_arms)])
    gap = sums[0] - sums[1:].max()
    rival = 1 + int(rng.integers(n_arms - 1))
    later = np.where(gap + rng.laplace(0, scale, rounds) >= 0, 0, rival)
    return np.concatenate([t % n_arms, later])
