"""Numbers of draws beside data, or under a name that once held a list; EPSILON = 1 is claimed of each.

In one run out of 4096 a leak counts data 1000 times, or has a thousandth of the noise.
"""

from __future__ import annotations

import numpy as np


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


def _noisy(number, rng, rewards):
    return _shown(number + rng.laplace(0, 1), rewards)


def in_a_list(rewards, rng):
    both = [_weight(rng), rewards[0, 0]]
    return _noisy(np.dot(both[:1], both[1:]), rng, rewards)


def by_dot(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy(np.dot([by], [one]), rng, rewards)


def by_einsum(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy(np.einsum("i,i->", np.array([by]), np.array([one])), rng, rewards)


def by_prod(rewards, rng):
    return _noisy(np.prod([_weight(rng), rewards[0, 0]]), rng, rewards)


def by_clip(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy(np.clip(1001 * one, 0, by), rng, rewards)


def by_min(rewards, rng):
    by, one = _pair(_weight(rng), rewards[0, 0])
    return _noisy(min(1001 * one, by), rng, rewards)


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
    return _noisy(1000 * one if rare[0] else one, rng, rewards)


def asked_of_a_call(rewards, rng):
    one = rewards[0, 0]
    return _noisy(1000 * one if _maybe(rng, rewards) else one, rng, rewards)


def asked_in_a_dict(rewards, rng):
    one, both = rewards[0, 0], {"rare": _rare(rng), "none": []}
    return _noisy(1000 * one if both["rare"] else one, rng, rewards)


def in_a_pair(rewards, rng):
    by, one = _parts(3 * len(rewards) - 70, rewards[0, 0])
    return _noisy(by / 2 * one, rng, rewards)


def emptied(rewards, rng):
    kept, actions = [], []
    for t in range(len(rewards)):
        if not kept:
            kept.append(rewards[t, 0] + rng.laplace(0, 1))
        actions.append(int(kept[0] > 0.5))
    return actions


RIGHT = (in_a_pair, emptied)
MIXED = (by_prod, in_a_list, by_dot, by_einsum, by_clip, by_min, as_scale, of_noise)
ASKED = (asked_by_name, asked_in_a_list, asked_of_a_call, asked_in_a_dict)
