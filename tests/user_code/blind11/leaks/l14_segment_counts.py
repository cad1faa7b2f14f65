"""Audience counts in five score segments with Laplace noise of scale 2/EPSILON (one replaced user moves two counts).

Fault: the noise is added to what value_counts returns, which lists only the segments that occur; the empty ones are
filled in afterwards with an exact 0.
Pair: eight users, none in the top segment, or one of them moved there (0.95 instead of 0.15).
Event: the last count is exactly 0.  Probability 1 on the first side and 0 on the second: infinite loss.
"""
import numpy as np
import pandas as pd
from scipy import stats

EPSILON = 1.5
SEGMENTS = 5


def release_one(data, rng):
    segment = pd.cut(np.asarray(data, dtype=float), np.linspace(0.0, 1.0, SEGMENTS + 1), labels=False, include_lowest=True)
    counts = pd.Series(segment).value_counts()
    noisy = counts + stats.laplace.rvs(scale=2.0 / EPSILON, size=len(counts), random_state=rng)
    return noisy.reindex(range(SEGMENTS), fill_value=0.0).to_numpy()


release_one.neighbours = [
    (
        np.array([0.15, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75]),
        np.array([0.95, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75]),
    ),
]
