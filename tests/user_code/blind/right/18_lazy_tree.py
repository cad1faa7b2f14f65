"""UCB on private prefix sums from a tree whose node noise is drawn when a node is first used.

Privacy. Each arm has a dyadic tree over its own pulls. A reward lies in one node per level and there are
L = bit_length(T) levels, so the vector of all node sums changes by at most L in L1. Node noise is Laplace of
scale L / eps, drawn at the first use of a node and remembered. A node is used only when it is complete,
so its sum does not change later. All estimates are sums of noisy nodes: eps-DP in all.
"""

import numpy as np

EPSILON = 1.0


class LazyTree:
    def __init__(self, horizon, eps, rng):
        self.levels = int(horizon).bit_length()
        self.scale = self.levels / eps
        self.rng = rng
        self.values = []
        self.noise = {}

    def append(self, x):
        self.values.append(float(x))

    def prefix(self):
        n, pos, total = len(self.values), 0, 0.0
        for level in reversed(range(self.levels)):
            width = 1 << level
            if pos + width <= n and (n >> level) & 1:
                key = (level, pos // width)
                if key not in self.noise:
                    self.noise[key] = self.rng.laplace(0.0, self.scale)
                total += sum(self.values[pos : pos + width]) + self.noise[key]
                pos += width
        return total


def play(rewards, rng):
    T, K = rewards.shape
    trees = [LazyTree(T, EPSILON, rng) for _ in range(K)]
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        if t < K:
            a = t
        else:
            index = [tr.prefix() / len(tr.values) + np.sqrt(2 * np.log(t) / len(tr.values)) for tr in trees]
            a = int(np.argmax(index))
        actions[t] = a
        trees[a].append(rewards[t, a])
    return actions
