"""Epsilon-greedy on private totals. Each arm draws its noise once, so the budget is spent once."""


class FrozenNoise:
    def __init__(self, n_arms, rng, epsilon=1.0):
        self.rng = rng
        self.noise = [rng.laplace(0, 1 / epsilon) for _ in range(n_arms)]
        self.totals = [0.0] * n_arms

    def select(self):
        if self.rng.random() < 0.2:
            return int(self.rng.integers(len(self.totals)))
        private = [s + z for s, z in zip(self.totals, self.noise)]
        return private.index(max(private))

    def update(self, arm, reward):
        self.totals[arm] += reward
