"""Private median of five numbers in [0, 1] by the exponential mechanism.

Candidates are the 21 points of a fixed grid; the score of g is minus the larger
of the number of entries below g and the number above g (sensitivity 1 under
replacement of one entry).  release(data, size, rng) draws `size` medians; data
is a vector of five floats in [0, 1].  Claim: epsilon = 1.5.
"""
import numpy as np
import pandas as pd

EPSILON = 1.5
GRID = np.round(np.linspace(0.0, 1.0, 21), 2)


def score_table(data):
    x = pd.Series(np.clip(np.asarray(data, dtype=float), 0.0, 1.0))
    table = pd.DataFrame({"g": GRID})
    table["below"] = [int((x < g).sum()) for g in GRID]
    table["above"] = [int((x > g).sum()) for g in GRID]
    table["score"] = -table[["below", "above"]].max(axis=1)
    return table


def release(data, size, rng):
    table = score_table(data)
    logits = 0.5 * EPSILON * table["score"].to_numpy(float)
    weights = np.exp(logits - logits.max())
    return rng.choice(GRID, size=size, p=weights / weights.sum())
