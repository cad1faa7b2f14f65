"""Randomised response in blocks that are shuffled before the analyst sees them.

Right. The bits are eps-private before they are shuffled. Shuffling and averaging are post-processing; no
amplification is claimed for them. A reward is turned to a bit by a coin with its value as chance.
"""

import random

import numpy as np

EPSILON = 1.0


class Shuffler:
    def __init__(self, coin, epsilon):
        self.coin = coin
        self.keep = 1 - 1 / (1 + np.exp(epsilon))
        self.box = []

    def put(self, arm, reward):
        bit = int(self.coin.random() < reward)
        if self.coin.random() >= self.keep:
            bit = 1 - bit
        self.box.append((arm, bit))

    def empty(self):
        self.coin.shuffle(self.box)
        out, self.box = self.box, []
        return out


def play(rewards, rng):
    coin = random.Random(int(rng.integers(1 << 60)))
    horizon, n_arms = rewards.shape
    shuffler = Shuffler(coin, EPSILON)
    table = {arm: [1, 2] for arm in range(n_arms)}
    actions = []
    for t in range(horizon):
        if t % 8 == 0:
            for arm, bit in shuffler.empty():
                table[arm][0] += bit
                table[arm][1] += 1
        best = max(table, key=lambda a: table[a][0] / table[a][1])
        arm = t % 8 if t % 8 < n_arms else best
        shuffler.put(arm, rewards[t, arm])
        actions.append(arm)
    return np.array(actions)
