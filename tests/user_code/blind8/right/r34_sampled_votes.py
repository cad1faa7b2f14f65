"""Majority-style bandit on secretly sampled, flipped votes.

A reward becomes a coin x (1 with probability reward).  With probability KEEP the vote is x flipped with probability
1 - P0, otherwise the vote is a fair coin; nobody learns which.  So P(vote = x) = KEEP * P0 + (1 - KEEP) / 2, and P0 is
chosen to make this e^EPSILON / (1 + e^EPSILON): the two votes have odds between e^-EPSILON and e^EPSILON for
either x.  Each reward gives one vote, and the votes (not the coins) drive the arms.
"""
import math
import random

EPSILON = 1.0
KEEP = 0.6
_TARGET = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))
P0 = (_TARGET - (1.0 - KEEP) / 2.0) / KEEP
assert 0.5 <= P0 <= 1.0


class SampledVotes:
    def __init__(self, n_arms, rng):
        self.n_arms = n_arms
        self.coin = random.Random(int(rng.integers(2**63)))
        self.yes = [1] * n_arms
        self.no = [1] * n_arms

    def _vote(self, reward):
        x = self.coin.random() < reward
        kept = self.coin.random() < KEEP
        match (kept, self.coin.random() < P0):
            case (True, True):
                return x
            case (True, False):
                return not x
            case _:
                return self.coin.random() < 0.5

    def select(self):
        draws = [self.coin.betavariate(y, n) for y, n in zip(self.yes, self.no)]
        return draws.index(max(draws))

    def update(self, arm, reward):
        if self._vote(float(reward)):
            self.yes[arm] += 1
        else:
            self.no[arm] += 1
