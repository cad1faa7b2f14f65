"""Sum of five numbers estimated from a secret random pair, with amplification.

Two of the five entries are drawn without replacement, afresh for every release;
their sum gets Laplace noise calibrated to eps0 and is scaled up.  For replacing
one entry, sampling m of n without replacement turns eps0 into
log(1 + (m / n)(exp(eps0) - 1)); eps0 is solved from that.
release(data, size, rng) -> (size,); data is a vector of five floats in [0, 1].
Claim: epsilon = 1.0.
"""
import numpy as np

EPSILON = 1.0
SAMPLE = 2


def base_epsilon(epsilon, m, n):
    return float(np.log1p((n / m) * np.expm1(epsilon)))


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    n = x.size
    keys = rng.random((size, n))
    chosen = np.argpartition(keys, SAMPLE, axis=1)[:, :SAMPLE]
    partial = x[chosen].sum(axis=1)
    eps0 = base_epsilon(EPSILON, SAMPLE, n)
    return (partial + rng.laplace(0.0, 1.0 / eps0, size=size)) * (n / SAMPLE)
