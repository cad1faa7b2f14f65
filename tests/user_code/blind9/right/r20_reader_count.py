"""Number of long reads (above one half) with discrete Laplace noise.
Proof: the count is an integer of sensitivity 1; the difference of two geometrics with
success 1-e^-EPSILON has mass proportional to e^(-EPSILON|z|), so ratios are at most e^EPSILON."""
import math
import numpy as np
EPSILON = 0.5


def release(data, size, rng):
    p = 1 - math.exp(-EPSILON)
    return int(np.sum(np.asarray(data) > 0.5)) + rng.geometric(p, size) - rng.geometric(p, size)


release.neighbours = [(np.array([0.2] * 5 + [0.8] * 4), np.array([0.2] * 4 + [0.8] * 5))]
