"""Survey first, then serve from the private reading.

The first rounds survey every product four times.  Afterwards each round serves the product with the best
private reading, a reading being the survey total plus Laplace noise of scale 1/epsilon.  The survey is
the only place where rewards are read.  Claims epsilon = 0.5 for one reward of one round.
"""
import itertools as it
import numpy as np

EPSILON = 0.5
SURVEY = 4


def laplace(scale, rng):
    """Difference of two exponential draws."""
    return rng.exponential(scale) - rng.exponential(scale)


def reader(totals, rng):
    def reading(product):
        return totals[product] + laplace(1.0 / EPSILON, rng)
    return reading


def best(products, reading):
    return max(((reading(p), p) for p in products))[1]


def play(rewards, rng):
    horizon, n_products = rewards.shape
    products = range(n_products)
    plan = list(it.islice(it.cycle(products), SURVEY * n_products))
    totals = dict.fromkeys(products, 0.0)
    for t, p in enumerate(plan):
        totals[p] += min(1.0, max(0.0, float(rewards[t, p])))
    reading = reader(totals, rng)
    served = plan + [best(products, reading) for _ in range(horizon - len(plan))]
    return np.array(served)
