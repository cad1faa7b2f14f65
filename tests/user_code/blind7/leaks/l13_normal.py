"""Normal noise in the place of Laplace noise, and no delta.

Leak. With standard deviation 1 / EPSILON the ratio of the tails grows with the distance: at a mark that is
5 above the sum it is P(Z > 4) / P(Z > 5) = e^4.7, where 1 is claimed without a delta; at a distance of 3 it
is still e^2.8. Worst pair: the first arm's exploration pays nothing, or once.
"""

import math
import random

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    coin = random.Random(int(rng.integers(2**63)))
    horizon = len(rewards)
    pulls = 10
    total = math.fsum(rewards[:pulls, 0])
    good = total + coin.gauss(0.0, 1 / EPSILON) > pulls / 2
    return np.array([0] * pulls + [0 if good else 1] * (horizon - pulls))
