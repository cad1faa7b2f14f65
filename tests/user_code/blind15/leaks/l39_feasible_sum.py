"""Private sum that is always feasible.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  The sum gets
Laplace(1/epsilon) noise, drawn again as long as the result lies outside [0, 5].
Claim: epsilon = 0.5 (pure).
"""
import numpy as np

EPSILON = 0.5


def release(data, size, rng):
    data = np.asarray(data, dtype=float)
    total, top = data.sum(), float(len(data))
    out = np.full(size, np.nan)
    todo = np.arange(size)
    while todo.size:
        draw = total + rng.laplace(0.0, 1.0 / EPSILON, size=todo.size)
        fine = (draw >= 0.0) & (draw <= top)
        out[todo[fine]] = draw[fine]
        todo = todo[~fine]
    return out
