"""Uniform random exploration, importance-weighted totals, one noisy comparison, commit.

FAULT: a reward enters a total divided by its probability 1/K, so it moves the total by up to K = 3, but the noise of the
totals is Laplace(1 / EPSILON), right for a move of 1.
Pair: arms 1 and 2 always pay 0.5, arm 0 pays 0, except 0 against 1 in round 0.  Event: arm 0 in round 0 and as leader
after round 7: summed over exploration paths and integrated, 0.01175 against 0.07203, loss 1.813 = 2.59 EPSILON.
"""
import numpy as np

EPSILON = 0.7
EXPLORE = 8


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    first = rng.integers(n_arms, size=EXPLORE)
    totals = np.zeros(n_arms)
    for t, arm in enumerate(first):
        totals[arm] += rewards[t, arm] * n_arms
    totals += rng.laplace(size=n_arms) / EPSILON
    leader = np.argmax(totals)
    return np.append(first, np.repeat(leader, horizon - EXPLORE))
