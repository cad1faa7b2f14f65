"""Private reserve price: exponential mechanism on revenue.

data: five willingness-to-pay values in [0, 1].  Revenue at price p is p * #{x >= p}.  Replacing a value
moves all revenues in the same direction, each by at most 1, so logits eps * revenue (without the usual half)
are enough.  Claim: 2.0-DP (pure) for one value replaced.
"""
import numpy as np

EPSILON = 2.0
PRICES = tuple(round(0.1 * i, 1) for i in range(1, 11))


def revenue(data):
    return np.array([p * sum(x >= p for x in data) for p in PRICES])


def release(data, size, rng):
    logits = EPSILON * revenue(list(data))
    p = np.exp(logits - logits.max())
    return np.asarray(PRICES)[rng.choice(len(PRICES), size=size, p=p / p.sum())]
