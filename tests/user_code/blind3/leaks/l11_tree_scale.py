"""Greedy on prefix sums from a binary tree for each arm: noise grows only with the log of time."""


class Node(dict):
    """Sum of a dyadic interval and its noise, made when first asked for."""

    def __init__(self, rng, scale):
        super().__init__()
        self.rng, self.scale = rng, scale

    def __missing__(self, key):
        self[key] = self.rng.laplace(0, self.scale)
        return self[key]


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    trees = [Node(rng, 1 / epsilon) for _ in range(k)]
    actions = []
    for t in range(horizon):
        sums = [0.0] * k
        start = 0
        for level in range(t.bit_length() - 1, -1, -1):
            if t >> level & 1:
                for a in range(k):
                    sums[a] += trees[a][level, start >> level]
                start += 1 << level
        arm = 0 if t == 0 else sums.index(max(sums))
        for level in range(6):
            trees[arm][level, t >> level] += rewards[t, arm]
        actions.append(arm)
    return actions
