"""Discounted means of noisy reports.

Every reward is told once with Laplace noise 1/epsilon. Discounting works on what was told.
"""


class Discounted:
    def __init__(self, n_arms, rng, epsilon=1.0, gamma=0.8):
        self.rng, self.b, self.gamma = rng, 1 / epsilon, gamma
        self.s = [0.0] * n_arms
        self.w = [0.0] * n_arms

    def select(self):
        for arm, w in enumerate(self.w):
            if w == 0:
                return arm
        return max(range(len(self.s)), key=lambda a: self.s[a] / self.w[a] + 0.5 / self.w[a] ** 0.5)

    def update(self, arm, reward):
        self.s = [self.gamma * s for s in self.s]
        self.w = [self.gamma * w for w in self.w]
        self.s[arm] += reward + self.rng.laplace(0, self.b)
        self.w[arm] += 1
