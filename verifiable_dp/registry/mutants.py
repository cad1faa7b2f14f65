"""Operators that put a fault into an algorithm; auditors declare their mutants with them.

``gap_times(8)``, for example, returns the function that a `Mutant` needs to make its broken variant. The
operators of the mutation suite, which work on any algorithm, are in `selfcheck.operators`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.noise import Noise, altered
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, Function, Given, IntArray
from verifiable_dp.registry.wrapped import AlteredNoise, Listed, Wrapped, original, with_parameters

Make = Callable[[Listed], Algorithm]

# ---------------------------------------------------------------- what a listing says


def given(**parameters: Given) -> Make:
    """Change parameters of the algorithm, such as ``variant="printed"``."""
    return lambda algorithm: with_parameters(algorithm, **parameters)


def rebuilt(kind: type[Algorithm]) -> Make:
    """Play a broken class with the parameters of the algorithm."""
    return lambda algorithm: kind(**algorithm.parameters)


def mixed(mixin: type) -> Make:
    """Replace methods of the algorithm by those of a class."""

    def make(algorithm: Algorithm) -> Algorithm:
        """The same algorithm with what is changed."""
        return _mixed(mixin, type(algorithm))(**algorithm.parameters)

    return make


@functools.cache
def _mixed(mixin: type, kind: type[Algorithm]) -> type[Algorithm]:
    body = {"kernel": property(_none), "__module__": __name__, "__doc__": mixin.__doc__}
    return type(kind.__name__, (mixin, kind), body)


def result(name: str, change: Function[object], *, compiled: bool = False) -> Make:
    """Change what a property or method returns.

    Parameters
    ----------
    name
        Of the property or method.
    change
        `change(rule, value, *arguments)` gives what is returned instead of `value`.
    compiled
        Whether the compiled loop reads `name` too. If not, the mutant is played without the loop.
    """

    def make(algorithm: Algorithm) -> Algorithm:
        """The same algorithm with what is changed."""
        return _changed(type(algorithm), name, change, compiled)(**algorithm.parameters)

    return make


@functools.cache
def _changed(kind: type[Algorithm], name: str, change: Function[object], compiled: bool) -> type[Algorithm]:
    def read(self: Algorithm) -> object:
        return change(self, getattr(super(broken, self), name))

    def call(self: Algorithm, *arguments: object) -> object:
        return change(self, getattr(super(broken, self), name)(*arguments), *arguments)

    own = inspect.getattr_static(kind, name)
    new = property(read) if isinstance(own, property | functools.cached_property) else call
    body = {name: new, "__module__": __name__, "__doc__": f"{kind.__name__} with another {name}."}
    if not compiled:
        body["kernel"] = property(_none)
    broken = type(kind.__name__, (kind,), body)
    return broken


def _none(algorithm: Algorithm) -> NoReturn:
    raise AttributeError("kernel")


def borrowed(other: Callable[[Listed], Algorithm], *names: str) -> Make:
    """Take the methods `names` from another algorithm, `other(rule)`."""
    known = functools.cache(other)

    def take(name: str) -> Function[object]:
        def change(rule: Listed, value: object, *arguments: object) -> object:
            found = getattr(known(rule), name)
            return found(*arguments) if arguments else found

        return change

    return chained(*(result(name, take(name)) for name in names))


def chained(*makes: Make) -> Make:
    """Apply several operators in turn."""

    def make(algorithm: Algorithm) -> Algorithm:
        """The same algorithm with what is changed."""
        for change in makes:
            algorithm = change(algorithm)
        return algorithm

    return make


# ---------------------------------------------------------------- decisions


@dataclass(frozen=True)
class ChangedRelease(Wrapped):
    """An algorithm whose decisions see `change(state, query, released)` in place of the releases.

    With `asked` they also see `asked(query)` in place of the block.
    """

    change: Callable[[Own, Query, FloatArray], FloatArray]
    asked: Callable[[Query], Query] | None = None

    def decide(self, state: Own, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath, of the changed releases."""
        changed = self.change(state, query, released)
        return super().decide(state, query if self.asked is None else self.asked(query), changed)

    def margin(self, state: Own) -> None:
        """Unknown."""
        return


