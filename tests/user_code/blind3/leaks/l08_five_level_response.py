"""Win-stay, lose-shift on ratings of 0 to 4 by randomised response."""

import math


class WinStay:
    def __init__(self, n_arms, rng, epsilon=1.0):
        self.k, self.rng, self.arm = n_arms, rng, 0
        self.keep = math.exp(epsilon) / (1 + math.exp(epsilon))

    def select(self):
        return self.arm

    def randomize(self, level):
        if self.rng.random() < self.keep:
            return level
        others = [x for x in range(5) if x != level]
        return others[int(self.rng.integers(4))]

    def update(self, arm, reward):
        if self.randomize(round(4 * reward)) < 4:
            self.arm = (arm + 1) % self.k
