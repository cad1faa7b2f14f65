"""Subsampled noisy feedback with privacy amplification.

The policy listens to one reward in four.  Subsampling at rate q = 1/4 amplifies
privacy, so that a listened-to reward can have the larger budget
log(1 + (e^epsilon - 1) / q) for an overall epsilon.  The reward gets Laplace noise
for that budget; a noisy value of at least one half keeps the arm, a lower one rotates.
Vectorised over runs.  Claims epsilon = 0.5 (pure).
"""
import numpy as np

EPSILON = 0.5
EVERY = 4


def base_budget(epsilon, rate):
    return float(np.log1p(np.expm1(epsilon) / rate))


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    scale = 1.0 / base_budget(EPSILON, 1.0 / EVERY)
    history = np.zeros((n_runs, T), dtype=np.int64)
    current = rng.integers(K, size=n_runs)
    for t in range(T):
        history[:, t] = current
        if t % EVERY != EVERY - 1:
            continue
        heard = rewards[t, current] + rng.laplace(0.0, scale, n_runs)
        current = np.where(heard >= 0.5, current, (current + 1) % K)
    return history
