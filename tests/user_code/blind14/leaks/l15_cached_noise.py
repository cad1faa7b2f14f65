"""Greedy bandit on noisy sums with forced rounds for upkeep.  K = 2, T = 30, epsilon = 1 (pure).

The sum of an arm has sensitivity one and gets Laplace(1/eps).  The noise is cached so
that an index does not jitter between two rounds.
"""
from functools import lru_cache

K, T, EPS = 2, 30, 1.0


def play(rewards, rng):
    sums, pulls = [0.0] * K, [0] * K

    @lru_cache(maxsize=None)
    def offset(arm):
        return rng.laplace(0.0, 1.0 / EPS)

    def index(arm):
        return (sums[arm] + offset(arm)) / pulls[arm]

    actions = []
    for t in range(T):
        if t < K:
            arm = t
        elif t % 6 == 5:
            arm = (t // 6) % K
        else:
            arm = max(range(K), key=index)
        sums[arm] += float(rewards[t, arm])
        pulls[arm] += 1
        actions.append(arm)
    return actions
