"""Batched Thompson sampling with doubling batches per arm."""
import numpy as np

EPSILON, DELTA = 0.9, 1e-5
SIGMA = np.sqrt(2 * np.log(1.25 / DELTA)) / EPSILON


def play(rewards, rng):
    T, K = rewards.shape
    mean = np.full(K, 0.5)
    var = np.full(K, 1.0)
    batch = np.full(K, 2)
    actions = np.zeros(T, dtype=int)
    t = 0
    while t < T:
        theta = rng.normal(mean, np.sqrt(var))
        arm = int(theta.argmax())
        stop = min(T, t + batch[arm])
        actions[t:stop] = arm
        n = stop - t
        noisy = (rewards[t:stop, arm].sum() + SIGMA * rng.standard_normal()) / n
        obs_var = 0.25 / n + (SIGMA / n) ** 2
        gain = var[arm] / (var[arm] + obs_var)
        mean[arm] += gain * (noisy - mean[arm])
        var[arm] *= 1 - gain
        batch[arm] *= 2
        t = stop
    return actions
