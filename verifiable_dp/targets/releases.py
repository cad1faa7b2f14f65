"""Runs of a user's mechanism."""

from __future__ import annotations

import contextlib
import functools
import math
import zlib
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from verifiable_dp.core.noise import key_of
from verifiable_dp.core.outputs import EXACT
from verifiable_dp.core.validate import FloatArray, Foreign, Function, InputError, IntArray, JsonDict
from verifiable_dp.evidence.blackbox.events import Observation, action_columns
from verifiable_dp.evidence.blackbox.observations import OutputName
from verifiable_dp.evidence.blackbox.test import TUNE
from verifiable_dp.targets.far import is_process, there
from verifiable_dp.targets.line import EndedError
from verifiable_dp.targets.load import fresh, is_known
from verifiable_dp.targets.randomness import ReadGenerator, Run, alone, follower_of, generator, scaled_seeds
from verifiable_dp.targets.sampling import (
    ANOTHER_FORM,
    FORM,
    Both,
    SeenRuns,
    call_target,
    is_table,
    process_seeds,
    read_rows,
    turns,
)

_COLUMNS, _FEW = 52, 256  # columns that are told apart, and least number of texts that say if they recur
_EDGE = 2.0**40  # codes of what is not a whole number lie beyond it


@dataclass(frozen=True, eq=False)
class DataPair:
    """Two neighbouring data sets for a `release` mechanism."""

    left: Foreign
    right: Foreign

    def worlds(self) -> tuple[Foreign, Foreign]:
        """Both."""
        return self.left, self.right

    def describe(self) -> str:
        """In one line."""
        return f"data {_short(self.left)} against {_short(self.right)}"

    def as_dict(self) -> JsonDict:
        """Plain values."""
        return {
            "type": "data",
            "left": np.asarray(self.left).tolist(),
            "right": np.asarray(self.right).tolist(),
            "words": self.describe(),
        }


def _short(value: object) -> str:
    text = np.array2string(np.asarray(value), threshold=8, separator=", ")
    return " ".join(text.split())


