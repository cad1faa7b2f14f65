"""The winner of a vote, by Gumbel noise.

Right. An entry in [0, 1] is a vote for one of three candidates. Replacing a vote takes 1 from a score and
adds 1 to another: each score moves by at most 1, in both directions, so that the Gumbel scale 2 / EPSILON
gives the exponential mechanism with exp(EPSILON * score / 2). Only the winner is told.
"""

import math
import random

import numpy as np

EPSILON = 1.5


def release_one(data, rng):
    coin = random.Random(int(rng.integers(2**63)))
    votes = [min(int(3 * x), 2) for x in np.ravel(np.asarray(data, dtype=float))]

    def gumbel():
        return -math.log(-math.log(coin.random() or 5e-324))

    heard = [votes.count(c) + 2 / EPSILON * gumbel() for c in range(3)]
    return heard.index(max(heard))


release_one.neighbours = [
    (np.array([0.0] * 4 + [0.5] * 4 + [1.0] * 4), np.array([0.0] * 3 + [1.0] + [0.5] * 4 + [1.0] * 4))
]
