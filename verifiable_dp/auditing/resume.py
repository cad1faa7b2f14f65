"""Resume: the finished rungs of an audit in a file of JSON lines, after which an interrupted audit goes on.

A line holds what a rung has added to its case, or a finished part of a rung that was under way.
It is data: numbers, texts, arrays, neighbours and a few dataclasses; reading the file runs nothing of it.
Each line ends with a sum that only who has the key of the run can make; the key is `remembered`, never beside
the file, with which it could come. A file that others wrote, or another machine, is refused.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import NoReturn

import numpy as np

from verifiable_dp.auditing.algorithms import AlgorithmCaseState
from verifiable_dp.auditing.bandits import PlayCaseState
from verifiable_dp.auditing.rounds_of_testing import Look, UserCaseState
from verifiable_dp.auditing.traced import Ended
from verifiable_dp.core import engine, files, remembered
from verifiable_dp.core.engine import Passed
from verifiable_dp.core.files import lock
from verifiable_dp.core.neighbours import AnyPair, ContextPair, pair_of
from verifiable_dp.core.validate import InputError, Json, JsonDict, Result
from verifiable_dp.evidence.blackbox import scores
from verifiable_dp.evidence.blackbox.adversary import AdversarySizes
from verifiable_dp.evidence.blackbox.events import Event
from verifiable_dp.evidence.blackbox.test import Plan, Selected
from verifiable_dp.evidence.check import Check
from verifiable_dp.targets import folders, variables
from verifiable_dp.targets.opened import digest as opened_now
from verifiable_dp.targets.opened import read as files_read
from verifiable_dp.targets.releases import DataPair

FORMAT = "verifiable-dp checkpoint"
_MOST_BYTES = 1 << 32
_MOST_HEAD, _MOST_LINE = 1 << 12, 1 << 28  # bytes of the first line, and of another one
_LEAD = f'{{"format":"{FORMAT}"'.encode()
_NUMBERS = "biuf"  # kinds of arrays: booleans, whole numbers, floats
_DATA = {int, float, np.ndarray}  # of mechanisms, that come back as what they were
_STATES = (AlgorithmCaseState, PlayCaseState, UserCaseState)
_CLASSES: JsonDict = {
    one.__name__: one
    for one in (
        Check,
        DataPair,
        Ended,
        Event,
        Look,
        Plan,
        Selected,
        AdversarySizes,
        *_STATES,
        *vars(scores).values(),
    )
    if isinstance(one, type) and dataclasses.is_dataclass(one)
}


class CheckpointError(InputError):
    """The file cannot serve as the checkpoint of this audit."""


class OtherAuditError(CheckpointError):
    """The file holds the rungs of another audit, or was not written by this user of this machine."""


# ---------------------------------------------------------------- results as data


def packed(value: object) -> bytes:
    """A result as JSON that `unpacked` turns back, floats and arrays to the last bit; tuples become lists.

    Raises
    ------
    TypeError
        If it holds anything but numbers, texts, arrays of numbers, lists, mappings from texts, neighbours and
        what audits find.
    """
    return json.dumps(value, default=_tagged, separators=(",", ":")).encode()


def _tagged(value: Passed) -> Passed:
    name = type(value).__name__
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS:
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"!array": [value.dtype.str, list(value.shape), text]}
    if isinstance(value, ContextPair):  # in a record the claim says whether its model is joint
        return {"!pair": {**value.as_dict(), "joint": value.joint}}
    if isinstance(value, AnyPair):
        return {"!pair": value.as_dict()}
    exact = not isinstance(value, DataPair) or {type(data) for data in value.worlds()} <= _DATA
    if exact and _CLASSES.get(name) is type(value):
        return {f"!{name}": {one.name: _field(getattr(value, one.name)) for one in dataclasses.fields(value)}}
    raise TypeError(f"a checkpoint cannot contain {name}")


def _field(value: object) -> Passed:
    """A field of a dataclass, which may be what JSON does not know: a tuple, or a mapping from tuples."""
    if isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        return {"!rows": list(value.items())}
    return {"!tuple": list(value)} if isinstance(value, tuple) else value


def unpacked(text: bytes) -> Passed:
    """Inverse of `packed`.

    Raises
    ------
    ValueError
        If it is nothing that `packed` gives; also KeyError, TypeError.
    """
    return json.loads(text, object_hook=_untagged)


def _untagged(stored: JsonDict) -> Passed:
    kind: str = next(iter(stored), "")
    content: Passed = stored.get(kind)
    if not kind.startswith("!"):
        return stored
    if kind == "!array":
        dtype, shape, text = content
        if np.dtype(dtype).kind not in _NUMBERS:
            raise ValueError(f"an array of {dtype}")
        return np.frombuffer(base64.b64decode(text), np.dtype(dtype)).reshape(shape).copy()
    if kind == "!rows":
        return {tuple(key): entry for key, entry in content}
    if kind == "!tuple":
        return tuple(content)
    return pair_of(content) if kind == "!pair" else _CLASSES[kind[1:]](**content)


# ---------------------------------------------------------------- the file


class Checkpoint:
    """Finished rungs and parts of rungs, a line each, which is checked by itself; see `engine.Keeper`.

    Parameters
    ----------
    path
        Of the file; made if there is none, gone on with if it is of this audit.
    of
        What the audit is: two audits with the same are the same. As `packed` takes it.
    say
        Called with a line of text if nothing more can be kept.
    root, opened
        See `targets.opened.begin`: what the code has read so far, as it comes. What is kept was made of that:
        it has to be the same now, and is added to it.

    Raises
    ------
    CheckpointError
        If the file cannot be written, is not a checkpoint, or another process is using it; `OtherAuditError`
        if it is of another audit, or if nothing here vouches for it.
    """

    def __init__(
        self,
        path: Path,
        of: object,
        say: Callable[[str], None],
        root: str = "",
        opened: dict[str, str] | None = None,
    ) -> None:
        self._root, self._opened, self._read_before = root, {} if opened is None else opened, dict[str, str]()
        self.path, self._say, self._full = path, say, False
        self.started, self.cpu_seconds = time.time(), 0.0  # of the first attempt; of all before this one
        self._began = time.process_time()
        self._lines: dict[str, tuple[str, bytes]] = {}
        self._within, self._counts = "", dict[str, int]()
        try:
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise CheckpointError(
                    self._words("is a link, or not a file; remove it, or name another file")
                )
            identity = hashlib.sha256(packed(of)).hexdigest()
            self._file = path.open("a+b")
            self._key = remembered.recall(path)
        except TypeError as error:
            raise CheckpointError(
                f"`checkpoint` works only with options that are numbers, text or lists of these: {error}"
            ) from None
        except OSError as error:
            raise CheckpointError(self._words(f"cannot be written: {error.strerror}")) from None
        try:
            if not lock(self._file.fileno(), wait=False):
                raise CheckpointError(self._words("is in use by another audit"))
            self._read(identity)
            self._compare()
        except BaseException:
            self._file.close()
            raise

    @property
    def found(self) -> int:
        """Number of steps that are in the file."""
        return len(self._lines)

    def _words(self, what: str) -> str:
        return f"checkpoint: {str(self.path)!r} {what}"

    def _read(self, of: str) -> None:
        """Read what holds, and cut off what does not: the last line may be half written."""
        if self._file.seek(0, os.SEEK_END) > _MOST_BYTES:
            raise CheckpointError(self._words(f"is larger than {_MOST_BYTES >> 30} GiB"))
        self._file.seek(0)
        first = self._file.readline(_MOST_HEAD)
        if first[: len(_LEAD)] != _LEAD[: len(first)]:
            raise CheckpointError(self._words("is not a checkpoint, so we left it unchanged"))
        head = _row(first, self._key)
        if head is None:
            if first.endswith(b"\n"):
                why = "was not written by you on this machine, or was altered or moved"
                raise OtherAuditError(self._words(f"{why}; remove it, or name another file"))
            self._key = self._key or _new_key(self.path)
            self._file.truncate(0)
            self._append({"format": FORMAT, "of": of, "started": self.started})
            self._key = hmac.digest(self._key, of.encode(), "sha256")  # lines of one audit are not another's
            return
        if head["of"] != of:
            why = "its target, code, options or version differ; remove it, or name another file"
            raise OtherAuditError(self._words(f"belongs to another audit: {why}"))
        self.started, end = float(head["started"]), self._file.tell()
        self._key = hmac.digest(self._key, of.encode(), "sha256")
        while (row := _row(line := self._file.readline(_MOST_LINE), self._key)) is not None:
            if isinstance(read := row.get("opened"), dict):
                self._read_before |= read
                end = self._file.tell()
                continue
            try:
                place, asked, cpu = str(row["step"]), str(row["asked"]), float(row["cpu"])
            except (LookupError, TypeError, ValueError, OverflowError):
                break
            self._lines[place] = asked, line
            self.cpu_seconds, end = cpu, self._file.tell()
        self._file.truncate(end)

    def _compare(self) -> None:
        """Refuse what was made of other files or variables than those that are there now."""
        for name, digest in files_read(self._read_before).items():
            if not self._root or opened_now(Path(self._root), name) != digest:
                self._refuse(f"its code read {folders.said(name)!r}, which has changed")
        if name := variables.changed(self._read_before):
            self._refuse(f"its code asked for the environment variable {name}, which has changed")
        self._opened |= self._read_before

    def _refuse(self, why: str) -> NoReturn:
        raise OtherAuditError(
            self._words(f"belongs to another audit: {why}; remove or rename the checkpoint")
        )

    def _append(self, row: Json) -> None:
        """Add a line; where the disk is full the audit goes on without."""
        if self._full:
            return
        end, text = self._file.seek(0, os.SEEK_END), packed(row)[:-1]
        try:
            self._file.write(text + _sealed(text, self._key))
            self._file.flush()
        except OSError as error:
            self._full = True
            with suppress(OSError):
                self._file.truncate(end)
            self._say(
                self._words(f"can no longer be written: {error.strerror}; the audit continues without it")
            )

    def recalled(self, name: str, asked: str) -> tuple[str, bool, Passed]:
        """See `engine.Keeper`."""
        number = self._counts.get(name, 0)
        self._counts[name] = number + 1
        place = f"{self._within}{name} {number}"
        said, line = self._lines.get(place, ("", b""))
        if line and said == asked:
            with suppress(Exception):  # whatever it was written by, it is made again
                return place, True, unpacked(line)["value"]
        return place, False, None

    def keep(self, place: str, asked: str, result: object) -> None:
        """See `engine.Keeper`; what `packed` does not take is made again."""
        cpu = self.cpu_seconds + time.process_time() - self._began
        read = dict(self._opened)
        if read != self._read_before:
            self._append({"opened": read})
            self._read_before = read
        with suppress(TypeError):
            self._append({"step": place, "asked": asked, "cpu": round(cpu, 3), "value": result})

    @contextmanager
    def within(self, place: str) -> Iterator[None]:
        """See `engine.Keeper`."""
        around = self._within, self._counts
        self._within, self._counts = f"{place}/", {}
        try:
            yield
        finally:
            self._within, self._counts = around

    def close(self) -> None:
        """Let go of the file."""
        with suppress(OSError):
            self._file.close()


def _sealed(text: bytes, key: bytes) -> bytes:
    """End of a line that begins with `text`: a sum over it that needs the key."""
    return f',"sum":"{hmac.new(key, text, hashlib.sha256).hexdigest()[:32]}"}}\n'.encode()


def _row(line: bytes, key: bytes) -> JsonDict | None:
    """Values of a line, as they stand there; None if it is not whole, or was not written with the key."""
    text, mark, _ = line.rpartition(b',"sum":')
    if not mark or not key or not hmac.compare_digest(line, text + _sealed(text, key)):
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _new_key(path: Path) -> bytes:
    """Make the key of a run."""
    key = secrets.token_bytes(32)
    try:
        remembered.remember(path, key)
    except InputError as error:
        raise CheckpointError(f"checkpoint: the key cannot be stored: {error}") from None
    return key


def forget(path: Path) -> None:
    """Remove a checkpoint, and its key, once its result is somewhere else."""
    path.unlink(missing_ok=True)
    remembered.forget(path)


@contextmanager
def at(
    path: str | PathLike[str] | None,
    of: Callable[[], object],
    say: Callable[[str], None],
    root: str = "",
    opened: dict[str, str] | None = None,
) -> Iterator[Checkpoint | None]:
    """Keep the steps of this block in a file; it stays until its result is somewhere else.

    Parameters
    ----------
    path
        Of the file; with None nothing is kept.
    of, say, root, opened
        See `Checkpoint`; `say` also tells what there is to go on with.

    Raises
    ------
    CheckpointError
        See `Checkpoint`.
    """
    if path is None:
        yield None
        return
    checkpoint = Checkpoint(files.located("checkpoint", path), of(), say, root, opened)
    if checkpoint.found:
        say(f"checkpoint: continuing after {checkpoint.found} finished steps")
    try:
        with engine.kept_by(checkpoint):
            yield checkpoint
    finally:
        checkpoint.close()


def attempt(make: Callable[[Path | None], Result], path: Path | None) -> Result:
    """`make(path)`; from its beginning where the file is of another audit, without where it cannot serve.

    Of use to runs of many audits, which choose the files themselves.
    """
    try:
        return make(path)
    except OtherAuditError:
        assert path is not None
        forget(path)
        return make(path)
    except CheckpointError:
        return make(None)
