"""A noisy mean with an example row, chosen at random and shown as it is.

Leak. The second column is one of the entries without noise. Worst pair: all entries 0, or one of them 1: a
1 is shown with probability 1 / n on one side only. Epsilon is infinite.
"""

import numpy as np
import pandas as pd

EPSILON = 1.0


def release(data, size, rng):
    frame = pd.DataFrame({"value": np.atleast_1d(np.asarray(data, dtype=float))})
    mean = frame.value.mean() + rng.laplace(0, 1 / (len(frame) * EPSILON), size)
    example = frame.value.sample(size, replace=True, random_state=int(rng.integers(2**32)))
    return np.column_stack([mean, example.to_numpy()])


release.neighbours = [(np.zeros(10), np.r_[1.0, np.zeros(9)])]