@dataclass(frozen=True)
class ReleaseSampler(SeenRuns):
    """Samples a mechanism `release(data, size, rng) -> (size, ...)`.

    Parameters
    ----------
    function
        The mechanism.
    seed
        Of the audit.
    factor
        Of the noise, for mutants.
    shard, rows, timeout, followed
        See `PlaySampler`; `rows` are draws.
    texts
        Some of the texts that were released in this process, by the numbers that stand for them.
    """

    function: Function[Foreign]
    seed: int
    factor: float = 1.0
    shard: int = 1 << 17
    rows: int | None = None
    timeout: float = math.inf
    followed: bool = False
    texts: dict[int, str] = field(default_factory=dict, compare=False)
    beside: ClassVar[int] = 2  # which of them are texts; their types and shapes

    @property
    def together(self) -> bool:
        """Whether a call makes several draws, so that they may depend on each other."""
        return self.rows is None and not is_known(self.function, "one_at_a_time")

    @there(read_rows)
    def values(self, data: Foreign, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs (n, m) as floats; text stands for the number that it writes, or else for its CRC-32.

        Raises
        ------
        InputError
            If the function raises, or does not return numbers or text with a leading axis of `size`.
        """
        return self._made(data, path, runs)[:, : -self.beside]

    def _made(self, data: Foreign, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """As `values`, with two columns more: bits of the columns that are texts, and types and shapes."""
        size = self.rows or max(len(runs), 1)
        parts = [self._part(data, path, runs[i : i + size]) for i in range(0, len(runs), size)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _part(self, data: Foreign, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs of one call, with their types and shapes."""
        key = key_of(self.seed, path)
        if is_process(self.function):
            asked = np.arange(self.function.requests(len(runs)), dtype=np.int64) + int(runs[0])
            seeds = process_seeds(key, asked)
            result, forms = self.function.release(data, len(runs), seeds, self.factor)
        else:
            made = functools.partial(generator, key, int(runs[0]), self.factor)

            def call(rng: ReadGenerator) -> Foreign:
                given, count = (fresh(data), len(runs), rng), len(runs)
                return call_target("release", self.function, *given, runs=count, timeout=self.timeout)

            def make(run: Run) -> Foreign:
                return run(made, call)

            with scaled_seeds(self.function, self.factor):
                result, forms = follower_of(self.function).batch(make) if self.followed else alone(make)
        if result.ndim < 1 or result.shape[0] != len(runs) or not result.size:
            raise InputError(
                f"release must return an array of shape (size, ...) with size {len(runs)}, got {result.shape}"
            )
        kinds, texts = np.array(forms, np.float64), np.zeros(len(runs))
        if result.dtype.kind == "U":
            result, ways = self._numbers(result.reshape(len(runs), -1))
            kinds, words = _written_as(np.broadcast_to(kinds, len(runs)), ways), ways == _WORD
            first = words[:, :_COLUMNS]
            texts = first @ 2.0 ** np.arange(first.shape[1]) + 2.0**_COLUMNS * words[:, _COLUMNS:].any(axis=1)
        rows = np.asarray(result, dtype=np.float64).reshape(len(runs), -1)
        return np.column_stack((rows, texts, np.broadcast_to(kinds, len(rows))))

    def _numbers(self, texts: NDArray[np.str_]) -> tuple[FloatArray, IntArray]:
        """What texts stand for, and how they are written."""
        distinct, places = np.unique(texts, return_inverse=True)
        read = [written(text) for text in distinct.tolist()]
        words = {
            zlib.crc32(text.encode("utf-8", "surrogatepass")): text
            for text, (_, way) in zip(distinct.tolist(), read, strict=True)
            if way == _WORD
        }
        mixed = any(self.texts.get(number, text) != text for number, text in words.items())
        if mixed or len(words) < sum(way == _WORD for _, way in read):
            raise InputError(
                "release must not return two texts with the same CRC-32, which an audit cannot tell apart; "
                "return numbers, or other texts"
            )
        if len(self.texts) < _LOOK:
            self.texts.update(words)
        numbers = {text: number for number, text in words.items()}
        found = [numbers.get(text, number) for text, (number, _) in zip(distinct.tolist(), read, strict=True)]
        places = places.reshape(texts.shape)
        return np.array(found, dtype=np.float64)[places], np.array([way for _, way in read])[places]

    def draws(self, data: Foreign, runs: IntArray) -> FloatArray:
        """Outputs as `values` gives them, by streams of their own."""
        return self.values(data, (TUNE, 0), runs)

    def draws_kept(self, pair: DataPair, test: int) -> int:
        """Selection draws a side that are cheap to keep beside `test` test draws.

        All if the outputs recur, so that they are counted; half if they are single numbers; else a fifth.
        """
        seen = self.sample(pair, 0, TUNE, 0, np.arange(_LOOK, dtype=np.int64))
        return test if seen.weight is not None else test // 2 if len(seen.numeric) == 1 else test // 5

    @there(read_rows)
    def raw(self, pair: DataPair, world: int, stage: int, number: int, runs: IntArray) -> FloatArray:
        """See `SeenRuns.raw`: outputs (n, m), and the numbers of their types and shapes in a last column."""
        return self._made(pair.worlds()[world], (stage, number, world), runs)

    @property
    def small(self) -> type[np.float64]:
        """What outputs are kept in."""
        return np.float64

    def check_rows(self, rows: Foreign, runs: int) -> None:
        """See `SeenRuns.check_rows`: outputs (n, m)."""
        if not is_table(rows, self.small, runs):
            raise EndedError(ANOTHER_FORM)

    @property
    def in_turn(self) -> bool:
        """Whether each draw is a call of its own, so that draws of both worlds can take turns."""
        return not is_process(self.function) and self.rows == 1

    @there(read_rows)
    def raw_mixed(
        self, pair: DataPair, stage: int, number: int, runs: Both, order: IntArray
    ) -> list[FloatArray]:
        """See `SeenRuns.raw_mixed`."""
        data, made = pair.worlds(), (list[FloatArray](), list[FloatArray]())
        for world, at in turns(order):
            made[world].append(self._part(data[world], (stage, number, world), runs[world][at : at + 1]))
        none = np.empty((0, max(rows[0].shape[1] for rows in made if rows)))
        return [np.concatenate(rows) if rows else none for rows in made]

    def seen(self, pair: Foreign, made: FloatArray) -> Observation:
        """See `SeenRuns.seen`."""
        del pair
        _counted(made[:_LOOK, : -self.beside], made[:_LOOK, -self.beside])
        values, kinds = made[:, : -self.beside], made[:, -1:]
        if alike := bool((kinds == kinds[:1]).all()):
            values, weight = _distinct(values)
        else:
            values, weight = _distinct(np.hstack((values, kinds)))
        forms = np.broadcast_to(kinds[0], len(values)) if alike else values[:, -1]
        values = values if alike else values[:, :-1]
        numeric: dict[str, FloatArray] = {
            OutputName(f"output {j + 1}"): column for j, column in enumerate(values.T)
        }
        discrete = {**_whole_codes(values), FORM: forms.astype(np.int64)}
        return Observation(len(made), discrete, numeric, weight=weight)


_WORD, _FLOAT, _WHOLE = range(3)


def written(text: str) -> tuple[float, int]:
    """The number that a text is and the way in which Python writes it; a word is none."""
    with contextlib.suppress(ValueError, OverflowError):
        number = float(text)
        if text == repr(number) and text != "-0.0":
            return number, _FLOAT
        if text == str(int(number)) and abs(number) <= EXACT:
            return number, _WHOLE
    return math.nan, _WORD


def _written_as(forms: FloatArray, ways: IntArray) -> FloatArray:
    """Numbers for the forms of rows (n,) and the ways in which their texts are written, (n, m)."""
    kinds, places = np.unique(np.column_stack((forms, ways)), axis=0, return_inverse=True)
    numbers = [zlib.crc32(repr(kind).encode()) for kind in kinds.tolist()]
    return np.array(numbers, np.float64)[places.ravel()]


def _counted(values: FloatArray, texts: FloatArray) -> None:
    """Refuse columns of texts of which hardly any recurs: there would be nothing to count.

    Parameters
    ----------
    values
        Of some draws, (n, m).
    texts
        Bits of the columns that are texts, (n,); the last bit stands for all columns from there on.

    Raises
    ------
    InputError
        If of at least `_FEW` texts more than a quarter are different ones.
    """
    for column in range(values.shape[1] if texts.any() else 0):
        held = values[np.floor(texts / 2.0 ** min(column, _COLUMNS)) % 2 == 1, column]
        held = held[np.isin(held, held.astype(np.uint32))]  # CRC-32s
        if len(held) >= _FEW and 4 * len(np.unique(held)) > len(held):
            raise InputError(
                f"release must not return texts that hardly ever recur (output {column + 1}), because an "
                "audit only counts how often each text occurs; return numbers as numbers, and leave out the "
                "rest of the text"
            )


def _distinct(values: FloatArray) -> tuple[FloatArray, IntArray | None]:
    """The different rows of outputs (n, m) and how often each occurs; all rows and None if few recur."""
    weights = np.random.Generator(np.random.Philox(20210101)).integers(0, 2**62, values.shape[1]) * 2 + 1
    codes = np.zeros(len(values), np.int64)
    with np.errstate(over="ignore"):
        for j, weight in enumerate(np.atleast_1d(weights)):  # one column at a time: memory
            bits = (values[:, j] + 0.0).view(np.int64)  # 0.0 for -0.0
            # Codes as in `action_columns`; doubles of whole numbers end in zeros: high bits are folded in.
            codes += (bits ^ (bits >> 29)) * weight
    if len(np.unique(codes[:_LOOK])) > min(len(codes), _LOOK) // 4:
        return values, None
    _, first, places, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    rows = values[first] + 0.0
    if not np.array_equal(rows[places], values, equal_nan=True):  # rows of one code that are not the same
        rows, times = np.unique(values + 0.0, axis=0, return_counts=True)
    return rows, times


def _whole_codes(values: FloatArray) -> dict[str, IntArray]:
    """Codes of the whole numbers in outputs (n, m); what is none has codes of its own.

    Each run's code depends on its own outputs only, so that runs stay independent of one another.
    """
    codes = np.empty(values.shape, np.int64)
    for j, column in enumerate(values.T):  # one at a time: memory
        codes[:, j] = _codes_of(column)
    if (codes == _CODES[0]).all():  # the same codes, without the work
        found = action_columns(codes[:1], "output")
        return {name: np.broadcast_to(code, (len(values),)) for name, code in found.items()}
    return action_columns(codes, "output")


def _codes_of(column: FloatArray) -> IntArray:
    whole = column == np.floor(column)
    codes = np.where(whole & (np.abs(column) <= _EDGE), column, 0.0).astype(np.int64)
    beyond = (~whole, np.isnan(column), whole & (column > _EDGE), whole & (column < -_EDGE))
    for where, code in zip(beyond, _CODES, strict=True):
        codes[where] = code
    return codes


_LOOK = 4096  # draws that show whether outputs recur
_CODES = tuple(int(_EDGE) + i for i in (1, 2, 3, 4))  # no whole number, NaN, beyond either edge
