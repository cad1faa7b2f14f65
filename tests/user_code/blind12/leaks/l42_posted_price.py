"""Posted price for a digital good by report noisy max, epsilon = 1 (pure).

data: a vector of five floats in [0, 1], the bids; neighbours differ in one entry.
The revenue of a price p is p times the number of bids of at least p and moves by at
most one; each revenue gets Laplace noise of scale 2 / eps and the best price is
published together with the revenue that the seller may expect.
"""
import numpy as np
from scipy import stats

EPS = 1.0
PRICES = np.array([0.6, 0.7, 0.8, 0.9, 1.0])


def revenue(bids):
    bids = np.clip(np.asarray(bids, float), 0.0, 1.0)
    return PRICES * (bids[:, None] >= PRICES).sum(axis=0)


def release(data, size, rng):
    noise = stats.laplace.rvs(scale=2.0 / EPS, size=(size, PRICES.size), random_state=rng)
    noisy = revenue(data) + noise
    best = noisy.argmax(axis=1)
    expected = np.round(noisy[np.arange(size), best], 2)
    return np.column_stack([PRICES[best], expected])
