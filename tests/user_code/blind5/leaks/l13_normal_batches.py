"""Stay-or-switch batches with Gaussian noise calibrated to (epsilon, delta)."""
import numpy as np

EPSILON = 0.8
DELTA = 1e-5
BATCH = 5


def calibrate(sensitivity=1.0):
    return sensitivity * np.sqrt(2 * np.log(1.25 / DELTA)) / EPSILON


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    sigma = calibrate()
    arm, chosen = 0, np.empty(horizon, dtype=int)
    for start in range(0, horizon, BATCH):
        stop = min(start + BATCH, horizon)
        chosen[start:stop] = arm
        released = rewards[start:stop, arm].sum() + np.sqrt(sigma) * rng.standard_normal()
        if released < (stop - start) / 2:
            arm = (arm + 1) % n_arms
    return chosen
