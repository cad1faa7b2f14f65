"""The favourite genre of a small panel: report the argmax of Gumbel-noisy vote counts, and nothing else.

Proof.  Each entry votes for one of four equal bins of [0, 1].  Replacing it takes one vote from a bin and gives one to
another, so every count moves by at most 1.  The argmax of count + Gumbel(2/EPSILON) is the exponential mechanism
P(g) proportional to exp(EPSILON count_g / 2): the numerator moves by at most e^(EPSILON/2), and so does the normaliser,
together e^EPSILON.  Only the label is released: pure EPSILON.  It is nearly attained when a bin that holds
nearly every vote loses one to an empty bin.
"""
import numpy as np
import pandas as pd

EPSILON = 1.2
GENRES = ["drama", "comedy", "crime", "nature"]


def release_one(data, rng):
    taste = pd.Series(np.minimum((np.asarray(data, dtype=float) * len(GENRES)).astype(int), len(GENRES) - 1))
    votes = taste.map(dict(enumerate(GENRES))).value_counts().reindex(GENRES, fill_value=0)
    noisy = votes + rng.gumbel(loc=0.0, scale=2.0 / EPSILON, size=len(GENRES))
    return str(noisy.idxmax())


release_one.neighbours = [
    (np.array([0.1] * 6), np.array([0.1] * 5 + [0.9])),
    (np.array([0.1, 0.2, 0.6, 0.7, 0.4, 0.9]), np.array([0.1, 0.2, 0.6, 0.7, 0.4, 0.3])),
]
