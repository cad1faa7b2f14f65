"""What an audit is known by: its target with its code, what was asked of it, and what computes it."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path

import numpy as np
import scipy

from verifiable_dp.auditing import drafts
from verifiable_dp.auditing.resume import CheckpointError
from verifiable_dp.core import engine
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import Given, JsonDict, JsonValue
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.source import file_digest, file_of


def of(thing: Given, name: str, **asked: object) -> JsonDict:
    """What is equal for two audits only if their records would be, for `resume.Checkpoint`.

    Parameters
    ----------
    thing, name
        The target, as `api.resolve` gives it.
    asked
        Options of the audit.

    Raises
    ------
    CheckpointError
        If the code of the target cannot be found again by its name.
    """
    return {"target": _target(thing, name), **of_rows(**asked)}


def of_rows(**asked: object) -> JsonDict:
    """As `of`, for what has no target of its own, such as the kill table."""
    computes = [engine.installation(), f"numpy {np.__version__}", f"scipy {scipy.__version__}"]
    return {"asked": asked, "code": engine.code_digest(), "installation": computes}


def beside(file: Path | None) -> str:
    """SHA-256 over a file and the modules beside it, where what it imports usually lies; empty for none."""
    if file is None or not file.is_file():
        return ""
    found = sorted({file, *file.parent.glob("*.py")})
    rows = (f"{path.name} {file_digest(path)}\n" for path in found)
    return hashlib.sha256("".join(rows).encode()).hexdigest()


def _target(thing: Given, name: str) -> list[JsonValue]:
    if isinstance(thing, Exec):
        file, what = thing.file, [thing.command, thing.timeout]
    else:
        kind = type(thing) if isinstance(thing, Algorithm) else thing
        file, what = _file(kind), [getattr(kind, "__module__", ""), getattr(kind, "__qualname__", "")]
        what += [drafts.plain_parameters(thing)] if isinstance(thing, Algorithm) else []
    if file is None:
        raise CheckpointError(
            "checkpoint works only with a catalogue name, a function or class of a module, or a command "
            f"with a file, got {name}, whose code cannot be told from another's"
        )
    return [name, *what, beside(file)]


def _file(kind: object) -> Path | None:
    """Where a function or class is defined that its name finds again."""
    if not (inspect.isroutine(kind) or inspect.isclass(kind)) or "<" in kind.__qualname__:
        return None
    path = Path(file_of(inspect.unwrap(kind)))
    return path if path.is_file() else None
