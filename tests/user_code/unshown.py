"""Mechanisms of which a traced run shows other code than the one that runs: only `rightly` has a bound."""

import random

import numpy as np


class Noise(np.random.Generator):
    def laplace(self, loc=0.0, scale=1.0, size=None):
        return super().laplace(loc, 0.0, size)


class OwnSystem(random.SystemRandom):
    def random(self):
        return round(super().random(), 2)


class Euros(float):
    def __rmul__(self, other):
        return min(float(other), 10.0)


NOISE, SYSTEM, OWN_SYSTEM, UNIT = Noise(np.random.PCG64()), random.SystemRandom(), OwnSystem(), Euros(1.0)


def by_its_own_generator(data, rng):
    return data.sum() + NOISE.laplace(0, 2)


def by_its_own_system(data, rng):
    return data.sum() + OWN_SYSTEM.expovariate(0.5) - OWN_SYSTEM.expovariate(0.5)


def by_its_own_number(data, rng):
    return data.sum() + rng.laplace(0, 2) * UNIT


def by_what_was_never_set(data, rng):
    scales = np.empty(3)
    scales[:2] = 1.0
    return data.sum() + rng.laplace(0, 2) * scales[2]


def shows_what_was_never_set(data, rng):
    shown = np.empty(3)
    shown[0] = data.sum() + rng.laplace(0, 2)
    return shown


def adds(values, rng):
    values[0] += rng.laplace(0, 2)
    return True


def in_an_assert(data, rng):
    values = [float(data.sum())]
    assert adds(values, rng)
    return values[0]


def in_an_assert_of_an_iterator(data, rng):
    scales = iter([0.0, 2.0])
    assert next(scales) == 0.0
    return data[0] + rng.laplace() * next(scales)


class Summed:
    def __init__(self, data, rng):
        self.whole, self.rng = data.sum(), rng

    @property
    def is_noisy(self):
        self.whole = self.whole + self.rng.laplace(0, 2.0)
        return True


def in_an_assert_of_a_property(data, rng):
    summed = Summed(data, rng)
    assert summed.is_noisy
    return summed.whole


def in_an_assert_that_is_seldom_met(data, rng):
    values = [float(data.sum())]
    if rng.random() < 1e-9:
        assert adds(values, rng)
    else:
        values[0] += rng.laplace(0, 2.0)
    return values[0]


def in_an_assert_that_adds_more(data, rng):
    if rng.random() < 1e-9:
        values = [float(data.sum()) + rng.laplace(0, 1.0)]
        assert adds(values, rng)
        return values[0]
    return data.sum() + rng.laplace(0, 2.0)


def by_a_hash(data, rng):
    return data[0] if "text".__hash__() == 3 else data.sum() + rng.laplace(0, 2)


def rightly(data, rng):
    assert data.ndim == 1, f"{len(data)} entries"
    assert np.all(np.isfinite(np.ones(3)))
    whole, scales = np.empty(len(data)), np.empty(3, int)
    scales[:] = 1
    for i in range(len(data)):
        whole[i] = data[i]
    return whole.sum() + scales[2] * (SYSTEM.expovariate(0.5) - SYSTEM.expovariate(0.5))


# Two programs whose bounds faults of the search would get wrong.


def pick(data, rng):
    """Whose sum, clipped and with noise, is larger."""
    s = np.clip(data, 0, 1).sum(axis=0) + rng.laplace(0, 1.0, 2)
    return [int(np.argmax(s))] * len(data)


def gate(data, rng):
    return [int(data[:, 0].sum() + rng.laplace(0, 1.0) > data.shape[0] / 2)] * len(data)
