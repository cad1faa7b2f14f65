"""Noisy sums with hyperbolic secant noise.

Privacy. The density sech(x / s) / (pi s) has log-derivative -tanh(x / s) / s, bounded by 1 / s. With s = 1 / eps a
shift by at most 1 costs at most eps. The mechanism releases one value per arm per round trip of twelve rounds, made
from the rewards of that round trip only; one reward moves one of these values by at most 1.
"""

import numpy as np
from scipy.stats import hypsecant

EPSILON = 1.0
TRIP = 12


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    history = []
    sums = np.zeros(K)
    for t in range(T):
        if not history:
            a = t % K
        elif t % TRIP < K:
            a = t % TRIP
        else:
            a = int(np.argmax(np.mean(history, axis=0)))
        actions[t] = a
        sums[a] += rewards[t, a]
        if t % TRIP == TRIP - 1:
            history.append(sums + hypsecant.rvs(scale=1 / EPSILON, size=K, random_state=rng))
            sums = np.zeros(K)
    return actions
