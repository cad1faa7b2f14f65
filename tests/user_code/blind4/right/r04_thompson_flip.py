"""Beta-Bernoulli Thompson sampling on flipped click bits."""
import numpy as np


class FlipThompson:
    def __init__(self, n_arms, rng, epsilon=2.0):
        self.rng = rng
        self.flip_prob = 1.0 / (1.0 + np.exp(epsilon))
        self.alpha = np.ones(n_arms)
        self.beta = np.ones(n_arms)

    def select(self):
        return int(np.argmax(self.rng.beta(self.alpha, self.beta)))

    def update(self, arm, reward):
        click = int(self.rng.uniform() < reward)
        click ^= int(self.rng.uniform() < self.flip_prob)
        self.alpha[arm] += click
        self.beta[arm] += 1 - click
