"""Leaks that an outside attack found to have a bound within their claim: they show once in many runs.

Each claims epsilon 1 and has Laplace noise for it in nearly all runs.
"""

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


LEAKS = [
    *(coin_in_a_gap, bits_of_python, number_of_python, order_as_a_number, drawn_with_repetitions),
    *(cancelled, wrapped, raised, few_digits),
]


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


RIGHT = [usual_coin, order_of_play, drawn_once_each, whole_numbers]
