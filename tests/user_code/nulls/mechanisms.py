"""Mechanisms: `release(data, size, rng)`, data a number or a vector in [0, 1] of which one entry changes."""

import math

import numpy as np


def laplace(data, size, rng, epsilon=1.0):
    """Epsilon 1, exactly: a number in [0, 1] has sensitivity 1; Laplace noise of scale 1 / epsilon."""
    return data + rng.laplace(0, 1 / epsilon, size)


def coarse_laplace(data, size, rng, epsilon=2.0):
    """Epsilon 2: Laplace noise of scale 1 / epsilon, then rounding to quarters, a function of the release."""
    return np.round(4 * (data + rng.laplace(0, 1 / epsilon, size))) / 4


def clamped_laplace(data, size, rng, epsilon=3.0):
    """Epsilon 3, exactly: Laplace noise of scale 1 / epsilon on a number in [0, 1], clamped to [0, 1]
    afterwards: at 0 and 1 the output has atoms whose odds change by up to e^3.
    """
    return np.clip(data + rng.laplace(0, 1 / epsilon, size), 0, 1)


def truncated_laplace(data, size, rng, epsilon=2.0):
    """Epsilon 2: Laplace noise is drawn again until the output lies in [0, 1]. That is the exponential
    mechanism with score -|x - data|, whose sensitivity is 1, so its scale has to be 2 / epsilon.
    """
    outputs = np.full(size, np.nan)
    while True:
        open_ = np.flatnonzero(np.isnan(outputs))
        if not len(open_):
            return outputs
        proposed = data + rng.laplace(0, 2 / epsilon, len(open_))
        inside = (proposed >= 0) & (proposed <= 1)
        outputs[open_[inside]] = proposed[inside]


def staircase(data, size, rng, epsilon=4.0):
    """Epsilon 4, exactly: the staircase density falls by e^-4 over each unit and is constant on two steps
    within it; the number has sensitivity 1.
    """
    fall = math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))
    sign = rng.choice([-1, 1], size)
    unit = rng.geometric(1 - fall, size) - 1
    high = rng.random(size) < gamma / (gamma + (1 - gamma) * fall)
    u = rng.random(size)
    return data + sign * (unit + np.where(high, gamma * u, gamma + (1 - gamma) * u))


def response(data, size, rng, epsilon=5.0):
    """Epsilon 5, exactly: whether the number is above 1/2, told truly with probability e^5 / (1 + e^5)."""
    return (data > 0.5) ^ (rng.random(size) < 1 / (1 + math.exp(epsilon)))


def responses(data, size, rng, epsilon=3.0):
    """Epsilon 3, exactly: each entry is in one bit, which is flipped with probability 1 / (1 + e^3)."""
    bits = np.atleast_1d(data) > 0.5
    return (bits ^ (rng.random((size, len(bits))) < 1 / (1 + math.exp(epsilon)))).astype(int)


def duchi(data, size, rng, epsilon=1.0):
    """Epsilon 1, exactly: the unbiased bit of Duchi, Jordan & Wainwright: x on [-1, 1] gives +c with
    probability 1/2 + x (e - 1) / (2 e + 2), e = exp(epsilon), which lies in [1 / (e + 1), e / (e + 1)], else
    -c.
    """
    e = math.exp(epsilon)
    up = rng.random(size) < 0.5 + (2 * data - 1) * (e - 1) / (2 * e + 2)
    return np.where(up, 1.0, -1.0) * (e + 1) / (e - 1)


def piecewise(data, size, rng, epsilon=3.0):
    """Epsilon 3, exactly: the piecewise mechanism (Wang et al. 2019) is uniform on an interval around the
    number with density h, and on the rest of [-c, c] with density h / e^3; each density is one of the two.
    """
    x = 2 * data - 1
    half = math.exp(epsilon / 2)
    c = (half + 1) / (half - 1)
    low = (c + 1) / 2 * x - (c - 1) / 2
    near = rng.random(size) < half / (half + 1)
    outside = rng.uniform(0, c + 1, size) - c
    outside = np.where(outside < low, outside, outside + c - 1)
    return np.where(near, low + (c - 1) * rng.random(size), outside)


def four_levels(data, size, rng, epsilon=3.0):
    """Epsilon 3, exactly: the number's quarter of [0, 1], told truly with probability e / (e + 3), e = e^3,
    and otherwise as one of the other three.
    """
    e = math.exp(epsilon)
    level = min(int(4 * data), 3)
    move = np.where(rng.random(size) < e / (e + 3), 0, rng.integers(1, 4, size))
    return (level + move) % 4


def geometric_count(data, size, rng, epsilon=2.0):
    """Epsilon 2, exactly: how many entries are above 1/2, which one entry moves by at most 1, plus a
    two-sided geometric with P(z + 1) / P(z) = e^-2.
    """
    p = -math.expm1(-epsilon)
    return np.count_nonzero(np.asarray(data) > 0.5) + rng.geometric(p, size) - rng.geometric(p, size)


def noisy_sum(data, size, rng, epsilon=1.0):
    """Epsilon 1, exactly: the sum of a vector in [0, 1]^n has sensitivity 1; Laplace noise of scale 1 /
    epsilon as exponentials.
    """
    return np.sum(data) + rng.exponential(1 / epsilon, size) - rng.exponential(1 / epsilon, size)


def noisy_mean(data, size, rng, epsilon=4.0):
    """Epsilon 4, exactly: the mean has sensitivity 1/n and Laplace noise of scale 1 / (n epsilon)."""
    return rng.laplace(np.mean(data), 1 / (np.size(data) * epsilon), size)


