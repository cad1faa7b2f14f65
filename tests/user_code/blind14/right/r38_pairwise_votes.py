"""Tournament bandit: noisy pairwise votes between three arms, epsilon = 2.

In a round of the tournament every arm is played four times.  Each pair of arms
is then compared once and the verdict goes through randomised response.  A
reward belongs to one arm, and an arm takes part in K - 1 comparisons, so every
comparison gets epsilon / (K - 1).  The arm with most wins is played five times.
"""
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np


@dataclass
class Tally:
    n_arms: int
    points: np.ndarray = field(init=False)

    def __post_init__(self):
        self.points = np.zeros(self.n_arms)


class PairwiseVotes:
    REPEAT, PRIZE = 4, 5

    def __init__(self, n_arms=3, horizon=51, epsilon=2.0, rng=None):
        self.k = n_arms
        self.rng = rng
        self.flip = 1.0 / (1.0 + np.exp(epsilon / (n_arms - 1)))
        self.tally = Tally(n_arms)
        self.queue = self._tournament()
        self.probing = True

    def _tournament(self):
        return [a for a in range(self.k) for _ in range(self.REPEAT)]

    def _champion(self):
        wins = [0] * self.k
        for a, b in combinations(range(self.k), 2):
            a_wins = self.tally.points[a] >= self.tally.points[b]
            if self.rng.random() < self.flip:
                a_wins = not a_wins
            wins[a if a_wins else b] += 1
        self.tally = Tally(self.k)
        return wins.index(max(wins))

    def choose(self):
        return self.queue[0]

    def learn(self, arm, reward):
        self.queue.pop(0)
        if self.probing:
            self.tally.points[arm] += reward
        if self.queue:
            return
        self.queue = [self._champion()] * self.PRIZE if self.probing else self._tournament()
        self.probing = not self.probing
