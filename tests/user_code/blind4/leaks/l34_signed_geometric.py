"""Private count of entries above one half, with signed geometric noise."""
import math
import numpy as np

EPS = 1.0


def signed_geometric(rng, eps):
    magnitude = int(rng.geometric(1.0 - math.exp(-eps))) - 1
    return magnitude if rng.random() < 0.5 else -magnitude


def release(data, rng):
    count = int((np.asarray(data) > 0.5).sum())
    return count + signed_geometric(rng, EPS)
