"""Greedy on pooled private block sums; K = 2, horizon 60, claimed epsilon = 1.0 (pure).

Blocks of six rounds: one round per arm, then four rounds of the favourite.  At the end of a
block the sums of the block get Laplace(1/epsilon) noise and are added to the ledger (each
reward enters one released sum).  Means are clipped to [0, 1], the range of rewards, and shown
in fifths, as on the dashboard.
"""


class Arm:
    def __init__(self):
        self.block = 0.0
        self.block_n = 0
        self.total = 0.0
        self.private_total = 0.0
        self.n = 0

    def record(self, r):
        self.block += r
        self.block_n += 1

    def close(self, noise):
        self.private_total += self.block + noise
        self.total += self.block
        self.n += self.block_n
        self.block, self.block_n = 0.0, 0

    @property
    def private_mean(self):
        shown = round(5.0 * self.private_total / self.n) / 5.0
        return min(1.0, max(0.0, shown))

    @property
    def mean(self):
        return self.total / self.n

    def rank(self):
        return (self.private_mean, self.mean)


class PooledGreedy:
    BLOCK = 6

    def __init__(self, n_arms=2, horizon=60, epsilon=1.0, rng=None):
        self.arms = [Arm() for _ in range(n_arms)]
        self.scale, self.rng, self.t = 1.0 / epsilon, rng, 0
        self.favourite = 0

    def act(self):
        pos = self.t % self.BLOCK
        return pos if pos < len(self.arms) else self.favourite

    def observe(self, arm, reward):
        self.arms[arm].record(float(reward))
        self.t += 1
        if self.t % self.BLOCK == 0:
            for a in self.arms:
                a.close(self.rng.laplace(0.0, self.scale))
            order = sorted(range(len(self.arms)), key=lambda i: self.arms[i].rank())
            self.favourite = order[-1]
