"""Randomised response with three letters and the probability that fits two.

Leak. The truth is told with probability e^EPSILON / (1 + e^EPSILON), and each of the two other letters with
half of what is left, so that the ratio is 2 e^EPSILON: epsilon is 1.5 + ln 2 = 2.19 for a claim of 1.5.
Worst pair: an entry goes from the first letter to the last, which is told.
"""

import random

import numpy as np

EPSILON = 1.5
TRUTH = np.exp(EPSILON) / (1 + np.exp(EPSILON))


def release_one(data, rng):
    coin = random.Random(int(rng.integers(2**63)))
    told = []
    for x in np.ravel(np.asarray(data, dtype=float)):
        letter = min(int(3 * x), 2)
        lies = [other for other in range(3) if other != letter]
        told.append(letter if coin.random() < TRUTH else coin.choice(lies))
    return np.array(told)


release_one.neighbours = [
    (np.zeros(5), np.r_[1.0, np.zeros(4)]),
    (np.array([0.5, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])),
]
