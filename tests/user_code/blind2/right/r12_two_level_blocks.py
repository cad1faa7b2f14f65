"""Two-level sums (block of 7, and single steps inside the running block).

A reward is in exactly two releases: itself + noise and its block + noise.  Each noise is Laplace with scale 2/eps
(a difference of two exponentials), so each costs eps/2.  The play is greedy in the released sums, with forced
turns at the beginning of each block.
"""
import numpy as np


def play(rewards, rng):
    eps = 2.0
    B = 7
    T, K = rewards.shape

    def noise(size=None):
        return rng.exponential(2 / eps, size) - rng.exponential(2 / eps, size)

    coarse, counts = np.zeros(K), np.zeros(K)
    arms = np.zeros(T, dtype=int)
    block, fine = np.zeros(K), np.zeros(K)
    for t in range(T):
        if t % B < K:
            a = t % B
        else:
            a = int(np.argmax((coarse + fine) / np.maximum(counts, 1)))
        arms[t] = a
        x = np.zeros(K)
        x[a] = rewards[t, a]
        block += x
        fine += x + noise(K)
        counts[a] += 1
        if t % B == B - 1:
            coarse += block + noise(K)
            block, fine = np.zeros(K), np.zeros(K)
    return arms
