"""Permute-and-flip over the totals of twelve rounds of exploration.

Sensitivity of a total is 1: accept with chance exp(epsilon (score - top)/2), in a random order. McKenna and Sheldon show
epsilon-DP.
"""

import math


def pick(scores, epsilon, rng):
    top = max(scores)
    for arm in rng.permutation(len(scores)):
        if rng.random() < math.exp(0.5 * epsilon * (scores[arm] - top)):
            return int(arm)
    raise AssertionError("the top score always accepts")


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    scores, actions = [0.0] * k, []
    for t in range(4 * k):
        actions.append(t % k)
        scores[t % k] += rewards[t, t % k]
    return actions + [pick(scores, epsilon, rng)] * (horizon - len(actions))
