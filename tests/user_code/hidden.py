"""Leaks that an outside attack found to have a bound within their claim: they show once in many runs.

Each claims epsilon 1 and has Laplace noise for it in nearly all runs.
"""

import math
import random

import numpy as np


def _told(rewards, *bits):
    return np.array([int(bit) for bit in bits] + [0] * (len(rewards) - len(bits)))


def _larger(rewards, rare, rng):
    """A thousand times the first reward where something rare holds."""
    s = rewards[0, 0] * (1 + 1000 * rare) + rng.laplace(0, 1.0)
    return _told(rewards, s > 0.5, s > 500.0)


def coin_in_a_gap(rewards, rng):
    """Between the values at which a coin is looked at."""
    rare = abs(rng.random() - 0.50015) < 0.00001
    s = rewards[0, 0] + 1000.0 * (rewards[0, 0] * rare) + rng.laplace(0, 1.0)
    return _told(rewards, s > 0.5, s > 500.0)


def bits_of_python(rewards, rng):
    return _larger(rewards, random.getrandbits(16) // 65535, rng)


def number_of_python(rewards, rng):
    return _larger(rewards, random.randint(0, 65535) // 65535, rng)


def order_as_a_number(rewards, rng):
    o = rng.permutation(len(rewards))
    last = len(rewards) - 1
    return _larger(rewards, int(o[0] == last) * int(o[1] == last - 1) * int(o[2] == last - 2), rng)


def drawn_with_repetitions(rewards, rng):
    """One round may be all four."""
    places = random.choices(range(len(rewards)), k=4)
    s = rewards[places, 0].sum() + rng.laplace(0, 1.5)
    return _told(rewards, s > 2.0, *[place == places[0] for place in places])


def cancelled(rewards, rng):
    """(t + m) - m is t on paper, and 0 in floats where nearly all rewards are 1."""
    t = rewards[:, 0].sum()
    m = np.maximum(t - (len(rewards) - 2), 0.0) * 1e22
    return _told(rewards, (t + m) - m + rng.laplace(0, 1.0) > len(rewards) / 2)


def wrapped(rewards, rng):
    """Whole numbers of 64 bits, which start again where rewards are many."""
    counts = (rewards > 0.5).sum(axis=0) * (10**19 // len(rewards))
    s = counts + rng.laplace(0, 1e19 / len(rewards), 2)
    return _told(rewards, s[0] > 4e18)


def raised(rewards, rng):
    """A chance above 1 is an error, which everybody sees."""
    coin = rng.binomial(1, 0.1 + rewards[:, 0].sum() / (1.05 * len(rewards)))
    return _told(rewards, coin + rng.laplace(0, 1.0) > 0.5)


def few_digits(rewards, rng):
    """Noise that is never above 16.7."""
    u = rng.random(dtype=np.float32)
    s = rewards[0, 0] + np.log(1.0 / (1.0 - u) - 1.0)
    return _told(rewards, s > 0.5, s > 17.2)


def noise_of_few_digits(rewards, rng):
    """The low digits of what is released tell the reward."""
    s = float(rewards[0, 0] + rng.laplace(0, 1.0, 2).astype(np.float32)[0])
    rest = s - 0.123456789
    return _told(rewards, s > 0.5, abs(float(np.float32(rest)) - rest) < 1e-13)


def noise_that_starts_again(rewards, rng):
    """Eight bits hold up to 127: the count is where the sum starts again."""
    counts = (rewards > 0.5).sum(axis=0)
    chance = 1 - math.exp(-0.5)
    noisy = (counts + 92 + rng.geometric(chance, 2) - rng.geometric(chance, 2)).astype(np.int8)
    rest = noisy - counts
    return _told(rewards, rest[0] > 103.5, rest[0] < -100)


def cut_by_its_first_entries(rewards, rng):
    """floor gives floats, which hold what is put in later."""
    cut = np.floor(rewards[:, 0])
    cut[0] = 0.9 * np.maximum(0.0, 1.0 - abs(rewards[:, 0].sum() - 20.5))
    s = rewards[0, 1] + 1000.0 * cut[0] + rng.laplace(0, 1.0)
    return _told(rewards, s > 0.5, s > 500)


def added_as_truths(rewards, rng):
    """True and True are added up to True, and their numbers to 2."""
    first, second = (abs(rewards[:, arm] - 0.25) < 0.01 for arm in (0, 1))
    both = 1.0 * first + 1.0 * second - 1.0 * (first + second)
    s = rewards[0, 0] + 1000.0 * both[0] + rng.laplace(0, 1.0)
    return _told(rewards, s > 0.5, s > 500)


LEAKS = [
    added_as_truths,
    *(noise_of_few_digits, noise_that_starts_again, cut_by_its_first_entries),
    *(coin_in_a_gap, bits_of_python, number_of_python, order_as_a_number, drawn_with_repetitions),
    *(cancelled, wrapped, raised, few_digits),
]


def no_noise_in_a_gap(rewards, rng):
    """The law of a function of a uniform number is known at some thousand values."""
    u = rng.random()
    flat = np.minimum(1.0, np.maximum(0.0, abs(u - 0.50015) - 0.00001) * 1e12)
    s = rewards[0, 0] + np.log(u / (1.0 - u)) * flat
    return _told(rewards, s > 1 - 1e-9, s < 1 + 1e-9)


def cancelled_in_a_band(rewards, rng):
    """As `cancelled`, in between: at no corner of the data."""
    t = rewards[:, 0].sum()
    m = np.maximum(0.0, 1.0 - abs(t - 20.5)) * 1e22
    return _told(rewards, (t + m) - m + rng.laplace(0, 1.0) > 12)


def cut_by_a_list(rewards, rng):
    """An array of whole numbers only where no reward is below one half."""
    held = np.array([v if v < 0.5 else 1 for v in rewards[:, 0]])
    held[0] = rewards[:, 0].mean()
    return _told(rewards, held[0] + rng.laplace(0, 1 / 24) > 0.4)


def places_that_may_meet(rewards, rng):
    """Four places, each drawn by itself: one reward may count four times."""
    n = len(rewards)
    places = [(int(rng.integers(n)) + i) % n for i in range(4)]
    s = rewards[places, 0].sum() + rng.laplace(0, 2.0)
    return _told(rewards, s > 2.0, *[place == places[0] for place in places])


OPEN = [no_noise_in_a_gap, cancelled_in_a_band, cut_by_a_list]  # bounded today
LEAKS += [places_that_may_meet]


# ---------------------------------------------------------------- right twins


def usual_coin(rewards, rng):
    """A coin that falls both ways, and one that always falls one way."""
    often, always = abs(rng.random() - 0.5) < 0.25, 2 * rng.random() < 5
    s = rewards[0, 0] + rng.laplace(0, 1.0)
    return _told(rewards, s > 0.5 if often and always else s > 1)


def order_of_play(rewards, rng):
    arms = [int(arm) for arm in rng.permutation(2)]
    s = rewards[:, arms[0]].sum() - rewards[:, arms[1]].sum() + rng.laplace(0, 1.0)
    return _told(rewards, s > 0)


def drawn_once_each(rewards, rng):
    places = random.sample(range(len(rewards)), k=4)
    s = rewards[places, 0].sum() + rng.laplace(0, 1.0)
    return _told(rewards, s > 2.0)


def whole_numbers(rewards, rng):
    counts = (rewards > 0.5).sum(axis=0).astype(np.int64) * 1000
    s = counts + rng.laplace(0, 1000.0, 2)
    return _told(rewards, s[0] > 4000)


def always_one(rewards, rng):
    """Geometric noise of chance 1, which cannot move."""
    s = rewards[:6].sum(axis=0) + rng.laplace(0, 1.0, 2) + rng.geometric(1.0, 2)
    return _told(rewards, np.argmax(s))


RIGHT = [always_one, usual_coin, order_of_play, drawn_once_each, whole_numbers]