def decided_by(
    change: Callable[[Own, Query, FloatArray], FloatArray], asked: Callable[[Query], Query] | None = None
) -> Make:
    """Let decisions see `change(state, query, released)` in place of the releases."""
    return lambda algorithm: ChangedRelease(algorithm, change, asked)


def gap_times(factor: float) -> Make:
    """Make an elimination remove arms at `factor` times the gap of its listing."""
    return result("plan", lambda rule, plan, state: (plan[0], factor * plan[1]))


def epochs_times(factor: Callable[[Listed], float]) -> Make:
    """Make the epochs of an elimination `factor(rule)` times as long as its listing says."""

    def change(rule: Listed, plan: tuple[FloatArray, FloatArray], state: Own) -> tuple[IntArray, FloatArray]:
        return np.ceil(plan[0] * factor(rule)).astype(np.int64), plan[1]

    return result("plan", change)


INVERTED: Make = result("compared", lambda rule, compared, *at: -compared)  # the best arms look worst

# ---------------------------------------------------------------- noise


def noise_times(factor: float | Callable[[Listed], float]) -> Make:
    """Multiply all noise by `factor`, or by `factor(rule)` of the correct algorithm."""
    if callable(factor):
        return lambda algorithm: AlteredNoise(algorithm, factor(original(algorithm)))
    return lambda algorithm: AlteredNoise(algorithm, factor)


def shared(slot: Callable[[Listed, IntArray], IntArray]) -> Make:
    """Share one draw between all slots that `slot(rule, slots)` maps to the same number."""

    def make(algorithm: Algorithm) -> Algorithm:
        """The same algorithm with what is changed."""
        rule = original(algorithm)
        return AlteredNoise(algorithm, reslot=lambda slots: slot(rule, slots))

    return make


# Of releases whose slots are epoch K + arm.
SHARED_BY_ARMS = shared(lambda rule, slot: slot // rule.n_arms)
SHARED_BY_EPOCHS = shared(lambda rule, slot: slot % rule.n_arms)


@dataclass(frozen=True)
class VaryingNoise(Wrapped):
    """An algorithm whose visible noise is multiplied by `factor(rule, state, query)`, broadcast to (n, K)."""

    factor: Callable[[Listed, Own, Query], FloatArray]

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""
        factor = self.factor(original(self), state, query)
        return super().release(state, memory, query, answer, altered(noise, factor))


def noise_by(factor: Callable[[Listed, Own, Query], FloatArray]) -> Make:
    """Multiply visible noise by `factor(rule, state, query)`."""
    return lambda algorithm: VaryingNoise(algorithm, factor)


# Sums get the noise that is meant for means.
MEAN_NOISE = noise_by(lambda rule, state, query: 1 / np.maximum(query.pulls(), 1))


# ---------------------------------------------------------------- rewards


@dataclass(frozen=True)
class Accumulated:
    """Private side of an algorithm that does not forget.

    Attributes
    ----------
    inner
        What it keeps anyway.
    sums : (n, K) float
        Rewards of each arm in all blocks so far.
    count : (n, K) int
        Pulls in them.
    """

    inner: Memory
    sums: FloatArray
    count: IntArray

    def take(self, index: IntArray) -> Accumulated:
        """The rows `index`."""
        return Accumulated(self.inner.take(index), self.sums[index], self.count[index])


@dataclass(frozen=True)
class Unforgetting(Wrapped):
    """Means are over all blocks so far, each released with the noise of one block."""

    def private(self, run: IntArray) -> Memory:
        """Nothing yet."""
        shape = (len(run), self.n_arms)
        return Accumulated(super().private(run), np.zeros(shape), np.zeros(shape, np.int64))

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums since the start, scaled to the pulls of this block."""
        sums, count = memory.sums + answer, memory.count + query.pulls()
        after, released = super().release(state, memory.inner, query, sums, noise)
        return Accumulated(after, sums, count), released * query.pulls() / np.maximum(count, 1)


@dataclass(frozen=True)
class Untruncated(Wrapped):
    """Rewards are summed as they are, with the noise of truncated ones."""

    def query(self, state: Own) -> Query:
        """Asks for plain sums."""
        return replace(super().query(state), ask=None)
