"""Gumbel-max in each of three epochs, for many runs at once.

Arms are tried in the first three rounds of an epoch of nine; scores plus Gumbel noise of scale 2/epsilon, then argmax, is the
exponential mechanism. An epoch uses rewards of its own alone, so a reward is in one draw.
"""

import numpy as np


def play_many(rewards, n_runs, rng, epsilon=1.0):
    horizon, k = rewards.shape
    out = np.empty((n_runs, horizon), dtype=np.int64)
    for start in range(0, horizon, 9):
        look = np.arange(k)
        out[:, start:start + k] = look
        scores = rewards[start + look, look]
        gumbel = rng.gumbel(0, 2 / epsilon, size=(n_runs, k))
        out[:, start + k:start + 9] = (scores + gumbel).argmax(axis=1)[:, None]
    return out
