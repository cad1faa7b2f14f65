"""Noise by itself sets how much noise there is, or how much a reward counts; each claims epsilon 1.

In the leaks it does so by a number that may rise and fall with the noise: near one value of it, to which
hardly any run comes, there is nearly no noise. In the right twins it goes one way, and is least at an end.
"""

import math

import numpy as np


def _released(rewards, number, rng):
    scale = min(1.0, 0.001 + 1e4 * float(number))
    noisy = rewards[0, 0] + rng.laplace(0, scale)
    return np.array([int(noisy > 0.5), int(scale < 0.002)] + [0] * (len(rewards) - 2))


def _noise(rng):
    return rng.laplace(0, 1.0, 2) - 1.0


def distance(rewards, rng):
    return _released(rewards, abs(float(rng.laplace(0, 1.0)) - 1.0), rng)


def size(rewards, rng):
    """Laplace noise is near 0 as seldom as near any other number."""
    return _released(rewards, abs(float(rng.laplace(0, 1.0))), rng)


def distances(rewards, rng):
    return _released(rewards, np.abs(_noise(rng)).sum(), rng)


def length(rewards, rng):
    return _released(rewards, np.linalg.norm(_noise(rng)), rng)


def squares(rewards, rng):
    return _released(rewards, np.square(_noise(rng)).sum(), rng)


def power(rewards, rng):
    return _released(rewards, pow(float(rng.laplace(0, 1.0)) - 1.0, 2), rng)


def inner(rewards, rng):
    z = _noise(rng)
    return _released(rewards, z @ z, rng)


def inner_by_a_method(rewards, rng):
    z = _noise(rng)
    return _released(rewards, z.dot(z), rng)


def einsum(rewards, rng):
    z = _noise(rng)
    return _released(rewards, np.einsum("i,i->", z, z), rng)


def variance(rewards, rng):
    return _released(rewards, np.var(_noise(rng)), rng)


def spread(rewards, rng):
    low, high = sorted(_noise(rng))
    return _released(rewards, high - low, rng)


def rest(rewards, rng):
    z = float(rng.laplace(0, 1.0))
    return _released(rewards, z - math.floor(z), rng)


def wave(rewards, rng):
    return _released(rewards, 1.0 + math.sin(float(rng.laplace(0, 1.0))), rng)


def table(rewards, rng):
    return _released(rewards, np.interp(float(rng.laplace(0, 1.0)), [-1, 1, 3], [1, 0, 1]), rng)


def weight(rewards, rng):
    z = float(rng.normal())
    s = (1.0 + 1000.0 * max(0.0, 1.0 - 1e6 * abs(z - 1.0))) * rewards[0, 0] + rng.laplace(0, 1.0)
    return np.array([int(s > 100)] + [0] * (len(rewards) - 1))


def divisor(rewards, rng):
    z = float(rng.normal())
    s = rewards[0, 0] / min(1.0, 0.001 + 1e5 * abs(z - 1.0)) + rng.laplace(0, 1.0)
    return np.array([int(s > 100)] + [0] * (len(rewards) - 1))


def negative_multiple(rewards, rng):
    """A maximum rises with the noise; less twice of it does not."""
    z, c = float(rng.laplace(0, 1.0)), -2.0
    return _released(rewards, -1.0 - (z + c * max(z, 1.0)), rng)


def negative_multiples(rewards, rng):
    z = float(rng.laplace(0, 1.0))
    return _released(rewards, -1.0 - np.array([-2.0, 1.0]) @ np.array([max(z, 1.0), z]), rng)


def divided_by_a_negative(rewards, rng):
    z, c = float(rng.laplace(0, 1.0)), -0.5
    return _released(rewards, -1.0 - np.add(z, np.divide(max(z, 1.0), c)), rng)


def added_up_with_signs(rewards, rng):
    z, total = float(rng.laplace(0, 1.0)), 0.0
    for value, sign in ((z, 1.0), (max(z, 1.0), -2.0)):
        value *= sign
        total += value
    return _released(rewards, -1.0 - total, rng)


def steps_apart(rewards, rng):
    """Of noise only steps are left, and they are near one step as seldom."""
    k = math.floor(rng.laplace(0, 100.0))
    return _released(rewards, max(k - 77, 77 - k), rng)


def places_apart(rewards, rng):
    """Each drawn place has few values, and all together have 512."""
    i, j, k = (int(rng.integers(8)) for _ in range(3))
    return _released(rewards, max(i - j - k + 9, j + k - i - 9), rng)


LEAKS = [
    *(distance, size, distances, length, squares, power, inner, inner_by_a_method, einsum, variance, spread),
    *(rest, wave, table, weight, divisor, negative_multiple, negative_multiples, divided_by_a_negative),
    *(added_up_with_signs, steps_apart, places_apart),
]


# ---------------------------------------------------------------- right twins


def _wider(rewards, number, rng):
    noisy = rewards[0, 0] + rng.laplace(0, 1.0 + float(number))
    return np.array([int(noisy > 0.5)] + [0] * (len(rewards) - 1))


def one_way(rewards, rng):
    return _wider(rewards, max(0.0, rng.laplace(0, 1.0)), rng)


def one_way_by_a_function(rewards, rng):
    return _wider(rewards, math.exp(min(float(rng.laplace(0, 1.0)), 3.0)), rng)


def largest(rewards, rng):
    return _wider(rewards, np.maximum(rng.laplace(0, 1.0, 3), 0.0).sum(), rng)


def multiple(rewards, rng):
    """Which way it goes is not known where the sign of a factor is not: it goes one way."""
    return _wider(rewards, max(0.0, SHARE * float(rng.laplace(0, 1.0))), rng)


def length_of_what_is_told(rewards, rng):
    """A norm of noisy sums divides them, and no other noise."""
    v = rewards[:6].sum(axis=0) + rng.laplace(0, 1.0, 2)
    u = v / max(1.0, np.linalg.norm(v))
    return np.array([int(u[0] > 0.5), int(u @ u > 0.5)] + [0] * (len(rewards) - 2))


def deviation_of_what_is_told(rewards, rng):
    """And a variance of noisy moments is compared."""
    s, q = rewards[:, 0].sum() + rng.laplace(0, 2.0), (rewards[:, 0] ** 2).sum() + rng.laplace(0, 2.0)
    found = q / len(rewards) - (s / len(rewards)) ** 2
    width = math.sqrt(max(found, 0.0))
    return np.array([int(s / len(rewards) + width > 0.5)] + [0] * (len(rewards) - 1))


SHARE = -0.5
RIGHT = [length_of_what_is_told, deviation_of_what_is_told]
ONE_WAY = [one_way, one_way_by_a_function, largest, multiple]
