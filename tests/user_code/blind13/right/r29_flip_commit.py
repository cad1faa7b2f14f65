"""Explore then commit with permute-and-flip.

Claim: epsilon = 1.5 (pure), one reward in [0, 1] replaced, the actions are public.
Five scheduled pulls of each of four arms, then the committed arm is chosen by permute-and-flip on the
reward sums.  A replaced reward moves one coordinate of the score vector, by at most 1.
"""
import math

import numpy as np

EPSILON = 1.5
ARMS = 4
HORIZON = 40
PULLS = 5


def permute_and_flip(epsilon):
    """Mechanism for scores of which a neighbour changes one coordinate by at most 1."""

    def choose(scores, rng):
        top = max(scores)
        for i in rng.permutation(len(scores)):
            if rng.random() < math.exp(epsilon * (scores[i] - top)):
                return int(i)
        raise RuntimeError("the best item always accepts")

    return choose


def exploration_schedule(rng):
    """A random order of the pulls; it never looks at rewards."""
    order = [arm for arm in range(ARMS) for _ in range(PULLS)]
    rng.shuffle(order)
    return order


def play(rewards, rng):
    choose = permute_and_flip(EPSILON)
    sums = [0.0] * ARMS
    actions = []
    for t, arm in enumerate(exploration_schedule(rng)):
        sums[arm] += float(rewards[t, arm])
        actions.append(arm)
    winner = choose(sums, rng)
    actions.extend([winner] * (HORIZON - len(actions)))
    return np.array(actions, dtype=int)
