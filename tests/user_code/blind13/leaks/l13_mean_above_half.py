"""Mean of those of five numbers that lie above one half.

The entries above one half are summed (one entry moves the sum by at most 1), the
sum gets Laplace noise of scale 1 / epsilon and is divided by how many there are.
release(data, size, rng) -> (size,); data is a vector of five floats in [0, 1].
Claim: epsilon = 1.0.
"""
import pandas as pd

EPSILON = 1.0
CUT = 0.5


def release(data, size, rng):
    frame = pd.DataFrame({"x": data}).clip(0.0, 1.0)
    keep = frame["x"] > CUT
    high = frame.loc[keep, "x"]
    total = high.sum()
    n = max(int(high.count()), 1)
    noisy = total + rng.laplace(0.0, 1.0 / EPSILON, size=size)
    return noisy / n
