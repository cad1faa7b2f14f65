"""Vectorised DP-UCB: K = 3, T = 40, claimed epsilon = 1.0 (pure).

Reward totals are compared with Laplace noise of scale 1/epsilon on every total (a reward is
in the total of one arm only).  Noise for all runs and arms is drawn up front for speed.
"""
import numpy as np

K, T, EPS = 3, 40, 1.0


def play_many(rewards, n_runs, rng):
    idx = np.arange(n_runs)
    noise = rng.laplace(0.0, 1.0 / EPS, size=(n_runs, K))
    total = np.zeros((n_runs, K))
    pulls = np.zeros((n_runs, K))
    actions = np.empty((n_runs, T), dtype=np.int8)

    first = np.argsort(rng.random((n_runs, K)), axis=1)      # random first round of each arm
    for t in range(T):
        if t < K:
            a = first[:, t]
        else:
            private = (total + noise) / pulls
            bonus = np.sqrt(0.5 * np.log(t + 1) / pulls)
            a = (private + bonus).argmax(axis=1)
        total[idx, a] += rewards[t, a]
        pulls[idx, a] += 1
        actions[:, t] = a
    return actions.astype(int)
