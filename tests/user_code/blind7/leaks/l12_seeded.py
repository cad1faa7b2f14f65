"""Seeds the noise with a digest of what was earned, for reproducible runs.

Leak. The seed is a function of the rewards, so that the run is one, too: there is no randomness left. Worst
pair: any two tables whose runs differ, for instance those where the lead of one arm changes by 1 near a
tie. Epsilon is infinite.
"""

import hashlib

import numpy as np

EPSILON = 1.0


def noise_for(values, n):
    digest = hashlib.sha256(np.asarray(values, dtype=float).round(6).tobytes()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).laplace(0, 1 / EPSILON, n)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    del rng  # reproducible without it
    actions, earned = [], []
    while len(actions) < horizon:
        if len(actions) % 12 < 3 * n_arms:
            arm = len(actions) % n_arms
        else:
            sums = np.bincount(actions, weights=earned, minlength=n_arms)
            counts = np.bincount(actions, minlength=n_arms)
            arm = int(np.argmax((sums + noise_for(earned, n_arms)) / np.maximum(counts, 1)))
        earned.append(float(rewards[len(actions), arm]))
        actions.append(arm)
    return np.array(actions)
