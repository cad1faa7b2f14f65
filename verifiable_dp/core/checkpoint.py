"""Checkpoints inside one audit: what its steps gave is kept in a file, so that an interrupted audit goes on.

An audit is a deterministic function of its steps' results, so a step is known by its place: the names of the
steps around it, its own, and how many of that name came before it there. A result is data: numbers, texts,
arrays and the dataclasses that were registered with `holds`; reading a file runs nothing of it.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from verifiable_dp.core import engine
from verifiable_dp.core.files import lock
from verifiable_dp.core.validate import InputError

Result = TypeVar("Result")
Task = TypeVar("Task")
FORMAT = "verifiable-dp checkpoint"
_MOST_BYTES = 1 << 32
_LEAD = f'{{"format":"{FORMAT}"'.encode()
_KINDS = "biuf"  # of arrays: booleans, whole numbers, floats
_CLASSES: dict[str, type[Any]] = {}
_ACTIVE: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


class CheckpointError(InputError):
    """The file cannot serve as the checkpoint of this audit."""


class OtherAuditError(CheckpointError):
    """The file holds the steps of another audit."""


# ---------------------------------------------------------------- results as data


def holds(one: type[Result]) -> type[Result]:
    """Register a dataclass whose instances may be kept; a decorator."""
    _CLASSES[one.__name__] = one
    return one


def packed(value: Any) -> Any:
    """A result as JSON values that `unpacked` turns back, floats and arrays to the last bit.

    Raises
    ------
    TypeError
        If it holds anything but numbers, texts, arrays of numbers, lists, mappings and what `holds` knows.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [packed(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [packed(entry) for entry in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[packed(key), packed(entry)] for key, entry in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": [value.dtype.str, list(value.shape), content]}
    name = type(value).__name__
    if _CLASSES.get(name) is type(value):
        fields = dataclasses.fields(value)
        return {"class": [name, {field.name: packed(getattr(value, field.name)) for field in fields}]}
    raise TypeError(f"a checkpoint cannot hold {type(value).__name__}")


def unpacked(stored: Any) -> Any:
    """Inverse of `packed`.

    Raises
    ------
    ValueError
        If it is nothing that `packed` gives.
    """
    if isinstance(stored, list):
        return [unpacked(entry) for entry in stored]
    if not isinstance(stored, dict):
        return stored
    if len(stored) != 1:
        raise ValueError("one key is expected")
    ((kind, content),) = stored.items()
    if kind == "tuple":
        return tuple(unpacked(entry) for entry in content)
    if kind == "mapping":
        return {unpacked(key): unpacked(entry) for key, entry in content}
    if kind == "array":
        dtype, shape, text = content
        if np.dtype(dtype).kind not in _KINDS:
            raise ValueError("no numbers")
        return np.frombuffer(base64.b64decode(text), np.dtype(dtype)).reshape(shape).copy()
    if kind == "class":
        name, fields = content
        return _CLASSES[name](**{key: unpacked(entry) for key, entry in fields.items()})
    raise ValueError(f"{kind} is unknown")


# ---------------------------------------------------------------- the file


class Checkpoint:
    """The steps of one audit that are finished, in a file of lines of JSON; each line is checked by itself.

    Parameters
    ----------
    path
        Of the file; made if there is none, gone on with if it is of this audit.
    of
        What the audit is, as JSON values: two audits with the same are the same.
    say
        Called with a line of text if nothing more can be kept.

    Raises
    ------
    CheckpointError
        If the file cannot be written, is no checkpoint, or another process is using it; `OtherAuditError` if
        it is of another audit.
    """

    def __init__(self, path: Path, of: Mapping[str, Any], say: Callable[[str], None]) -> None:
        self.path, self._say = path, say
        self.cpu_seconds = 0.0  # of earlier attempts
        self.started = time.time()
        self._full = False
        self._began = time.process_time()
        self._steps: dict[str, tuple[str, Any]] = {}
        self._place: list[str] = []
        self._counts: list[dict[str, int]] = [{}]
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise CheckpointError(f"checkpoint: {str(path)!r} cannot be written: {error.strerror}") from None
        try:
            if not lock(self._file.fileno(), wait=False):
                raise CheckpointError(f"checkpoint: {str(path)!r} is in use by another audit")
            self._recall(json.loads(_text(of)))
        except BaseException:
            self._file.close()
            raise

    @property
    def found(self) -> int:
        """Number of steps that are in the file."""
        return len(self._steps)

    def _recall(self, of: Any) -> None:
        """Read what holds, and cut off what does not: the last line may be half written."""
        self._file.seek(0, os.SEEK_END)
        if self._file.tell() > _MOST_BYTES:
            raise CheckpointError(f"checkpoint: {str(self.path)!r} is larger than {_MOST_BYTES >> 30} GiB")
        self._file.seek(0)
        first = self._file.readline()
        if first[: len(_LEAD)] != _LEAD[: len(first)]:
            raise CheckpointError(
                f"checkpoint: {str(self.path)!r} is no checkpoint; nothing was changed in it"
            )
        head = _line(first)
        if head is None:
            self._file.truncate(0)
            self._append({"format": FORMAT, "of": of, "started": self.started})
            return
        if head["of"] != of:
            raise OtherAuditError(
                f"checkpoint: {str(self.path)!r} is of another audit (target, its code, options or version "
                "differ); remove it or name another file"
            )
        self.started = float(head["started"])
        end = self._file.tell()
        while (row := _line(self._file.readline())) is not None:
            self._steps[row["step"]] = (row["asked"], row["value"])
            self.cpu_seconds, end = float(row["cpu"]), self._file.tell()
        self._file.truncate(end)

    def _append(self, row: Mapping[str, Any]) -> None:
        """Add a line; an audit goes on without its checkpoint where the disk is full."""
        if self._full:
            return
        end = self._file.seek(0, os.SEEK_END)
        text = _text(row)
        try:
            self._file.write(text[:-1] + f',"sum":"{_sum(text)}"}}\n'.encode())
            self._file.flush()
        except OSError as error:
            self._full = True
            with suppress(OSError):
                self._file.truncate(end)
            self._say(
                f"checkpoint: {str(self.path)!r} cannot be written any more: {error.strerror}; going on"
            )

    def _key(self, name: str) -> str:
        number = self._counts[-1].get(name, 0)
        self._counts[-1][name] = number + 1
        return "/".join([*self._place, f"{name} {number}"])

    def recalled(self, name: str, asked: str) -> tuple[str, bool, Any]:
        """The step's place, whether it is known, and its result."""
        step = self._key(name)
        known = self._steps.get(step)
        if known is None or known[0] != asked:
            return step, False, None
        try:
            return step, True, unpacked(known[1])
        except Exception:  # whatever it was written by, it is made again
            return step, False, None

    def keep(self, step: str, asked: str, result: Any) -> None:
        """Write down what a step gave; what `packed` does not take is left to be made again."""
        cpu = self.cpu_seconds + time.process_time() - self._began
        with suppress(TypeError):
            self._append({"step": step, "asked": asked, "value": packed(result), "cpu": round(cpu, 3)})

    @contextmanager
    def within(self, step: str) -> Iterator[None]:
        """Steps of this block lie within `step`."""
        self._place.append(step.rpartition("/")[2])
        self._counts.append({})
        try:
            yield
        finally:
            self._place.pop()
            self._counts.pop()

    def close(self) -> None:
        """Let go of the file."""
        with suppress(OSError):
            self._file.close()


def _text(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode()


def _sum(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:32]


def _line(line: bytes) -> dict[str, Any] | None:
    """A line's values; None if it is not whole."""
    try:
        row = json.loads(line)
        if line.endswith(b"\n") and isinstance(row, dict) and row.pop("sum", None) == _sum(_text(row)):
            return row
    except (ValueError, RecursionError):
        pass
    return None


# ---------------------------------------------------------------- steps


@contextmanager
def at(
    path: str | PathLike[str] | None, of: Callable[[], Mapping[str, Any]], say: Callable[[str], None]
) -> Iterator[Checkpoint | None]:
    """Keep the steps of this block's audit in a file; it stays until its result is somewhere else.

    Parameters
    ----------
    path
        Of the file; with None nothing is kept.
    of
        Gives what `Checkpoint` takes.
    say
        Called with a line of text if there is something to go on with, or nothing more can be kept.

    Raises
    ------
    CheckpointError
        As `Checkpoint`.
    """
    if path is None:
        yield None
        return
    checkpoint = Checkpoint(Path(path), of(), say)
    if checkpoint.found:
        say(f"checkpoint: going on after {checkpoint.found} finished steps")
    token = _ACTIVE.set(checkpoint)
    try:
        yield checkpoint
    finally:
        _ACTIVE.reset(token)
        checkpoint.close()


def attempt(make: Callable[[Path | None], Result], path: Path | None) -> Result:
    """`make(path)`; from its beginning where the file is of another audit, without where it cannot serve.

    Of use to runs of many audits, which choose the files themselves.
    """
    try:
        return make(path)
    except OtherAuditError:
        assert path is not None
        path.unlink(missing_ok=True)
        return make(path)
    except CheckpointError:
        return make(None)


def kept(name: str, compute: Callable[[], Result], *asked: Any) -> Result:
    """What `compute` gives, or gave in an earlier attempt at the audit of the block `at`.

    Parameters
    ----------
    name
        Of the step.
    compute
        Gives the result, which is kept if `packed` takes it; so are steps within it.
    asked
        What the result depends on and can be said shortly: a step that was asked for something else is made
        again.
    """
    checkpoint = _ACTIVE.get()
    if checkpoint is None:
        return compute()
    said = repr(asked)
    step, known, value = checkpoint.recalled(name, said)
    if known:
        result: Result = value
        return result
    with checkpoint.within(step):
        result = compute()
    checkpoint.keep(step, said, result)
    return result


def results(
    name: str,
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *asked: Any,
    workers: int = 1,
    ended: Callable[[int, int, Result], None] = lambda number, done, result: None,
) -> list[Result]:
    """As `engine.ordered`, the result of each task being a step.

    Parameters
    ----------
    name, asked
        As `kept`; the tasks are numbered.
    function, tasks, workers
        As `engine.run`.
    ended
        Called with the number of a task that has run, how many of those that had to run have, and the result.
    """
    checkpoint = _ACTIVE.get()
    said, steps, found = repr(asked), [], {}
    if checkpoint:
        for number in range(len(tasks)):
            step, known, value = checkpoint.recalled(name, said)
            steps.append(step)
            if known:
                found[number] = value
    left = [number for number in range(len(tasks)) if number not in found]
    token = _ACTIVE.set(None)  # what runs within a task is the task's own business
    try:
        ran = engine.run(function, [tasks[number] for number in left], workers=workers)
        for done, (place, value) in enumerate(ran, start=1):
            number = left[place]
            found[number] = value
            if checkpoint:
                checkpoint.keep(steps[number], said, value)
            ended(number, done, value)
    finally:
        _ACTIVE.reset(token)
    return [found[number] for number in range(len(tasks))]
