"""A survey by randomised response: every answer is told, each with a lie now and then.

Right. Only the replaced entry's bit differs, and it is told truthfully with probability e^EPSILON / (1 +
e^EPSILON).
"""

import numpy as np

EPSILON = 1.0
LIE = 1 / (1 + np.exp(EPSILON))


def release(data, size, rng):
    truth = np.atleast_1d(np.asarray(data, dtype=float)) >= 0.5
    return (truth ^ (rng.random((size, truth.size)) < LIE)).astype(int)


release.neighbours = [(np.array([0.0, 1, 0, 1, 1, 0]), np.array([1.0, 1, 0, 1, 1, 0]))]
