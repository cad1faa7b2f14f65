"""Whether a function is deterministic: plain runs, repeated, with an eye on every source of randomness.

The process-wide generators are legacy, and are handled here because users' code draws from them.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.evidence.tracing.ledger import same

REPEATS = 16
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


@contextmanager
def reproducible_globals() -> Iterator[None]:
    """Give the process-wide generators a fixed state, and their own state back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(20130501)
    np.random.seed(20130501)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def global_states() -> tuple[Any, Any]:
    """States of the process-wide generators, to be compared."""
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    return hash(random.getstate()), (state["state"]["pos"], state["state"]["key"].tobytes())


def _generators() -> dict[int, tuple[Any, str]]:
    """State of every bit generator of NumPy's in this process."""
    found = {}
    for thing in gc.get_objects():
        # Not isinstance: it asks what a weak proxy stands for, which may be gone.
        if issubclass(type(thing), np.random.BitGenerator):
            found[id(thing)] = (thing, repr(thing.state))
    return found


def plain_run(function: Callable[..., Any], rewards: FloatArray, bits: Any) -> Any:
    """Call `function(rewards, rng)` with plain things, under fixed process-wide generators."""
    with reproducible_globals():
        return function(np.array(rewards), np.random.Generator(bits))


def randomness(function: Callable[..., Any], rewards: FloatArray, bits: Callable[[], Any]) -> str:
    """Which source of randomness a plain run used; empty if none is seen."""
    source = bits()
    used: list[str] = []

    def watch(frame: Any, event: str, argument: Any) -> None:
        name = getattr(argument, "__name__", "") if event == "c_call" else ""
        module = str(
            getattr(argument, "__module__", "") or type(getattr(argument, "__self__", None)).__module__
        )
        if name in _ENTROPY and module in ("posix", "nt", "time", "_random", "random", "secrets"):
            used.append(f"{module}.{name}")

    before, mine = _generators(), repr(source.state)
    outer = sys.getprofile()
    with reproducible_globals():
        states = global_states()
        rng = np.random.Generator(source)
        sys.setprofile(watch)
        try:
            function(np.array(rewards), rng)
        finally:
            sys.setprofile(outer)
        if global_states() != states:
            used.append("a process-wide generator")
    if repr(source.state) != mine:
        used.append("the generator it is given")
    if any(repr(thing.state) != state for thing, state in before.values() if thing is not source):
        used.append("a generator of its own")
    return used[0] if used else ""


@dataclass(frozen=True)
class Confirmed:
    """What plain runs on both inputs say.

    Attributes
    ----------
    repeats
        Runs on each input.
    constant
        Whether all runs on one input returned the same.
    differs
        Whether the two inputs returned different things.
    source
        Which randomness was seen; empty if none.
    """

    repeats: int
    constant: bool
    differs: bool
    source: str


def confirm(
    function: Callable[..., Any], left: FloatArray, right: FloatArray, bits: Callable[[], Any]
) -> Confirmed:
    """Run plainly on both inputs, again and again, each time with another seed.

    Parameters
    ----------
    function
        `play(rewards, rng) -> actions`.
    left, right : (T, K) float
        Neighbouring rewards.
    bits
        Makes the bit generator.
    """
    source = randomness(function, left, bits) or randomness(function, right, bits)
    # In mixed order: what a target remembers of its last runs must not look like the input.
    order = [0, 1] * REPEATS
    random.Random(7).shuffle(order)
    first: dict[int, Any] = {}
    constant = True
    for number, world in enumerate(order):
        rewards = np.array((left, right)[world])
        out = function(rewards, np.random.Generator(np.random.Philox(number)))
        constant = constant and same(out, first.setdefault(world, out))
    return Confirmed(REPEATS, constant, not same(first[0], first[1]), source)
