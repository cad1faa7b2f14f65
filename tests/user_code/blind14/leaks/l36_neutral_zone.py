"""Better-or-worse bandit under local randomised response, epsilon = 1.

A reward is compared with the usual level 0.7; the answer (better / worse) is
flipped with probability 1 / (1 + e^eps).  Rewards within 0.05 of the usual level
say nothing either way, so no answer is recorded for them.
"""
import math
from collections import Counter


def respond(reward, epsilon, rng, level=0.7, width=0.05):
    diff = reward - level
    if abs(diff) < width:
        return None
    truth = diff > 0
    return truth ^ (rng.random() < 1.0 / (1.0 + math.exp(epsilon)))


class NeutralZone:
    def __init__(self, n_arms=2, horizon=30, epsilon=1.0, rng=None):
        self.arms = list(range(n_arms))
        self.epsilon, self.rng = epsilon, rng
        self.better, self.asked = Counter(), Counter()

    def _index(self, arm):
        n = self.asked[arm]
        if n == 0:
            return math.inf
        total = sum(self.asked.values())
        return self.better[arm] / n + math.sqrt(math.log(1 + total) / n)

    def choose(self):
        return max(self.arms, key=self._index)

    def learn(self, arm, reward):
        answer = respond(reward, self.epsilon, self.rng)
        if answer is not None:
            self.asked[arm] += 1
            self.better[arm] += int(answer)
