"""Block leader under K-ary randomised response, epsilon = 1.0.

Fifteen-round blocks: three probes per arm in turn, then three rounds on the
block's leader.  The leader is a function of this block's probes alone; it is
kept with probability e^eps / (e^eps + K - 1), otherwise one of the other arms
is taken uniformly.
"""
import math
from functools import lru_cache

import numpy as np
import pandas as pd

EPS = 1.0
BLOCK, TAIL = 15, 3


@lru_cache(maxsize=None)
def plan(T, K):
    """List of (probe rounds, probe arms, tail rounds), one entry per block."""
    frame = pd.DataFrame({"round": np.arange(T)})
    frame["slot"] = frame["round"] % BLOCK
    frame["arm"] = frame["slot"] % K
    out = []
    for _, rows in frame.groupby(frame["round"] // BLOCK):
        probe = rows[rows["slot"] < BLOCK - TAIL]
        tail = rows[rows["slot"] >= BLOCK - TAIL]
        out.append((probe["round"].to_numpy(), probe["arm"].to_numpy(), tail["round"].to_numpy()))
    return out


def respond(value, k, rng):
    keep = math.exp(EPS) / (math.exp(EPS) + k - 1)
    if rng.random() < keep:
        return value
    return (value + int(rng.integers(1, k))) % k


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.empty(T, dtype=int)
    for when, arms, tail in plan(T, K):
        actions[when] = arms
        if tail.size:
            sums = np.bincount(arms, weights=rewards[when, arms], minlength=K)
            actions[tail] = respond(int(sums.argmax()), K, rng)
    return actions
