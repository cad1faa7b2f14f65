"""Local privacy with a one-round delay: a reward is put through randomised response when the next one arrives.

Flaw: until then the raw reward stands in for its answer, and the next arm is chosen in between. Pair (K = 2): all rewards 0, against
reward 1 for arm 0 in round 0. Estimates start at 1/2, so round 0 plays arm 0. Round 1 compares 1/2 with the raw 0 or 1 of
arm 0 (averaged with its prior 1/2): arm 1 for certain, against arm 0 for certain. Infinite.
"""

import numpy as np

EPSILON = 1.0
KEEP = np.exp(EPSILON) / (1 + np.exp(EPSILON))


class FreshestFirst:
    def __init__(self):
        self.sums, self.counts = {}, {}
        self.pending = None

    def _estimate(self, a):
        s, n = self.sums.get(a, 0.0) + 0.5, self.counts.get(a, 0) + 1
        if self.pending is not None and self.pending[0] == a:
            s, n = s + self.pending[1], n + 1
        return s / n

    def select(self, arms):
        return max(arms, key=self._estimate)

    def update(self, arm, reward, rng):
        if self.pending is not None:
            a, r = self.pending
            bit = rng.random() < r
            answer = bit if rng.random() < KEEP else not bit
            self.sums[a] = self.sums.get(a, 0.0) + float(answer)
            self.counts[a] = self.counts.get(a, 0) + 1
        self.pending = (arm, float(reward))
