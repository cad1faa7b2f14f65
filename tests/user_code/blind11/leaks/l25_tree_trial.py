"""Trial of a new process (arm 1) against an outside option of known value 1/2 (arm 0), running sum from a binary tree.

Even rounds are pilots of arm 1; odd rounds play arm 1 if its noisy mean is at least 1/2, and teach nothing.
Fault: node noise has scale sqrt(levels) / EPSILON, as if the losses of the levels added in squares; for pure epsilon
they add plainly: the first pilot lies in 5 nodes (16 pilots), at EPSILON / sqrt(5) each.
Pair: all rewards 0; the neighbour has reward 1 of arm 1 in round 0.  Event: arm 1 in the odd rounds just after pilots
1, 2, 4, 8, 16, where the running sum is one node each.  With b = sqrt(5) / EPSILON the last four give 1/b each and the
first log((1 - h) / h), h = exp(-0.5 / b) / 2.  Loss: 0.894 + 0.213 = 1.107 at EPSILON = 0.5, 2.21 times the claim.
"""
import math

import numpy as np

EPSILON = 0.5
N_ARMS = 2
HORIZON = 32
TARGET = 0.5


def running_sum(n_max, rng):
    levels = n_max.bit_length()
    scale = math.sqrt(levels) / EPSILON
    raw, noisy, n = [0.0] * levels, [0.0] * levels, 0

    def push(x):
        nonlocal n
        n += 1
        top = (n & -n).bit_length() - 1
        raw[top] = x + sum(raw[:top])
        noisy[top] = raw[top] + rng.laplace(0.0, scale)
        raw[:top] = noisy[:top] = [0.0] * top
        return sum(noisy) / n

    return push


def play(rewards, rng):
    horizon, _ = rewards.shape
    push = running_sum((horizon + 1) // 2, rng)

    def rounds():
        for t in range(0, horizon, 2):
            yield 1
            yield int(push(rewards[t, 1]) >= TARGET)

    return np.fromiter(rounds(), dtype=int)[:horizon]
