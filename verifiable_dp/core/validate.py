"""Checks of arguments, made once, at construction."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
WordArray = npt.NDArray[np.uint64]
# Any has a name wherever it stands, which says why.
Json = Mapping[str, Any]  # type: ignore[explicit-any]  # from a record or file, whose schema says what is in it
JsonDict = dict[str, Any]  # type: ignore[explicit-any]  # the same while it is made
JsonValue = Any  # type: ignore[explicit-any]  # one value in it
Result = TypeVar("Result")
_Given = ParamSpec("_Given")
Function = Callable[..., Result]  # type: ignore[explicit-any]  # of arguments that only who calls it knows
Given = Any  # type: ignore[explicit-any]  # what a caller passes, before it is checked
Foreign = Any  # type: ignore[explicit-any]  # users' code, what it makes, and what stands in for what it asks for
PLAIN_NUMBERS = (int, float, np.number)  # kept as tuples: a union made at each test calls the audit hooks
NUMBERS_OR_BITS = (*PLAIN_NUMBERS, np.bool_)
Numbers = Any  # type: ignore[explicit-any]  # a float or an array: formulas serve listings and compiled loops


class InputError(ValueError):
    """Unusable input; the message names the argument and the accepted range, on one line."""


_ALIASES = {"arms": "n_arms", "k": "n_arms", "t": "horizon", "rounds": "horizon", "set": "parameters"}


def arguments(function: Function[object]) -> list[str]:
    """Names of all arguments that a function takes, its options included."""
    kinds = get_type_hints(function)
    found = []
    for name, one in inspect.signature(function).parameters.items():
        options = one.kind is one.VAR_KEYWORD and get_args(kinds.get(name))
        found += list(options[0].__annotations__) if options else [name]
    return found


def instead(name: str, known: Iterable[str]) -> str:
    """The known name that an unknown one may stand for, as a question; else all that there are.

    Options of commands have other names.
    """
    names = [*known]
    near = [_ALIASES.get(name.lower(), ""), *difflib.get_close_matches(name, names, n=1)]
    found = next((word for word in near if word in names), "")
    return f"did you mean {found}?" if found else f"accepted: {', '.join(names)}"


def named_arguments(function: Callable[_Given, Result]) -> Callable[_Given, Result]:
    """A public function that refuses arguments by names that it does not have, as it refuses values.

    Raises
    ------
    InputError
        When it is called so: the first such name, and what may have been meant.
    """

    @functools.wraps(function)
    def called(*given: _Given.args, **more: _Given.kwargs) -> Result:
        if not more.keys() <= inspect.signature(function).parameters.keys():
            known = arguments(function)
            for name in more:
                if name not in known:
                    raise InputError(
                        f"{function.__name__}() has no argument {name!r}; {instead(name, known)}"
                    )
        return function(*given, **more)

    return called


# What is not seen, or steers what shows it: controls but line feed and tab, what turns the direction of a
# line, what has no width, and halves of characters.
UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Services take ``##[`` and ``##vso[`` for commands, wherever they stand in a line.
_STEERING = re.compile(rf"[{UNSEEN}]|(?<=##)\[|(?<=##vso)\[")
_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})
_LONGEST = 500  # characters of an error's message
_MOST_WORKERS = 1024
_LARGEST = 2**63 - 1
_LARGEST_EXPONENT = 150


def printable(text: str) -> str:
    """`text` with characters that are not seen, or steer what shows them, written as escapes."""
    return _STEERING.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return "\\x5b" if found[0] == "[" else found[0].encode("unicode_escape").decode("ascii")


def on_one_line(text: str) -> str:
    """As `printable`, with line breaks and tabs as escapes, too."""
    return printable(text).translate(_BREAKS)


def named(text: object) -> str:
    """The name of something within a line: quoted where it could be taken for words of the line."""
    return shlex.quote(on_one_line(str(text)))


def one_line(error: BaseException) -> str:
    """Type and message of an error, without line breaks and control characters."""
    try:
        message = printable(" ".join(str(error).split()))
    except Exception:  # a user's own exception may have a message that cannot be made
        message = "(its message cannot be read)"
    return f"{type(error).__name__}: {message if len(message) <= _LONGEST else message[:_LONGEST] + '…'}"


def _number(name: str, value: Given, accepted: str) -> float:
    if isinstance(value, bool | str) or value is None:
        raise InputError(f"{name} must be a number {accepted}, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} must be a number {accepted}, got one too large for a float") from None
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number {accepted}, got {value!r}") from None


def positive(name: str, value: Given) -> float:
    """Return `value` as a finite float above 0."""
    number = _number(name, value, "in (0, inf)")
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} must be finite and greater than 0, got {value!r}")
    return number


def factor(name: str, value: Given) -> float:
    """Return `value` as a finite float above 1."""
    number = _number(name, value, "in (1, inf)")
    if not (math.isfinite(number) and number > 1):
        raise InputError(f"{name} must be finite and greater than 1, got {value!r}")
    return number


def exponent(epsilon: float) -> float:
    """Return `epsilon` if e^epsilon and its square can be computed, at a few times this value, too."""
    if epsilon > _LARGEST_EXPONENT:
        raise InputError(
            f"epsilon must be at most {_LARGEST_EXPONENT} with `sequential`, `curve` or `rho`, whose tests "
            f"compute e^epsilon, got {epsilon:g}"
        )
    return epsilon


def probability(name: str, value: Given) -> float:
    """Return `value` as a float in the open interval (0, 1)."""
    number = _number(name, value, "in (0, 1)")
    if not 0 < number < 1:
        raise InputError(f"{name} must lie in the open interval (0, 1), got {value!r}")
    return number


def delta(value: Given) -> float:
    """Return `value` as a float in [0, 1)."""
    number = _number("delta", value, "in [0, 1)")
    if not 0 <= number < 1:
        raise InputError(f"delta must lie in [0, 1), got {value!r}")
    return number


def integer(name: str, value: Given, *, least: int, most: int | None = None) -> int:
    """Return `value` as an int with `least <= value <= most`; sizes, unlike seeds, have 64 bits."""
    if most is None and name != "seed" and isinstance(value, int | float) and value > _LARGEST:
        most = _LARGEST
    accepted = f"an integer of at least {least}" if most is None else f"an integer in [{least}, {most}]"
    # A horizon may be 1e6; what is the length of an array may not.
    whole = isinstance(value, int | np.integer) or (
        isinstance(value, float) and value.is_integer() and name != "n_arms"
    )
    if isinstance(value, bool) or not whole:
        raise InputError(f"{name} must be {accepted}, got {value!r}")
    if value < least or (most is not None and value > most):
        raise InputError(f"{name} must be {accepted}, got {value!r}")
    return int(value)


def workers(value: Given) -> int:
    """Return `value` as a number of processes that one machine may start."""
    return integer("workers", value, least=1, most=_MOST_WORKERS)


def arms_and_horizon(n_arms: Given, horizon: Given) -> tuple[int, int]:
    """Return (K, T) with K >= 2 and T >= K."""
    arms = integer("n_arms", n_arms, least=2)
    rounds = integer("horizon", horizon, least=1)
    if rounds < arms:
        raise InputError(f"horizon must be at least n_arms = {arms}, got {rounds}")
    return arms, rounds


def beta(algorithm: Given) -> None:
    """Set the failure probability of a frozen algorithm to 1/T if it is None; refuse it outside (0, 1)."""
    if algorithm.beta is None:
        object.__setattr__(algorithm, "beta", 1.0 / algorithm.horizon)
    probability("beta", algorithm.beta)


def bounds(name: str, value: Given) -> tuple[float, float]:
    """Return (low, high), finite, low < high."""
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be two numbers LOW HIGH, got {value!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"{name} must be finite with LOW < HIGH, got {value!r}")
    return low, high


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of `allowed`."""
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return str(value)


def rewards(name: str, value: Given, within: tuple[float, float], ndim: int | None = None) -> FloatArray:
    """Return `value` as a float array without NaN, inside the closed interval `within`."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, got {type(value).__name__}") from None
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{name} must have {ndim} dimensions, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must not contain NaN or infinite values")
    low, high = within
    if array.size and (array.min() < low or array.max() > high):
        raise InputError(
            f"{name} must lie within the declared bounds [{low:g}, {high:g}], "
            f"got values in [{array.min():g}, {array.max():g}]"
        )
    return array
