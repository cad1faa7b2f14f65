"""Mean of a bounded sample with Gaussian noise for an (epsilon, delta) guarantee."""
import math
import numpy as np

EPS, DELTA = 0.5, 1e-5


def release(data, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    sigma = math.sqrt(2.0 * math.log(1.25 / DELTA)) / (EPS * len(x))
    return float(x.mean() + rng.normal(0.0, sigma))
