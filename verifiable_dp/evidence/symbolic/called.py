"""How the code of a bound has to be called: alone, and with a generator that nobody else knows."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from contextlib import suppress
from types import CodeType

import numpy as np

from verifiable_dp.core.filled import Filled
from verifiable_dp.core.limits import limited
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge.replay import alike
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.states import as_now, lending
from verifiable_dp.evidence.tracing.foreign import living, plain_run, reproducible_globals


def taken_of_calls(program: Program, scopes: Foreign, coverage: Coverage) -> tuple[Taken, ...]:
    """What a bound takes for granted of how the code is called."""
    asked = [(Taken.ONE_AT_A_TIME, _lends(program, scopes, coverage.steps))]
    asked.append((Taken.GENERATOR_GIVEN, _is_known_by_default(program, scopes, coverage.filled)))
    return tuple(taken for taken, needed in asked if needed)


def _is_known_by_default(program: Program, scopes: Foreign, filled: Filled) -> bool:
    """Whether others may know what code draws that is called with a seed, or without a generator."""
    for function in scopes.functions:
        kinds = filled.get(function.__code__, {})
        given = inspect.signature(function, follow_wrapped=False).parameters
        defaults = [one.default for name, one in given.items() if kinds.get(name) == "generator"]
        if "seed" in kinds.values() or any(isinstance(default, _SEEDS) for default in defaults):
            return True
        if None in defaults and _repeats(program, scopes):
            return True
    return False


def _repeats(program: Program, scopes: Foreign) -> bool:
    """Whether runs of new processes are alike that are given None for a generator, and others are not.

    Generators that the code keeps are where they are now, as in a process in which nothing has drawn yet.
    """
    data, shown, put_back = program.values(0), dict[bool, list[Foreign]](), as_now(scopes)
    begun = [(bits, bits.state) for bits in living(np.random.BitGenerator)]
    with suppress(Exception), limited(), reproducible_globals():  # not all adapters take it
        for given in (False, True):
            for number in range(_RUNS):
                put_back()
                for bits, state in begun:
                    bits.state = state
                rng = np.random.default_rng(number) if given else None
                shown.setdefault(given, []).append(program.seen(program.function(data.copy(), rng)))
    same = [all(alike(runs[0], one) for one in runs[1:]) for runs in shown.values()]
    return same == [True, False]


_RUNS = 8
_SEEDS = (int, str, tuple, list, np.random.Generator, np.random.RandomState)


def _lends(program: Program, scopes: Foreign, codes: Iterable[CodeType]) -> bool:
    """Whether a run changes for a while what is kept, where a call in another thread may see it."""
    for number in range(2):
        with lending(scopes, codes) as found, suppress(Exception):
            plain_run(program.function, program.values(number), np.random.Philox(number))
        if found:
            return True
    return False
