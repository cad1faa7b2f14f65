"""Softmax on a sliding window of the last W rounds. Claims epsilon = 2, pure.

A reward stays in the window for exactly W decisions; each decision is an exponential mechanism with
budget epsilon / W (one reward moves one arm's window sum, so no factor 2 is lost).
"""
from collections import deque
from itertools import accumulate

import numpy as np

W = 5
EPSILON = 2.0


def draw(weights, rng):
    cumulative = list(accumulate(weights))
    u = rng.random() * cumulative[-1]
    return next((i for i, c in enumerate(cumulative) if u < c), len(weights) - 1)


def play(rewards, rng):
    T, K = rewards.shape
    window = deque(maxlen=W)
    beta = EPSILON / W
    actions = []
    for t in range(T):
        weights = [np.exp(beta * sum(r for a, r in window if a == k)) for k in range(K)]
        arm = draw(weights, rng)
        window.append((arm, float(rewards[t, arm])))
        actions.append(arm)
    return np.asarray(actions)
