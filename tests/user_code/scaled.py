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


# Numbers of draws beside data, or under a name that once held a list; EPSILON = 1 is claimed of each.
#
# In one run out of 4096 a leak counts data 1000 times, or has a thousandth of the noise.


def _rare(rng):
    return int(rng.random() * 4096) == 700


def _weight(rng):
    return 1.0 + 1000.0 * _rare(rng)


def _pair(one, other):
    both = (one, other)
    return both


def _parts(one, other):
    return one, other


def _shown(number, rewards):
    return [int(number > 0.5)] * len(rewards)


def _noisy_number(number, rng, rewards):
    return _shown(number + rng.laplace(0, 1), rewards)


def in_a_list(rewards, rng):
    both = [_weight(rng), rewards[0, 0]]
    return _noisy_number(np.dot(both[:1], both[1:]), rng, rewards)


def by_dot(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy_number(np.dot([by], [one]), rng, rewards)


def by_einsum(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy_number(np.einsum("i,i->", np.array([by]), np.array([one])), rng, rewards)


def by_prod(rewards, rng):
    return _noisy_number(np.prod([_weight(rng), rewards[0, 0]]), rng, rewards)


def by_clip(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy_number(np.clip(1001 * one, 0, by), rng, rewards)


def by_min(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy_number(min(1001 * one, by), rng, rewards)


def as_scale(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _shown(one + rng.laplace(0, 1 / by), rewards)


def of_noise(rewards, rng):
    by, one = _pair(1 / _weight(rng), rewards[0, 0])
    return _shown(one + by * rng.laplace(0, 1), rewards)


def _maybe(rng, rewards):
    if len(rewards) < 0:
        return []
    return _rare(rng)


def asked_by_name(rewards, rng):
    rare, scale = [], 1.0
    rare = _rare(rng)
    if rare:
        scale = 1e-6
    return _shown(rewards[0, 0] + rng.laplace(0, scale), rewards)


def asked_in_a_list(rewards, rng):
    rare, one = [[], []], rewards[0, 0]
    rare[0] = _rare(rng)
    return _noisy_number(1000 * one if rare[0] else one, rng, rewards)


def asked_of_a_call(rewards, rng):
    one = rewards[0, 0]
    return _noisy_number(1000 * one if _maybe(rng, rewards) else one, rng, rewards)


def asked_in_a_dict(rewards, rng):
    one, both = rewards[0, 0], {"rare": _rare(rng), "none": []}
    return _noisy_number(1000 * one if both["rare"] else one, rng, rewards)


def in_a_pair(rewards, rng):
    by, one = _parts(3 * len(rewards) - 70, rewards[0, 0])
    return _noisy_number(by / 2 * one, rng, rewards)


def emptied(rewards, rng):
    kept, actions = [], []
    for t in range(len(rewards)):
        if not kept:
            kept.append(rewards[t, 0] + rng.laplace(0, 1))
        actions.append(int(kept[0] > 0.5))
    return actions


BESIDE = (in_a_pair, emptied)
MIXED = (by_prod, in_a_list, by_dot, by_einsum, by_clip, by_min, as_scale, of_noise)
ASKED = (asked_by_name, asked_in_a_list, asked_of_a_call, asked_in_a_dict)
