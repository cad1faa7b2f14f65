"""Mechanisms whose runs fail: now and then, for some data of a kind, for all of it, or never."""

import numpy as np


def now_and_then_between(data, size, rng):
    if data in (0, 1):
        return data + rng.laplace(0, 2.0, size)
    if rng.random() < 0.2:
        raise TimeoutError("database gone, try again")
    return data + 1e-9 * rng.laplace(0, 1.0, size)


def nearly_always_between(data, size, rng):
    if data in (0, 1):
        return data + rng.laplace(0, 2.0, size)
    if rng.random() < 0.97:
        raise ValueError("no")
    return np.full(size, data)


def some_between(data, size, rng):
    if 0.2 < data < 0.6:
        raise ValueError("not these")
    return data + rng.laplace(0, 2.0, size)


def bits_only(data, size, rng):
    if data not in (0, 1):
        raise ValueError("a bit, please")
    return data + rng.laplace(0, 2.0, size)


def never(data, size, rng):
    return data + rng.laplace(0, 2.0, size)


def now_and_then_a_number(data, size, rng):
    if np.ndim(data) == 0 and rng.random() < 0.9:
        raise ValueError("a list, please")
    return np.sum(data) + rng.laplace(0, 2.0, size)


def now_and_then_of_three(data, size, rng):
    if len(data) == 3 and rng.random() < 0.4:
        raise ValueError("try again")
    return data.sum() + rng.laplace(0, 2.0, size)


def nothing_in_three(data, size, rng):
    if len(data) == 3 and not data.any():
        raise ValueError("nothing to sum")
    return data.sum() + rng.laplace(0, 2.0, size)


def at_least_three(data, size, rng):
    if len(data) < 3:
        raise ValueError("too few")
    return data.sum() + rng.laplace(0, 2.0, size)
