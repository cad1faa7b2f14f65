"""UCB on two-level (square-root) private counters, epsilon = 2 (pure).

Each arm has a counter: items are released one by one, and every complete block of
four items is released once more as a block sum.  A reward is in exactly one item
and at most one block sum, each with Laplace noise of scale 2 / epsilon.
Laplace is made as the difference of two exponentials.
"""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 2.0
BLOCK = 4


def laplace(scale, rng):
    return scale * (rng.standard_exponential() - rng.standard_exponential())


@dataclass
class SqrtCounter:
    scale: float
    rng: np.random.Generator
    n: int = 0
    closed: float = 0.0                            # noisy sums of complete blocks
    open_noisy: list = field(default_factory=list)  # noisy items of the open block
    open_exact: float = 0.0                        # waits for its one block release

    def add(self, x):
        x = float(min(max(x, 0.0), 1.0))
        self.n += 1
        self.open_exact += x
        self.open_noisy.append(x + laplace(self.scale, self.rng))
        if self.n % BLOCK == 0:
            self.closed += self.open_exact + laplace(self.scale, self.rng)
            self.open_exact = 0.0
            self.open_noisy.clear()

    def read(self):
        return self.closed + sum(self.open_noisy)


def play(rewards, rng):
    T, K = rewards.shape
    counters = [SqrtCounter(2.0 / EPSILON, rng) for _ in range(K)]
    out = np.empty(T, dtype=int)
    for t in range(T):
        if t < K:
            a = t
        else:
            ucb = [c.read() / c.n + np.sqrt(0.3 * np.log(t + 1) / c.n) for c in counters]
            a = int(np.argmax(ucb))
        counters[a].add(rewards[t, a])
        out[t] = a
    return out
