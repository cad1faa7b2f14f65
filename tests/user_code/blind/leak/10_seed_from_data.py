"""Explore-then-commit with "reproducible" noise: the same inputs always give the same release.

Flaw: noise is a function of the data, so the committed arm is, too. No randomness is left; two data sets with different winners
are told apart for certain. Pair (K = 2): all rewards 0, against reward 1 for arm 0 in round 0. Noise differs with the seeds; arm 1 is
committed to for certain, against arm 0 for certain. Infinite.
"""

import hashlib

import numpy as np

EPSILON = 1.0


def noise_for(values):
    digest = hashlib.sha256(np.round(values, 6).tobytes()).digest()
    local = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    return local.laplace(0, 1 / EPSILON, len(values))


def play(rewards, rng):
    T, K = rewards.shape
    n = min(T, 6 * K)
    a = np.arange(T) % K
    sums = np.array([rewards[np.arange(k, n, K), k].sum() for k in range(K)])
    a[n:] = int(np.argmax(sums + noise_for(sums)))
    return a
