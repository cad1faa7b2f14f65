"""Epochs that double; what was earned in one is carried over to start the next one warm.

Leak. The sum of an epoch begins with the epoch before, so that every reward is released twice at the full
epsilon. Worst pair: the two arms' sums tie, or the first arm earned 1 less in the first epoch; the first
arm wins both comparisons with ratio e^epsilon each: twice the claim.
"""

import numpy as np

EPSILON = 0.7


def epochs(horizon):
    start, length = 0, 8
    while start < horizon:
        yield start, min(start + length, horizon)
        start, length = start + length, 2 * length


def play(rewards, rng):
    horizon, _ = rewards.shape
    actions, carry = [], 0.0
    for start, end in epochs(horizon):
        half = (end - start) // 2
        gap = 0.0
        for t in range(start, start + half):
            arm = t % 2
            gap += rewards[t, arm] if arm == 0 else -rewards[t, arm]
            actions.append(arm)
        leader = 0 if gap + carry + rng.laplace(0, 1 / EPSILON) >= 0 else 1
        carry = gap
        actions += [leader] * (end - start - half)
    return np.array(actions)
