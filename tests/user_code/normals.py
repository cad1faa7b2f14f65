"""Normal numbers by Box and Muller's method as users write it, and pairs that are no two normal numbers.

`MAKERS` and `WRONG` make two numbers.
"""

import math

import numpy as np


def by_generator(rng):
    return rng.normal(0, 1, 2)


def by_arrays(rng):
    radius = np.sqrt(-2 * np.log(1 - rng.random(1)))
    angle = 2 * np.pi * rng.random(1)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])


def by_numbers(rng):
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


def one_of_each(rng):
    def normal():
        return math.cos(2 * math.pi * rng.random()) * math.sqrt(2 * -math.log(rng.random()))

    return np.array([normal(), normal()])


def turned(rng):
    """At another angle, and of another size before it is brought to 1."""
    radius, angle = 3 * math.sqrt(-2 * math.log(1 - rng.random())), rng.uniform(-math.pi, math.pi)
    pair = [(math.cos(angle) + math.sin(angle)) * radius, (math.sin(angle) - math.cos(angle)) * radius]
    return np.array(pair) / (3 * math.sqrt(2))


MAKERS = [by_generator, by_arrays, by_numbers, one_of_each, turned]


def same_component(rng):
    """The cosine twice: one number."""
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.cos(angle)])


def slanted(rng):
    """Two directions that are no right angle apart: the two numbers are alike."""
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.cos(angle + 0.1)])


def half_turn(rng):
    """Half a turn only: the sine is never negative."""
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.pi * rng.random()
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


def no_root(rng):
    radius, angle = -2 * math.log(1 - rng.random()), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


WRONG = [same_component, slanted, half_turn, no_root]
