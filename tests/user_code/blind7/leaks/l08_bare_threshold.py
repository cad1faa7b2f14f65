"""Sparse vector whose threshold never got its noise.

Leak. Queries get noise of scale 2 / EPSILON, "the other half is for the threshold", but the mark is a
constant, and answers are given without end. The first probe is in all sums. Worst pair with 12 rounds: the
first probe of arm 0 pays 1 or 0 and the others nothing; all six answers are positive with probability 2^-6
or (e^(-EPSILON / 2) / 2)^6: 3 times the claim.
"""

import numpy as np

EPSILON = 1.0
MARK = 1.0


def play(rewards, rng):
    horizon = len(rewards)
    total = 0.0
    actions = []
    for t in range(horizon):
        if t % 2 == 0:
            actions.append(0)
            total += rewards[t, 0]
        else:
            above = total + rng.laplace(0, 2 / EPSILON) > MARK
            actions.append(0 if above else 1)
    return np.array(actions)
