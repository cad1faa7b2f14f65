"""What can be audited beside the catalogue: a user's `play`, `play_many`, `release` or `release_one`.

A target is named as an object, as ``file.py:name`` (its folder becomes importable), as
``package.module:name`` or, for another language, as a command (`process.Exec`).
"""

from __future__ import annotations

import abc
import copy
import functools
import inspect
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from verifiable_dp.core import engine, philox
from verifiable_dp.core.contexts import Unfolding
from verifiable_dp.core.filled import note_placed
from verifiable_dp.core.limits import limited
from verifiable_dp.core.neighbours import ContextGame, TablePair
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import (
    FloatArray,
    Foreign,
    Function,
    InputError,
    IntArray,
    JsonDict,
    WordArray,
    one_line,
)
from verifiable_dp.evidence.blackbox.events import Observation, action_columns, action_summaries
from verifiable_dp.evidence.blackbox.observations import OutputName
from verifiable_dp.evidence.blackbox.scores import Score
from verifiable_dp.evidence.blackbox.test import FEW_PAIRS, TUNE, Part, parts_of, worlds_of
from verifiable_dp.targets.child import EndedError
from verifiable_dp.targets.far import Far, far_of, is_process, there
from verifiable_dp.targets.guard import guarded
from verifiable_dp.targets.randomness import ReadGenerator, Run, alone, follower_of, generator, scaled_seeds
from verifiable_dp.targets.source import code_of, file_of

DETERMINISTIC = "deterministic output: no noise was used"
_SEEDS = np.uint64(9)  # domain of the seeds that processes are given
_EDGE = 2.0**40  # codes of what is not a whole number lie beyond it


def names(thing: object) -> bool:
    """Whether `thing` is what its module has under its name, so that a re-run in another process finds it."""
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
            f"workers must be 1 for an audit that starts while {module!r}, the module of its target, is "
            'imported; put the audit under `if __name__ == "__main__":`'
        )


