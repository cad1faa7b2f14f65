"""Most common of three length classes by the exponential mechanism.
Fault: exp(EPSILON*count) without 1/2, though replacement moves counts both ways. Pair: five short,
or four short and one medium; event "medium": 1/(e^5+2) against e/(e^4+e+1): loss 1.947."""
import numpy as np
EPSILON = 1.0


def release(data, size, rng):
    counts = np.bincount(np.minimum((np.asarray(data) * 3).astype(int), 2), minlength=3)
    w = np.exp(EPSILON * counts)
    return rng.choice(3, size=size, p=w / w.sum())


release.neighbours = [(np.array([0.1] * 5), np.array([0.5] + [0.1] * 4))]
