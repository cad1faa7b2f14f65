"""What leaves audited code, read before anything converts it: which types and shapes it has, or a refusal.

Results of `release`, `play` and `play_many`, arms that are pulled or yielded and values of JSON pass here as
they are. An audit compares numbers, so whatever else a reader gets must have a number, too, or be refused.
Only exact types are taken: an object of a class may hold anything. They are known by their identity, as a
class can say that it equals another one.
"""

from __future__ import annotations

import functools
import math
import sys
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from verifiable_dp.core.validate import BoolArray, Foreign, InputError

EXACT = 1 << 53  # whole numbers up to here are floats
_CHARS = "?bBhHiIlLqQefdU"  # of the types of arrays
_ALL: list[type] = [bool, int, float, str, *(np.dtype(char).type for char in _CHARS)]
_KINDS = {id(kind): zlib.crc32(f"{kind.__module__}.{kind.__qualname__}".encode()) for kind in _ALL}
_LARGE = {id(kind) for kind in (int, *(np.dtype(char).type for char in "lLqQ"))}
_FLOATS = {id(kind) for kind in (float, *(np.dtype(char).type for char in "efd"))}
_TEXTS = {id(kind) for kind in (str, np.str_)}
# Of single arms.
WHOLE = {id(kind): _KINDS[id(kind)] for kind in _ALL if issubclass(kind, int | np.integer | np.bool_)}
_WORDS = ("inf", "-inf", "nan", "Infinity", "-Infinity", "NaN")  # floats that JSON has no number for
_NAN = 0x7FF8000000000000


_OF_NAMES = "return its values in an order that is always the same, without their names: list(x.values())"
_OF_OTHERS = "return its values as floats (numpy.asarray(x, float)) or as text"


class OddError(Exception):
    """Something of which an audit would not see everything.

    Parameters
    ----------
    part
        What it is.

    Attributes
    ----------
    instead
        What to return in its place.
    """

    def __init__(self, part: Foreign) -> None:
        kind = type(part)
        if kind is np.ndarray:
            words = f"an array of dtype {part.dtype}"
        else:
            words = f"{kind.__name__} {part!r:.40}" if id(kind) in _KINDS else kind.__name__
        super().__init__(f"{words}, which can tell a reader more than the audit sees")
        self.instead = _OF_NAMES if isinstance(part, Mapping) else _OF_OTHERS


class ReadOutputs(NamedTuple):
    """What an audit reads of a result.

    Attributes
    ----------
    made
        As an array, with a row for each run or draw.
    forms
        Of which types and shapes the rows are, as numbers; one number if all are alike.
    """

    made: Foreign
    forms: list[int]


class TypedArms(list[int]):
    """The arms of a run that were not all pulled as plain whole numbers.

    Attributes
    ----------
    forms
        Numbers for how they were, by round; none of plain ones.
    """

    __slots__ = ("forms",)
    forms: dict[int, int]

    @classmethod
    def of(cls, arms: Sequence[int], forms: dict[int, int]) -> TypedArms:
        """Arms, and how they were pulled."""
        made = cls(arms)
        made.forms = forms
        return made


More = Callable[[Foreign], int | None]


def form(value: Foreign, more: More | None = None) -> int:
    """A number for the type of something and the types, or the shape, of what is in it.

    Parameters
    ----------
    value
        As it is.
    more
        Numbers what else is accepted; None for what is not.

    Raises
    ------
    OddError
        If a reader sees more of it than that and the numbers or text.
    """
    kind = type(value)
    if kind is int and -EXACT <= value <= EXACT:  # most are
        return _KINDS[id(int)]
    if kind is list or kind is tuple:
        return _form_of_several(value, more)
    if kind is np.ndarray:
        return _form_of_array(value)
    number = _KINDS.get(id(kind))
    if more is not None and (number is None or id(kind) in _TEXTS):
        number = more(value)
    if number is None or not _is_exact([value], id(kind)):
        raise OddError(value)
    return number


def _numbered(*parts: object) -> int:
    return zlib.crc32(repr(parts).encode())


