"""Batch-wise keep-or-move rule with Gaussian noise; claims (EPSILON, DELTA) = (1, 1e-3).

FAULT: SIGMA = 1 / EPSILON; the factor sqrt(2 log(1.25 / DELTA)) of the Gaussian mechanism was forgotten.
Pair: first batch of 8 with sum 7.6 against 6.6 (one reward 1 -> 0), bar 4.  Event: arm left after the first batch:
p = Phi(-3.6) = 1.59e-4 against p' = Phi(-2.6) = 4.66e-3, so log((p' - DELTA) / p) = 3.14 (claim 1).
With sums 6 and 5: 0.0228 and 0.1587, log((p' - DELTA) / p) = 1.94.
"""
import numpy as np

EPSILON = 1.0
DELTA = 1e-3
SIGMA = 1.0 / EPSILON
BATCH = 8


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm = 0
    actions = np.zeros(horizon, dtype=int)
    for begin in range(0, horizon, BATCH):
        stop = min(begin + BATCH, horizon)
        actions[begin:stop] = arm
        noisy = rewards[begin:stop, arm].sum() + SIGMA * rng.standard_normal()
        if noisy < (stop - begin) / 2:
            arm = (arm + 1) % n_arms
    return actions
