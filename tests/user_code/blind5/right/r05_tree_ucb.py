"""UCB whose per-arm totals are kept by the binary counting mechanism."""
import math

EPSILON = 2.0


class Counter:
    def __init__(self, horizon, epsilon, rng):
        self.levels = horizon.bit_length()
        self.scale = self.levels / epsilon
        self.exact = [0.0] * self.levels
        self.noisy = [0.0] * self.levels
        self.n = 0
        self.rng = rng

    def add(self, x):
        self.n += 1
        low = (self.n & -self.n).bit_length() - 1
        self.exact[low] = x + sum(self.exact[:low])
        for j in range(low):
            self.exact[j] = self.noisy[j] = 0.0
        self.noisy[low] = self.exact[low] + self.rng.laplace(0.0, self.scale)

    def total(self):
        return sum(self.noisy[j] for j in range(self.levels) if self.n >> j & 1)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    counters = [Counter(horizon, EPSILON, rng) for _ in range(n_arms)]
    arms = []
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            def index(a, now=t):
                c = counters[a]
                return c.total() / c.n + math.sqrt(2 * math.log(now + 1) / c.n)
            arm = max(range(n_arms), key=index)
        counters[arm].add(float(rewards[t, arm]))
        arms.append(arm)
    return arms
