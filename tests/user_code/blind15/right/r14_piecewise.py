"""Local reports by the piecewise mechanism (Wang et al., 2019).

data: five floats in [0, 1]; neighbours differ in one entry.  Every entry is mapped
to [-1, 1] and reported by its owner with the piecewise mechanism, which is
unbiased; the reports are mapped back and the vector of five is returned.
Claims epsilon = 1.0 (pure).
"""
import math

EPSILON = 1.0


def piecewise(t, epsilon, rng):
    half = math.exp(epsilon / 2)
    bound = (half + 1) / (half - 1)
    left = (bound + 1) / 2 * t - (bound - 1) / 2
    right = left + bound - 1
    if rng.random() < half / (half + 1):
        return left + (right - left) * rng.random()
    # outside the piece: total length bound + 1
    u = (bound + 1) * rng.random()
    return -bound + u if u < left + bound else right + (u - (left + bound))


def release_one(data, rng):
    return [0.5 + 0.5 * piecewise(2.0 * min(1.0, max(0.0, float(x))) - 1.0, EPSILON, rng)
            for x in data]
