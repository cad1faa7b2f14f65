"""Thompson sampling on bits from randomised response.

Right. A reward r in [0, 1] becomes a bit that is 1 with probability r, and the bit is told truthfully with
probability e^eps / (1 + e^eps). The told bit is 1 with a probability between 1 / (1 + e^eps) and e^eps / (1
+ e^eps), so that each told bit is eps-private for its reward; posterior and draws use told bits only.
"""

import numpy as np


class LocalThompson:
    def __init__(self, n_arms, rng, epsilon=1.0):
        self.rng = rng
        self.truth = np.exp(epsilon) / (1 + np.exp(epsilon))
        self.ones = np.zeros(n_arms)
        self.pulls = np.zeros(n_arms)

    def _report(self, reward):
        bit = self.rng.random() < reward
        return bit if self.rng.random() < self.truth else not bit

    def select(self):
        p = self.truth
        ones = np.clip((self.ones - self.pulls * (1 - p)) / (2 * p - 1), 0, self.pulls)
        return int(np.argmax(self.rng.beta(1 + ones, 1 + self.pulls - ones)))

    def update(self, arm, reward):
        self.ones[arm] += self._report(reward)
        self.pulls[arm] += 1
