"""Running totals of eight days, each with Laplace(1/EPSILON).
Fault: the first day is in all eight totals. Pair: first entry 1 or 0, others 0; event: each
total at least 1: 0.5^8 against (0.5 e^-EPSILON)^8, loss 8*EPSILON = 4."""
import numpy as np
EPSILON = 0.5


def release(data, size, rng):
    totals = np.cumsum(data)
    return totals + rng.laplace(0, 1 / EPSILON, (size, totals.size))


release.neighbours = [(np.array([1.0] + [0.0] * 7), np.zeros(8))]
