"""Hybrid counter: finished blocks as noisy totals, the open block as noisy reports.

A reward makes one report (noise for epsilon/2) and is in one block total of one arm (noise for epsilon/2). Together epsilon.
"""


class Hybrid:
    def __init__(self, rng, epsilon):
        self.rng, self.scale = rng, 2 / epsilon
        self.closed, self.open_noisy, self.open_true = 0.0, 0.0, 0.0

    def add(self, x):
        self.open_true += x
        self.open_noisy += x + self.rng.laplace(0, self.scale)

    def close(self):
        self.closed += self.open_true + self.rng.laplace(0, self.scale)
        self.open_noisy = self.open_true = 0.0

    @property
    def value(self):
        return self.closed + self.open_noisy


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    counters, n, actions = [Hybrid(rng, epsilon) for _ in range(k)], [0] * k, []
    for t in range(horizon):
        arm = t if t < k else max(range(k), key=lambda a: counters[a].value / n[a] + 1 / n[a])
        counters[arm].add(rewards[t, arm])
        n[arm] += 1
        actions.append(arm)
        if t % 5 == 4:
            for c in counters:
                c.close()
    return actions
