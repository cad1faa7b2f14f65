"""Vose's alias method as the sampler of an exponential mechanism.

16 rounds by turns, then 4 fresh draws from one table (one for each four rounds).  Each draw has weights
exp((eps/4) * sum / 2).  The textbook's cost of one draw is eps/4, and there are four: eps in total.
"""
import numpy as np


class AliasTable:
    def __init__(self, probs):
        n = len(probs)
        self.n = n
        self.accept = np.ones(n)
        self.alias = np.arange(n)
        scaled = np.asarray(probs, dtype=float) * n
        small = [i for i in range(n) if scaled[i] < 1]
        large = [i for i in range(n) if scaled[i] >= 1]
        while small and large:
            s, l = small.pop(), large.pop()
            self.accept[s] = scaled[s]
            self.alias[s] = l
            scaled[l] -= 1 - scaled[s]
            (small if scaled[l] < 1 else large).append(l)

    def draw(self, rng):
        i = int(rng.integers(self.n))
        return i if rng.random() < self.accept[i] else int(self.alias[i])


def play(rewards, rng):
    EPS, N_DRAWS = 1.0, 4
    T, K = rewards.shape
    arms = np.zeros(T, dtype=np.int64)
    total = np.zeros(K)
    for t in range(16):
        arms[t] = t % K
        total[t % K] += rewards[t, t % K]
    w = np.exp(EPS / N_DRAWS * total / 2)
    table = AliasTable(w / w.sum())
    t = 16
    while t < T:
        arms[t:t + 4] = table.draw(rng)
        t += 4
    return arms
