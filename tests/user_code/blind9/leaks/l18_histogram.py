"""Histogram of reading times in four bins with Laplace(1/EPSILON).
Fault: replacing an entry moves two bins, so the l1 sensitivity is 2. Pair: below; event: first bin
at least 4 and second at most 2: loss exactly 2*EPSILON = 2."""
import numpy as np
import pandas as pd
EPSILON = 1.0


def release_one(data, rng):
    table = pd.cut(pd.Series(data), [-1, 0.25, 0.5, 0.75, 1.0], labels=False).value_counts().reindex(range(4), fill_value=0)
    return table.to_numpy() + rng.laplace(0, 1 / EPSILON, 4)


release_one.neighbours = [(np.array([0.1] * 4 + [0.4] * 2), np.array([0.1] * 3 + [0.4] * 3))]
