"""Epsilon-greedy whose totals are released four times.

At rounds 8, 16, 24, 32 the running totals of the arms are released. One reward moves one total by 1 in each of at most four
releases, each with noise for epsilon/4. Exploring is a coin that looks at nothing.
"""


class EpsilonGreedy:
    RELEASES = (8, 16, 24, 32)

    def __init__(self, n_arms, rng, epsilon=1.0):
        self.n_arms = n_arms
        self.rng = rng
        self.scale = len(self.RELEASES) / epsilon
        self.totals = [0.0] * n_arms
        self.pulls = [0] * n_arms
        self.public = None
        self.t = 0

    def select(self):
        if self.public is None or self.rng.random() < 0.1:
            return self.t % self.n_arms
        return max(range(self.n_arms), key=self.public.__getitem__)

    def update(self, arm, reward):
        self.totals[arm] += reward
        self.pulls[arm] += 1
        self.t += 1
        if self.t in self.RELEASES:
            self.public = [
                (s + self.rng.laplace(0, self.scale)) / max(n, 1)
                for s, n in zip(self.totals, self.pulls)
            ]
