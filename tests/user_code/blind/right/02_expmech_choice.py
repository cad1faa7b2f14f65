"""Blocks of probing and exploiting; the arm to exploit is drawn by the exponential mechanism.

A block has a probing part (two pulls of each arm) and an exploiting part of the same length.

Privacy. The utility of an arm is the sum of its two probed rewards in this block, so one reward changes
one utility by at most 1. Weights exp(epsilon * u / 2) give epsilon-DP for any utility of sensitivity 1
(here even epsilon / 2, since only one utility can move). Every reward belongs to one block, and rewards
of the exploiting part are never used, so blocks compose in parallel.
"""

import numpy as np

EPSILON = 1.0
SENSITIVITY = 1.0


def exponential_mechanism(utility, rng):
    w = np.exp(EPSILON * (utility - utility.max()) / (2 * SENSITIVITY))
    return rng.choice(len(utility), p=w / w.sum())


def play(rewards, rng):
    T, K = rewards.shape
    out = []
    while len(out) < T:
        utility = np.zeros(K)
        for i in range(2 * K):
            t = len(out)
            if t >= T:
                return np.array(out, dtype=int)
            a = i % K
            out.append(a)
            utility[a] += rewards[t, a]
        best = exponential_mechanism(utility, rng)
        out.extend([int(best)] * min(2 * K, T - len(out)))
    return np.array(out, dtype=int)
