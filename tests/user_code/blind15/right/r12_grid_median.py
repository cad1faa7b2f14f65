"""Median on a public grid by the exponential mechanism.

data: five floats in [0, 1]; neighbours differ in one entry.  The score of a grid
point is minus the distance of its rank from the middle rank; replacing an entry
moves a rank by at most 1.  Grid points are drawn with probability proportional
to exp(epsilon * score / 2).  Claims epsilon = 2.0 (pure).
"""
import numpy as np
import pandas as pd
from scipy.special import softmax

EPSILON = 2.0
GRID = np.linspace(0.025, 0.975, 20)


def score_table(data):
    x = pd.Series(np.clip(np.asarray(data, dtype=float), 0.0, 1.0))
    table = pd.DataFrame({"point": GRID})
    table["rank"] = [int((x <= g).sum()) for g in GRID]
    table["score"] = -(table["rank"] - len(x) / 2).abs()
    table["p"] = softmax(EPSILON * table["score"].to_numpy() / 2.0)
    return table


def release(data, size, rng):
    table = score_table(data)
    return rng.choice(table["point"].to_numpy(), size=size, p=table["p"].to_numpy())
