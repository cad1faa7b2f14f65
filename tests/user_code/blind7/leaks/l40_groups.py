"""Noisy counts by group; groups without members do not occur in the table.

Leak. The counts have noise of scale 2 / EPSILON, as they should, but a group appears only if somebody is in
it, and is NaN otherwise. Worst pair: the only member of a group leaves it for another: NaN on one side for
sure. Epsilon is infinite.
"""

import numpy as np
import pandas as pd

EPSILON = 1.0
LABELS = ["low", "middle", "high"]


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    groups = pd.cut(pd.Series(values), [-0.01, 0.33, 0.67, 1.01], labels=LABELS)
    counts = groups.astype(str).groupby(groups.astype(str)).size()
    noisy = {name: count + rng.laplace(0, 2 / EPSILON, size) for name, count in counts.items()}
    missing = np.full(size, np.nan)
    return np.column_stack([noisy.get(name, missing) for name in LABELS])


release.neighbours = [
    (np.r_[np.full(8, 0.1), np.full(8, 0.9)], np.r_[np.full(8, 0.1), np.full(7, 0.9), 0.1]),
    (np.r_[np.full(8, 0.1), 0.9], np.full(9, 0.1)),
]
