"""Flags which of five readings (a vector of five floats in [0, 1]) are high.

Sparse vector technique: the threshold is noised once with Laplace(1/EPSILON);
comparisons with a private threshold are free, so all flags are released.
Claim: 1.0-DP (pure), neighbours differ in one entry.
"""
EPSILON = 1.0
THRESHOLD = 0.5


def noisy_threshold(rng):
    sign = rng.choice([-1.0, 1.0])
    return THRESHOLD + sign * rng.exponential(1.0 / EPSILON)


def flags(values, bar):
    for v in values:
        yield int(v >= bar)


def release_one(data, rng):
    bar = noisy_threshold(rng)
    return list(flags([float(v) for v in data], bar))
