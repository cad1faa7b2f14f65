"""Newsvendor order quantity by the exponential mechanism on total cost.

Fault: demands lie in [0, 1], so the cost is taken to have sensitivity 1; the shortage price of 9 is forgotten.
Replacing a demand 0 by 1 moves the cost of ordering 0 by +9 and of ordering 1 by -1: true loss up to 5 EPSILON.
Pair: demands (1 0 0 0 0) against (1 1 0 0 0).  Event: order 0.  Costs are 9 - 5q and 18 - 15q on the grid
q = 0, 1/4, ..., 1, so p(0) is 1 / sum exp(2.5 e q) and 1 / sum exp(7.5 e q), e = EPSILON = 1.
Loss: log(0.0399 / 0.000468) = 4.445, 4.4 times the claim.
"""
import random
from itertools import product

import numpy as np

EPSILON = 1.0
GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
SHORTAGE = 9.0
LEFTOVER = 1.0


def cost(order, demand):
    return SHORTAGE * max(demand - order, 0.0) + LEFTOVER * max(order - demand, 0.0)


def total_costs(data):
    totals = dict.fromkeys(GRID, 0.0)
    for order, demand in product(GRID, data):
        totals[order] += cost(order, float(demand))
    return totals


def release_one(data, rng):
    totals = total_costs(data)
    cheapest = min(totals.values())
    weights = [np.exp(-EPSILON * (c - cheapest) / 2) for c in totals.values()]
    coin = random.Random(int(rng.integers(2**63)))
    return coin.choices(GRID, weights=weights)[0]


release_one.neighbours = [
    (np.array([1.0, 0.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0, 0.0])),
]
