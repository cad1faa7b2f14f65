"""Beta-Bernoulli posterior sampling, sold as private because each choice is a random draw.

FAULT: the Beta counts hold the raw rewards and are sampled again in every round, so the loss adds up over rounds.
Pair: two arms, all rewards 0 except that the first is 0 or 1.  Event: arm 0 in rounds 0 to 5.  Against an unplayed arm
(uniform draw) P(Beta(1, 1 + n) wins) = 1 / (n + 2) and P(Beta(2, n) wins) = 2 / (n + 2), so each of the five later
rounds has ratio 2: 0.5 / 2520 against 0.5 * 32 / 2520, loss 5 log 2 = 3.466 (claim 0.5).
"""
import random
from types import SimpleNamespace

EPSILON = 0.5


class PosteriorSampling:
    def __init__(self, n_arms, rng, prior=(1.0, 1.0)):
        self.rnd = random.Random(int(rng.integers(2**63)))
        self.arms = [SimpleNamespace(a=prior[0], b=prior[1]) for _ in range(n_arms)]

    def select(self):
        draws = [self.rnd.betavariate(s.a, s.b) for s in self.arms]
        return max(range(len(draws)), key=draws.__getitem__)

    def update(self, arm, reward):
        s = self.arms[arm]
        if self.rnd.random() < reward:
            s.a += 1.0
        else:
            s.b += 1.0
