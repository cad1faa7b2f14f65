"""Permute-and-flip selection (McKenna and Sheldon, 2020).

data: five floats in [0, 1], the scores of five candidates, each the private value
of one person; neighbours differ in one entry.  Candidates are visited in random
order and each is taken with probability exp(epsilon * (score - best score)).
A neighbour moves a single score by at most 1, so the factor 2 of the general case
is not needed.  Claims epsilon = 1.5 (pure).
"""
import numpy as np

EPSILON = 1.5


def release(data, size, rng):
    q = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    accept = np.exp(EPSILON * (q - q.max()))
    order = rng.permuted(np.tile(np.arange(len(q)), (size, 1)), axis=1)
    heads = rng.random((size, len(q))) < accept[order]
    first = np.argmax(heads, axis=1)          # the best score is always heads
    return order[np.arange(size), first]
