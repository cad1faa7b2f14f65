"""Algorithms around others: what is audited or played of an algorithm, changed on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Noise, altered
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, Given, IntArray

Listed = Any  # type: ignore[explicit-any]  # an algorithm of an auditor's class, or a wrapper that has all it has


@dataclass(frozen=True)
class Wrapped(Algorithm):
    """An algorithm around another one: everything is passed on unless a subclass changes it."""

    inner: Algorithm

    def __getattr__(self, name: str) -> Own:
        """Parameters of the algorithm underneath."""
        # A compiled loop underneath knows nothing of the change around it.
        if name.startswith("__") or name in ("inner", "kernel"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the algorithm underneath."""
        return self.inner.name

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """K."""
        return self.inner.n_arms

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """T."""
        return self.inner.horizon

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return self.inner.bounds

    @property
    def search_bounds(self) -> tuple[float, float]:
        """As the algorithm underneath."""
        return self.inner.search_bounds

    @property
    def contribution(self) -> float:
        """As the algorithm underneath."""
        return self.inner.contribution

    @property
    def claim(self) -> PrivacyClaim | None:
        """The promise of the algorithm underneath."""
        return self.inner.claim

    def start(self, run: IntArray) -> State:
        """As the algorithm underneath."""
        return self.inner.start(run)

    def private(self, run: IntArray) -> Memory:
        """As the algorithm underneath."""
        return self.inner.private(run)

    def query(self, state: Own) -> Query:
        """As the algorithm underneath."""
        return self.inner.query(state)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath."""
        return self.inner.release(state, memory, query, answer, noise)

    def decide(self, state: Own, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath."""
        return self.inner.decide(state, query, released)

    def margin(self, state: Own) -> FloatArray | None:
        """As the algorithm underneath."""
        return self.inner.margin(state)

    def output(self, state: Own) -> FloatArray:
        """As the algorithm underneath."""
        return self.inner.output(state)


def with_parameters(algorithm: Algorithm, **changes: Given) -> Listed:
    """The same algorithm, mutant or not, with some parameters changed."""
    if isinstance(algorithm, Wrapped):
        return replace(algorithm, inner=with_parameters(algorithm.inner, **changes))
    return type(algorithm)(**{**algorithm.parameters, **changes})


def original(algorithm: Algorithm) -> Listed:
    """The algorithm under all wrappers, or the algorithm itself."""
    return original(algorithm.inner) if isinstance(algorithm, Wrapped) else algorithm


@dataclass(frozen=True)
class AlteredNoise(Wrapped):
    """An algorithm whose noise is changed on the way: scaled by `factor`, or drawn at other slots."""

    factor: float = 1.0
    reslot: Callable[[IntArray], IntArray] | None = None

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""
        return super().release(state, memory, query, answer, altered(noise, self.factor, self.reslot))


@dataclass(frozen=True)
class Prefix(Wrapped):
    """The first `rounds` rounds of an algorithm: what an audit plays of a long horizon."""

    rounds: int

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """Rounds that are played."""
        return min(self.rounds, self.inner.horizon)

    def query(self, state: Own) -> Query:
        """As the algorithm underneath, cut at `rounds`."""
        query = super().query(state)
        left = np.maximum(self.horizon - state.t, 0)
        fits = query.rounds <= left
        return replace(query, rounds=np.minimum(query.rounds, left), complete=query.complete & fits)
