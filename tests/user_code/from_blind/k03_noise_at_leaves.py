"""Tree-based linear bandit (joint DP)."""
import numpy as np


class LeafNoiseTree:
    def __init__(self, n_arms, dim, horizon, epsilon=3.0, rng=None):
        self.levels = horizon.bit_length()
        self.node = np.zeros((self.levels, dim))
        self.b = 2 * np.sqrt(dim) * self.levels / epsilon
        self.rng = rng
        self.n = 0

    def estimate(self):
        total = np.zeros(self.node.shape[1])
        for i in range(self.levels):
            if self.n >> i & 1:
                total += self.node[i]
                if i == 0:
                    total += self.rng.laplace(0, self.b, len(total))
        return total

    def select(self, context):
        return int(np.argmax(context @ self.estimate()))

    def update(self, context, arm, reward):
        self.n += 1
        carry = context[arm] * reward
        i = 0
        while (self.n - 1) >> i & 1:
            carry = carry + self.node[i]
            self.node[i] = 0
            i += 1
        self.node[i] = carry
