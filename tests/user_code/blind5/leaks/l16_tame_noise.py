"""Epoch greedy with Laplace noise tamed against outliers."""
import numpy as np

EPSILON = 2.0
PROBES = 3
EPOCH = 12


def noise(rng, shape):
    scale = 1.0 / EPSILON
    return np.clip(rng.laplace(0.0, scale, shape), -2 * scale, 2 * scale)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    out = np.zeros(horizon, dtype=int)
    for start in range(0, horizon, EPOCH):
        probes = np.tile(np.arange(n_arms), PROBES)
        rows = start + np.arange(probes.size)
        out[rows] = probes
        totals = np.bincount(probes, weights=rewards[rows, probes], minlength=n_arms)
        best = np.argmax(totals + noise(rng, n_arms))
        out[start + probes.size:start + EPOCH] = best
    return out
