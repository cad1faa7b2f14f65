"""Explore, then commit with Laplace noise of scale 1 / epsilon; what differs is where epsilon is from."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Config:
    n_arms: int = 2
    horizon: int = 20
    epsilon: float = 1.0


@dataclass
class Outer:
    inner: Config


class Base:
    explores = 8

    def __init__(self, n_arms, rng, epsilon):
        self.sums, self.rng, self.epsilon, self.t, self.best = np.zeros(n_arms), rng, epsilon, 0, -1

    def scale(self):
        return 1 / self.epsilon

    def select(self):
        if self.t < self.explores:
            return self.t % len(self.sums)
        if self.best < 0:
            self.best = int(np.argmax(self.sums + self.rng.laplace(0, self.scale(), len(self.sums))))
        return self.best

    def update(self, arm, reward):
        if self.t < self.explores:
            self.sums[arm] += reward
        self.t += 1


class Fields(Base):
    """Epsilon is a default of a dataclass that the constructor is given."""

    def __init__(self, cfg: Config, rng):
        super().__init__(cfg.n_arms, rng, cfg.epsilon)


class Nested(Base):
    def __init__(self, cfg: Outer, rng):
        super().__init__(cfg.inner.n_arms, rng, cfg.inner.epsilon)


class Kept(Base):
    """The object is a default itself, which nobody changes."""

    def __init__(self, rng, cfg: Config = Config()):  # noqa: B008
        super().__init__(cfg.n_arms, rng, cfg.epsilon)


class Unasked(Base):
    """A configuration that is asked for no epsilon."""

    def __init__(self, config, rng):
        super().__init__(config["n_arms"], rng, 1.0)


class Asked(Base):
    def __init__(self, config, rng):
        super().__init__(config["n_arms"], rng, config["epsilon"])


class Ignoring(Base):
    """Has epsilon, and does not use it."""

    def scale(self):
        return 1.0


class IgnoringFields(Fields):
    def scale(self):
        return 1.0


class IgnoringAsked(Asked):
    def scale(self):
        return 1.0


DEPENDS = (Base, Fields, Nested, Kept, Unasked, Asked)
IGNORES = (Ignoring, IgnoringFields, IgnoringAsked)
