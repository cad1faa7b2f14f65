"""Whole-numbered rewards and discrete Laplace noise made of coin flips.

Right. A reward is rounded down to one of 0, 1, ..., 10 before the sum, so one reward changes one sum by at
most 10. The noise is a difference of two geometric numbers of coins that show heads with chance a = e^(-eps
/ 10); it has mass proportional to a^|k|, which a shift by 10 changes by at most e^eps. Epochs use their own
rewards, once.
"""

import math

import numpy as np

GRID = 10


class Coins:
    def __init__(self, rng, heads):
        self.rng, self.heads = rng, heads

    def run(self):
        n = 0
        while self.rng.random() < self.heads:
            n += 1
        return n

    def laplace(self):
        return self.run() - self.run()


class GridEpochs:
    def __init__(self, n_arms, rng, epsilon=1.0, epoch=12):
        self.n_arms, self.epoch = n_arms, epoch
        self.coins = Coins(rng, math.exp(-epsilon / GRID))
        self.t, self.best = 0, 0
        self.sums = [0] * n_arms

    def select(self):
        phase = self.t % (2 * self.epoch)
        return phase % self.n_arms if phase < self.epoch else self.best

    def update(self, arm, reward):
        phase = self.t % (2 * self.epoch)
        if phase < self.epoch:
            self.sums[arm] += int(reward * GRID)
        if phase == self.epoch - 1:
            noisy = np.array([s + self.coins.laplace() for s in self.sums])
            self.best = int(noisy.argmax())
            self.sums = [0] * self.n_arms
        self.t += 1
