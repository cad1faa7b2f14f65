"""Phased greedy on Gaussian means."""
import numpy as np

EPSILON, DELTA = 1.0, 1e-5
N = 10


def noisy_mean(values, rng):
    sensitivity = 1 / len(values)
    sigma = sensitivity * np.sqrt(2 * np.log(1.25 / DELTA)) / EPSILON
    return values.mean() + rng.normal(0, sigma) / len(values)


def play(rewards, rng):
    T, K = rewards.shape
    out = np.zeros(T, int)
    t = 0
    while t < T:
        means = np.full(K, -np.inf)
        for k in range(K):
            stop = min(T, t + N)
            if stop - t == N:
                means[k] = noisy_mean(rewards[t:stop, k], rng)
            out[t:stop] = k
            t = stop
        stop = min(T, t + N * K)
        out[t:stop] = int(means.argmax())
        t = stop
    return out
