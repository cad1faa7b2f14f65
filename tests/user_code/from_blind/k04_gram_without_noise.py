import numpy as np


class GramUCB:
    """LinUCB; reward information is private (Laplace on sum r x every 12 rounds)."""

    def __init__(self, n_arms, dim, horizon, epsilon=2.0, rng=None):
        self.V = np.eye(dim)
        self.public_b = np.zeros(dim)
        self.b = np.zeros(dim)
        self.scale = 2 * np.sqrt(dim) / epsilon
        self.rng, self.t = rng, 0

    def select(self, context):
        Vi = np.linalg.inv(self.V)
        theta = Vi @ self.public_b
        bonus = np.sqrt(np.sum(context @ Vi * context, axis=1))
        return int(np.argmax(context @ theta + bonus))

    def update(self, context, arm, reward):
        x = context[arm]
        self.V += np.outer(x, x)
        self.b += reward * x
        self.t += 1
        if self.t % 12 == 0:
            self.public_b = self.public_b + self.b + self.rng.laplace(0, self.scale, len(x))
            self.b = np.zeros(len(x))
