"""Sources of randomness beside the generator that a run is given, made to follow it.

Research code draws from ``np.random``, from the module ``random``, from a generator of its module or object,
from ``secrets``, in code that numba compiles. Runs of such code are repeated, and shared among processes, by
giving all these sources a state that follows from the generator of the run. What is seeded in a run, as
``default_rng(0)``, stays as it is seeded.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from verifiable_dp.core.kernels import kernel
from verifiable_dp.evidence.tracing.standin import scopes_of

_FOLLOWS = 0x5BA4  # domain of what follows from a run's generator
_DISCOVERY = 2  # calls that show which sources are drawn from: the first may make what the second uses
_MOST_REPEATS = 8  # of a batch in which further sources show
_URANDOM = os.urandom
_SEED = random.Random.seed
_LOCK = threading.RLock()

Made = Callable[[], np.random.Generator]
Call = Callable[[np.random.Generator], Any]
Run = Callable[[Made, Call], Any]


class _System:
    """The generator that stands for the system's randomness; None outside of runs."""

    rng: np.random.Generator | None = None


def _urandom(size: int) -> bytes:
    """``os.urandom`` in runs; NumPy seeds its generators from it where they are given no seed."""
    return _URANDOM(size) if _System.rng is None else _System.rng.bytes(size)


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    """``random.Random.seed`` in runs, which takes its entropy from the system by itself."""
    if a is None and _System.rng is not None:
        a = int(_System.rng.integers(2**63))
    _SEED(self, a, version)


@contextmanager
def _system_replaced(scopes: Sequence[dict[str, Any]]) -> Iterator[None]:
    """While it lasts, the system's randomness is that of `_System`, also by names in the user's modules."""
    replaced = [
        (scope, name)
        for scope in (vars(os), vars(random), *scopes)
        for name, value in scope.items()
        if value is _URANDOM
    ]
    for scope, name in replaced:
        scope[name] = _urandom
    random.Random.seed = _seed  # type: ignore[method-assign]
    try:
        yield
    finally:
        _System.rng = None
        random.Random.seed = _SEED  # type: ignore[method-assign]
        for scope, name in replaced:
            scope[name] = _URANDOM


def _sources() -> dict[int, Any]:
    """Every generator of this process: NumPy's bit generators and those of the module random."""
    # Not isinstance: it asks what a weak proxy stands for, which may be gone.
    kinds = (np.random.BitGenerator, random.Random)
    return {
        id(thing): thing
        for thing in gc.get_objects()
        if issubclass(type(thing), kinds) and not issubclass(type(thing), random.SystemRandom)
    }


def _state(source: Any) -> Any:
    """What can be compared, and put back by `_restore`."""
    return source.getstate() if isinstance(source, random.Random) else source.state


def _restore(source: Any, state: Any) -> None:
    if isinstance(source, random.Random):
        source.setstate(state)
    else:
        source.state = state


def _reseed(source: Any, rng: np.random.Generator) -> None:
    if isinstance(source, random.Random):
        _SEED(source, int(rng.integers(2**63)))
    else:
        source.state = type(source)(rng.integers(2**32, size=4).tolist()).state


class Follower:
    """Makes runs in which all sources of randomness follow the generator that the run is given.

    Parameters
    ----------
    function
        The target, whose modules may know the system's randomness by a name of their own.

    Attributes
    ----------
    compiled
        Whether its modules have code that numba compiles, which has a generator of its own.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._scopes = list(scopes_of(function).values())
        self._own: dict[int, Any] = {}  # what was seen to be drawn from
        self._others: dict[int, tuple[Any, str]] = {}  # what was not, with its state
        self.compiled = any(
            hasattr(value, "py_func") and type(value).__module__.startswith("numba")
            for scope in self._scopes
            for value in list(scope.values())
        )

    def batch(self, runs: Callable[[Run], Any]) -> Any:
        """What `runs(run)` returns, where `run(made, call)` returns `call(made())`.

        A call has to start from fresh data: some are made more than once, until all sources have shown.
        States of sources that were there before are put back afterwards.
        """
        with _LOCK:
            kept = [(source, _state(source)) for source in _sources().values()]
            try:
                with _system_replaced(self._scopes):
                    for _ in range(_MOST_REPEATS):
                        found = runs(self._run)
                        if not self._learnt():
                            break
                    return found
            finally:
                for source, state in kept:
                    if id(source) in self._own:
                        _restore(source, state)

    def _run(self, made: Made, call: Call) -> Any:
        if not self._others:
            for _ in range(_DISCOVERY):
                rng = made()
                self._watch(rng)
                self._begin(rng)
                call(rng)
                self._learnt()
            self._watch(rng)
        rng = made()
        self._begin(rng)
        return call(rng)

    def _watch(self, rng: np.random.Generator) -> None:
        self._others = {
            key: (source, repr(_state(source)))
            for key, source in _sources().items()
            if key not in self._own and source is not rng.bit_generator
        }

    def _learnt(self) -> bool:
        """Whether further sources were drawn from."""
        drawn = [key for key, (source, state) in self._others.items() if repr(_state(source)) != state]
        for key in drawn:
            self._own[key] = self._others.pop(key)[0]
        return bool(drawn)

    def _begin(self, rng: np.random.Generator) -> None:
        state: Any = rng.bit_generator.state["state"]
        words = [*state["key"].tolist(), *state["counter"].tolist()[1:], _FOLLOWS]
        follows = np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))
        for source in self._own.values():
            _reseed(source, follows)
        if self.compiled:
            _reseed_numba(int(follows.integers(2**32)))
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.manual_seed(int(follows.integers(2**63)))
        _System.rng = follows


@kernel
def _reseed_numba(seed: int) -> None:
    """The generator of compiled code, of which there is one for each thread."""
    np.random.seed(seed)  # noqa: NPY002


_FOLLOWERS: dict[int, tuple[Any, Follower]] = {}


def follower_of(function: Callable[..., Any]) -> Follower:
    """The follower of a target, which keeps in mind what the target draws from."""
    known = _FOLLOWERS.get(id(function))
    if known is None or known[0] is not function:
        known = _FOLLOWERS[id(function)] = (function, Follower(function))
    return known[1]


def alone(runs: Callable[[Run], Any]) -> Any:
    """As `Follower.batch`, of a target that draws from the given generator only."""
    return runs(lambda made, call: call(made()))
