"""Hybrid mechanism for an unknown horizon: a logarithmic counter plus a small tree inside each segment.

Privacy. Items 2^k + 1 ... 2^(k+1) of an arm form segment k. When a segment closes, its sum is released
with Laplace(2 / eps): an item is in one segment, so this costs eps / 2. Inside segment k the items before the
last go through a binary tree with k levels (at most 2^k - 1 items), whose nodes get Laplace(2 k / eps): an
item is in at most k nodes, which costs eps / 2. In all eps.
"""

import numpy as np

EPSILON = 1.0


class Tree:
    def __init__(self, levels, scale, rng):
        self.levels, self.scale, self.rng = levels, scale, rng
        self.alpha, self.noisy, self.n = [0.0] * levels, [0.0] * levels, 0

    def add(self, x):
        self.n += 1
        i = (self.n & -self.n).bit_length() - 1
        self.alpha[i] = x + sum(self.alpha[:i])
        for j in range(i):
            self.alpha[j] = self.noisy[j] = 0.0
        self.noisy[i] = self.alpha[i] + self.rng.laplace(0, self.scale)

    def total(self):
        return sum(self.noisy)


class Hybrid:
    def __init__(self, eps, rng):
        self.eps, self.rng = eps, rng
        self.n, self.closed, self.open, self.tree = 0, 0.0, 0.0, None

    def add(self, x):
        self.n += 1
        self.open += x
        if self.n & (self.n - 1) == 0:
            self.closed += self.open + self.rng.laplace(0, 2 / self.eps)
            self.open = 0.0
            k = self.n.bit_length() - 1
            self.tree = Tree(k, 2 * k / self.eps, self.rng) if k else None
        else:
            self.tree.add(x)

    def total(self):
        return self.closed + (self.tree.total() if self.tree else 0.0)


def play(rewards, rng):
    T, K = rewards.shape
    sums = [Hybrid(EPSILON, rng) for _ in range(K)]
    a_t = np.zeros(T, dtype=int)
    for t in range(T):
        if t < K:
            a = t
        else:
            a = int(np.argmax([h.total() / h.n + np.sqrt(1.5 * np.log(t + 1) / h.n) for h in sums]))
        a_t[t] = a
        sums[a].add(float(rewards[t, a]))
    return a_t
