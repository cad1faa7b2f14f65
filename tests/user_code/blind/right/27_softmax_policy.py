"""Softmax over the sums of the previous block, one independent draw for every round of the block.

Privacy. A block has B rounds. In block b each round draws an arm with P(a) proportional to exp(eta * S_a), S_a being
what arm a earned in block b - 1 (zero if it was not played). One reward moves one S_a by at most 1, so each
log-probability by at most eta. The reward is in S for B draws, no more. With eta = eps / B: eps in all.
"""

import numpy as np
from scipy.special import softmax

EPSILON = 1.0
BLOCK = 8


def play(rewards, rng):
    T, K = rewards.shape
    previous = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for start in range(0, T, BLOCK):
        pi = softmax(EPSILON / BLOCK * previous)
        current = np.zeros(K)
        for t in range(start, min(T, start + BLOCK)):
            a = rng.choice(K, p=pi)
            actions[t] = a
            current[a] += rewards[t, a]
        previous = current
    return actions
