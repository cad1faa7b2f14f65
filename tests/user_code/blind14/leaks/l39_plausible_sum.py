"""Noisy sum that always looks like a sum, epsilon = 0.5.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
Laplace noise of scale 1 / epsilon; draws outside [0, 5] cannot be a sum of five
rewards and are drawn again.
"""
import numpy as np

EPS = 0.5


def release(data, size, rng):
    total, top = float(np.sum(data)), float(len(data))
    out = np.full(size, np.nan)
    todo = np.arange(size)
    while todo.size:
        cand = total + rng.laplace(scale=1.0 / EPS, size=todo.size)
        ok = (cand >= 0.0) & (cand <= top)
        out[todo[ok]] = cand[ok]
        todo = todo[~ok]
    return out
