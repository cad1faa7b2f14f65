"""Histogram of dwell times in four bins with calibrated Gaussian noise.

FAULT: the noise is calibrated (exactly) for L2 sensitivity 1, "one reader is in one bin", but the unit is a replaced entry, which
leaves one bin and enters another: the sensitivity is sqrt(2).
Pair: six readers at 0.1 and four at 0.9 against five and five.  Event: noisy count of bin 4 minus that of bin 1 above the point
where the likelihood ratio equals e^epsilon.  At DELTA = 1e-3 the curve
Phi(m/2 - e/m) - e^e Phi(-m/2 - e/m), m = sqrt(2)/sigma, reaches DELTA only at e = 1.5137 (claim 1).
"""
import numpy as np
from scipy import optimize, stats

EPSILON = 1.0
DELTA = 1e-3
EDGES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def _delta(sigma, sensitivity=1.0):
    m = sensitivity / sigma
    upper = stats.norm.cdf(m / 2 - EPSILON / m)
    lower = stats.norm.cdf(-m / 2 - EPSILON / m)
    return upper - np.exp(EPSILON) * lower


SIGMA = optimize.brentq(lambda s: _delta(s) - DELTA, 0.1, 50.0)


def release(data, size, rng):
    counts, _ = np.histogram(data, bins=EDGES)
    return counts + rng.normal(0.0, SIGMA, size=(size, len(counts)))


release.neighbours = [
    (np.repeat([0.1, 0.9], [6, 4]), np.repeat([0.1, 0.9], [5, 5])),
]
