"""Subsampled noisy sum with a systematic sample, epsilon = 0.8 (pure) by amplification.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
The list is seen as a ring; a random start picks two adjacent entries, so an entry is in
the sample with probability 0.4 and Laplace noise for eps0 = log(1 + (e^eps - 1) / 0.4)
is enough.  Returns (batch number, estimated mean); the batch number lets analysts
join the result with the collection log.
"""
import math

EPS = 0.8
TAKE = 2


def eps0(n):
    return math.log1p(math.expm1(EPS) * n / TAKE)


def laplace(b, rng):
    magnitude = -b * math.log(1.0 - rng.random())
    return magnitude if rng.random() < 0.5 else -magnitude


def release_one(data, rng):
    values = [min(1.0, max(0.0, float(v))) for v in data]
    n = len(values)
    start = int(rng.integers(n))
    picked = (values[(start + j) % n] for j in range(TAKE))
    noisy = sum(picked) + laplace(1.0 / eps0(n), rng)
    return (start, round(noisy / TAKE, 2))
