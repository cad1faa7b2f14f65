"""Settings of a project: the table ``[tool.verifiable-dp]`` of its pyproject.toml.

It holds what a campaign file holds, so that command line, pytest and CI make the same requests of it.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, JsonDict

FILE = "pyproject.toml"
TABLE = "verifiable-dp"
_LARGEST = 1 << 20  # bytes of a file
_ALIKE = 0.9  # of two names: with another separator, or with a letter more, less or wrong
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
    found = _settings(path, loaded)
    if found is None:
        raise InputError(f"{FILE}: {str(path)!r} has no table [tool.{TABLE}]; add [[tool.{TABLE}.targets]]")
    return found


def _settings(path: str | Path, loaded: JsonDict) -> JsonDict | None:
    """The settings in a pyproject.toml; None without any.

    Raises
    ------
    InputError
        If they are not a table, or a table has almost their name: its targets would not be audited.
    """
    tools = loaded.get("tool")
    tools = tools if isinstance(tools, dict) else {}
    for name in tools:
        if name != TABLE and difflib.get_close_matches(name.lower(), [TABLE], cutoff=_ALIKE):
            raise InputError(f"{FILE}: {str(path)!r} has a table [tool.{name}]; rename it to [tool.{TABLE}]")
    if not isinstance(tools.get(TABLE, {}), dict):
        raise InputError(
            f"{FILE}: {str(path)!r}: tool.{TABLE} must be a table [tool.{TABLE}], with targets in "
            f"[[tool.{TABLE}.targets]]"
        )
    return tools.get(TABLE)


def nearest(start: Path) -> Path | None:
    """The pyproject.toml with settings in `start` or the nearest folder above it; None without one.

    Folders above the repository of `start` are not looked into.

    Raises
    ------
    InputError
        If one that is nearer cannot be read.
    """
    top = files.checkout(start)
    for folder in (start.resolve(), *start.resolve().parents):
        place = folder / FILE
        if place.is_file() and _settings(place, files.toml(FILE, place, _LARGEST)) is not None:
            return place
        if folder == top:
            break
    return None


def start(here: Path, texts: Iterable[str], words: Iterable[str] = ()) -> Path:
    """Where paths begin that a test in `here` names: the current folder, or its project if that has them.

    Parameters
    ----------
    here
        Folder of the test.
    texts
        May name code in a file or module, as targets do.
    words
        May be paths.

    Raises
    ------
    InputError
        If both folders have them: which one is audited would depend on where pytest was started.
    """
    given = [place for place in (one.rpartition(":")[0] for one in texts) if place]
    modules = [one.replace(".", "/") for one in given if not one.endswith(".py")]
    named = {*given, *modules, *(f"{one}.py" for one in modules), *words}
    if not named:
        return Path()
    place = nearest(here)
    project = place.parent if place else here
    own, others = ({one for one in named if (where / one).exists()} for where in (project, Path()))
    if not own > others and any((project / one).resolve() != Path(one).resolve() for one in own & others):
        both = " and ".join(repr(str(where / min(own & others))) for where in (Path.cwd(), project))
        raise InputError(
            f"target: both {both} exist; write the path of yours from the folder in which you start pytest, "
            "or start in its folder"
        )
    return project if own > others else Path()


def write_workflow(path: Path | None = None) -> Path:
    """Write a workflow for GitHub Actions that audits what the nearest settings list, and return its path.

    By default it is written at the top of the repository, where GitHub looks for workflows.

    Raises
    ------
    InputError
        If there is something at `path` already, or it cannot be written.
    """
    here = Path.cwd()
    top, place = files.checkout(here), nearest(here)
    audited = place.parent if place else here.resolve()
    below = audited.relative_to(top).as_posix() if top else "."
    path = path or Path(os.path.relpath(top or here, here), ".github", "workflows", "verifiable-dp.yml")
    if path.exists() or path.is_symlink():
        raise InputError(f"path: {str(path)!r} already exists; we do not overwrite it")
    for folder in reversed(path.parents):
        files.make_folder("path", folder)
    where = "" if below == "." else f"        with:\n          working-directory: {json.dumps(below)}\n"
    return files.write_text(path, _WORKFLOW.read_text("utf-8") + where)
