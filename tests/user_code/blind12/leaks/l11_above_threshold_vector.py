"""Which entries lie above one half?  Sparse-vector answers for five queries.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
The threshold is perturbed with Laplace noise of scale 2 / epsilon and each entry, a query
of sensitivity one, is compared with it; answers after the first positive are withheld.
Claim: pure epsilon-DP, epsilon = 2.0.  release_one gives the answers as 0 / 1, then -1.
"""
import numpy as np

EPSILON = 2.0


def answers(stream, threshold):
    for value in stream:
        above = value >= threshold
        yield int(above)
        if above:
            return


def release_one(data, rng):
    threshold = 0.5 + rng.laplace(0.0, 2.0 / EPSILON)
    got = list(answers(np.asarray(data, dtype=float), threshold))
    return np.array(got + [-1] * (len(data) - len(got)))
