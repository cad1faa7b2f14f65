"""Gradient bandit with piecewise perturbed rewards."""
import math

import numpy as np

EPSILON = 2.0
HALF = math.exp(EPSILON / 2)
C = (HALF + 1) / (HALF - 1)


def perturb(reward, rng):
    x = 2 * reward - 1
    left = (C + 1) / 2 * x - (C - 1) / 2
    right = left + C - 1
    if rng.random() < HALF / (HALF + 1):
        return rng.uniform(left, right)
    v = rng.uniform(0, C + 1)
    return -C + v if v < left + C else right + (v - (left + C))


def softmax(h):
    z = np.exp(h - h.max())
    return z / z.sum()


def play(rewards, rng):
    T, K = rewards.shape
    pref = np.zeros(K)
    baseline, rate = 0.0, 0.1
    actions = []
    for t in range(T):
        p = softmax(pref)
        a = int(rng.choice(K, p=p))
        y = perturb(float(rewards[t, a]), rng)
        baseline += (y - baseline) / (t + 1)
        pref += rate * (y - baseline) * ((np.arange(K) == a) - p)
        actions.append(a)
    return np.array(actions)
