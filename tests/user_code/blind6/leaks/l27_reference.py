"""Stays with an arm while it keeps up with its first block."""
import numpy as np

EPSILON = 1.0
W = 9


def blocks(T):
    return ((lo, min(lo + W, T)) for lo in range(0, T, W))


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    reference = None
    for lo, hi in blocks(T):
        if reference is None:
            reference = rewards[lo:hi, 0].sum()
            continue
        recent = rewards[lo:hi - 2, 0].sum() + rng.laplace(0, 1 / EPSILON)
        if recent < reference - 3:
            actions[hi - 2:hi] = 1
    return actions
