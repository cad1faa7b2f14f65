"""Noisy spend of a secret sample of accounts.

release(data, size, rng): data is a vector of five floats in [0, 1], neighbours differ in one entry.
Each draw keeps every account with probability Q, on its own coin, and publishes Q-scaled sum plus
Laplace noise; which accounts were kept is not published.  The sum is eps0-DP for adding, removing or
replacing one account, eps0 = ln(1 + (e^eps - 1)/Q), which sampling brings to epsilon.
Returns (size,).  Claims epsilon = 1.2.
"""
import numpy as np

EPSILON = 1.2
Q = 0.4


def amplified_from(epsilon, q):
    """Epsilon of the inner mechanism whose Poisson-sampled version costs epsilon."""
    return np.log1p(np.expm1(epsilon) / q)


def release(data, size, rng):
    spend = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    kept = rng.random((size, spend.size)) < Q
    sampled = np.where(kept, spend, 0.0).sum(axis=1)
    noisy = sampled + rng.laplace(0.0, 1.0 / amplified_from(EPSILON, Q), size=size)
    return noisy / Q
