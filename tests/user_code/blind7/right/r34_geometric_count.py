"""A count with two-sided geometric noise, cut to its possible values.

Right. A replaced entry changes the count by at most 1; the noise has mass proportional to e^(-EPSILON |k|).
Cutting the noisy count to 0 ... n is post-processing, and n is public.
"""

import numpy as np

EPSILON = 0.5


def two_sided(size, rng):
    tail = np.exp(-EPSILON)
    u = rng.random((2, size))
    magnitudes = np.floor(np.log1p(-u) / np.log(tail))
    return magnitudes[0] - magnitudes[1]


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    exact = np.count_nonzero(values > 0.5)
    return np.clip(exact + two_sided(size, rng), 0, len(values)).astype(int)


release.neighbours = [
    (np.zeros(20), np.r_[1.0, np.zeros(19)]),
    (np.r_[np.ones(3), np.zeros(3)], np.r_[np.ones(4), np.zeros(2)]),
]
