"""Trimmed mean (smallest and largest entry dropped) with Laplace noise.

FAULT: the scale is 1 / (n EPSILON), but the trimmed mean divides by n - 2, and one entry can still move the kept sum by
1.  With n = 5 the sensitivity is 1/3 and the scale 1 / (5 EPSILON): cost 5/3 EPSILON.
Pair: (0, 0, 0, 1, 1) against (1, 0, 0, 1, 1); kept sums 1 and 2, means 1/3 and 2/3.  Event: release above 2/3:
0.5 e^(-5/3 EPSILON) = 0.0944 against 0.5, loss 1.667 (claim 1).
"""
import statistics

import numpy as np

EPSILON = 1.0


def release_one(data, rng):
    kept = sorted(float(x) for x in data)[1:-1]
    return statistics.fmean(kept) + float(rng.laplace(0.0, 1.0 / (len(data) * EPSILON)))


release_one.neighbours = [(np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0, 1.0]))]