@functools.lru_cache(maxsize=1 << 10)
def _known(*parts: Hashable) -> int:
    """The same of words and whole numbers alone, that many results have."""
    return _numbered(*parts)


def _form_of_several(values: Sequence[Foreign], more: More | None) -> int:
    of = type(values).__name__
    alike = _alike(values, more)
    if alike is not None:
        return _known(of, len(values), alike)
    return _numbered(of, *[form(value, more) for value in values])


def _alike(values: Sequence[Foreign], more: More | None) -> int | None:
    """The number of the type that all values have, in little time; None if they do not or it is no number."""
    kinds = {*map(id, map(type, values))}
    if len(kinds) != 1 or (more is not None and not kinds.isdisjoint(_TEXTS)):
        return None
    (kind,) = kinds
    if kind in _KINDS and not _is_exact(values, kind):
        raise OddError(next(value for value in values if not _is_exact([value], kind)))
    return _KINDS.get(kind)


def _is_exact(values: Sequence[Foreign], kind: int) -> bool:
    """Whether nothing of numbers or texts of one type is lost in an array."""
    if kind in _LARGE:
        return int(min(values)) >= -EXACT and int(max(values)) <= EXACT
    if kind in _TEXTS:
        return not any("\0" in value for value in values)
    if kind not in _FLOATS:
        return True
    found = math.isnan(sum(values)) if kind == id(float) else np.isnan(np.max(np.array(values)))
    return not found or _is_plain(np.array(values))


def _is_plain(values: Foreign) -> bool:
    """Whether no float that is not a number holds anything in its other bits."""
    floats = values[np.isnan(values)].astype(np.float64)
    return bool((floats.view(np.uint64) & np.uint64((1 << 63) - 1) == _NAN).all())


def _form_of_array(values: Foreign) -> int:
    return _known(*_dtype_of(values), values.shape)


def _dtype_of(values: Foreign) -> tuple[str, str]:
    """The type of the entries of an array."""
    kind = values.dtype
    if kind.char not in _CHARS or kind.metadata is not None:
        raise OddError(values)
    if values.size and kind.char in "lLqQ":
        ends = [int(values.min()), int(values.max())]
        if max(map(abs, ends)) > EXACT:
            raise OddError(max(ends, key=abs))
    if values.size and kind.kind == "f" and np.isnan(values.max()) and not _is_plain(values):
        raise OddError(values)
    return kind.str, kind.char


def rows(result: Foreign, more: More | None = None) -> list[int]:
    """The forms of the rows of a result, with what holds them; one if all are alike.

    Raises
    ------
    OddError
        See `form`.
    """
    kind = type(result)
    if kind is np.ndarray:
        return [_numbered(*_dtype_of(result), result.shape[1:])]
    if kind is not list and kind is not tuple:
        return [form(result, more)]
    alike = _alike(result, more)
    each = [alike] if alike is not None else [form(one, more) for one in result]
    held = {one: _numbered(kind.__name__, one) for one in {*each}}
    return [held[one] for one in (each if len(held) > 1 else each[:1])]


def released(result: Foreign) -> ReadOutputs:
    """What a mechanism returns, as an array of which nothing is lost, and its types and shapes.

    Raises
    ------
    InputError
        If whoever gets it sees more than the audit does.
    """
    try:
        forms = rows(result)
    except OddError as odd:
        raise InputError(
            f"release must return plain numbers, text, or lists, tuples or arrays of these, got {odd}; "
            f"{odd.instead}"
        ) from None
    return ReadOutputs(np.asarray(result), forms)


def spoken(outputs: Foreign) -> ReadOutputs:
    """The same of values of JSON: null is no number, and floats that JSON does not have are words.

    Raises
    ------
    InputError
        If there is anything else, or rows are of several lengths.
    """
    words = 'exec: outputs must be numbers, null, "inf" or "-inf", or lists of these, all of the same length'
    try:
        forms = rows(outputs, _of_json)
        return ReadOutputs(np.array(outputs, dtype=np.float64), forms)  # null is NaN
    except OddError as odd:
        raise InputError(f"{words}; got {odd}") from None
    except (TypeError, ValueError):
        raise InputError(words) from None


