"""Non-stationary bandit: every arm remembers its last three noisy block counts.

Proof sketch.  Arms are played in blocks of BLOCK rounds.  A reward becomes one coin flip (success w.p. reward), and the
number of successes of the block is published once with two-sided geometric noise P(X = k) ~ exp(-EPSILON |k|), made as
the difference of two geometric variables.  One reward changes one count by at most 1, hence a factor e^EPSILON for the
published number; blocks do not overlap, and a count falling out of the deque is only forgotten.
All later choices are functions of published counts and fresh coins (adaptive parallel composition).
"""
from collections import deque
import math

EPSILON = 0.9
BLOCK = 4


class RecentBlocks:
    def __init__(self, n_arms, rng, memory=3):
        self.rng = rng
        self.memory = [deque(maxlen=memory) for _ in range(n_arms)]
        self.age = [0] * n_arms
        self.current = 0
        self.hits = 0
        self.used = 0

    def select(self):
        return self.current

    def update(self, arm, reward):
        self.hits += bool(self.rng.random() < reward)
        self.used += 1
        if self.used < BLOCK:
            return
        q = 1.0 - math.exp(-EPSILON)
        noise = int(self.rng.geometric(q)) - int(self.rng.geometric(q))
        self.memory[arm].append(self.hits + noise)
        self.hits = self.used = 0
        self.age = [g + 1 for g in self.age]
        self.age[arm] = 0
        self.current = self._next()

    def _next(self):
        for a, mem in enumerate(self.memory):
            if not mem:
                return a
        value = [sum(mem) / (BLOCK * len(mem)) + 0.1 * age for mem, age in zip(self.memory, self.age)]
        top = max(value)
        ties = [a for a, v in enumerate(value) if v == top]
        return ties[int(self.rng.integers(len(ties)))]
