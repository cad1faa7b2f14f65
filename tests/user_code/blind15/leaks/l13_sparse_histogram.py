"""Sparse private histogram.

data: five floats in [0, 1]; neighbours differ in one entry.  Values are put in eight
public bins; the counts get Laplace(2/epsilon) noise (a replaced entry moves two
counts by 1 each) and are rounded to a tenth.  The histogram is kept sparse: a dict of counts is noised
and written into the dense vector of eight at the end.  Claims epsilon = 2.0 (pure).
"""
from collections import Counter

import numpy as np

EPSILON = 2.0
BINS = 8


def bin_of(x):
    return min(int(x * BINS), BINS - 1)


def noisy_counts(counts, rng):
    return {b: c + rng.laplace(0.0, 2.0 / EPSILON) for b, c in sorted(counts.items())}


def release_one(data, rng):
    sparse = noisy_counts(Counter(bin_of(float(x)) for x in data), rng)
    dense = np.zeros(BINS)
    for b, value in sparse.items():
        dense[b] = round(max(value, 0.0), 1)
    return dense
