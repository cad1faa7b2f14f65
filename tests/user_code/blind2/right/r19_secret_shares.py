"""Distributed noise: no single party knows it.

Each of the n rounds of an arm adds G - G' to its reward, G, G' ~ Gamma(1/n, scale 1/eps).  The n shares add to
Laplace(1/eps) (infinite divisibility).  Only the aggregate is decrypted, i.e. used, so the release of a sum is eps-DP.
"""
import numpy as np


class Party:
    def __init__(self, rng, n, b):
        self.share = rng.gamma(1.0 / n, b) - rng.gamma(1.0 / n, b)

    def submit(self, x):
        return x + self.share


def play(rewards, rng):
    eps = 1.0
    T, K = rewards.shape
    n = 8
    ballots = {k: [] for k in range(K)}
    actions = []
    for k in range(K):
        for _ in range(n):
            ballots[k].append(Party(rng, n, 1 / eps).submit(rewards[len(actions), k]))
            actions.append(k)
    decrypted = [sum(ballots[k]) for k in range(K)]
    leader = decrypted.index(max(decrypted))
    return np.array(actions + [leader] * (T - len(actions)))
