"""Reports with less noise because they are shuffled, but the next arm follows the report at hand.

Leak. Bits are told with eps0 = 1.8 where 1 is claimed, relying on a shuffler; yet the bit of this round
decides at once whether to stay, before any shuffling. Worst pair: a reward of 0 or 1: staying has
probability 1 / (1 + e^1.8) or e^1.8 / (1 + e^1.8).
"""

import random

import numpy as np

EPSILON = 1.0
LOCAL = 1.8  # amplified to EPSILON by shuffling


def play(rewards, rng):
    coin = random.Random(int(rng.integers(2**63)))
    truth = 1 / (1 + np.exp(-LOCAL))
    horizon, n_arms = rewards.shape
    arm, box, tally = 0, [], [0] * n_arms
    actions = []
    for t in range(horizon):
        actions.append(arm)
        bit = coin.random() < rewards[t, arm]
        bit ^= coin.random() >= truth
        box.append((arm, bit))
        if len(box) == 8:
            coin.shuffle(box)
            for a, b in box:
                tally[a] += 1 if b else -1
            box.clear()
            arm = tally.index(max(tally))
        elif not bit:
            arm = (arm + 1) % n_arms
    return np.array(actions)
