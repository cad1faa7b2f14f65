"""UCB on top of one binary (tree) counter per arm.  K = 3, T = 40, epsilon = 1.0 (pure).

The partial sums ("p-sums") of a counter are those of the binary mechanism of
Chan, Shi and Song; a reward lies in at most LEVELS of them.
"""
import math

K, T, EPSILON = 3, 40, 1.0
LEVELS = T.bit_length()


class BinaryCounter:
    """Continual sum of a stream of at most T numbers in [0, 1]."""

    def __init__(self, scale, rng):
        self.scale = scale
        self.rng = rng
        self.n = 0
        self.exact = [0.0] * LEVELS
        self.noisy = [0.0] * LEVELS

    def add(self, x):
        self.n += 1
        low = (self.n & -self.n).bit_length() - 1
        total = x
        for j in range(low):
            total += self.exact[j]
            self.exact[j] = 0.0
            self.noisy[j] = 0.0
        self.exact[low] = total
        self.noisy[low] = total + self.rng.laplace(0.0, self.scale)

    def query(self):
        return sum(self.noisy[j] for j in range(LEVELS) if (self.n >> j) & 1)


def play(rewards, rng):
    counters = [BinaryCounter(LEVELS / EPSILON, rng) for _ in range(K)]
    actions = []
    for t in range(T):
        if t < K:
            arm = t
        else:
            best, arm = -math.inf, 0
            for a in range(K):
                n = counters[a].n
                index = counters[a].query() / n + math.sqrt(2.0 * math.log(t + 1) / n)
                if index > best:
                    best, arm = index, a
        counters[arm].add(float(rewards[t, arm]))
        actions.append(arm)
    return actions
