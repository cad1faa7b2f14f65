"""EXP3 fed with noisy rewards.

Reward plus Laplace noise of scale 1/epsilon, once; importance weights and weights of arms are made of the noisy value.
"""

import numpy as np


class Exp3:
    def __init__(self, n_arms, rng, epsilon=1.0, eta=0.15, mix=0.2):
        self.rng, self.epsilon, self.eta, self.mix = rng, epsilon, eta, mix
        self.log_w = np.zeros(n_arms)

    def probabilities(self):
        w = np.exp(self.log_w - self.log_w.max())
        return (1 - self.mix) * w / w.sum() + self.mix / len(w)

    def select(self):
        return int(self.rng.choice(len(self.log_w), p=self.probabilities()))

    def update(self, arm, reward):
        told = reward + self.rng.laplace(0, 1 / self.epsilon)
        self.log_w[arm] += self.eta * told / self.probabilities()[arm]
