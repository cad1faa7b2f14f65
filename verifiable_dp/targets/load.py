"""What can be audited beside the catalogue: a user's `play`, `play_many`, `release` or `release_one`.

A target is named as an object, as ``file.py:name`` (its folder becomes importable), as
``package.module:name`` or, for another language, as a command (`process.Exec`).
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from verifiable_dp.core.filled import note_placed
from verifiable_dp.core.validate import Foreign, Function, InputError
from verifiable_dp.targets.source import code_of


def names(thing: object) -> bool:
    """Whether `thing` is what its module has under its name, so that a rerun in another process finds it."""
    found: Foreign = sys.modules.get(str(getattr(thing, "__module__", "")))
    for part in str(getattr(thing, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return found is not None and found is thing


def check_imported(thing: object, workers: int) -> None:
    """Refuse several processes for code whose module is being imported: each would audit it again.

    Raises
    ------
    InputError
        If it is.
    """
    module = str(getattr(code_of(thing), "__module__", ""))
    spec = getattr(sys.modules.get(module), "__spec__", None)
    if workers > 1 and getattr(spec, "_initializing", False):
        raise InputError(
            f"workers must be 1 for an audit that starts while the target's module {module!r} is being "
            'imported; put the audit under `if __name__ == "__main__":`'
        )


_FORMS = (
    "play(rewards, rng), play_many(rewards, n_runs, rng), release(data, size, rng) or release_one(data, rng)"
)
_COUNTS = ("size", "n_runs")  # the only names of the number of draws or runs
_ROLES = (*_COUNTS, "rng")  # they are filled even where the function has a default for them


def _parameters(function: Function[Foreign]) -> list[inspect.Parameter]:
    """What a call has to fill."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    filled = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        p
        for p in parameters
        if (p.kind in filled or p.kind is p.KEYWORD_ONLY) and (p.default is p.empty or p.name in _ROLES)
    ]


def kind_of(function: Function[Foreign]) -> str:
    """``play``, ``play_many``, ``release`` or ``release_one``, from the parameters.

    One or two are those of ``release_one`` if the data are called data, else of ``play``: code that gets no
    generator has its own. Three, one of them called size or n_runs, are those of
    ``release`` if the data are called data or another one size, else of ``play_many``. The data are the first
    that is not called rng, size or n_runs. Parameters with defaults do not count, except for these three.

    Raises
    ------
    InputError
        If they fit none of these, one of them has no value, or the function is a coroutine function or a
        generator function.
    """
    code = None if is_known(function, "driven") else code_of(function)
    for thing in (code, getattr(code, "__call__", None)):  # noqa: B004 - the method, not whether there is one
        for test, what in (
            (inspect.iscoroutinefunction, "a coroutine function (async def)"),
            (inspect.isasyncgenfunction, "an asynchronous generator function"),
            (inspect.isgeneratorfunction, "a generator function (yield)"),
        ):
            if test(thing):
                raise InputError(f"target must return its result when it is called, got {what}")
    needed = _parameters(function)
    names = [p.name for p in needed]
    by_name = [p.name for p in needed if p.kind is p.KEYWORD_ONLY]
    fits = all(name in _ROLES for name in by_name)
    data = next((name for name in names if name not in _ROLES), "")
    counted = not {*_COUNTS}.isdisjoint(names)
    if len(names) in (1, 2) and fits and data and not counted:
        return "release_one" if data == "data" else "play"
    if len(names) == 3 and fits and counted and sorted(_order(names)) == [0, 1, 2]:
        return "release" if "size" in names or data == "data" else "play_many"
    got = f"got parameters ({', '.join(names)})"
    if unset := _unset(names):
        raise InputError(
            f"target: parameter {' and parameter '.join(unset)} of {_name(function)} must have a value, "
            f"{got}; give {' '.join(f'--set {name}=VALUE' for name in unset)} (in Python parameters=); we "
            "pass the number of draws or runs only to a parameter called size or n_runs"
        )
    raise InputError(f"target must be {_FORMS}, {got}")


def _name(function: Function[Foreign]) -> str:
    code = code_of(function)
    return str(getattr(code, "__qualname__", code))


def _unset(names: Sequence[str]) -> list[str]:
    """Which of the parameters that a call has to fill are neither data nor the number of runs nor rng."""
    free = [name for name in names if name not in _ROLES]
    return [name for name in free[1:] if "rng" in names or name != names[-1]]


