"""Histogram of basket sizes, one release for the dashboard.

data: five floats in [0, 1].  Replacing one basket moves one count down and another up, so the L1
sensitivity is 2 and every band gets Laplace(2 / eps); bands are fixed beforehand.  Counts are then made
non-negative for the chart.  Claim: 1.4-DP (pure).  Returns the four counts of one draw.
"""
import numpy as np
import pandas as pd

EPSILON = 1.4
EDGES = [0.0, 0.25, 0.5, 0.75, 1.0]
LABELS = ["xs", "s", "m", "l"]


def band_counts(data):
    bands = pd.cut(pd.Series(np.clip(data, 0.0, 1.0)), EDGES, labels=LABELS, include_lowest=True)
    return bands.value_counts(sort=False).reindex(LABELS, fill_value=0)


def release_one(data, rng):
    counts = band_counts(data).astype(float)
    noisy = counts + pd.Series(rng.laplace(0.0, 2.0 / EPSILON, len(LABELS)), index=LABELS)
    return noisy.clip(lower=0.0).to_numpy()
