"""The generator that a run is given, and all other sources of randomness, made to follow it.

Research code draws from ``np.random``, from the module ``random``, from a generator of its module or object,
from ``secrets``, in code that numba compiles. Runs of such code are repeated, and shared among processes, by
giving all these sources a state that follows from the generator of the run; those that have one state at the
start have one in each run. What is seeded in a run, as ``default_rng(0)``, stays as it is seeded. Which seeds
are secret is said by `seeds`.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from verifiable_dp.core.kernels import compiles, kernel
from verifiable_dp.core.validate import Foreign, Function, Given, Result, WordArray
from verifiable_dp.evidence.tracing.foreign import Source, living, noted, state_of
from verifiable_dp.evidence.tracing.reach import scopes_of
from verifiable_dp.targets.seeds import ADVICE, Origins, origins_of
from verifiable_dp.targets.source import code_of

_SPAWNED, _FOLLOWS = 0x5BA3, 0x5BA4  # domains of what follows from a run's key
_MOST_REPEATS = 8  # of a batch in which further sources show
_URANDOM = os.urandom
_SEED = random.Random.seed
_LOCK = threading.RLock()

# ---------------------------------------------------------------- the generator of a run


class ReadGenerator(np.random.Generator):
    """The generator of a run: its key is given, so that NumPy's own cannot spawn others of it."""

    _spawned = 0

    def words(self, domain: int) -> list[int]:
        """Entropy of what follows from the key, and not from what was drawn; a domain for each use."""
        state: Given = self.bit_generator.state["state"]
        return [*state["key"].tolist(), *state["counter"].tolist()[1:], domain]

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """As numpy's: generators with streams of their own, which follow from the key."""
        words = self.words(_SPAWNED)
        first, self._spawned = self._spawned, self._spawned + n_children
        numbers = range(first, self._spawned)
        return [self._child(np.random.SeedSequence(words, spawn_key=(number,))) for number in numbers]

    def _child(self, seed: np.random.SeedSequence) -> np.random.Generator:
        return type(self)(np.random.Philox(seed))


ReadGenerator.__name__ = "Generator"  # what Python calls it in an error of the code that got it


class ScaledGenerator(ReadGenerator):
    """A generator whose additive noise is multiplied by `factor`: the noise mutants of a user's code.

    Uniforms, integers and choices pass through.
    """

    factor = 1.0

    def _child(self, seed: np.random.SeedSequence) -> np.random.Generator:
        child = ScaledGenerator(np.random.Philox(seed))
        child.factor = self.factor
        return child

    def _scale(self, scale: Given) -> Foreign:
        return np.multiply(scale, self.factor)

    def laplace(self, loc: Given = 0.0, scale: Given = 1.0, size: Given = None) -> Foreign:
        """As numpy's, with the scale multiplied."""
        return super().laplace(loc, self._scale(scale), size)

    def normal(self, loc: Given = 0.0, scale: Given = 1.0, size: Given = None) -> Foreign:
        """As numpy's, with the scale multiplied."""
        return super().normal(loc, self._scale(scale), size)

    def gumbel(self, loc: Given = 0.0, scale: Given = 1.0, size: Given = None) -> Foreign:
        """As numpy's, with the scale multiplied."""
        return super().gumbel(loc, self._scale(scale), size)

    def logistic(self, loc: Given = 0.0, scale: Given = 1.0, size: Given = None) -> Foreign:
        """As numpy's, with the scale multiplied."""
        return super().logistic(loc, self._scale(scale), size)

    def exponential(self, scale: Given = 1.0, size: Given = None) -> Foreign:
        """As numpy's, with the scale multiplied."""
        return super().exponential(self._scale(scale), size)

    def geometric(self, p: Given, size: Given = None) -> Foreign:
        """As numpy's, with the decay (1 - p) raised to 1 / factor: the discrete form of less noise."""
        return super().geometric(-np.expm1(np.log1p(-np.asarray(p)) / self.factor), size)

    def standard_normal(self, *args: Given, **kwargs: Given) -> Foreign:
        """As numpy's, multiplied."""
        return self._scale(super().standard_normal(*args, **kwargs))

    def standard_exponential(self, *args: Given, **kwargs: Given) -> Foreign:
        """As numpy's, multiplied."""
        return self._scale(super().standard_exponential(*args, **kwargs))


