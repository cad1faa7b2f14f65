"""Laplace noise from comparisons of uniform numbers only, as von Neumann proposed.

Right. A falling run of uniforms that begins with u ends at an even place with probability e^-u; u plus the
number of failed attempts is exponential with mean 1. With a random sign and a factor 1 / EPSILON it is
Laplace noise for sums of sensitivity 1. The test of the champion against each challenger uses fresh rewards
of both, and noise of its own.
"""

import numpy as np

EPSILON = 1.0
DUEL = 5


def exponential(rng):
    failed = 0
    while True:
        first = last = rng.random()
        place = 1
        while True:
            nxt = rng.random()
            place += 1
            if nxt > last:
                break
            last = nxt
        if place % 2 == 0:
            return failed + first
        failed += 1


def laplace(rng, scale):
    return scale * exponential(rng) * (1 if rng.random() < 0.5 else -1)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions, champion, challenger = [], 0, 1
    gap = 0.0
    for t in range(horizon):
        place = t % (2 * DUEL)
        arm = champion if place % 2 == 0 else challenger
        gap += rewards[t, arm] * (1 if place % 2 == 0 else -1)
        actions.append(arm)
        if place == 2 * DUEL - 1:
            loser = challenger
            if gap + laplace(rng, 1 / EPSILON) < 0:
                loser, champion = champion, challenger
            challenger = next(
                a % n_arms for a in range(loser + 1, loser + 1 + n_arms) if a % n_arms != champion
            )
            gap = 0.0
    return np.array(actions)
