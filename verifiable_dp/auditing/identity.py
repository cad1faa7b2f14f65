"""What an audit is known by: its target with its code, what was asked of it, and what computes it."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from verifiable_dp.auditing import drafts
from verifiable_dp.core import checkpoint, engine
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.checkpoint import CheckpointError
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.source import Source, file_digest


def beside(file: Path | None) -> str:
    """SHA-256 over a file and the modules beside it, where what it imports lies as a rule; empty for none."""
    if file is None or not file.is_file():
        return ""
    found = sorted({file, *file.parent.glob("*.py")})
    rows = (f"{path.name} {file_digest(path)}\n" for path in found)
    return hashlib.sha256("".join(rows).encode()).hexdigest()


def of_rows(**asked: Any) -> dict[str, Any]:
    """As `of`, of what needs no target of its own, such as the kill table."""
    return {
        "asked": checkpoint.packed(asked),
        "code": engine.code_digest(),
        "installation": [engine.installation(), f"numpy {np.__version__}", f"scipy {scipy.__version__}"],
    }


def of(thing: Any, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """An audit as JSON values: those of two audits are equal only if their records would be.

    Parameters
    ----------
    thing, name
        The target, as `api.resolve` gives it.
    asked
        Options of the audit.

    Raises
    ------
    CheckpointError
        If the target is no code that is found again by its name, or an option is no plain value.
    """
    try:
        return {"target": _target(thing, name), **of_rows(**asked)}
    except TypeError as error:
        raise CheckpointError(f"checkpoint works only with plain options: {error}") from None


def _target(thing: Any, name: str) -> dict[str, Any]:
    if isinstance(thing, Exec):
        return {"command": thing.command, "timeout": thing.timeout, "files": beside(_known(thing.file, name))}
    kind = type(thing) if isinstance(thing, Algorithm) else thing
    named = inspect.isroutine(kind) or inspect.isclass(kind)
    file = _known(_file(kind) if named and "<" not in kind.__qualname__ else None, name)
    parameters = drafts.plain_parameters(thing) if isinstance(thing, Algorithm) else {}
    return {
        "source": Source.named(kind, name).as_dict(),
        "name": f"{kind.__module__}.{kind.__qualname__}",
        "parameters": checkpoint.packed(parameters),
        "files": beside(file),
    }


def _known(file: Path | None, name: str) -> Path:
    if file is None:
        raise CheckpointError(
            "checkpoint works only with a catalogue name, a function or class of a module, or a command "
            f"with a file, got {name}, whose code cannot be told from another's"
        )
    return file


def _file(kind: Any) -> Path | None:
    try:
        path = inspect.getsourcefile(inspect.unwrap(kind))
    except TypeError:
        return None
    return Path(path) if path else None
