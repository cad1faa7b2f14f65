"""Sum and sum of squares of five numbers in [0, 1] with Laplace noise.  Neighbours differ in one
entry, which moves the pair by at most two in l1, so the scale is 2/eps.  Epsilon = 1 (pure).
"""
import numpy as np

EPSILON = 1.0
POWERS = (1, 2)


def statistics(data):
    """Vector of the power sums of the data."""
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    return np.array([np.sum(x ** p) for p in POWERS])


def release(data, size, rng):
    exact = statistics(data)
    l1_sensitivity = float(len(POWERS))
    noise = rng.laplace(0.0, l1_sensitivity / EPSILON, size=(size, 1))
    return exact + noise