def _of_json(value: Foreign) -> int | None:
    return _numbered(value) if value is None or (isinstance(value, str) and value in _WORDS) else None


def arms(
    result: Foreign, what: str, shape: tuple[int, ...], n_arms: int, hidden: int | None = None
) -> ReadOutputs:
    """The arms that a bandit returns, of one run (T,) or of several (n, T), as whole numbers.

    Parameters
    ----------
    result
        As it is.
    what
        Returned it, in errors.
    shape, n_arms
        Of the arms, and K.
    hidden
        A round of which nobody sees the arm, nor its type.

    Raises
    ------
    InputError
        If they are not arms, or whoever gets them sees more than the audit does.
    """
    try:
        made = np.asarray(result)
    except Exception:
        made = np.empty(0, object)
    if result is None:
        raise InputError(f"{what} must return arms of shape {shape}, got None; end it with `return arms`")
    if made.shape != shape:
        raise InputError(f"{what} must return arms of shape {shape}, got shape {made.shape}")
    try:
        forms = _forms_of_arms(result, len(shape) > 1, hidden)
    except OddError as odd:
        raise InputError(
            f"{what} must return plain numbers, or a list, tuple or array of them, got {odd}; return an array"
        ) from None
    if made.dtype.kind not in "iub":
        if made.dtype.kind != "f" or not np.array_equal(made, np.floor(made)):
            raise InputError(f"{what} must return integer arms, got dtype {made.dtype}")
        minus = np.signbit(made)
        if minus.any():  # zeros, too, have a sign
            signs = minus if hidden is None else np.delete(minus, hidden, axis=-1)
            forms = [_numbered(*forms, signs.tolist())] if len(shape) == 1 else _signed(forms, signs)
        made = made.astype(np.int64)
    if made.size and (made.min() < 0 or made.max() >= n_arms):
        raise InputError(
            f"{what} must return arms in 0 .. {n_arms - 1}, got values in [{made.min()}, {made.max()}]"
        )
    return ReadOutputs(made, forms)


def signed(number: int, value: Foreign) -> int:
    """The form of a number, or another one if it has a minus: zeros, too, have a sign."""
    return _numbered(number) if isinstance(value, float | np.floating) and np.signbit(value) else number


def _signed(forms: list[int], signs: BoolArray) -> list[int]:
    return [_numbered(forms[i % len(forms)], one) for i, one in enumerate(signs.tolist())]


def _forms_of_arms(result: Foreign, many: bool, hidden: int | None) -> list[int]:
    if type(result) is TypedArms:
        if type(result.forms) is not dict:
            raise OddError(result.forms)
        told = [[t, n] for t, n in result.forms.items() if t != hidden]
        return [_numbered(form(list(result)), form(told), told)]
    found = rows(result) if many else [form(result)]  # all of it is read, whatever is seen
    if hidden is None or type(result) is np.ndarray:
        return found
    return rows([_others(row, hidden) for row in result]) if many else [form(_others(result, hidden))]


def _others(row: Foreign, hidden: int) -> Foreign:
    """A run without the arm of one round; an array has one type of entries anyway."""
    return row if type(row) is np.ndarray else type(row)([*row[:hidden], *row[hidden + 1 :]])


def is_followed(kind: type) -> bool:
    """Whether objects of a class stand for numbers while code is followed."""
    module = str(kind.__module__)
    return module.startswith(_FOLLOWING) and getattr(sys.modules.get(module), kind.__qualname__, None) is kind


_FOLLOWING = ("verifiable_dp.evidence.tracing.", "verifiable_dp.evidence.symbolic.")


def of_followed(value: Foreign) -> int | None:
    """A number for what stands for numbers while code is followed; None for anything else."""
    return 0 if is_followed(type(value)) else _KINDS.get(id(type(value)))