def given_to(function: Function[Foreign]) -> dict[str, str]:
    """What each parameter that a call has to fill gets, by name, in words."""
    names = [parameter.name for parameter in _parameters(function)]
    data = "the data" if kind_of(function).startswith("release") else "the rewards"
    number = "the number of draws of one call" if data == "the data" else "the number of runs of one call"
    words = (data, number, "a generator") if len(names) == 3 else (data, "a generator")
    return {name: words[place] for name, place in zip(names, _order(names), strict=True)}


class Wrapper:
    """Ours around a user's function. How code is called is read off wrappers, never off what users write.

    Attributes
    ----------
    driven
        Whether coroutine functions are run to their end.
    takes_contexts
        Whether the function gets contexts and rewards apart.
    one_at_a_time
        Whether each draw is a call of its own.
    """

    driven: bool = False
    takes_contexts: bool = False
    one_at_a_time: bool = False


def is_known(function: Function[Foreign], fact: str) -> bool:
    """Whether a fact of `Wrapper` holds of a function, here or in the process that has it."""
    found = function.facts.get(fact) if isinstance(function, Elsewhere) else None
    return found is True or (isinstance(function, Wrapper) and getattr(function, fact) is True)


class Elsewhere:
    """A function of another process, with what that has told of it."""

    facts: Mapping[str, object]


class Adapted(Wrapper):
    """A user's function in another form, as one that is called with (data, size, rng) and the like.

    Parameters
    ----------
    function
        The target.
    kind
        See `kind_of`.
    """

    def __init__(self, function: Function[Foreign], kind: str) -> None:
        self.function, self.kind = function, kind
        self.one_at_a_time = kind == "release_one"
        self.__wrapped__ = function
        parameters = _parameters(function)
        self.names = [p.name if p.kind is p.KEYWORD_ONLY else "" for p in parameters]
        self.order = _order([p.name for p in parameters])
        if hasattr(function, "neighbours"):
            self.neighbours = function.neighbours

    def __call__(self, data: Foreign, *rest: Foreign) -> Foreign:
        """What the function returns, in a list for each draw if it makes one draw a call."""
        if self.kind != "release_one":
            return self._call(data, *rest)
        size, rng = rest
        return [_as_returned(self.one(fresh(data), rng)) for _ in range(size)]

    def one(self, data: Foreign, rng: Foreign) -> Foreign:
        """What a function that makes one draw a call returns."""
        return self._call(data, rng)

    def _call(self, *values: Foreign) -> Foreign:
        kinds = ["data", *["public"] * (len(values) - 2), "generator"]
        note_placed(self.function, *(kinds[i] for i in self.order))
        given = [values[i] for i in self.order]
        positional = [v for v, name in zip(given, self.names, strict=True) if not name]
        return self.function(*positional, **{n: v for v, n in zip(given, self.names, strict=True) if n})


def _as_returned(value: Foreign) -> Foreign:
    """A copy of what holds values: code may change what it has returned when it runs again."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(map(_as_returned, value))
    return value.copy() if kind is np.ndarray else value


def _order(names: Sequence[str]) -> list[int]:
    """Which of (data, size, rng), or of (data, rng), each parameter is given: by its name, else its place."""
    last = max(len(names) - 1, 1)
    places = {"rng": last} | ({"size": 1, "n_runs": 1} if last == 2 else {})
    found = [places.get(name) for name in names]
    free = [place for place in range(last + 1) if place not in found]
    return [free.pop(0) if place is None else place for place in found]


def adapted(function: Function[Foreign]) -> tuple[str, Function[Foreign]]:
    """Kind of a target, ``play``, ``play_many`` or ``release``, and the target as the samplers call it.

    A mechanism that makes one draw a call is looped over; parameters called rng, size and n_runs are filled
    by name, in whatever order they stand.

    Raises
    ------
    InputError
        See `kind_of`.
    """
    kind, parameters = kind_of(function), _parameters(function)
    plain = all(p.kind is not p.KEYWORD_ONLY for p in parameters)
    if (
        kind != "release_one"
        and plain
        and len(parameters) > 1
        and _order([p.name for p in parameters]) == list(range(len(parameters)))
    ):
        return kind, function
    return kind.removesuffix("_one"), Adapted(function, kind)


def fresh(data: Foreign) -> Foreign:
    """Data that the target may change."""
    return data.copy() if isinstance(data, np.ndarray) else copy.deepcopy(data)
