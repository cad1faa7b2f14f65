"""Vectorised keep-or-move rule; outliers of the noise are tamed.

FAULT: the Laplace noise is clipped to [-3, 3] / EPSILON, so the noisy sum has bounded support around the true sum.
Pair: first batch of 6 rewards with sum 0 against sum 1, bar 4 (two thirds).  Event: the arm is kept after the first
batch (given the first arm, 1/K): noise of 4 is impossible, P = 0, against 0.5 e^-3 = 0.0249.  Infinite loss (claim 1).
"""
import numpy as np

EPSILON = 1.0
BATCH = 6
CAP = 3.0 / EPSILON


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    arm = rng.integers(n_arms, size=n_runs)
    total = np.zeros(n_runs)
    out = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        out[:, t] = arm
        total += rewards[t, arm]
        if t % BATCH == BATCH - 1:
            noise = np.clip(rng.laplace(0.0, 1.0 / EPSILON, n_runs), -CAP, CAP)
            keep = total + noise >= 2 * BATCH / 3
            arm = np.where(keep, arm, (arm + 1) % n_arms)
            total[:] = 0.0
    return out
