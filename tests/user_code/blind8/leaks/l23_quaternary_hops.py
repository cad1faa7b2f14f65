"""The arm hops further the worse the reported reward level (four levels, local reports).

FAULT: the true level is kept with probability e^EPSILON / (1 + e^EPSILON), the formula for two levels; the rest is split
over three other levels, so a wrong level has probability 1 / (3 (1 + e^EPSILON)).
Pair: reward 1 (level 3) against reward 0 (level 0) in round 0.  Event: the second action equals the first (level 3
reported): 0.7311 against 0.0896, loss EPSILON + log 3 = 2.0986 (claim 1.0).
"""
import math

EPSILON = 1.0
LEVELS = 4


class Hopper:
    def __init__(self, n_arms, rng):
        self.n_arms, self.rng = n_arms, rng
        self.position = int(rng.integers(n_arms))
        self.keep = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))

    def report(self, reward):
        scaled = reward * (LEVELS - 1)
        level = math.floor(scaled)
        level += self.rng.random() < scaled - level
        if self.rng.random() < self.keep:
            return int(level)
        return int((level + self.rng.integers(1, LEVELS)) % LEVELS)

    def select(self):
        return self.position

    def update(self, arm, reward):
        hop = LEVELS - 1 - self.report(float(reward))
        self.position = (arm + hop) % self.n_arms
