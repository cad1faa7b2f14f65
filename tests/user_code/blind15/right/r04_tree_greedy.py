"""Greedy bandit on continually released sums (binary tree mechanism).

Every arm has a stream with one entry per round (the reward if the arm was
played, otherwise 0) and a streaming tree counter in the manner of Chan, Shi and
Song.  A reward enters at most `levels` nodes, hence Laplace(levels / epsilon)
on every node.  The number of pulls is public (it follows from the actions).
All runs are simulated together.  Claims epsilon = 3.0 (pure).
"""
import numpy as np

EPSILON = 3.0


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    levels = int(T).bit_length()
    scale = levels / EPSILON
    rows = np.arange(n_runs)

    exact = np.zeros((levels, n_runs, K))
    noisy = np.zeros((levels, n_runs, K))
    pulls = np.zeros((n_runs, K))
    actions = np.empty((n_runs, T), dtype=np.int64)
    estimate = np.zeros((n_runs, K))

    for t in range(T):
        if t < K:
            arms = np.full(n_runs, t)
        else:
            arms = np.argmax(estimate / pulls, axis=1)
        actions[:, t] = arms
        pulls[rows, arms] += 1

        stream = np.zeros((n_runs, K))
        stream[rows, arms] = rewards[t, arms]

        clock = t + 1
        low = (clock & -clock).bit_length() - 1          # lowest set bit
        exact[low] = exact[:low].sum(axis=0) + stream
        exact[:low] = 0.0
        noisy[:low] = 0.0
        noisy[low] = exact[low] + rng.laplace(0.0, scale, size=(n_runs, K))

        bits = [j for j in range(levels) if clock >> j & 1]
        estimate = noisy[bits].sum(axis=0)
    return actions
