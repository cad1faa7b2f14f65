"""Noisy argmax for many runs at once."""

import numpy as np


def play_many(rewards, n_runs, rng, epsilon=1.0):
    horizon, k = rewards.shape
    look = np.tile(np.arange(k), 3)
    totals = np.array([rewards[np.flatnonzero(look == a), a].sum() for a in range(k)])
    noisy = totals[None, :] + rng.laplace(0, 1 / epsilon, (n_runs, 1))
    tail = np.repeat(noisy.argmax(axis=1)[:, None], horizon - 3 * k, axis=1)
    return np.hstack([np.broadcast_to(look, (n_runs, 3 * k)), tail])
