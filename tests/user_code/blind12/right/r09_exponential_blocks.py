"""Explore one pull per arm, exploit by the exponential mechanism, repeat.

A block is one pull of every arm followed by K pulls of one arm, chosen with probability
proportional to exp(epsilon * reward) from the pulls of this block alone.  Changing one
reward changes one score, so no factor two is needed.  Rewards of the exploiting pulls
are not used.  Claim: pure epsilon-DP, epsilon = 2.0.
"""
from itertools import islice

import numpy as np

EPSILON = 2.0


def blocks(k, rng):
    """Coroutine: yields the arm to play and is sent its reward."""
    while True:
        scores = np.zeros(k)
        for arm in rng.permutation(k):
            scores[arm] = yield int(arm)
        gumbel = -np.log(rng.standard_exponential(k))
        chosen = int(np.argmax(EPSILON * scores + gumbel))
        for _ in range(k):
            yield chosen


def walk(rewards, rng):
    policy = blocks(rewards.shape[1], rng)
    arm = next(policy)
    for row in rewards:
        yield arm
        arm = policy.send(row[arm])


def play(rewards, rng):
    return list(islice(walk(rewards, rng), len(rewards)))
