"""A sum and a count that get three quarters of the budget each.

Leak. The budget was divided for four answers of which "at most one moves", but an entry moves both: 0.75 +
0.75 is 1.5 times EPSILON. Worst pair: an entry goes from 0 to 1, so that the sum and the count of entries
above 1/2 both rise by 1; both answers high.
"""

import numpy as np

EPSILON = 1.0
SHARES = {"sum": 0.75, "above": 0.75}


def queries(values):
    yield "sum", values.sum()
    yield "above", np.count_nonzero(values > 0.5)


def release(data, size, rng):
    values = np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0, 1)
    columns = [exact + rng.laplace(0, 1 / (SHARES[name] * EPSILON), size) for name, exact in queries(values)]
    return np.column_stack(columns)


release.neighbours = [
    (np.zeros(10), np.r_[1.0, np.zeros(9)]),
    (np.full(10, 0.4), np.r_[0.6, np.full(9, 0.4)]),
]
