"""Settings of a project: the table ``[tool.verifiable-dp]`` of its pyproject.toml.

It holds what a campaign file holds, so that command line, pytest and CI make the same requests of it.
"""

from __future__ import annotations

from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, JsonDict

FILE = "pyproject.toml"
TABLE = "verifiable-dp"
_LARGEST = 1 << 20  # bytes of a file
_WORKFLOW = Path(__file__).with_name("workflow.yml")


def room(path: str | Path) -> str:
    """How messages about a file begin."""
    return f"{FILE}: [tool.{TABLE}]: " if Path(path).name == FILE else "campaign: "


def table(path: str | Path) -> JsonDict:
    """What a campaign file holds, or the settings in a pyproject.toml.

    Raises
    ------
    InputError
        If it cannot be read, is not TOML, or has no such table.
    """
    loaded = files.toml("campaign", path, _LARGEST)
    if Path(path).name != FILE:
        return loaded
    found = _settings(loaded)
    if found is None:
        raise InputError(f"{FILE}: {str(path)!r} has no table [tool.{TABLE}]; add [[tool.{TABLE}.targets]]")
    return found


def _settings(loaded: JsonDict) -> JsonDict | None:
    tools = loaded.get("tool")
    found = tools.get(TABLE) if isinstance(tools, dict) else None
    return found if isinstance(found, dict) else None


def nearest(start: Path) -> Path | None:
    """The pyproject.toml with settings in `start` or the nearest folder above it; None without one.

    Raises
    ------
    InputError
        If one that is nearer cannot be read.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        place = folder / FILE
        if place.is_file() and _settings(files.toml(FILE, place, _LARGEST)) is not None:
            return place
    return None


def write_workflow(path: Path) -> Path:
    """Write a workflow for GitHub Actions that audits what the settings list, and return its path.

    Raises
    ------
    InputError
        If there is something at `path` already, or it cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise InputError(f"path: {str(path)!r} already exists; we do not overwrite it")
    for folder in reversed(path.parents):
        files.make_folder("path", folder)
    return files.write_text(path, _WORKFLOW.read_text("utf-8"))
