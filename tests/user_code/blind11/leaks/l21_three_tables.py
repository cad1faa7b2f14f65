"""Fine histogram, coarse histogram and a sum, each with its own Laplace noise.

Fault: every table gets the full epsilon, the budget is never split; the three compose.
Pair: first entry 0 against 1. Event: counts of low buckets >= left's, of high buckets <= left's, sum <= left's (all five
kinds at once). Each table has loss eps there (2/scale 2/eps, twice; 1/scale 1/eps): 3*.5 = 1.5, three times the claim.
"""
import numpy as np

EPSILON = 0.5


def release_one(data, rng):
    x = np.asarray(data, dtype=float)
    fine, _ = np.histogram(x, bins=4, range=(0, 1))
    coarse, _ = np.histogram(x, bins=2, range=(0, 1))
    parts = [
        fine + rng.laplace(0, 2 / EPSILON, 4),
        coarse + rng.laplace(0, 2 / EPSILON, 2),
        np.array([x.sum() + rng.laplace(0, 1 / EPSILON)]),
    ]
    return np.concatenate(parts)


release_one.neighbours = [(np.array([0.0, 0.3, 0.6, 0.9, 0.3]), np.array([1.0, 0.3, 0.6, 0.9, 0.3]))]
