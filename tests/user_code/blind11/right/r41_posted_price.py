"""Posted price from sealed bids by the exponential mechanism on revenue.

Claim: EPSILON-DP, one bid in [0, 1] replaced.
Proof. Revenue at price p is p * #{bids >= p}.  Replacing a bid by a higher one raises or keeps the revenue
at every price, by at most p <= 1; by a lower one it lowers or keeps them.  So for a given pair all scores
move the same way by at most 1: the weight exp(EPSILON * revenue) of a price and the sum of weights both
change by a factor in [1, e^EPSILON] (or both in its inverse), and their quotient by at most e^EPSILON.
Hence no division by two is needed here.
"""
from bisect import bisect_left
from collections import namedtuple
from itertools import accumulate
from math import exp

EPSILON = 0.9
PRICES = (0.2, 0.4, 0.6, 0.8, 1.0)
Offer = namedtuple("Offer", "price revenue")


def offers(bids):
    book = sorted(float(b) for b in bids)
    for price in PRICES:
        yield Offer(price, price * (len(book) - bisect_left(book, price)))


def release_one(data, rng):
    table = list(offers(data))
    top = max(offer.revenue for offer in table)
    edges = list(accumulate(exp(EPSILON * (offer.revenue - top)) for offer in table))
    spot = bisect_left(edges, rng.random() * edges[-1])
    return table[min(spot, len(table) - 1)].price


release_one.neighbours = [
    ([0.9, 0.9, 0.9, 0.5, 0.5, 0.3], [1.0, 0.9, 0.9, 0.5, 0.5, 0.3]),
    ([0.0, 0.4, 0.4, 0.6, 0.6, 0.6], [1.0, 0.4, 0.4, 0.6, 0.6, 0.6]),
]
