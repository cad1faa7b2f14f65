"""Unary encoding: a reward as one hot bit of five, every bit flipped with some chance.

Right. Two rewards differ in at most two of the bits. A bit is kept with probability p, p / (1 - p) = e^(eps
/ 2), and each differing bit costs eps / 2. The encoded reward is eps-private and is all that the learner
keeps.
"""

import numpy as np

EPSILON = 2.0
BUCKETS = 5
KEEP = 1 / (1 + np.exp(-EPSILON / 2))


def encode(reward, rng):
    hot = np.zeros(BUCKETS, dtype=bool)
    hot[min(int(reward * BUCKETS), BUCKETS - 1)] = True
    return hot ^ (rng.random(BUCKETS) >= KEEP)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    bits = np.zeros((n_arms, BUCKETS))
    pulls = np.zeros(n_arms)
    values = (np.arange(BUCKETS) + 0.5) / BUCKETS
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        if t < 3 * n_arms:
            arm = t % n_arms
        else:
            shares = (bits / pulls[:, None] - (1 - KEEP)) / (2 * KEEP - 1)
            arm = int((shares @ values + np.sqrt(0.5 * np.log(t) / pulls)).argmax())
        bits[arm] += encode(rewards[t, arm], rng)
        pulls[arm] += 1
        actions[t] = arm
    return actions
