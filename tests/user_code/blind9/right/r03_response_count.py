"""Number of responders (score above one half) with two-sided geometric noise.

Proof: replacing a patient moves the count by at most 1. The difference of two geometric variables
with ratio exp(-EPSILON) has mass proportional to exp(-EPSILON |k|), so the loss is at most
EPSILON (and reaches it).
"""
import math
import numpy as np

EPSILON = 0.7


def release_one(data, rng):
    count = int(np.sum(np.asarray(data) > 0.5))
    p = 1 - math.exp(-EPSILON)
    return count + int(rng.geometric(p)) - int(rng.geometric(p))


release_one.neighbours = [(np.full(8, 0.2), np.array([0.9] + [0.2] * 7))]
