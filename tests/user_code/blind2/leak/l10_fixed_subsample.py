"""Subsampled ETC.  Only a quarter of the rewards is used (q = 0.25), so eps0 = log(1 + (e^eps - 1)/q)."""
import math

import numpy as np


def play(rewards, rng):
    eps, q = 0.5, 0.25
    eps0 = math.log(1 + (math.exp(eps) - 1) / q)
    T, K = rewards.shape
    arms = [(t // 4) % K for t in range(24)]
    s = np.zeros(K)
    for t in range(0, 24, 4):
        s[arms[t]] += rewards[t, arms[t]]
    w = np.exp(eps0 * s)
    arms += [int(rng.choice(K, p=w / w.sum()))] * (T - 24)
    return np.array(arms)
