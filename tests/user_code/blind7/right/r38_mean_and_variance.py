"""Mean and variance in a data frame, with half of the budget each.

Right. The mean of n entries of [0, 1] changes by at most 1 / n and the variance (with divisor n) by at most
(n - 1) / n^2 < 1 / n when an entry is replaced. Each gets Laplace noise of scale 2 / (n EPSILON), EPSILON /
2 in privacy.
"""

import numpy as np
import pandas as pd

EPSILON = 1.0


def release(data, size, rng):
    column = pd.Series(np.atleast_1d(np.asarray(data, dtype=float))).clip(0, 1)
    scale = 2 / (len(column) * EPSILON)
    table = pd.DataFrame(
        {
            "mean": column.mean() + rng.laplace(0, scale, size),
            "variance": column.var(ddof=0) + rng.laplace(0, scale, size),
        }
    )
    table["variance"] = table["variance"].clip(lower=0)
    return table.to_numpy()


release.neighbours = [
    (np.zeros(5), np.r_[1.0, np.zeros(4)]),
    (np.r_[np.zeros(15), np.ones(5)], np.r_[np.zeros(16), np.ones(4)]),
]
