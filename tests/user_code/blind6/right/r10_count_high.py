"""Number of entries above one half."""
import numpy as np

EPSILON = 1.0


def release(data, size, rng):
    count = int(np.count_nonzero(np.asarray(data) > 0.5))
    p = -np.expm1(-EPSILON)
    return count + rng.geometric(p, size) - rng.geometric(p, size)
