"""EXP3 fed with rewards made private at the source.
Proof: reward r in [0,1] is read once as r + Laplace(1/EPSILON) (inverse CDF), which is
EPSILON-DP for that reward; weights and the draws are a function of these reports only."""
import numpy as np
from scipy import stats
EPSILON = 2.0


class Exp3:
    def __init__(self, n_arms, rng, eta=0.15, mix=0.1):
        self.k, self.rng, self.eta, self.mix = n_arms, rng, eta, mix
        self.logw = np.zeros(n_arms)

    def _probs(self):
        w = np.exp(self.logw - self.logw.max())
        return (1 - self.mix) * w / w.sum() + self.mix / self.k

    def select(self):
        self.p = self._probs()
        return int(self.rng.choice(self.k, p=self.p))

    def update(self, arm, reward):
        report = reward + stats.laplace.ppf(self.rng.random(), scale=1 / EPSILON)
        self.logw[arm] += self.eta * report / self.p[arm]
