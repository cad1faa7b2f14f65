"""Leaks in code that can be mistaken for other code, found by a reviewer; EPSILON = 1 is claimed of all."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, exp  # noqa: F401
from typing import ClassVar

import numpy as np

EPSILON = 1.0


def _first(rewards, rng):
    return np.zeros(len(rewards), int), rewards[:, 0].sum() + rng.laplace(0, 2.0)


def later_part_of_a_key(rewards, rng):
    """Where the first parts are equal a raw one decides."""
    arms, _ = _first(rewards, rng)

    def told(arm):
        return arm if rng.random() < exp(0.9) / (1 + exp(0.9)) else 1 - arm

    arms[-1] = told(max(range(2), key=lambda i: (rewards[0, i], rewards[1, i])))
    arms[-2] = told(max(range(2), key=lambda i: rewards[1, i]))
    return arms


def last_bits_lifted(rewards, rng):
    arms, noisy = _first(rewards, rng)
    if rng.random() < 1 / 300:
        lifted = (rewards[0, 0] * (1 + 2.0**-51) - rewards[0, 0]) * 2.0**51
        arms[-1] = int(lifted + rng.laplace(0, 0.05) > 0.5)
    arms[-2] = int(noisy > 5)
    return arms


def last_bits_as_a_power(rewards, rng):
    arms, _ = _first(rewards, rng)
    if rng.random() < 1 / 300:
        lifted = (rewards[0, 0] * (1 + 2.0**-51) - rewards[0, 0]) * 2.0**51
        arms[-1] = int(np.exp(lifted) > 1.5)
    return arms


def longer_than_its_cases(rewards, rng):
    arms, noisy = _first(rewards, rng)
    pair = [1, 2]
    if rng.random() < 1 / 300:
        pair = [1, 2, 3]
    match pair:
        case [_, _]:
            arms[-2] = int(noisy > 5)
        case _:
            arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def no_sequence(rewards, rng):
    arms, noisy = _first(rewards, rng)
    pair = (1, 2) if rng.random() > 1 / 300 else "ab"
    match pair:
        case (_, _):
            arms[-2] = int(noisy > 5)
        case _:
            arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def set_before_the_guard(rewards, rng):
    arms, noisy = _first(rewards, rng)
    kept = noisy
    match (int(rng.random() * 300), rewards[0, 0]):
        case (7, kept) if rng.random() < 0.5:
            kept = noisy
        case _:
            pass
    arms[-1] = int(kept > 0.5)
    return arms


@dataclass
class Point:
    tag: ClassVar[float] = 0.0
    x: float = 0.0


@dataclass
class Turned:
    x: float
    y: float
    __match_args__ = ("y", "x")


def fields_that_are_none(rewards, rng):
    arms, noisy = _first(rewards, rng)
    one = Point(rewards[0, 0]) if rng.random() < 1 / 300 else 5
    match one:
        case Point(x):
            arms[-1] = int(x > 0.5)
        case _:
            pass
    arms[-2] = int(noisy > 5)
    return arms


def fields_in_another_order(rewards, rng):
    arms, noisy = _first(rewards, rng)
    one = Turned(0.0, rewards[0, 0]) if rng.random() < 1 / 300 else 5
    match one:
        case Turned(y):
            arms[-1] = int(y > 0.5)
        case _:
            pass
    arms[-2] = int(noisy > 5)
    return arms


def named_like_a_number(rewards, rng):
    arms, noisy = _first(rewards, rng)
    if rng.random() < 1 / 300:
        match (1, rewards[0, 0]):
            case (1, e):
                arms[-1] = int(e > 0.5)
    arms[-2] = int(noisy > 5)
    return arms


def decoy():
    while True:
        yield "a"


class Fake:
    def item(self, number):
        return 0


def next_of_a_list(rewards, rng):
    arms, noisy = _first(rewards, rng)
    next(decoy())
    words = ["a", "b"]
    state = next(iter([words[rng.permutation(200).tolist()[:1] == [0]]]))
    if state == "a":
        arms[-2] = int(noisy > 5)
    else:
        arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def method_of_another(rewards, rng):
    arms, noisy = _first(rewards, rng)
    state = (rng.permutation(200)[:1] == 0).astype(int).item(0)
    if state == 0:
        arms[-2] = int(noisy > 5)
    else:
        arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def once(function):
    def inner(rng):
        function(rng)
        return ["a", "b"][int(rng.permutation(200).tolist()[0] == 0)]

    return inner


@once
def decorated(rng):
    return "a"


def told_by_a_decorator(rewards, rng):
    arms, noisy = _first(rewards, rng)
    state = decorated(rng)
    if state == "a":
        arms[-2] = int(noisy > 5)
    else:
        arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def set_by_a_function_inside(rewards, rng):
    arms, noisy = _first(rewards, rng)
    go = 0

    def put():
        nonlocal go
        go = int(rng.permutation(200).tolist()[:1] == [0])

    put()
    if go:
        arms[-1] = int(rewards[0, 0] > 0.5)
    arms[-2] = int(noisy > 5)
    return arms


LEAKS = (
    *(later_part_of_a_key, last_bits_lifted, last_bits_as_a_power, longer_than_its_cases, no_sequence),
    *(set_before_the_guard, fields_that_are_none, fields_in_another_order, named_like_a_number),
    *(next_of_a_list, method_of_another, told_by_a_decorator, set_by_a_function_inside),
)
