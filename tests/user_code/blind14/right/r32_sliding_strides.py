"""Sliding-window bandit for drifting rewards, many runs at once.  epsilon = 2.

Time is cut into strides of six rounds: every arm once, then three rounds on the
current leader.  The leader is recomputed from the last three strides; a reward
is inside three windows, so each window gets a third of the budget.
"""
import numpy as np

EPSILON = 2.0
STRIDE = 6
SPAN = 3


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    rows = np.arange(n_runs)
    leader = rng.integers(K, size=n_runs)
    actions = np.empty((n_runs, T), dtype=np.int64)
    n_strides = -(-T // STRIDE)
    sums = np.zeros((n_strides, n_runs, K))
    pulls = np.zeros((n_strides, n_runs, K))
    for t in range(T):
        s, pos = divmod(t, STRIDE)
        arm = np.full(n_runs, pos) if pos < K else leader
        actions[:, t] = arm
        sums[s, rows, arm] += rewards[t, arm]
        pulls[s, rows, arm] += 1
        if pos == STRIDE - 1:
            lo = max(0, s - SPAN + 1)
            window = sums[lo:s + 1].sum(axis=0)
            count = pulls[lo:s + 1].sum(axis=0)
            noise = rng.laplace(scale=SPAN / EPSILON, size=(n_runs, K))
            leader = ((window + noise) / count).argmax(axis=1)
    return actions
