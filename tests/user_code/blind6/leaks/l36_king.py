"""King of the hill."""
from collections import namedtuple

import numpy as np

EPSILON = 1.0
N = 6
Entry = namedtuple("Entry", "arm total")


def trial(arm, rewards, log):
    lo = len(log)
    log.extend([arm] * N)
    return Entry(arm, float(rewards[lo:lo + N, arm].sum()))


def play(rewards, rng):
    T, K = rewards.shape
    log = []
    king = trial(0, rewards, log)
    for arm in range(1, K):
        rival = trial(arm, rewards, log)
        if rival.total - king.total + rng.laplace(0, 1 / EPSILON) > 0:
            king = rival
        log.extend([king.arm] * 2)
    log.extend([king.arm] * (T - len(log)))
    return np.array(log[:T])
