"""Portfolio bandit: ranks the three best arms and shares out the exploitation rounds among them.
K = 4, T = 40, epsilon = 1 (pure).

After the probes (three per arm) of each of the two epochs the podium is drawn with the
exponential mechanism without replacement.  One reward moves one score by at most one.
"""
import numpy as np


class PodiumBandit:
    PULLS = 3

    def __init__(self, n_arms=4, horizon=40, epsilon=1.0, rng=None):
        self.k, self.eps, self.rng = n_arms, epsilon, rng
        self.epoch = horizon // 2
        self.t = 0
        self._reset()

    def _reset(self):
        self.score = np.zeros(self.k)
        self.script = [a for _ in range(self.PULLS) for a in range(self.k)]

    def _draw(self, pool):
        w = np.exp(self.eps * (self.score[pool] - self.score[pool].max()))
        return int(self.rng.choice(pool, p=w / w.sum()))

    def _podium(self):
        pool, podium = list(range(self.k)), []
        for _ in range(3):
            pick = self._draw(pool)
            pool.remove(pick)
            podium.append(pick)
        return podium

    def select(self):
        return self.script[self.t % self.epoch]

    def update(self, arm, reward):
        pos = self.t % self.epoch
        n_probe = self.PULLS * self.k
        if pos < n_probe:
            self.score[arm] += reward
        if pos == n_probe - 1:
            gold, silver, bronze = self._podium()
            rest = self.epoch - n_probe
            self.script += [gold] * (rest - 4) + [silver] * 3 + [bronze]
        self.t += 1
        if self.t % self.epoch == 0:
            self._reset()
