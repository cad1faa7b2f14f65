"""Block bandit on min-max scaled rewards.

Runs in blocks of six pulls of one arm.  The rewards of a block are scaled to
[0, 1] by the block's own minimum and maximum, which gives them sensitivity 1;
their sum gets Laplace(1/epsilon) noise and the arm is kept when the result passes
0.75 of the block length, otherwise the next arm is tried.  Blocks are disjoint.
Vectorised over runs.  Claims epsilon = 1.0 (pure).
"""
import numpy as np

EPSILON = 1.0
BLOCK = 6
PASS = 0.75


def scale_rows(block):
    low = block.min(axis=1, keepdims=True)
    span = block.max(axis=1, keepdims=True) - low
    flat = span < 1e-12
    return np.where(flat, 0.5, (block - low) / np.where(flat, 1.0, span))


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    arm = np.zeros(n_runs, dtype=int)
    chosen = np.empty((n_runs, T), dtype=int)
    for start in range(0, T, BLOCK):
        stop = min(start + BLOCK, T)
        chosen[:, start:stop] = arm[:, None]
        seen = np.stack([rewards[t, arm] for t in range(start, stop)], axis=1)
        score = scale_rows(seen).sum(axis=1)
        score += rng.laplace(scale=1.0 / EPSILON, size=n_runs)
        arm = np.where(score >= PASS * (stop - start), arm, (arm + 1) % K)
    return chosen
