"""Noise and answers that are made with coins: signs, loops, levels.

EPSILON = 1 is claimed of all. `RIGHT` gives the true cost of each; no leak has a bound within the claim.
"""

import math

from tests.user_code.pieces import twin

EPSILON = 1.0


def told(rewards, noise):
    """The sum of each arm with noise decides what is played: how large it is, not only which is larger."""
    half = len(rewards) // 2
    sums = [sum(rewards[t, a] for t in range(half) if t % 2 == a) for a in range(2)]
    return levels(rewards, [value + noise() for value in sums])


def levels(rewards, noisy):
    half = len(rewards) // 2
    return [t % 2 for t in range(half)] + [int(noisy[t % 2] > t / 4) for t in range(half, len(rewards))]


# ---------------------------------------------------------------- signs


def sign_in_an_expression(rewards, rng, scale=1.0):
    return told(rewards, lambda: rng.exponential(scale) * (1 if rng.random() < 0.5 else -1))


def _turned(rng, scale, fair):
    size = -scale * math.log(1 - rng.random())
    if rng.random() < fair:
        size = -size
    return size


def sign_in_a_branch(rewards, rng, scale=1.0, fair=0.5):
    return told(rewards, lambda: _turned(rng, scale, fair))


def _returned(rng, scale):
    size = rng.exponential(scale)
    if rng.random() >= 0.5:
        return size
    return -size


def sign_in_what_is_returned(rewards, rng, scale=1.0):
    return told(rewards, lambda: _returned(rng, scale))


def sign_of_a_choice(rewards, rng, scale=1.0):
    return told(rewards, lambda: rng.exponential(scale) * rng.choice([-1, 1]))


def sign_told(rewards, rng):
    coin = rng.random()
    sign = 1 if coin < 0.5 else -1
    return [*told(rewards, lambda: rng.exponential(1.0) * sign)[:-1], int(coin < 0.5)]


def size_with_two_signs(rewards, rng):
    size = rng.exponential(1.0)
    return told(rewards, lambda: size * (1 if rng.random() < 0.5 else -1))


def size_told(rewards, rng):
    size = rng.exponential(1.0)
    noise = size if rng.random() < 0.5 else -size
    sums = rewards[: len(rewards) // 2].sum(axis=0)
    return [*levels(rewards, [sums[0] + noise, rng.laplace()])[:-1], int(size > 1)]


SIGNS = (sign_in_an_expression, sign_in_a_branch, sign_in_what_is_returned, sign_of_a_choice)

RIGHT = {**dict.fromkeys(SIGNS, EPSILON)}
LEAKS = [
    *(twin(f, scale=0.5) for f in SIGNS),
    *(twin(sign_in_a_branch, fair=0.4), sign_told, size_with_two_signs, size_told),
]
