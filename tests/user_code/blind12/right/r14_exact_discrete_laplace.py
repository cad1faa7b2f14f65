"""Sum in hundredths with an exact discrete Laplace sampler (Canonne, Kamath, Steinke).

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
Each entry is rounded to a whole number of hundredths, so one entry moves the integer sum
by at most 100; the noise has mass proportional to exp(-|k| / 200).
Claim: pure epsilon-DP, epsilon = 0.5.  release_one gives one integer.
"""
import numpy as np

SENSITIVITY = 100
SCALE = 200        # sensitivity / epsilon with epsilon = 1/2


def coin(num, den, rng):
    """True with probability num / den, with whole-number arithmetic."""
    return int(rng.integers(den)) < num


def bernoulli_exp(num, den, rng):
    """True with probability exp(-num / den), for 0 <= num <= den."""
    k = 1
    while coin(num, den * k, rng):
        k += 1
    return k % 2 == 1


def discrete_laplace(scale, rng):
    while True:
        u = int(rng.integers(scale))
        if not bernoulli_exp(u, scale, rng):
            continue
        v = 0
        while bernoulli_exp(1, 1, rng):
            v += 1
        magnitude = u + scale * v
        negative = coin(1, 2, rng)
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def release_one(data, rng):
    total = sum(int(round(100 * min(max(float(x), 0.0), 1.0))) for x in data)
    return np.array([total + discrete_laplace(SCALE, rng)])
