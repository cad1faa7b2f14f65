"""Noisy median of nine service times; the noise follows the gaps next to the median.

Fault: the Laplace scale is the local sensitivity (larger gap next to the median) / EPSILON, itself a function of the
data and not smoothed; with three equal values in the middle it is zero and the median comes out bare.
Pair: (.1 .2 .2 .3 .4 .4 .6 .7 .9) against the same with .3 replaced by .4.  Event: the output is exactly 0.4.
First: sorted gaps .1 and 0, scale .1 / EPSILON, a continuous law, probability 0.  Second: both gaps 0, probability 1.
Loss: infinite.
"""
import numpy as np

EPSILON = 1.0


def middle(data):
    x = np.sort(np.asarray(data, dtype=float))
    m = len(x) // 2
    below, at, above = x[m - 1 : m + 2]
    return at, max(at - below, above - at)


def release(data, size, rng):
    at, gap = middle(data)
    return at + rng.laplace(0.0, 1.0, size=size) * gap / EPSILON


release.neighbours = [
    (
        np.array([0.1, 0.2, 0.2, 0.3, 0.4, 0.4, 0.6, 0.7, 0.9]),
        np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.4, 0.6, 0.7, 0.9]),
    ),
]
