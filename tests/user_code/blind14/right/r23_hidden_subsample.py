"""Explore-then-commit on a hidden subsample of the explored rewards.
K = 3, T = 36, epsilon = 1 (pure).

Each explored reward is kept by a private coin with probability Q (a dropped one counts
as zero); the sums get Laplace(1/e0) with e0 = log(1 + (exp(eps) - 1)/Q), which the
secret sampling brings back to eps.  The coins touch nothing but the sums.
"""
import numpy as np

K, T = 3, 36
EPS, Q = 1.0, 0.5
E0 = np.log1p(np.expm1(EPS) / Q)
PER_ARM = 7


def play_many(rewards, n_runs, rng):
    n_explore = K * PER_ARM
    head = np.arange(n_explore) % K
    seen = rewards[np.arange(n_explore), head]
    kept = (rng.random((n_runs, n_explore)) < Q) * seen[None, :]
    sums = kept.reshape(n_runs, PER_ARM, K).sum(axis=1)
    sums = sums + rng.laplace(scale=1.0 / E0, size=(n_runs, K))
    winner = np.argmax(sums, axis=1)
    tail = np.broadcast_to(winner[:, None], (n_runs, T - n_explore))
    return np.concatenate([np.broadcast_to(head, (n_runs, n_explore)), tail], axis=1)
