"""Subset selection, five users.

Claim: epsilon = 1 (pure, local).  data: five floats in [0, 1], neighbours differ in one entry.
A value falls in one of eight bins; the user reports a random pair of bins.  The pair holds the true bin with
probability p = 2 e^eps / (2 e^eps + 6), the rest of the pair is uniform.  The release is the five 0/1 rows.
"""
import numpy as np

EPS, BINS, PICK = 1.0, 8, 2
P_TRUE = PICK * np.exp(EPS) / (PICK * np.exp(EPS) + BINS - PICK)


def ranks_of_others(rng, n):
    """n random orders of the BINS - 1 other bins."""
    return np.argsort(rng.random((n, BINS - 1)), axis=1)


def report(level, n, rng):
    honest = rng.random(n) < P_TRUE
    others = np.delete(np.arange(BINS), level)[ranks_of_others(rng, n)]
    chosen = others[:, :PICK].copy()
    chosen[honest, PICK - 1] = level
    rows = np.zeros((n, BINS), dtype=np.int8)
    np.put_along_axis(rows, chosen, 1, axis=1)
    return rows


def release(data, size, rng):
    levels = [min(int(x * BINS), BINS - 1) for x in data]
    return np.stack([report(level, size, rng) for level in levels], axis=1)
