"""Share of cured patients in whole percent with discrete Laplace noise.

Claim: pure epsilon = 0.5 for one replaced patient.
Fault: the noise is made for a count (steps of 1), but it is added to a percentage; with 20 patients one
patient moves it by 5 points.
Pair: 10 or 11 of 20 cured, i.e. 50 or 55 percent.  Event: release <= 50.
With a = exp(-.5): probability 1/(1+a) = .6225 against a^5/(1+a) = .0511: loss 2.5, 5 times the claim.
"""
import math

import numpy as np

EPSILON = 0.5
CURED = 0.5


def release_one(data, rng):
    n = len(data)
    cured = 0
    for response in data:
        if response >= CURED:
            cured += 1
    percent = round(100 * cured / n)
    p = 1.0 - math.exp(-EPSILON)
    return percent + int(rng.geometric(p)) - int(rng.geometric(p))


_TEN = np.array([1.0] * 10 + [0.0] * 10)
_ELEVEN = np.array([1.0] * 11 + [0.0] * 9)
release_one.neighbours = [(_TEN, _ELEVEN)]
