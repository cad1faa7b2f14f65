"""Prefix sums from blocks and single rounds (two levels) for every arm.

Privacy. A round adds x_t (the reward for the arm that was played, 0 for others) to each arm's series. A prefix is the sum of
finished blocks of six rounds and of single rounds in the open block. Both kinds of parts are noised once, when they
arise, with Laplace(2 / eps), and kept. A reward is in one single-round part and one block part of one arm: L1
sensitivity 2 over everything released, so eps-DP.
"""

import numpy as np

EPSILON = 1.0
WIDTH = 6


def play(rewards, rng):
    T, K = rewards.shape
    scale = 2 / EPSILON
    blocks, singles = np.zeros(K), np.zeros(K)
    raw_block = np.zeros(K)
    pulls = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        prefix = blocks + singles
        if t < 2 * K:
            a = t % K
        else:
            a = int(np.argmax(prefix / pulls + 2 / np.sqrt(pulls)))
        actions[t] = a
        pulls[a] += 1
        x = np.zeros(K)
        x[a] = rewards[t, a]
        raw_block += x
        singles = singles + x + rng.laplace(0, scale, K)
        if (t + 1) % WIDTH == 0:
            blocks = blocks + raw_block + rng.laplace(0, scale, K)
            singles = np.zeros(K)
            raw_block = np.zeros(K)
    return actions