def split_noise(data, size, rng, epsilon=1.0):
    """Epsilon 1, exactly: each of n owners adds Gamma(1/n) - Gamma(1/n) of scale 1 / epsilon; the total,
    which alone is released, has Laplace noise of that scale. Its sensitivity is 1.
    """
    entries = np.atleast_1d(data)
    n = len(entries)
    shares = entries + rng.gamma(1 / n, 1 / epsilon, (size, n)) - rng.gamma(1 / n, 1 / epsilon, (size, n))
    return shares.sum(axis=1)


def histogram(data, size, rng, epsilon=2.0):
    """Epsilon 2, exactly: an entry that changes leaves one of four bins and enters another, so that the
    counts move by 2 in total; two-sided geometric noise of ratio e^-1 on each.
    """
    counts, _ = np.histogram(np.atleast_1d(data), bins=4, range=(0, 1))
    p = -math.expm1(-epsilon / 2)
    return counts + rng.geometric(p, (size, 4)) - rng.geometric(p, (size, 4))


def largest_entry(data, size, rng, epsilon=3.0):
    """Epsilon 3: which entry is largest, by weights exp(epsilon entry), through Gumbel noise. An entry is one
    score and moves by at most 1; the odds of each answer change by at most e^3.
    """
    scores = np.atleast_1d(data)
    return (epsilon * scores + rng.gumbel(size=(size, len(scores)))).argmax(axis=1)


def median(data, size, rng, epsilon=2.0):
    """Epsilon 2: the exponential mechanism on a grid of eleven points; the score -|entries below - entries
    above| / 2 moves by at most 1 if an entry changes, and the weights are exp(epsilon score / 2).
    """
    entries, grid = np.atleast_1d(data)[:, None], np.linspace(0, 1, 11)
    score = -np.abs((entries < grid).sum(axis=0) - (entries > grid).sum(axis=0)) / 2
    weights = np.exp(epsilon / 2 * (score - score.max()))
    return rng.choice(grid, size, p=weights / weights.sum())


def first_above(data, size, rng, epsilon=1.0):
    """Epsilon 1: the sparse vector technique on prefix sums: the first that is above 1.5, with noise 2 /
    epsilon on the threshold and 4 / epsilon on each query of sensitivity 1; n if none is.
    """
    prefixes = np.cumsum(np.atleast_1d(data))
    threshold = 1.5 + rng.laplace(0, 2 / epsilon, (size, 1))
    above = prefixes + rng.laplace(0, 4 / epsilon, (size, len(prefixes))) >= threshold
    return np.where(above.any(axis=1), above.argmax(axis=1), len(prefixes))


def prefix_sums(data, size, rng, epsilon=3.0):
    """Epsilon 3: prefix sums of four numbers from noisy nodes of a tree; an entry is in at most three nodes,
    whose Laplace noise has scale 3 / epsilon.
    """
    a, b, c, d = data
    noise = rng.laplace(0, 3 / epsilon, (4, size))
    one, two, three = a + noise[0], a + b + noise[1], c + noise[2]
    four = a + b + c + d + noise[3]
    return np.stack([one, two, two + three, four], axis=1)


def sampled_sum(data, size, rng, epsilon=1.0, rate=0.25):
    """Epsilon 1: entries count with probability q each, by secret coins, in a sum that is epsilon0-private
    for epsilon0 = log(1 + (e^epsilon - 1) / q); sampling brings that to log(1 + q (e^epsilon0 - 1)) =
    epsilon.
    """
    entries = np.atleast_1d(data)
    inner = math.log1p(math.expm1(epsilon) / rate)
    kept = rng.random((size, len(entries))) < rate
    return kept @ entries + rng.laplace(0, 1 / inner, size)


def twice_the_same_noise(data, size, rng, epsilon=1.0):
    """Epsilon 1, exactly: three columns, all functions of one Laplace release of scale 1 / epsilon of a
    number in [0, 1]: the number plus noise, its positive part, and its sign.
    """
    noisy = data + rng.laplace(scale=1 / epsilon, size=size)
    return np.column_stack([noisy, np.maximum(noisy, 0), np.sign(noisy)])


def sometimes_nothing(data, size, rng, epsilon=2.0):
    """Epsilon 2: with a public probability of 1/4 nothing (NaN) is released, else the number with Laplace
    noise of scale 1 / epsilon.
    """
    noisy = data + rng.laplace(0, 1 / epsilon, size)
    return np.where(rng.random(size) < 0.25, np.nan, noisy)


def subset(data, size, rng, epsilon=2.0):
    """Epsilon 2, exactly: unary encoding of the number's third of [0, 1]: of three bits two are moved by a
    change, and each is flipped with probability 1 / (1 + e^(epsilon / 2)).
    """
    one_hot = np.arange(3) == min(int(3 * data), 2)
    return one_hot ^ (rng.random((size, 3)) < 1 / (1 + math.exp(epsilon / 2)))


def one_draw(data, rng, epsilon=1.5):
    """Epsilon 1.5, exactly: one draw a call; a number in [0, 1] with Laplace noise of scale 1 / epsilon, made
    of a sign and an exponential.
    """
    return float(data + rng.choice([-1, 1]) * rng.standard_exponential() / epsilon)


ENDS = [
    (np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0, 1.0])),
    (np.zeros(4), np.array([0.0, 0.0, 1.0, 0.0])),
]
for mechanism in (
    *(responses, geometric_count, noisy_sum, noisy_mean, split_noise, histogram, largest_entry, median),
    *(first_above, prefix_sums, sampled_sum),
):
    mechanism.neighbours = ENDS
