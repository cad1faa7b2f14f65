"""Fixed-point sum with an exact discrete Laplace sampler (Canonne, Kamath, Steinke). Claims epsilon = 1, pure.

data: five floats in [0, 1], neighbours differ in one entry. Entries are rounded to multiples of 1/16, so the integer sum has
sensitivity 16 and gets noise with P(k) proportional to exp(-|k| / 16). Only integer draws are used; one draw per call.
"""
GRAIN = 16              # sensitivity of the integer sum; noise scale GRAIN / epsilon with epsilon = 1


def bernoulli_exp_fraction(num, den, rng):
    """Bernoulli(exp(-num/den)) for 0 <= num <= den."""
    k = 1
    while rng.integers(den * k) < num:
        k += 1
    return k % 2 == 1


def discrete_laplace(t, rng):
    while True:
        u = int(rng.integers(t))
        if not bernoulli_exp_fraction(u, t, rng):
            continue
        v = 0
        while bernoulli_exp_fraction(1, 1, rng):
            v += 1
        magnitude = u + t * v
        negative = rng.integers(2) == 1
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


def release_one(data, rng):
    total = sum(round(min(1.0, max(0.0, float(v))) * GRAIN) for v in data)
    return (total + discrete_laplace(GRAIN, rng)) / GRAIN