def generator(key: WordArray, number: int, factor: float = 1.0) -> ReadGenerator:
    """The generator of run or shard `number` under `key`; its noise is scaled unless `factor` is 1."""
    bits = np.random.Philox(counter=[0, 0, number, 0], key=key)
    if factor == 1.0:
        return ReadGenerator(bits)
    scaled = ScaledGenerator(bits)
    scaled.factor = factor
    return scaled


_OWN_RNG = np.random.default_rng  # numpy's
_FACTOR: ContextVar[float] = ContextVar("factor", default=1.0)
_SCALING = threading.Lock()
_INSIDE: list[float] = []  # factors of the runs under way
_REPLACED: list[tuple[dict[str, object], str]] = []


def _seeded_rng(seed: Given = None) -> np.random.Generator:
    """`default_rng` of numpy in runs of mutants: what a target makes from a seed is scaled, too."""
    made = _OWN_RNG(seed)
    if _FACTOR.get() == 1.0 or seed is None or made is seed:  # without a seed no run can be repeated
        return made
    scaled = ScaledGenerator(made.bit_generator)
    scaled.factor = _FACTOR.get()
    return scaled


@contextmanager
def scaled_seeds(function: Function[Foreign], factor: float) -> Iterator[None]:
    """While `function` runs in this block, generators that it makes from seeds have scaled noise.

    It may know `default_rng` as numpy's or by a name in its module; other threads make theirs as ever.
    """
    if factor == 1.0:
        yield
        return
    code = code_of(function)
    module = vars(sys.modules.get(str(code.__module__), np.random))
    token = _FACTOR.set(factor)
    with _SCALING:
        _INSIDE.append(factor)
        for names in (vars(np.random), getattr(code, "__globals__", module)):
            found = [name for name, value in names.items() if value is _OWN_RNG]
            _REPLACED.extend((names, name) for name in found)
            names.update(dict.fromkeys(found, _seeded_rng))
    try:
        yield
    finally:
        _FACTOR.reset(token)
        with _SCALING:
            _INSIDE.remove(factor)
            while _REPLACED and not _INSIDE:
                names, name = _REPLACED.pop()
                names[name] = _OWN_RNG


# ---------------------------------------------------------------- all others

Made = Callable[[], ReadGenerator]
Call = Callable[[ReadGenerator], Foreign]
Run = Callable[[Made, Call], Foreign]


class _System:
    """The generator that stands for the system's randomness; None outside of runs."""

    rng: np.random.Generator | None = None


def _urandom(size: int) -> bytes:
    """``os.urandom`` in runs; NumPy seeds its generators from it where they are given no seed."""
    return _URANDOM(size) if _System.rng is None else _System.rng.bytes(size)


def _seed(self: random.Random, a: Given = None, version: int = 2) -> None:
    """``random.Random.seed`` in runs, which takes its entropy from the system by itself."""
    if a is None and _System.rng is not None:
        a = int(_System.rng.integers(2**63))
    _SEED(self, a, version)


@contextmanager
def _system_replaced(scopes: Sequence[dict[str, object]]) -> Iterator[None]:
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


def _sources() -> list[Source]:
    """Every generator of this process that has a state."""
    found = living(np.random.BitGenerator, random.Random)
    return [source for source in found if not isinstance(source, random.SystemRandom)]


def _restore(source: Source, state: Given) -> None:
    if isinstance(source, random.Random):
        source.setstate(state)
    else:
        source.state = state


def as_found(function: Function[Foreign]) -> Callable[[], None]:
    """What puts generators that a target keeps, and those of the process, back into their states of now."""
    kept = [(source, state_of(source)) for source in origins_of(function).places.values()]

    def put_back() -> None:
        for source, state in kept:
            _restore(source, state)

    return put_back


