"""Median by noisy bisection over six steps."""
import numpy as np

EPSILON = 0.5
STEPS = 6


def noisy_count(x, cut, rng):
    return np.count_nonzero(x <= cut) + rng.laplace(0.0, 1.0 / EPSILON)


def bisect(x, lo, hi, steps, rng):
    mid = (lo + hi) / 2
    if steps == 0:
        return mid
    if noisy_count(x, mid, rng) < len(x) / 2:
        return bisect(x, mid, hi, steps - 1, rng)
    return bisect(x, lo, mid, steps - 1, rng)


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    return np.array([bisect(x, 0.0, 1.0, STEPS, rng) for _ in range(size)])
