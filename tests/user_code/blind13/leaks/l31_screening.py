"""Screening bandit, vectorised over runs.

Claim: epsilon = 1 (pure).  An arm is tried for eight rounds; it is tried again if the noisy sum of the eight reaches
60 percent of the maximum, else the next arm has its turn.  Every reward is in one block sum with Laplace noise,
which is winsorised at four scales so that no single draw can spoil a block.
"""
import numpy as np

EPSILON = 1.0
K, T, BLOCK = 4, 48, 8
PASS_MARK = 0.6 * BLOCK


def robust_laplace(rng, size, scale, limit=4.0):
    e = rng.standard_exponential((2, size))
    return scale * np.clip(e[0] - e[1], -limit, limit)


def play_many(rewards, n_runs, rng):
    actions = np.empty((n_runs, T), dtype=np.int64)
    arm = np.zeros(n_runs, dtype=np.int64)
    for start in range(0, T, BLOCK):
        rounds = slice(start, start + BLOCK)
        actions[:, rounds] = arm[:, None]
        total = rewards[rounds].sum(axis=0)[arm]
        noisy = total + robust_laplace(rng, n_runs, 1.0 / EPSILON)
        arm = np.where(noisy >= PASS_MARK, arm, (arm + 1) % K)
    return actions
