"""Explore-then-commit with noisy means, vectorised.  K = 3, T = 42, epsilon = 0.5 (pure).

The mean over n rewards has sensitivity 1/n, so the noise is Laplace(1/(n eps)).
"""
import numpy as np
import pandas as pd

K, T, EPS = 3, 42, 0.5
EXPLORE = 15


def explored_means(rewards, schedule):
    log = pd.DataFrame({"arm": schedule, "reward": rewards[np.arange(EXPLORE), schedule]})
    return log.groupby("arm")["reward"].mean().reindex(range(K)).to_numpy(), len(log)


def play_many(rewards, n_runs, rng):
    schedule = np.arange(EXPLORE) % K
    means, n = explored_means(rewards, schedule)
    noisy = means + rng.laplace(0.0, 1.0 / (n * EPS), size=(n_runs, K))
    best = noisy.argmax(axis=1)
    out = np.empty((n_runs, T), dtype=int)
    out[:, :EXPLORE] = schedule
    out[:, EXPLORE:] = best[:, None]
    return out
