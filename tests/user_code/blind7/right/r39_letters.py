"""Counts of letters that were told by k-ary randomised response.

Right. Each entry is one of four letters and is replaced by a uniform one with probability 4 / (e^EPSILON +
3), else kept. The ratio of telling a letter from one entry or another is ((e^EPSILON - 1) + 1) / 1 =
e^EPSILON. Counting told letters is post-processing.
"""

from collections import Counter

import numpy as np

EPSILON = 1.0
LETTERS = 4
RESAMPLE = LETTERS / (np.exp(EPSILON) + LETTERS - 1)


def tell(letter, rng):
    match rng.random() < RESAMPLE:
        case True:
            return int(rng.integers(LETTERS))
        case _:
            return letter


def release_one(data, rng):
    entries = np.ravel(np.asarray(data, dtype=float))
    told = Counter(tell(min(int(x * LETTERS), LETTERS - 1), rng) for x in entries)
    return np.array([told[letter] for letter in range(LETTERS)])


release_one.neighbours = [
    (np.zeros(6), np.r_[1.0, np.zeros(5)]),
    (np.linspace(0, 1, 9), np.r_[1.0, np.linspace(0, 1, 9)[1:]]),
]
