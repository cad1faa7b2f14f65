"""Total with two-sided geometric noise."""
import numpy as np

EPSILON = 1.0
LOW, HIGH = 0.0, 1.0


def geometric_mechanism(value, sensitivity, epsilon, size, rng):
    p = -np.expm1(-epsilon / sensitivity)
    plus = rng.geometric(p, size)
    minus = rng.geometric(p, size)
    return value + plus - minus


def clipped_total(data):
    return float(np.clip(np.asarray(data, dtype=float), LOW, HIGH).sum())


def release(data, size, rng):
    return geometric_mechanism(clipped_total(data), HIGH - LOW, EPSILON, size, rng)
