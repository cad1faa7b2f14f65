"""What a mechanism refuses: an exception is seen by the adversary as any output is.

Data that are refused in every run lie outside of what the code takes: the record says so. What is refused in
some runs only, or of some data of a kind and not of others, is an output that we have not tested: such an
audit acquits nobody.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.limits import LateError
from verifiable_dp.core.validate import Given, InputError, on_one_line
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

TRIES = 32  # runs, each with its own call, that show whether data are always refused
_PATH = 0xFA11  # of the streams used here
_MOST = 200  # characters of an error that are shown
_NOW_AND_THEN = (
    "some runs fail and others do not ({}: {}): an observer sees the failure, and we did not test what it "
    "reveals; make all runs on such data fail, or none"
)
_HERE_AND_THERE = (
    "the code refuses some data, but accepts other data of the same kind ({}: {}): anyone who sees the "
    "refusal learns something about the data; refuse all data of that kind, or none"
)


@dataclass
class Refusals:
    """What was refused of one kind of data, such as those of one size.

    Attributes
    ----------
    taken
        Whether some of them were taken in every run.
    refused
        Some that were refused in every run, and why; None if there are none.
    faults
        Failures in some runs only, in words.
    """

    taken: bool = False
    refused: tuple[str, str] | None = None
    faults: list[str] = field(default_factory=list)

    def ask(self, sampler: ReleaseSampler, data: Given, tries: int = TRIES) -> bool:
        """Whether data are taken in all of some runs."""
        passed, error, path = 0, None, (_PATH, zlib.crc32(_key(data)))  # draws of its own
        for run in range(tries):
            try:
                sampler.values(data, path, np.array([run], np.int64))
                passed += 1
            except InputError as found:
                error = found
            if error is not None and (passed or isinstance(error, LateError)):
                self.failed(data, error)
                return False
        if error is None:
            self.taken = True
        elif self.refused is None:
            self.refused = _words(data), _shown(error)
        return error is None

    def failed(self, data: Given, error: InputError) -> None:
        """Note a failure that other runs on such data do not have."""
        self.faults.append(now_and_then(_words(data), error))

    def doubts(self) -> list[str]:
        """Why what was refused does not speak for the claim; none if it says nothing against it."""
        mixed = [_HERE_AND_THERE.format(*self.refused)] if self.refused and self.taken else []
        return [*self.faults[:1], *mixed]


def now_and_then(what: str, error: InputError | str) -> str:
    """That some runs only fail, on some data or against an adversary."""
    return _NOW_AND_THEN.format(what, _shown(error))


def _words(data: Given) -> str:
    text = np.array2string(np.asarray(data), threshold=8, separator=", ")
    return f"data {' '.join(text.split())}"


def _shown(error: InputError | str) -> str:
    """An error without its place: a record does not depend on folders."""
    why, place, _ = str(error).rpartition(f" ({os.sep}")
    return on_one_line(why if place else str(error))[:_MOST]


def sorted_out(
    sampler: ReleaseSampler,
    pairs: Sequence[DataPair],
    of_kind: Callable[[Given], bool],
    error: InputError,
    tries: int = TRIES,
) -> Refusals:
    """What is refused of data of a kind, and of others, in pairs of which some run raised `error`."""
    found, others, taken = Refusals(), Refusals(), dict[bytes, bool]()
    for side in (side for pair in pairs for side in pair.worlds()):
        if _key(side) not in taken:
            taken[_key(side)] = (found if of_kind(side) else others).ask(sampler, side, tries)
    found.faults += others.doubts()
    if all(taken.values()):
        found.failed(pairs[0].left, error)
    return found


def _key(data: Given) -> bytes:
    return repr(np.shape(data)).encode() + np.asarray(data).tobytes()
