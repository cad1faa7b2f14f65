"""Average fill rate of five trucks, always plausible.

data: five floats in [0, 1].  The total gets Laplace(1 / eps) noise; noise that would give an impossible
total (below 0 or above 5) is drawn anew, so the published average is always in [0, 1].  Claim: 0.5-DP (pure).
"""
import numpy as np

EPSILON = 0.5


def noisy_total(total, n, size, rng):
    out = np.full(size, np.nan)
    todo = np.arange(size)
    while todo.size:
        trial = total + rng.laplace(0.0, 1.0 / EPSILON, todo.size)
        ok = (trial >= 0.0) & (trial <= n)
        out[todo[ok]] = trial[ok]
        todo = todo[~ok]
    return out


def release(data, size, rng):
    x = np.clip(np.asarray(data, float), 0.0, 1.0)
    return noisy_total(x.sum(), len(x), size, rng) / len(x)
