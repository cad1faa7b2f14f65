"""Runs of a user's target: made here or in its own process, and seen as the adversary sees them."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from joblib import delayed

from verifiable_dp.core import engine, philox
from verifiable_dp.core.limits import limited
from verifiable_dp.core.outputs import released
from verifiable_dp.core.validate import Foreign, Function, InputError, IntArray, WordArray, one_line
from verifiable_dp.evidence.blackbox.events import Observation
from verifiable_dp.evidence.blackbox.run_parts import Part, parts_of, worlds_of
from verifiable_dp.targets.far import Far, far_of
from verifiable_dp.targets.guard import guarded
from verifiable_dp.targets.line import EndedError
from verifiable_dp.targets.source import code_of, file_of, last_line


def call_target(
    what: str, function: Function[Foreign], *arguments: Foreign, runs: int = 1, timeout: float = math.inf
) -> Foreign:
    """What the function returns, mechanisms as `ReadOutputs`; what it raises is refused, and says where.

    A call that makes several runs may take `timeout` seconds for each.
    """
    try:
        with guarded(), limited(timeout, what, runs):
            result = function(*arguments)
            return released(result) if what == "release" else result
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException as error:
        at = last_line(error, file_of(code_of(function)))
        raise InputError(f"{what} raised {one_line(error)}{at}") from error


class SeenRuns(abc.ABC):
    """A sampler of which runs are seen as they come out."""

    function: Function[Foreign]
    seed: int
    shard: int
    small: Foreign
    beside: ClassVar[int]  # columns of rows that are no outputs

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
        """See `evidence.blackbox.run_parts.Sampler.sample`."""
        return self.seen(pair, self.raw(pair, world, stage, number, runs))

    def mixed(
        self, pair: Foreign, stage: int, number: int, runs: Both, order: IntArray
    ) -> tuple[Observation | None, Observation | None]:
        """See `evidence.blackbox.run_parts.TestTurns.mixed`."""
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
        """What is seen of each of the parts of `parts_of`, with its number, in any order; None: made here."""
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
            if place not in left or rows.shape[1] <= self.beside:
                raise EndedError(ANOTHER_FORM)
            left.remove(place)
            runs = [len(numbers) for _, numbers in worlds_of(parts[place])]
            self.check_rows(rows, sum(runs))
            widths.add(rows.shape[1])
            if len(widths) > 1:
                raise InputError(VARYING.format(*sorted(width - self.beside for width in widths)))
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


def read_rows(told: Foreign, arguments: Sequence[Foreign]) -> Foreign:
    """Reads what comes out of runs, of one world or of both; see `far.there`."""
    sampler, *_, runs = arguments
    both = isinstance(told, list)
    for one, made in zip(arguments[4] if both else [runs], told if both else [told], strict=True):
        sampler.check_rows(made, len(one))
    return told


FORM = "type and shape"  # of what comes out, which its reader gets with its numbers
_SEEDS = np.uint64(9)  # domain of the seeds that processes are given
VARYING = (
    "release must return the same number of outputs in every run, on an input and on its neighbour, got {} "
    "and {}; return NaN for missing outputs"
)
ANOTHER_FORM = "target: its process sent runs in a form that we did not ask for"


def is_table(rows: Foreign, kind: type, runs: int) -> bool:
    """Whether rows are an array of that kind with a row for each run."""
    return type(rows) is np.ndarray and rows.dtype == kind and rows.ndim == 2 and len(rows) == runs


def _whole_part(sampler: SeenRuns, pair: Foreign, part: Part) -> Foreign:
    how, arguments = part
    made = sampler.raw_mixed(pair, *arguments) if how == "mixed" else [sampler.raw(pair, *arguments)]
    return np.concatenate(made)


Both = tuple[IntArray, IntArray]


def turns(order: IntArray) -> list[tuple[int, int]]:
    """The world of each turn, and which of its runs that is."""
    at, found = [0, 0], []
    for world in order.tolist():
        found.append((world, at[world]))
        at[world] += 1
    return found


def process_seeds(key: WordArray, numbers: IntArray) -> list[int]:
    """Whole numbers below 2^64 for processes, one for each number."""
    words = philox.fill_words(key, numbers, _SEEDS, np.zeros((len(numbers), 1), np.int64))
    seeds: list[int] = words[:, 0].tolist()
    return seeds
