"""Fixed point sum in eighths."""
import numpy as np

EPSILON = 1.0
SCALE = 8


def two_sided(p, size, rng):
    return rng.geometric(1 - p, size) - rng.geometric(1 - p, size)


def release(data, size, rng):
    units = np.rint(np.asarray(data) * SCALE).astype(int).sum()
    return (units + two_sided(np.exp(-EPSILON), size, rng)) / SCALE
