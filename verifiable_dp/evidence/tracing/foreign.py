"""Plain runs of traced code, and where a run takes its randomness from.

The process-wide generators are legacy, and are handled here because users' code draws from them.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np

from verifiable_dp.core.limits import limited
from verifiable_dp.core.validate import FloatArray, Foreign, Function
from verifiable_dp.evidence.tracing.arrays import tainted
from verifiable_dp.evidence.tracing.ledger import Ledger

_ENTROPY = (
    "urandom",
    "getrandom",
    "getrandbits",
    "random",
    "time",
    "time_ns",
    "perf_counter",
    "uuid4",
    "getpid",
)
PYTHON_SEED = 20130501
Source = random.Random | np.random.BitGenerator
MODULES = {"np.random": np.random, "random": random}  # that draw from a generator of the process


@contextmanager
def reproducible_globals() -> Iterator[None]:
    """Give the process-wide generators a fixed state, and their own state back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(PYTHON_SEED)
    np.random.seed(20130501)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def global_states() -> tuple[object, ...]:
    """States of the process-wide generators, to be compared."""
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    return hash(random.getstate()), (state["state"]["pos"], state["state"]["key"].tobytes())


_KNOWN: list[Foreign] = []  # generators among what `settle` has set aside


def state_of(source: Source) -> object:
    """What can be compared, and put back."""
    return source.getstate() if isinstance(source, random.Random) else source.state


def noted(state: Foreign) -> object:
    """A state as what is compared by value; text would do, but printing an array takes milliseconds."""
    if isinstance(state, dict):
        return tuple((name, noted(value)) for name, value in state.items())
    if isinstance(state, np.ndarray):
        return state.dtype.str, state.shape, state.tobytes()
    return state if isinstance(state, int | float | str | tuple) else repr(state)


def bits_of(generator: np.random.Generator | np.random.RandomState) -> np.random.BitGenerator:
    """What a generator of NumPy's has its state in."""
    found: np.random.BitGenerator = getattr(generator, "bit_generator", None) or generator._bit_generator  # type: ignore[union-attr]
    return found


def wide() -> dict[str, Source]:
    """The generators of the process, by the module that draws from them."""
    numpy: Foreign = np.random.mtrand
    python: Foreign = random
    return {"np.random": numpy._rand._bit_generator, "random": python._inst}


def living(*kinds: type) -> list[Foreign]:
    """Every generator of these kinds in this process."""
    # Not isinstance: it asks what a weak proxy stands for, which may be gone.
    return [thing for thing in (*_KNOWN, *gc.get_objects()) if issubclass(type(thing), kinds)]


def settle() -> None:
    """Set aside all objects that there are: later searches and collections look at newer ones only.

    A process that has loaded much is searched in a tenth of a second, and each audit searches several times.
    """
    _KNOWN[:] = living(np.random.BitGenerator, random.Random)
    gc.freeze()


def plain_run(function: Function[Foreign], rewards: FloatArray, bits: np.random.BitGenerator) -> Foreign:
    """Call `function(rewards, rng)` with plain things, under fixed process-wide generators."""
    with limited(), reproducible_globals():
        return function(np.array(rewards), np.random.Generator(bits))


_FOLLOWED = ("numpy", "numba", "verifiable_dp", "builtins", *sys.stdlib_module_names)


@contextmanager
def watched_calls(ledger: Ledger) -> Iterator[None]:
    """Note where the traced code hands raw rewards to code that is not followed.

    That is a library's, or a user's file whose functions are not among the traced ones. What a library that
    is not written in Python is given does not show: its calls are noted as such.
    """

    def watch(frame: FrameType, event: str, argument: Foreign) -> None:
        if event == "call" and frame.f_back is not None and frame.f_back.f_code.co_filename in ledger.files:
            code = frame.f_code
            home = str(frame.f_globals.get("__name__", ""))
            if code.co_filename in ledger.files or home.partition(".")[0] in _FOLLOWED:
                return
            count = (
                code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
            )
            if tainted([frame.f_locals.get(name) for name in code.co_varnames[:count]]):
                ledger.leave(f"{home}.{code.co_qualname}")
        elif event == "c_call" and frame.f_code.co_filename in ledger.files:
            home = str(
                getattr(argument, "__module__", "") or type(getattr(argument, "__self__", None)).__module__
            )
            if home.partition(".")[0] not in _FOLLOWED:
                ledger.leave(f"{home}.{argument.__name__}, if it is given any")

    outer = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(outer if callable(outer) else None)


GIVEN = "the generator that we pass"


def sources(call: Callable[[np.random.Generator], object], bits: np.random.BitGenerator) -> tuple[str, ...]:
    """Where a run takes randomness from, as far as that shows: `GIVEN`, and names of other sources.

    Parameters
    ----------
    call
        Makes one run with a generator.
    bits
        Bit generator of the one that the run is given.
    """
    used: list[str] = []

    def watch(frame: FrameType, event: str, argument: Foreign) -> None:
        name = getattr(argument, "__name__", "") if event == "c_call" else ""
        module = str(
            getattr(argument, "__module__", "") or type(getattr(argument, "__self__", None)).__module__
        )
        if name in _ENTROPY and module in ("posix", "nt", "time", "_random", "random", "secrets"):
            used.append(f"{module}.{name}")

    before = [(thing, noted(thing.state)) for thing in living(np.random.BitGenerator)]
    mine = noted(bits.state)
    outer = sys.getprofile()
    with reproducible_globals():
        states = global_states()
        rng = np.random.Generator(bits)
        # A collection runs what others have to say of it: such callbacks read clocks.
        collecting = gc.isenabled()
        gc.disable()
        sys.setprofile(watch)
        try:
            call(rng)
        finally:
            sys.setprofile(outer if callable(outer) else None)  # a C profiler cannot be put back
            if collecting:
                gc.enable()
        if global_states() != states:
            used.append("a process-wide generator")
    if noted(bits.state) != mine:
        used.append(GIVEN)
    if any(noted(thing.state) != state for thing, state in before if thing is not bits):
        used.append("a generator of its own")
    return tuple(dict.fromkeys(used))
