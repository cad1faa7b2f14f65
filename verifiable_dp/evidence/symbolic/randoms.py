"""Generators of Python's module ``random`` whose draws are followed, as those of numpy's are in `draws`.

The numbers are those of the generator that is stood in for. One that is seeded hides something only if its
seed was drawn from the generator of the run and serves nothing else.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic import boxes, contests
from verifiable_dp.evidence.symbolic.draws import one_of, paid_for, sign_of, uniform
from verifiable_dp.evidence.symbolic.terms import Draw, Term, World, add, divide, is_term, number

_LEAST_SEEDS = 2**31


class FollowedRandom:
    """Stands in for a generator of Python's."""

    def __init__(self, world: World, real: random.Random) -> None:
        self._world, self._real = world, real
        world.pythons.append(real)

    @classmethod
    def seeded(cls, world: World, *seed: Any) -> FollowedRandom:
        """One with a seed that was drawn for it."""
        value = seed[0] if len(seed) == 1 else None
        if (
            type(value) is not contests.Pick
            or value.is_public
            or value.is_dead
            or value.source.size < _LEAST_SEEDS
        ):
            raise world.stop("random.Random has a seed that is not a whole number drawn from 2^31 or more")
        value.is_dead = True  # whoever uses it again knows what is drawn
        return cls(world, random.Random(value.value))

    def random(self) -> Any:
        """As Python's."""
        return uniform(self._world, self._real.random())

    def uniform(self, a: Any, b: Any) -> Any:
        """As Python's."""
        a, b = (boxes.plain(self._world, v, "raw rewards set the law of a draw") for v in (a, b))
        return a + (b - a) * self.random()

    def expovariate(self, lambd: Any = 1.0) -> Any:
        """As Python's."""
        lambd = boxes.plain(self._world, lambd, "raw rewards set the scale of noise")
        return (1.0 - self.random()).through(lambda u: -np.log(u)) / lambd

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        """As Python's."""
        return self._normal(self._real.gauss(), mu, sigma)

    def normalvariate(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        """As Python's."""
        return self._normal(self._real.normalvariate(), mu, sigma)

    def _normal(self, value: float, mu: Any, sigma: Any) -> Any:
        sigma = float(boxes.plain(self._world, sigma, "raw rewards set the scale of noise"))
        return mu + sigma * Term(self._world, 0.0, {}, {Draw("normal", value): 1.0})

    def choice(self, seq: Any) -> Any:
        """As Python's."""
        index = one_of(self._world, len(seq), self._real.choice(range(len(seq))))
        return sign_of(self._world, seq, index) if len(seq) == 2 and not boxes.has_own(seq) else seq[index]

    def randrange(self, *args: Any) -> Any:
        """As Python's."""
        args = boxes.plain(self._world, args, "raw rewards set the law of a draw")
        values = range(*args)
        return values[one_of(self._world, len(values), values.index(self._real.randrange(*args)))]

    def choices(self, population: Any, weights: Any = None, **kwargs: Any) -> Any:
        """As Python's; one outcome with raw weights is paid for."""
        if not boxes.has_terms(weights) or kwargs.get("k", 1) != 1 or "cum_weights" in kwargs:
            return self.__getattr__("choices")(population, weights, **kwargs)
        weights = [number(weight) for weight in boxes.entries(self._world, weights)]
        whole = functools.reduce(add, weights)
        values = [w.value() if is_term(w) else float(w) for w in weights]
        natural = self._real.choices(range(len(weights)), weights=values)[0]
        return [population[paid_for(self._world, [divide(w, whole) for w in weights], natural)]]

    def __getattr__(self, name: str) -> Any:
        if name not in ("randint", "getrandbits", "sample", "shuffle", "choices", "betavariate"):
            raise self._world.stop(f"random.{name} is not followed")
        real = getattr(self._real, name)

        def draw(*args: Any, **kwargs: Any) -> Any:
            if boxes.has_own(args) or boxes.has_own(list(kwargs.values())):
                raise self._world.stop(f"random.{name} of what is not public")
            return real(*args, **kwargs)

        return draw


@contextmanager
def system_seeded(scopes: Mapping[str, dict[str, Any]], number: int) -> Iterator[None]:
    """Give generators of the system's randomness in the user's modules a state: the run can be repeated."""
    changed = []
    try:
        for scope in scopes.values():
            for name, value in list(scope.items()):
                if isinstance(value, random.SystemRandom):
                    changed.append((scope, name, value))
                    scope[name] = random.Random(number)
        yield
    finally:
        for scope, name, value in changed:
            scope[name] = value