def _reseed(source: Source, rng: np.random.Generator) -> None:
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

    def __init__(self, function: Function[Foreign]) -> None:
        self.function = function
        self._scopes = list(scopes_of(function).values())
        self._found = False  # whether it was looked what is drawn from
        self._own: list[Source] = []  # what was seen to be drawn from
        self._others: list[tuple[Source, object]] = []  # what was not, with its state
        self._alike: dict[int, object] = {}  # what is the same for generators of one state, by identity
        self.origins = Origins({})
        self.start(Origins({}))
        self.compiled = any(compiles(value) for scope in self._scopes for value in list(scope.values()))

    def start(self, origins: Origins) -> None:
        """Take generators with one state at the start for what they are: they draw the same."""
        self.origins = origins
        self._alike = {id(source): origins.state(source) for source in _sources()}

    def doubts(self) -> list[str]:
        """Why seeds of what was drawn from are no secret, or not independent of each other."""
        fixed = [f"{why}{ADVICE}" for why in dict.fromkeys(map(self.origins.doubted, self._own)) if why]
        return [*fixed, *self.origins.shifted(self._own)]

    def batch(self, runs: Callable[[Run], Result]) -> Result:
        """What `runs(run)` returns, where `run(made, call)` returns `call(made())`.

        A call has to start from fresh data: some are made more than once, until all sources have shown.
        States of sources that were there before are put back afterwards.
        """
        with _LOCK:
            known = [*self._own, *(source for source, _ in self._others)]
            kept = [(source, state_of(source)) for source in (known if self._found else _sources())]
            # What others draw between two batches, such as names of files, is not the code's.
            self._others = [(source, noted(state_of(source))) for source, _ in self._others]
            try:
                with _system_replaced(self._scopes):
                    for _ in range(_MOST_REPEATS):
                        found = runs(self._run)
                        if not self._learnt():
                            break
                    return found
            finally:
                for source, state in kept:
                    if any(source is own for own in self._own):
                        _restore(source, state)

    def _run(self, made: Made, call: Call) -> Foreign:
        if not self._found:
            self._find(made, call)
        rng = made()
        self._begin(rng)
        return call(rng)

    def _find(self, made: Made, call: Call) -> None:
        """Look what is drawn from, and from then on watch what was not."""
        rng = made()
        self._watch(rng)
        self._begin(rng)
        call(rng)
        self._learnt()
        _System.rng = None  # which is no source of the code's
        self._watch(rng)
        self._found = True

    def _watch(self, rng: ReadGenerator) -> None:
        known = {id(source) for source in (rng.bit_generator, *self._own)}
        self._others = [(source, noted(state_of(source))) for source in _sources() if id(source) not in known]

    def _learnt(self) -> bool:
        """Whether further sources were drawn from."""
        drawn = [(source, noted(state_of(source)) != state) for source, state in self._others]
        self._own += [source for source, changed in drawn if changed]
        self._others = [one for one, (_, changed) in zip(self._others, drawn, strict=True) if not changed]
        return any(changed for _, changed in drawn)

    def _begin(self, rng: ReadGenerator) -> None:
        follows = np.random.Generator(np.random.Philox(np.random.SeedSequence(rng.words(_FOLLOWS))))
        begun: dict[object, object] = {}
        for source in self._own:
            alike = self._alike.get(id(source), id(source))
            if alike in begun:
                _restore(source, begun[alike])
            else:
                _reseed(source, follows)
                begun[alike] = state_of(source)
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


_FOLLOWERS: deque[Follower] = deque(maxlen=32)  # of the targets of an audit, and of their variants


def follower_of(function: Function[Foreign]) -> Follower:
    """The follower of a target, which keeps in mind what the target draws from."""
    found = next((one for one in _FOLLOWERS if one.function is function), None)
    if found is None:
        found = Follower(function)
        _FOLLOWERS.append(found)
    return found


def alone(runs: Callable[[Run], Result]) -> Result:
    """As `Follower.batch`, of a target that draws from the given generator only."""
    return runs(lambda made, call: call(made()))
