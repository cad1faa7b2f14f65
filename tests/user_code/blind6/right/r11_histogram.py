"""Four-bin histogram."""
import numpy as np

EPSILON = 1.2
EDGES = np.linspace(0.0, 1.0, 5)


def release(data, size, rng):
    counts, _ = np.histogram(np.clip(data, 0.0, 1.0), bins=EDGES)
    noise = rng.laplace(0.0, 2.0 / EPSILON, size=(size, counts.size))
    return np.maximum(counts + noise, 0.0)
