"""Explore every section, rank the totals, draw the section to keep by the exponential mechanism on the ranks.

FAULT: the weights exp(EPSILON rank / 2) are right for scores of sensitivity 1, but one reward can carry an arm over all the
others, so that its rank moves by K - 1 = 3.
Pair (four arms, 5 pulls each): arms 1, 2, 3 always 0.30, 0.35, 0.40; arm 0 gets 0.3 in four pulls and in its first pull 0
against 1.  Totals of arm 0: 1.2 (rank 1) and 2.2 (rank 4).  Event: keeps arm 0.  The normaliser is the same, so the loss
is 3 EPSILON / 2 = 1.8, with probabilities 0.082 and 0.496.
"""
from typing import NamedTuple

import numpy as np
from scipy import special, stats

EPSILON = 1.2


class Tally(NamedTuple):
    pulls: int = 0
    total: float = 0.0

    def add(self, reward):
        return Tally(self.pulls + 1, self.total + float(reward))


class RankCommit:
    def __init__(self, n_arms, rng, pulls=5):
        self.rng = rng
        self.pulls = pulls
        self.tallies = [Tally() for _ in range(n_arms)]
        self.kept = None

    def select(self):
        if self.kept is not None:
            return self.kept
        return int(np.argmin([tally.pulls for tally in self.tallies]))

    def update(self, arm, reward):
        if self.kept is not None:
            return
        self.tallies[arm] = self.tallies[arm].add(reward)
        if all(tally.pulls == self.pulls for tally in self.tallies):
            ranks = stats.rankdata([tally.total for tally in self.tallies])
            chances = special.softmax(EPSILON * ranks / 2)
            self.kept = int(self.rng.choice(len(ranks), p=chances))
