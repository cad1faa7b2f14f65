"""Bandits whose noise is made in another module, or nowhere."""

import random as chance
from os import urandom

import numpy as np

from tests.user_code import noise_of_another
from tests.user_code.noise_of_another import draw


def _largest(rewards, noise):
    return np.full(len(rewards), np.argmax(rewards.sum(axis=0) + noise))


def by_name(rewards, rng):
    return _largest(rewards, draw(rewards.shape[1]))


def by_module(rewards, rng):
    return _largest(rewards, noise_of_another.draw(rewards.shape[1]))


def by_default(rewards, rng, *, noise=draw):
    return _largest(rewards, noise(rewards.shape[1]))


def renamed(rewards, rng):
    return _largest(rewards, chance.random())


def of_the_system(rewards, rng):
    return _largest(rewards, urandom(1)[0])


def inside(rewards, rng):
    import secrets as s

    return _largest(rewards, s.randbelow(3))


def given(rewards, rng):
    return _largest(rewards, rng.laplace(0, 1, rewards.shape[1]))


class Mixin:
    def noise(self):
        return draw(2)


class Drawn(Mixin):
    def __init__(self, n_arms):
        self.t = 0

    def select(self):
        return int(np.argmax(self.noise()))

    def update(self, arm, reward):
        self.t += 1
