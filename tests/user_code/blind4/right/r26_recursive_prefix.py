"""Greedy play on recursive, memoised noisy range sums of each arm's own history."""
from functools import lru_cache
import numpy as np

EPS = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    depth = 1
    while 2 ** (depth - 1) < T:
        depth += 1
    logs = [[] for _ in range(K)]

    @lru_cache(maxsize=None)
    def node(arm, lo, hi):
        return sum(logs[arm][lo:hi]) + rng.laplace(0, depth / EPS)

    def prefix(arm, upto, lo=0, hi=2 ** (depth - 1)):
        if upto <= lo:
            return 0.0
        if upto >= hi:
            return node(arm, lo, hi)
        mid = (lo + hi) // 2
        return prefix(arm, upto, lo, mid) + prefix(arm, upto, mid, hi)

    acts = []
    for t in range(T):
        if t < 2 * K:
            a = t % K
        elif rng.random() < 1 / np.sqrt(t):
            a = int(rng.integers(K))
        else:
            a = max(range(K), key=lambda i: prefix(i, len(logs[i])) / len(logs[i]))
        acts.append(a)
        logs[a].append(float(rewards[t, a]))
    return acts