_FORMS = (
    "play(rewards, rng), play_many(rewards, n_runs, rng), release(data, size, rng) or release_one(data, rng)"
)
_ROLES = ("n_runs", "size", "rng")  # they are filled even where the function has a default for them


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

    Two are those of ``release_one`` if the data are called data, else of ``play``. Three are those of
    ``release`` if the data are called data or another one size, else of ``play_many``. The data are the first
    that is not called rng, size or n_runs. Parameters with defaults do not count, except for these three.

    Raises
    ------
    InputError
        If they fit none of these, or the function is a coroutine function or a generator function.
    """
    code = None if getattr(function, "driven", False) else code_of(function)
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
    if len(names) == 2 and fits and data and not {"size", "n_runs"} & set(names):
        return "release_one" if data == "data" else "play"
    if len(names) == 3 and fits and sorted(_order(names)) == [0, 1, 2]:
        return "release" if "size" in names or data == "data" else "play_many"
    raise InputError(f"target must be {_FORMS}, got parameters ({', '.join(names)})")


class Adapted:
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
        """What the function returns, with a leading axis of `size` if it makes one draw a call."""
        if self.kind != "release_one":
            return self._call(data, *rest)
        size, rng = rest
        return _released([self.one(_fresh(data), rng) for _ in range(size)])

    def one(self, data: Foreign, rng: Foreign) -> Foreign:
        """What a function that makes one draw a call returns."""
        return self._call(data, rng)

    def _call(self, *values: Foreign) -> Foreign:
        kinds = ["data", *["public"] * (len(values) - 2), "generator"]
        note_placed(self.function, *(kinds[i] for i in self.order))
        given = [values[i] for i in self.order]
        positional = [v for v, name in zip(given, self.names, strict=True) if not name]
        return self.function(*positional, **{n: v for v, n in zip(given, self.names, strict=True) if n})


def _order(names: Sequence[str]) -> list[int]:
    """Which of (data, size, rng), or of (data, rng), each parameter is given: by its name, else its place."""
    last = len(names) - 1
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
        and _order([p.name for p in parameters]) == list(range(len(parameters)))
    ):
        return kind, function
    return kind.removesuffix("_one"), Adapted(function, kind)


def _fresh(data: Foreign) -> Foreign:
    """Data that the target may change."""
    return data.copy() if isinstance(data, np.ndarray) else copy.deepcopy(data)


def _called(
    what: str, function: Function[Foreign], *arguments: Foreign, runs: int = 1, timeout: float = math.inf
) -> Foreign:
    """What the function returns, mechanisms as an array; what it raises is unusable input, and says where.

    A call that makes several runs may take `timeout` seconds for each.
    """
    try:
        with guarded(), limited(timeout, what, runs):
            result = function(*arguments)
            return _released(result) if what == "release" else result
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException as error:
        raise InputError(f"{what} raised {one_line(error)}{_last_line(error, function)}") from error


def _released(result: Foreign) -> Foreign:
    """What a mechanism returns, as an array of which nothing is lost.

    Raises
    ------
    InputError
        If whoever gets it sees more than the audit does: what a class adds to an array or a number, whole
        numbers that no float has, or zeros at the end of a text.
    """
    odd = _beyond(result)
    made = np.asarray(result) if odd is None else None
    if made is not None and made.dtype.kind in "iu" and made.size:
        odd = next((one for one in (made.min(), made.max()) if abs(int(one)) > _EXACT), None)
    if odd is not None:
        raise InputError(
            "release must return plain numbers, text, or lists, tuples or arrays of these, got "
            f"{type(odd).__name__} {odd!r:.40}, which can tell its reader more than the audit sees; return "
            "its values as floats (numpy.asarray(x, float)) or as text"
        )
    return made


def _beyond(result: Foreign) -> Foreign:
    """The first part of a result that is more than numbers and text; None if none is."""
    if type(result) in (list, tuple):
        return next((odd for odd in map(_beyond, result) if odd is not None), None)
    if type(result) is np.ndarray and result.dtype.kind == "O":
        return _beyond(result.tolist())
    one = isinstance(result, np.generic) and type(result).__module__ == "numpy"
    if one or type(result) is np.ndarray:
        kind = result.dtype
        return result if kind.metadata is not None or (kind.kind == "f" and kind.itemsize > 8) else None
    if type(result) is int:
        return None if abs(result) <= _EXACT else result
    if type(result) is str:
        return result if result.endswith("\0") else None
    return None if type(result) in (bool, float) else result


_EXACT = 1 << 53  # whole numbers up to here are floats


def _seeds(key: WordArray, numbers: IntArray) -> list[int]:
    """Whole numbers below 2^64 for processes, one for each number."""
    words = philox.fill_words(key, numbers, _SEEDS, np.zeros((len(numbers), 1), np.int64))
    seeds: list[int] = words[:, 0].tolist()
    return seeds


class _Seen(abc.ABC):
    """A sampler of which runs are seen as they come out."""

    function: Function[Foreign]
    seed: int
    shard: int
    small: Foreign

    @property
    def far(self) -> Far | None:
        """The process in which the code is; None for this one."""
        return far_of(self)

    @abc.abstractmethod
    def raw(self, pair: Foreign, world: int, stage: int, number: int, runs: IntArray) -> Foreign:
        """What comes out of runs with numbers `runs` on input `world` of `pair`, one row each."""

    @abc.abstractmethod
    def raw_mixed(self, pair: Foreign, stage: int, number: int, runs: Both, order: IntArray) -> Foreign:
        """As `raw` of both worlds, made as `order` says whose turn it is."""

    @abc.abstractmethod
    def seen(self, pair: Foreign, made: Foreign) -> Observation:
        """What the adversary sees of it; no code of the target runs."""

    def sample(self, pair: Foreign, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """See `evidence.blackbox.test.Sampler.sample`."""
        return self.seen(pair, self.raw(pair, world, stage, number, runs))

    def mixed(
        self, pair: Foreign, stage: int, number: int, runs: Both, order: IntArray
    ) -> tuple[Observation | None, Observation | None]:
        """See `evidence.blackbox.test.TestTurns.mixed`."""
        made = self.raw_mixed(pair, stage, number, runs, order)
        return self._both(pair, made)

    def _both(self, pair: Foreign, made: Sequence[Foreign]) -> tuple[Observation | None, Observation | None]:
        left, right = (self.seen(pair, one) if len(one) else None for one in made)
        return left, right

    def parts(
        self,
        pair: Foreign,
        path: tuple[int, int],
        sizes: tuple[int, int],
        starts: tuple[int, int],
        workers: int,
    ) -> tuple[int, Iterator[tuple[int, Foreign]]]:
        """How many parts runs are made in, and what comes out of each, by its number, in any order."""
        parts = parts_of(self, path, sizes, starts)
        tasks = [delayed(_whole_part)(self, pair, part) for part in parts]
        return len(parts), engine.run(engine.called, tasks, workers=workers)

    def elsewhere(
        self,
        pair: Foreign,
        path: tuple[int, int],
        sizes: tuple[int, int],
        starts: tuple[int, int],
        workers: int,
    ) -> Iterator[tuple[int, Foreign]] | None:
        """See `evidence.blackbox.test.MadeElsewhere.elsewhere`: what is seen of each part, by its number."""
        far = self.far
        return None if far is None else self._seen_there(far, pair, path, sizes, starts, workers)

    def _seen_there(
        self,
        far: Far,
        pair: Foreign,
        path: tuple[int, int],
        sizes: tuple[int, int],
        starts: tuple[int, int],
        workers: int,
    ) -> Iterator[tuple[int, Foreign]]:
        parts = parts_of(self, path, sizes, starts)
        left, widths = set(range(len(parts))), set[int]()
        for place, rows in far.rows(self, pair, path, sizes, starts, workers, len(parts)):
            if place not in left:
                raise EndedError(ANOTHER_FORM)
            left.remove(place)
            runs = [len(numbers) for _, numbers in worlds_of(parts[place])]
            self.check_rows(rows, sum(runs))
            widths.add(rows.shape[1])
            if len(widths) > 1:
                raise InputError(VARYING.format(*sorted(widths)))
            if far.heard is not None:
                far.heard(self, pair, path, sizes, parts[place], rows)
            if len(runs) == 2:
                yield place, self._both(pair, (rows[: runs[0]], rows[runs[0] :]))
            else:
                yield place, self.seen(pair, rows)
        if left:
            raise EndedError(ANOTHER_FORM)

    @abc.abstractmethod
    def check_rows(self, rows: Foreign, runs: int) -> None:
        """Refuse what another process says came out of so many runs, unless that is possible.

        Raises
        ------
        EndedError
            If it is not.
        """


def _rows(told: Foreign, arguments: Sequence[Foreign]) -> Foreign:
    """Reads what comes out of runs, of one world or of both; see `far.there`."""
    sampler, *_, runs = arguments
    both = isinstance(told, list)
    for one, made in zip(arguments[4] if both else [runs], told if both else [told], strict=True):
        sampler.check_rows(made, len(one))
    return told


VARYING = (
    "release must return the same number of outputs in every run, on an input and on its neighbour, got "
    "{} and {}; put NaN in the place of missing outputs"
)
ANOTHER_FORM = "target: its process sent runs of another form than it was asked for"


def _is_table(rows: Foreign, kind: type, runs: int) -> bool:
    return type(rows) is np.ndarray and rows.dtype == kind and rows.ndim == 2 and len(rows) == runs


def _whole_part(sampler: _Seen, pair: Foreign, part: Part) -> Foreign:
    how, arguments = part
    made = sampler.raw_mixed(pair, *arguments) if how == "mixed" else [sampler.raw(pair, *arguments)]
    return np.concatenate(made)


@dataclass(frozen=True)
class PlaySampler(_Seen):
    """Samples a user's bandit; only actions are seen.

    Parameters
    ----------
    function
        `play(rewards, rng)`, or `play_many(rewards, n_runs, rng)` if `many`, or a process.
    n_arms, horizon
        K and T; rewards are handed over as a fresh array (T, K).
    seed
        Of the audit.
    factor
        Of the noise, for mutants.
    shard
        Runs of one task.
    rows
        Runs that one call of `play_many` makes; None for all of a task.
    timeout
        Seconds that a run may take.
    followed
        Whether it draws from elsewhere than the generator it is given, too: see `randomness.Follower`.
    joint
        Whether the action of the round that differs is not seen.
    taught
        Learns a score of a pair from something else than plays; None if nothing does.
    """

    function: Function[Foreign]
    many: bool
    n_arms: int
    horizon: int
    seed: int
    factor: float = 1.0
    shard: int = 1024
    rows: int | None = None
    timeout: float = math.inf
    followed: bool = False
    joint: bool = False
    taught: Callable[[Foreign], Score | None] | None = None
    boosted_from: ClassVar[int] = 500  # runs a side; of fewer, trees learn little in a quarter of a second
    probed_once: ClassVar[int] = FEW_PAIRS

    @property
    def together(self) -> bool:
        """Whether a call makes several runs, so that they may depend on each other."""
        return self.many and self.rows is None

    @property
    def _what(self) -> str:
        return "play_many" if self.many else "play"

    @there(_rows)
    def actions(self, table: FloatArray | Unfolding, path: tuple[int, ...], runs: IntArray) -> Foreign:
        """Arms (n, T) of runs with numbers `runs` on `table`.

        Raises
        ------
        InputError
            If the function raises, or does not return T arms in 0 .. K - 1 for each run.
        """
        if is_process(self.function):
            given = self.function.play(np.asarray(table), _seeds(key_of(self.seed, path), runs), self.factor)
            return self._checked(given, (len(runs), self.horizon)).astype(self.small)
        size = (self.rows or max(len(runs), 1)) if self.many else 1
        turns = [(0, at, size) for at in range(0, len(runs), size)]
        return self._made([(table, path, runs)], turns)[0]

    @property
    def small(self) -> type[np.int8] | type[np.int64]:
        """What arms are kept in."""
        return np.int8 if self.n_arms <= 127 else np.int64

    @property
    def in_turn(self) -> bool:
        """Whether each run is a call of its own, so that runs of both worlds can take turns."""
        return not is_process(self.function) and (not self.many or self.rows == 1)

    def _made(
        self,
        worlds: Sequence[tuple[FloatArray | Unfolding, tuple[int, ...], IntArray]],
        turns: Sequence[tuple[int, int, int]],
    ) -> list[Foreign]:
        """Arms (n, T) of runs of tables, each with a path; a turn is a world, its first run and how many."""
        out = [np.empty((len(runs), self.horizon), self.small) for _, _, runs in worlds]
        keys = [key_of(self.seed, path) for _, path, _ in worlds]

        def make(run: Run) -> Foreign:
            for world, at, size in turns:
                table, _, runs = worlds[world]
                part = runs[at : at + size]

                def call(rng: ReadGenerator, table: Foreign = table, count: int = len(part)) -> Foreign:
                    data = table.copy()
                    given = (data, count, rng) if self.many else (data, rng)
                    made = _called(self._what, self.function, *given, runs=count, timeout=self.timeout)
                    if isinstance(data, Unfolding):
                        data.check(made)
                    return made

                result = run(functools.partial(generator, keys[world], int(part[0]), self.factor), call)
                wanted = (len(part), self.horizon) if self.many else (self.horizon,)
                out[world][at : at + size] = self._checked(result, wanted)
            return out

        with scaled_seeds(self.function, self.factor):
            return follower_of(self.function).batch(make) if self.followed else alone(make)

    def draws(self, data: Foreign, runs: IntArray) -> Foreign:
        """Arms as `actions` gives them, by streams of their own."""
        return self.actions(data, (TUNE, 0), runs)

    def _checked(self, result: Foreign, shape: tuple[int, ...]) -> Foreign:
        try:
            arms = np.asarray(result)
        except Exception:
            arms = np.empty(0, object)
        if arms.shape != shape:
            raise InputError(f"{self._what} must return arms of shape {shape}, got shape {arms.shape}")
        if arms.dtype.kind not in "iub":
            if arms.dtype.kind != "f" or not np.array_equal(arms, np.floor(arms)):
                raise InputError(f"{self._what} must return integer arms, got dtype {arms.dtype}")
            arms = arms.astype(np.int64)
        if arms.size and (arms.min() < 0 or arms.max() >= self.n_arms):
            raise InputError(
                f"{self._what} must return arms in 0 .. {self.n_arms - 1}, "
                f"got values in [{arms.min()}, {arms.max()}]"
            )
        return arms

    @there(_rows)
    def raw(self, pair: Foreign, world: int, stage: int, number: int, runs: IntArray) -> Foreign:
        """See `_Seen.raw`: arms (n, T)."""
        return self.actions(self._table(pair, world), (stage, number, world), runs)

    @there(_rows)
    def raw_mixed(self, pair: Foreign, stage: int, number: int, runs: Both, order: IntArray) -> list[Foreign]:
        """See `_Seen.raw_mixed`."""
        worlds = [(self._table(pair, w), (stage, number, w), runs[w]) for w in (0, 1)]
        return self._made(worlds, [(w, at, 1) for w, at in _turns(order)])

    def check_rows(self, rows: Foreign, runs: int) -> None:
        """See `_Seen.check_rows`: arms (n, T)."""
        if not _is_table(rows, self.small, runs) or rows.shape[1] != self.horizon:
            raise EndedError(ANOTHER_FORM)
        if rows.size and not (rows.min() >= 0 and rows.max() < self.n_arms):
            raise EndedError("target: its process sent arms that there are not")

    def _table(self, pair: Foreign, world: int) -> Foreign:
        game = isinstance(pair, ContextGame)
        return pair.unfolding(world, joint=self.joint) if game else pair.worlds()[world]

    def seen(self, pair: Foreign, made: Foreign) -> Observation:
        """See `_Seen.seen`."""
        actions = made
        if self.joint:
            actions = np.delete(actions, pair.round, axis=1)
        discrete, numeric = action_summaries(actions, self.n_arms)
        columns = action_columns(actions, "other user" if self.joint else "round")
        # Runs that do not play a table's one changed reward are the same in both worlds.
        known = isinstance(pair, TablePair) and pair.arm is not None and not self.joint
        change = (pair.round, pair.arm, self.n_arms) if known else None
        return Observation(len(actions), {**columns, **discrete}, numeric, actions=actions, change=change)


Both = tuple[IntArray, IntArray]


def _turns(order: IntArray) -> list[tuple[int, int]]:
    """The world of each turn, and which of its runs that is."""
    at, found = [0, 0], []
    for world in order.tolist():
        found.append((world, at[world]))
        at[world] += 1
    return found


def _last_line(error: BaseException, function: Function[Foreign]) -> str:
    """` (file:line)` of the innermost frame in the function's own file."""
    own, place, frame = file_of(code_of(function)), "", error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == own:
            place = f" ({own}:{frame.tb_lineno})"
        frame = frame.tb_next
    return place


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
class ReleaseSampler(_Seen):
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

    @property
    def together(self) -> bool:
        """Whether a call makes several draws, so that they may depend on each other."""
        return self.rows is None and not getattr(self.function, "one_at_a_time", False)

    @there(_rows)
    def values(self, data: Foreign, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs (n, m) as floats; text stands for its CRC-32, so that texts that share one count as one.

        Raises
        ------
        InputError
            If the function raises, or does not return numbers or text with a leading axis of `size`.
        """
        size = self.rows or max(len(runs), 1)
        parts = [self._part(data, path, runs[i : i + size]) for i in range(0, len(runs), size)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _part(self, data: Foreign, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs of one call."""
        key = key_of(self.seed, path)
        if is_process(self.function):
            asked = np.arange(self.function.requests(len(runs)), dtype=np.int64) + int(runs[0])
            result: Foreign = self.function.release(data, len(runs), _seeds(key, asked), self.factor)
        else:
            made = functools.partial(generator, key, int(runs[0]), self.factor)

            def call(rng: ReadGenerator) -> Foreign:
                given, count = (_fresh(data), len(runs), rng), len(runs)
                return _called("release", self.function, *given, runs=count, timeout=self.timeout)

            def make(run: Run) -> Foreign:
                return run(made, call)

            with scaled_seeds(self.function, self.factor):
                result = follower_of(self.function).batch(make) if self.followed else alone(make)
        if result.ndim < 1 or result.shape[0] != len(runs):
            raise InputError(
                f"release must return an array of shape (size, ...) with size {len(runs)}, got {result.shape}"
            )
        if result.dtype.kind not in "fiubU":
            raise InputError(
                "release must return numbers (floats, whole numbers or booleans, NaN for nothing) or text, "
                f"got {_sorts(result)}"
            )
        numbers = self._checksums(result) if result.dtype.kind == "U" else result
        return np.asarray(numbers, dtype=np.float64).reshape(len(runs), -1)

    def _checksums(self, texts: NDArray[np.str_]) -> FloatArray:
        distinct, places = np.unique(texts, return_inverse=True)
        numbers = [zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in distinct.tolist()]
        if len(self.texts) < _LOOK:
            self.texts.update(zip(numbers, distinct.tolist(), strict=True))
        return np.array(numbers, dtype=np.float64)[places.reshape(texts.shape)]

    def draws(self, data: Foreign, runs: IntArray) -> FloatArray:
        """Outputs as `values` gives them, by streams of their own."""
        return self.values(data, (TUNE, 0), runs)

    def draws_kept(self, pair: DataPair, test: int) -> int:
        """Selection draws a side that are cheap to keep beside `test` test draws.

        All if the outputs recur, so that they are counted; half if they are single numbers; else a fifth.
        """
        seen = self.sample(pair, 0, TUNE, 0, np.arange(_LOOK, dtype=np.int64))
        return test if seen.weight is not None else test // 2 if len(seen.numeric) == 1 else test // 5

    @there(_rows)
    def raw(self, pair: DataPair, world: int, stage: int, number: int, runs: IntArray) -> FloatArray:
        """See `_Seen.raw`: outputs (n, m)."""
        return self.values(pair.worlds()[world], (stage, number, world), runs)

    @property
    def small(self) -> type[np.float64]:
        """What outputs are kept in."""
        return np.float64

    def check_rows(self, rows: Foreign, runs: int) -> None:
        """See `_Seen.check_rows`: outputs (n, m)."""
        if not _is_table(rows, self.small, runs):
            raise EndedError(ANOTHER_FORM)

    @property
    def in_turn(self) -> bool:
        """Whether each draw is a call of its own, so that draws of both worlds can take turns."""
        return not is_process(self.function) and self.rows == 1

    @there(_rows)
    def raw_mixed(
        self, pair: DataPair, stage: int, number: int, runs: Both, order: IntArray
    ) -> list[FloatArray]:
        """See `_Seen.raw_mixed`."""
        data, made = pair.worlds(), (list[FloatArray](), list[FloatArray]())
        for world, at in _turns(order):
            made[world].append(self._part(data[world], (stage, number, world), runs[world][at : at + 1]))
        none = np.empty((0, max(rows[0].shape[1] for rows in made if rows)))
        return [np.concatenate(rows) if rows else none for rows in made]

    def seen(self, pair: Foreign, made: FloatArray) -> Observation:
        """See `_Seen.seen`."""
        del pair
        outputs = made
        values, weight = _distinct(outputs)
        numeric: dict[str, FloatArray] = {
            OutputName(f"output {j + 1}"): column for j, column in enumerate(values.T)
        }
        return Observation(len(outputs), _whole_codes(values), numeric, weight=weight)


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


def _sorts(result: Foreign) -> str:
    """The sort of the first entry that is not a number."""
    if result.dtype.kind != "O":
        return f"dtype {result.dtype}"
    odd = (x for x in result.ravel() if isinstance(x, bool) or not isinstance(x, int | float | np.number))
    return type(next(odd, result)).__name__


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


@dataclass(frozen=True)
class Probe:
    """What a few runs tell about a user's target.

    Attributes
    ----------
    deterministic
        Whether every run on an input was alike.
    repeatable
        Whether the same generator gives the same output again.
    notes
        Lines for the record.
    carried
        Whether a run was seen to depend on the one before it.
    """

    deterministic: bool
    repeatable: bool
    notes: tuple[str, ...] = field(default=())
    carried: bool = False

    @property
    def varied(self) -> bool:
        """Whether two runs on one input differed, if only with the same generator."""
        return not (self.deterministic and self.repeatable)


def probe_play(sampler: PlaySampler, tables: Sequence[FloatArray], runs: int = 12) -> Probe:
    """Play some tables a few times: are runs alike, and does the generator decide all?"""
    numbers, alike, repeatable = np.arange(runs, dtype=np.int64), True, True
    for i, table in enumerate(tables):
        first = sampler.actions(table, (9, i), numbers)
        alike = alike and bool((first == first[0]).all())
        # Backwards where each run has a generator of its own: an order that matters is a shared state.
        turn = 1 if sampler.together else -1
        again = sampler.actions(table, (9, i), numbers[::turn])[::turn]
        repeatable = repeatable and bool((first == again).all())
    carried = not repeatable and sampler.in_turn and _carried(sampler.actions, tables)
    return Probe(alike, repeatable, _notes(repeatable, carried), carried)


def probe_release(sampler: ReleaseSampler, data: Sequence[Foreign], runs: int = 64) -> Probe:
    """As `probe_play` for a mechanism."""
    numbers, alike, repeatable = np.arange(runs, dtype=np.int64), True, True
    for i, item in enumerate(data):
        first = sampler.values(item, (9, i), numbers)
        alike = alike and bool((first == first[0]).all())
        again = sampler.values(item, (9, i), numbers)
        repeatable = repeatable and np.array_equal(first, again, equal_nan=True)
    single = None if sampler.together or is_process(sampler.function) else replace(sampler, rows=1)
    carried = not repeatable and single is not None and _carried(single.values, data)
    return Probe(alike, repeatable, (*_notes(repeatable, carried), *_legend(sampler.texts)), carried)


_BEFORE, _AGAIN = 6, 3


def _carried(
    made: Callable[[Foreign, tuple[int, ...], IntArray], Foreign], inputs: Sequence[Foreign]
) -> bool:
    """Whether one run is another after another one: alike each time after the same, and not after all."""
    found = []
    for before in range(_BEFORE):
        after = []
        for _ in range(_AGAIN):
            made(inputs[before % len(inputs)], (9, len(inputs)), np.array([before], np.int64))
            after.append(made(inputs[0], (9, len(inputs) + 1), np.zeros(1, np.int64)).tobytes())
        if len(set(after)) > 1:
            return False
        found.append(after[0])
    return len(set(found)) > 1


def _legend(texts: Mapping[int, str]) -> tuple[str, ...]:
    some = [f"{number} is {text[:40]!r}" for number, text in sorted(texts.items())[:12]]
    return (f"text that is released counts as its CRC-32: {', '.join(some)}",) if some else ()


CARRIED = (
    "a run depends on the one before it: runs of both inputs took turns as coins fell, and what one gives "
    "away in the next was not looked for"
)


def _notes(repeatable: bool, carried: bool = False) -> tuple[str, ...]:
    if repeatable:
        return ()
    if carried:
        return (CARRIED,)
    return (
        "not repeatable: the same generator gave other outputs; the target keeps state between runs or "
        "draws from another source, so a re-run need not give the same counts",
    )
