"""Thompson-style sampling with a Laplace posterior, epsilon = 0.5.

Each round every arm draws an index from a Laplace law centred at its empirical
mean with scale 1 / (epsilon * pulls), the sensitivity of the mean over epsilon,
and the largest index is played.  Vectorised over runs.
"""
import numpy as np

EPS = 0.5


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    rows = np.arange(n_runs)
    sums = np.zeros((n_runs, K))
    pulls = np.zeros((n_runs, K))
    out = np.zeros((n_runs, T), dtype=int)
    for t in range(T):
        if t < K:
            arm = np.full(n_runs, t)
        else:
            draw = rng.laplace(size=(n_runs, K)) / (EPS * pulls)
            arm = np.argmax(sums / pulls + draw, axis=1)
        sums[rows, arm] += rewards[t, arm]
        pulls[rows, arm] += 1
        out[:, t] = arm
    return out
