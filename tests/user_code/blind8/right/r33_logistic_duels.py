"""A chain of two-arm comparisons decided by the difference of sums plus logistic noise.

In a comparison the two arms are pulled in turn PAIRS times; the gap (sum of the holder minus sum of the rival) moves by
at most 1 when one reward is changed.  The logistic density with scale s has |d log f / dx| = tanh(|x| / 2s) / s <= 1/s,
so with s = 1 / EPSILON a shift of 1 costs at most e^EPSILON.  The gap restarts at zero every time: one comparison per
reward.  Rewards of a last, unfinished comparison are never used.
"""
import itertools

import numpy as np

EPSILON = 1.0
PAIRS = 3


def play(rewards, rng):
    T, K = rewards.shape
    order = rng.permutation(K)
    rivals = itertools.cycle(range(K))
    holder = int(order[0])
    path = []
    while T - len(path) >= 2 * PAIRS:
        rival = next(int(order[j]) for j in rivals if int(order[j]) != holder)
        gap = 0.0
        for _ in range(PAIRS):
            gap += rewards[len(path), holder]
            path.append(holder)
            gap -= rewards[len(path), rival]
            path.append(rival)
        if gap + rng.logistic(0.0, 1.0 / EPSILON) < 0.0:
            holder = rival
    path += [holder] * (T - len(path))
    return np.array(path)
