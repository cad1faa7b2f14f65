"""What an audit is known by: its target with its code, what was asked of it, and what computes it."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import inspect
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path

import numpy as np
import scipy

from verifiable_dp.auditing import record_parts
from verifiable_dp.auditing.resume import CheckpointError
from verifiable_dp.core import engine, paths, pinned_source
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import Given, JsonDict, JsonValue
from verifiable_dp.targets.source import file_digest, file_of, way_of


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
    computes.append(packages())
    return {"asked": asked, "code": engine.code_digest(), "installation": computes}


def code(*files: Path | None) -> dict[str, str]:
    """SHA-256 of files, of the modules beside them and of all that these import and that is not installed.

    Imports are read, not run: what is imported by a computed name is found only if it lies beside a file.

    Parameters
    ----------
    files
        Where code that is audited begins; None, and what is no file, has none.

    Returns
    -------
    dict
        By the path from the folder of the first file.
    """
    return _digests(files, beside=True)


def reached(*files: Path | None) -> dict[str, str]:
    """As `code`, without the modules beside the files that none of them imports by name."""
    return _digests(files, beside=False)


def _digests(files: Iterable[Path | None], beside: bool) -> dict[str, str]:
    given = [file.absolute() for file in files if file is not None and file.is_file()]
    found = set(given)
    if beside:
        found |= {one for file in given for one in file.parent.glob("*.py")}
    left = list(found)
    while left:
        others = set(_imports(left.pop(), [file.parent for file in given])) - found
        found |= others
        left += others
    # As seen from the first one: the same on another machine.
    return {os.path.relpath(file, given[0].parent): file_digest(file) for file in sorted(found)}


def digest(*files: Path | None) -> str:
    """SHA-256 over all of `code`; empty if there is none."""
    found = code(*files)
    rows = (f"{name} {sha256}\n" for name, sha256 in found.items())
    return hashlib.sha256("".join(rows).encode()).hexdigest() if found else ""


def _imports(file: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Files of the modules that a file imports, packages included, installed ones left out."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # another language
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _located(alias.name, [*folders, Path.cwd(), *map(Path, paths.of_targets())])
        elif isinstance(node, ast.ImportFrom):
            above = file.parents[node.level - 1 : node.level] if node.level else []
            for alias in node.names:
                name = f"{node.module}.{alias.name}" if node.module else alias.name
                yield from _located(name, above or [*folders, Path.cwd(), *map(Path, paths.of_targets())])


def _located(name: str, path: Iterable[Path]) -> Iterator[Path]:
    """The file of a module and those of the packages that it is in: of the first folder that has it.

    Each is the one that Python takes: an extension before source, and bytecode where there is no source.
    """
    words = name.split(".")
    if words[0] == _OURS:  # which has a digest of its own
        return
    for folder in path:
        whole = [folder.joinpath(*words[:end]) for end in range(1, len(words) + 1)]
        found = [file.absolute() for one in whole for file in _taken(one)]
        if found:
            yield from [] if pinned_source.installed(folder) else found
            return


_OURS = __name__.partition(".")[0]
_ENDINGS = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES, *BYTECODE_SUFFIXES)


def _taken(module: Path) -> list[Path]:
    """The file that Python loads for a path without ending; empty if there is none."""
    forms = (form for stem in (module / "__init__", module) for form in _endings(stem))
    return [file for file in forms if file.is_file()][:1]


def _endings(stem: Path) -> Iterator[Path]:
    return (stem.with_name(stem.name + ending) for ending in _ENDINGS)


def _target(thing: Given, name: str) -> list[JsonValue]:
    if isinstance(thing, str):
        return [name, digest(*way_of(thing))]
    kind = type(thing) if isinstance(thing, Algorithm) else thing
    file = _file(kind)
    what = [getattr(kind, "__module__", ""), getattr(kind, "__qualname__", "")]
    what += [record_parts.plain_parameters(thing)] if isinstance(thing, Algorithm) else []
    if file is None:
        raise CheckpointError(
            "`checkpoint` works only with a catalogue name, or with a function or class in a module; got "
            f"{name}, whose code we cannot identify"
        )
    return [name, *what, digest(file)]


def _file(kind: object) -> Path | None:
    """Where a function or class is defined that its name finds again."""
    if not (inspect.isroutine(kind) or inspect.isclass(kind)) or "<" in kind.__qualname__:
        return None
    path = Path(file_of(inspect.unwrap(kind)))
    return path if path.is_file() else None


@functools.cache
def packages() -> str:
    """SHA-256 over the packages on the path: their names, versions and lists of files with digests.

    A package that is installed for development has its name and version only.
    """
    rows = set()
    for folder in dict.fromkeys(paths.of_targets()):
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder or "."):
                if entry.name.endswith(".dist-info"):
                    listed = Path(entry.path, "RECORD")
                    content = listed.read_bytes() if listed.is_file() else b""
                    rows.add(f"{entry.name} {hashlib.sha256(content).hexdigest()}\n")
    return "sha256:" + hashlib.sha256("".join(sorted(rows)).encode()).hexdigest()
