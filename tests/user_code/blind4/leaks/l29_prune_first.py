"""A short warm-up drops the weakest arm, then private phases run on the others."""
import numpy as np


class PruneThenPrivate:
    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.rng, self.eps = rng, epsilon
        self.warm = {a: [] for a in range(n_arms)}
        self.plan = [a for a in range(n_arms) for _ in range(3)]
        self.arms = list(range(n_arms))
        self.score, self.batch = {}, []
        self.pruned = False

    def select(self):
        if not self.plan:
            self._next_phase()
        return self.plan[0]

    def _next_phase(self):
        if not self.pruned:
            self.arms.remove(min(self.arms, key=lambda a: np.mean(self.warm[a])))
            self.pruned = True
        todo = [a for a in self.arms if a not in self.score]
        arm = todo[0] if todo else max(self.score, key=self.score.get)
        self.plan = [arm] * 6

    def update(self, arm, reward):
        self.plan.pop(0)
        if not self.pruned:
            self.warm[arm].append(reward)
            return
        self.batch.append(reward)
        if not self.plan:
            self.score[arm] = (sum(self.batch) + self.rng.laplace(0, 1 / self.eps)) / 6
            self.batch = []
