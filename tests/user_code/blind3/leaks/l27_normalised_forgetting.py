"""Exponentially weighted averages. One reward has weight 0.2, and noise is scaled to that."""


class Forgetful:
    def __init__(self, n_arms, rng, epsilon=0.5, keep=0.8):
        self.average = [0.0] * n_arms
        self.keep, self.rng, self.epsilon = keep, rng, epsilon

    def select(self):
        scale = (1 - self.keep) / self.epsilon
        noisy = [m + self.rng.laplace(0, scale) for m in self.average]
        return noisy.index(max(noisy))

    def update(self, arm, reward):
        for a in range(len(self.average)):
            self.average[a] *= self.keep
        self.average[arm] += (1 - self.keep) * reward
