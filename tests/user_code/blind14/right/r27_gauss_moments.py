"""First and second moment of five numbers in [0, 1] with Gaussian noise; one draw.
Neighbours differ in one entry: (sum x, sum x^2) moves by at most sqrt(2) in l2.
(epsilon, delta) = (1.0, 1e-5); the scale is found on the exact privacy curve.
"""
import math
from statistics import NormalDist

EPS, DELTA = 1.0, 1e-5
SENS = math.sqrt(2.0)
PHI = NormalDist().cdf


def _curve(sigma):
    r = SENS / sigma
    return PHI(r / 2 - EPS / r) - math.exp(EPS) * PHI(-r / 2 - EPS / r)


def _smallest_sigma():
    low, high = 0.1, 100.0
    for _ in range(80):
        mid = 0.5 * (low + high)
        if _curve(mid) > DELTA:
            low = mid
        else:
            high = mid
    return high


SIGMA = _smallest_sigma() * 1.0001


def release_one(data, rng):
    values = [min(1.0, max(0.0, float(v))) for v in data]
    first = sum(values) + rng.normal(0.0, SIGMA)
    second = sum(v * v for v in values) + rng.normal(0.0, SIGMA)
    n = len(values)
    return (first / n, second / n)
