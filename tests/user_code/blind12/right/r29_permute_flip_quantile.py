"""Private choice of a median-like cut point by permute-and-flip (McKenna and Sheldon).

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
The output is the number of one of seven public cut points.  Utility of a cut
point g is -|#(x <= g) - 2.5|, which moves by at most one when one entry is
replaced, hence the acceptance probability exp(EPS * (u - max u) / 2).
Claim: pure epsilon = 2.
"""
import numpy as np

EPS = 2.0
CUTS = np.array([0.08, 0.22, 0.36, 0.5, 0.64, 0.78, 0.92])
SENSITIVITY = 1.0


def utilities(data):
    below = (np.asarray(data, float)[None, :] <= CUTS[:, None]).sum(axis=1)
    return -np.abs(below - 2.5)


def release(data, size, rng):
    u = utilities(data)
    accept = np.exp(EPS * (u - u.max()) / (2.0 * SENSITIVITY))
    # one uniform permutation per draw, coins in the order of that permutation
    order = np.argsort(rng.random((size, CUTS.size)), axis=1)
    heads = rng.random((size, CUTS.size)) < accept[order]
    # the best cut point always accepts, so every row has a head
    first = heads.argmax(axis=1)
    chosen = order[np.arange(size), first]
    return chosen.reshape(size, 1)
