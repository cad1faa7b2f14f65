"""A trimmed mean, with a field that says how many entries were trimmed.

Leak. The mean of entries cut to [0.1, 0.9] has enough noise (more than 0.8 / n), but the number of entries
that were cut is told as it is, "for data quality". Worst pair: an entry goes from 0.5 to 1: the number
differs for sure. Epsilon is infinite.
"""

from typing import NamedTuple

import numpy as np

EPSILON = 2.0
LOW, HIGH = 0.1, 0.9


class Report(NamedTuple):
    mean: float
    trimmed: int


def summarise(values, rng):
    cut = np.clip(values, LOW, HIGH)
    noise = rng.laplace(0, 1 / (len(values) * EPSILON))
    return Report(mean=cut.mean() + noise, trimmed=int(np.sum(cut != values)))


def release_one(data, rng):
    report = summarise(np.atleast_1d(np.asarray(data, dtype=float)), rng)
    return np.array(report, dtype=float)


release_one.neighbours = [
    (np.full(12, 0.5), np.r_[1.0, np.full(11, 0.5)]),
    (np.r_[np.zeros(3), np.full(4, 0.5)], np.r_[0.5, np.zeros(2), np.full(4, 0.5)]),
]
