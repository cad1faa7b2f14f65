import numpy as np


class FreshNoise:
    """Follow the perturbed leader with Laplace(1/epsilon) perturbations: each round is epsilon-DP."""

    def __init__(self, n_arms, horizon, epsilon=0.5, rng=None):
        self.scores = np.zeros(n_arms)
        self.scale = 1 / epsilon
        self.rng = rng

    def select(self):
        return int(np.argmax(self.scores + self.rng.laplace(0, self.scale, len(self.scores))))

    def update(self, arm, reward):
        self.scores[arm] += reward
