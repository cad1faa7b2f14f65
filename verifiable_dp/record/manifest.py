"""Manifests of folders: every file with its digest, so that one signature speaks of all of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import check_digest, read

MANIFEST_VERSION = "manifest-1.0.0"
NAME = "manifest.json"
_LARGEST = 64 << 20  # bytes of a file


def of(folder: Path) -> JsonDict:
    """The manifest of a folder as it is: SHA-256 of each file below it but the manifest's own.

    Raises
    ------
    InputError
        If there is no such folder, or something in it is not a file that can be read.
    """
    if not folder.is_dir():
        raise InputError(f"folder: {str(folder)!r} is not a folder")
    found = {path.relative_to(folder).as_posix(): _digest(path) for path in _files(folder)}
    return sealed({"schema_version": MANIFEST_VERSION, "files": found})


def differences(folder: Path) -> tuple[Json, dict[str, str]]:
    """The manifest of a folder as it was written, and how files differ from it, by their names.

    Raises
    ------
    InputError
        If the manifest cannot be read, or was edited.
    """
    whole = read(folder / NAME)
    if whole.get("schema_version") != MANIFEST_VERSION or not isinstance(whole.get("files"), dict):
        raise InputError(f"manifest: schema_version must be {MANIFEST_VERSION}")
    check_digest(whole, "manifest")
    stated, there = whole["files"], of(folder)["files"]
    words = {(True, False): "is missing", (False, True): "is not in the manifest"}
    return whole, {
        name: words.get((name in stated, name in there), "has changed")
        for name in sorted({*stated, *there})
        if stated.get(name) != there.get(name)
    }


def _files(folder: Path) -> Iterator[Path]:
    for here, inside, names in os.walk(folder):
        inside.sort()
        links = [Path(here, name) for name in inside if Path(here, name).is_symlink()]
        for path in (*links, *(Path(here, name) for name in sorted(names))):
            if path.relative_to(folder).as_posix() in (NAME, f"{NAME}.sig"):
                continue
            if path.is_symlink():
                raise InputError(
                    f"manifest: {str(path)!r} is a link, which has no digest; replace it with the file itself"
                )
            yield path


def _digest(path: Path) -> str:
    return hashlib.sha256(files.content("manifest", path, _LARGEST)).hexdigest()
