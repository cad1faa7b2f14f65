"""Sums of data and noise that a public number scales, which is another one once in a thousand runs.

EPSILON = 1 is claimed of each. All show the number.
"""

from __future__ import annotations

import numpy as np

RARE = [1000.0 if n == 437 else 1.0 for n in range(1000)]
OFTEN = [1.0 if n == 437 else 1000.0 for n in range(1000)]
SELDOM = [1.0 if n == 437 else 0.0 for n in range(1000)]


def _played(rewards, arm, number):
    played = np.full(len(rewards), int(arm))
    played[: len(played) // 2] = np.arange(len(played) // 2) % 2
    played[0] = number > 1
    return played


def _noisy(rewards, rng):
    return rewards[0, 0] + rng.laplace(0, 1)


def alone(rewards, rng):
    n = RARE[rng.integers(1000)]
    return _played(rewards, _noisy(rewards, rng) / n > 0.5, n)


def all_before(rewards, rng):
    n = RARE[rng.integers(1000)]
    y = (rewards[0, 0] + rewards[1, 1] + rng.laplace(0, 1)) / n
    return _played(rewards, y + 0.25 > 0.5, n)


def hidden_beside(rewards, rng):
    n = RARE[rng.integers(1000)]
    y = _noisy(rewards, rng) / n
    return _played(rewards, y + (rewards[1, 1] + rng.laplace(0, 1)) > 0.5, n)


def by_a_constant(rewards, rng):
    return _played(rewards, _noisy(rewards, rng) / 2 + rewards[1, 1] / 2 > 0.5, 1)


def one_by_one(rewards, rng):
    table = [1.0] * 437 + [1000.0] + [1.0] * 562
    n = table[int(rng.integers(1000))]
    return _played(rewards, rewards[0, 0] / n + rng.laplace(0, 1 / n) > 0.5, n)


def best_mean(rewards, rng):
    n = [RARE[rng.integers(1000)], 2.0]
    y = (rewards[0] + rng.laplace(0, 1, 2)) / np.array(n)
    return _played(rewards, np.argmax(y), n[0])


RIGHT = (alone, all_before, hidden_beside, by_a_constant, one_by_one, best_mean)


def sparse(rewards, rng):
    """Costs .75: the threshold moves, and what is above it."""
    n, t, x = RARE[rng.integers(1000)], rng.laplace(0, 2), rewards[0, 0]
    found = (
        x + rng.laplace(0, 4) - t > n
        or x + rewards[1, 1] + rng.laplace(0, 4) - t > n
        or x + rewards[2, 1] + rng.laplace(0, 4) - t > n
        or x + rewards[3, 1] + rng.laplace(0, 4) - t > n
        or rewards[4, 1] + rng.laplace(0, 4) - t > n
        or rewards[5, 1] + rng.laplace(0, 4) - t > n
        or rewards[6, 1] + rng.laplace(0, 4) - t > n
        or rewards[7, 1] + rng.laplace(0, 4) - t > n
    )
    return _played(rewards, found, 1)


def data_afterwards(rewards, rng):
    n = RARE[rng.integers(1000)]
    return _played(rewards, _noisy(rewards, rng) / n + rewards[1, 1] > 0.5, n)


def data_of_arms_afterwards(rewards, rng):
    n = RARE[rng.integers(1000)]
    means = (rewards[0] + rng.laplace(0, 1, 2)) / n
    return _played(rewards, np.argmax(means + rewards[1]), n)


def same_data_afterwards(rewards, rng):
    n = RARE[rng.integers(1000)]
    y = _noisy(rewards, rng)
    y /= n
    return _played(rewards, rewards[0, 0] - y > 0.5, n)


AFTERWARDS = (data_afterwards, data_of_arms_afterwards, same_data_afterwards)


def divided_apart(rewards, rng):
    table = [1.0] * 437 + [1000.0] + [1.0] * 562
    n = table[int(rng.integers(1000))]
    y = rewards[0, 0] / n + rng.laplace(0, 1 / n)
    return _played(rewards, y + rewards[1, 1] > 0.5, n)


def summed_apart(rewards, rng):
    table = [1.0] * 437 + [1000.0] + [1.0] * 562
    n = table[int(rng.integers(1000))]
    y = rng.laplace(0, 1 / n) - rewards[0, 0] / n
    return _played(rewards, y - rewards[1, 1] > 0.5, n)


APART = (divided_apart, summed_apart)


def one_noise_for_both(rewards, rng):
    n = OFTEN[rng.integers(1000)]
    other = rng.laplace(0, 1) - rewards[0, 0]
    return _played(rewards, _noisy(rewards, rng) / n > other, 1000 / n)


def seldom_there(rewards, rng):
    n = SELDOM[rng.integers(1000)]
    y = _noisy(rewards, rng) * n
    return _played(rewards, y + (rewards[0, 0] + rng.laplace(0, 1)) > 0.5, 1 + n)


CHEAP = (one_noise_for_both, seldom_there)  # but in those runs, where they cost 2
