"""Algorithms around others: what is audited or played of an algorithm, changed on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Noise, altered
from verifiable_dp.core.validate import FloatArray, IntArray


class Wrapped(Algorithm):
    """An algorithm around another one: everything is passed on unless a subclass changes it."""

    inner: Any

    def __getattr__(self, name: str) -> Any:
        """Parameters of the algorithm underneath."""
        # A compiled loop underneath knows nothing of the change around it.
        if name.startswith("__") or name in ("inner", "kernel"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the algorithm underneath."""
        return str(self.inner.name)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """K."""
        return int(self.inner.n_arms)

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """T."""
        return int(self.inner.horizon)

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return (float(self.inner.bounds[0]), float(self.inner.bounds[1]))

    @property
    def search_bounds(self) -> tuple[float, float]:
        """As the algorithm underneath."""
        limits: tuple[float, float] = self.inner.search_bounds
        return limits

    @property
    def claim(self) -> PrivacyClaim | None:
        """The promise of the algorithm underneath."""
        claim: PrivacyClaim | None = self.inner.claim
        return claim

    def start(self, run: IntArray) -> State:
        """As the algorithm underneath."""
        state: State = self.inner.start(run)
        return state

    def private(self, run: IntArray) -> Memory:
        """As the algorithm underneath."""
        memory: Memory = self.inner.private(run)
        return memory

    def query(self, state: Any) -> Query:
        """As the algorithm underneath."""
        query: Query = self.inner.query(state)
        return query

    def release(
        self, state: Any, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath."""
        result: tuple[Memory, FloatArray] = self.inner.release(state, memory, query, answer, noise)
        return result

    def decide(self, state: Any, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath."""
        after: State = self.inner.decide(state, query, released)
        return after

    def margin(self, state: Any) -> FloatArray | None:
        """As the algorithm underneath."""
        margin: FloatArray | None = self.inner.margin(state)
        return margin

    def output(self, state: Any) -> FloatArray:
        """As the algorithm underneath."""
        values: FloatArray = self.inner.output(state)
        return values


def with_parameters(algorithm: Any, **changes: Any) -> Any:
    """The same algorithm, mutant or not, with some parameters changed."""
    if isinstance(algorithm, Wrapped):
        wrapper: Any = algorithm  # a dataclass with the field `inner`
        return replace(wrapper, inner=with_parameters(algorithm.inner, **changes))
    return type(algorithm)(**{**algorithm.parameters, **changes})


def original(algorithm: Any) -> Any:
    """The algorithm under all wrappers, or the algorithm itself."""
    return original(algorithm.inner) if isinstance(algorithm, Wrapped) else algorithm


@dataclass(frozen=True)
class AlteredNoise(Wrapped):
    """An algorithm whose noise is changed on the way: scaled by `factor`, or drawn at other slots."""

    inner: Any
    factor: float = 1.0
    reslot: Callable[[IntArray], IntArray] | None = None

    def release(
        self, state: Any, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""
        return super().release(state, memory, query, answer, altered(noise, self.factor, self.reslot))


@dataclass(frozen=True)
class Prefix(Wrapped):
    """The first `rounds` rounds of an algorithm: what an audit plays of a long horizon."""

    inner: Any
    rounds: int

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """Rounds that are played."""
        return min(self.rounds, int(self.inner.horizon))

    def query(self, state: Any) -> Query:
        """As the algorithm underneath, cut at `rounds`."""
        query = super().query(state)
        left = np.maximum(self.horizon - state.t, 0)
        fits = query.rounds <= left
        return replace(query, rounds=np.minimum(query.rounds, left), complete=query.complete & fits)
