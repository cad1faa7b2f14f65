"""Keeps an arm as long as its blocks are good; the noise of an arm is drawn once, when the object is made.

Leak. Blocks have fresh rewards, but all blocks of an arm get the same noise Z. One block that is kept with
sum h and mark h tells Z > 0, and a later block with sum h must then be kept, too; with sum h - 1 it is
given up if Z < 1. Worst pair: two blocks of sum h against h and h - 1; "kept, then left" has probability 0
on one side only. Epsilon is infinite.
"""

import numpy as np


class Stayer:
    BLOCK = 4

    def __init__(self, n_arms, rng, epsilon=1.0):
        self.noise = rng.laplace(0, 1 / epsilon, n_arms)
        self.n_arms = n_arms
        self.arm, self.block = 0, []

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.block.append(reward)
        if len(self.block) == self.BLOCK:
            total = float(np.sum(self.block)) + self.noise[arm]
            if total < self.BLOCK / 2:
                self.arm = (arm + 1) % self.n_arms
            self.block.clear()
