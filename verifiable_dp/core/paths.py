"""Where modules are looked for: no file beside a target is found where none of its code is to run."""

import contextlib
import os
import site
import sys
import sysconfig
from collections.abc import Collection, Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import ClassVar

Given = tuple[list[str], dict[str, str | None]]  # a path and variables, as a process was given them
_SAFE, _NAMED = "PYTHONSAFEPATH", "PYTHONPATH"
_HOME = os.path.realpath(Path(__file__).parents[2])  # what this package was imported from
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_INSTALLED = {*map(os.path.realpath, (*_LIBRARIES, *site.getsitepackages(), site.getusersitepackages()))}


class _Process:
    """What this process was given, where that was changed, and whether code of targets runs in it."""

    path: ClassVar[list[str]] = []
    variables: ClassVar[dict[str, str | None]] = {}
    of_targets = False


def leave_out() -> None:
    """Import nothing from folders of targets, neither here nor in a Python that this process starts.

    Called as a command starts. A `numpy.py` that lies beside a target would run in its process otherwise, and
    so would a library that another one looks for and that is not installed.
    """
    if _Process.path:
        return
    here, named = os.path.realpath(os.curdir), os.environ.get(_NAMED, "")
    theirs = {os.path.realpath(place) for place in named.split(os.pathsep) if named}
    kept = [place for place in sys.path if not _may_hold_targets(os.path.realpath(place), here, theirs)]
    left = [place for place in kept if place and os.path.realpath(place) in theirs]
    last = [place for place in left if os.path.realpath(place) not in {_HOME, *_INSTALLED}]
    _Process.path = sys.path[:]
    sys.path[:] = [*(place for place in kept if place not in last), *last]
    _Process.variables = _set({_SAFE: "1", _NAMED: os.pathsep.join(left) or None})


def _may_hold_targets(place: str, here: str, named: Collection[str]) -> bool:
    """Whether a folder of the path is in one tree with the current one, or PYTHONPATH names it.

    What Python or this package was imported from is left, and of PYTHONPATH what pip has installed elsewhere.
    """
    if place == _HOME or place in _INSTALLED:
        return False
    if _within(place, here) or _within(here, place):
        return not any(_within(place, one) and not _within(here, one) for one in _INSTALLED)
    return place in named and not any(Path(place).glob("*.dist-info"))


def _within(place: str, folder: str) -> bool:
    return place == folder or place.startswith(os.path.join(folder, ""))


def _set(variables: Mapping[str, str | None]) -> dict[str, str | None]:
    """What variables of the environment were before they are set, or removed if they are None."""
    before = {name: os.environ.pop(name, None) for name in variables}
    os.environ.update({name: value for name, value in variables.items() if value is not None})
    return before


@contextlib.contextmanager
def safe_starts() -> Iterator[None]:
    """A Python that this process starts in this block does not look into the current folder first.

    A process that a command began starts no other ones; where code of targets runs, nothing changes.
    """
    if _Process.variables or _Process.of_targets:
        yield
        return
    _Process.variables = _set({_SAFE: "1"})
    try:
        yield
    finally:
        _set(_Process.variables)
        _Process.variables = {}


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Import a library in this block that reads settings from the current folder, where a target may lie.

    What is installed comes first here, also where code of targets runs: a `numba.py` beside it is no library.
    """
    places = sys.path[:]
    sys.path.sort(key=lambda place: not any(_within(os.path.realpath(place), one) for one in _INSTALLED))
    try:
        folder = os.getcwd()
    except OSError:  # it was removed, so that nothing lies there
        folder = ""
    if folder:
        os.chdir(os.sep)
    try:
        yield
    finally:
        sys.path[:] = places
        if folder:
            os.chdir(folder)


def of_targets() -> list[str]:
    """The path on which the code of targets is found: as this process was given it."""
    return [*(place for place in sys.path if place not in _Process.path), *_Process.path]


def environment() -> dict[str, str]:
    """The environment in which the code of targets runs: as this process was given it."""
    whole = {**os.environ, **_Process.variables}
    return {name: value for name, value in whole.items() if value is not None}


def left_out() -> list[str]:
    """Folders of the path from which nothing is imported here."""
    return [place for place in of_targets() if place not in sys.path]


def given() -> Given:
    """What this process was given; for one that it starts."""
    return _Process.path, _Process.variables


def take_over(found: Given) -> None:
    """In a process that another one started to do a part of its work: know what that one was given."""
    _Process.path, _Process.variables = found


def restore() -> None:
    """In a process where code of targets runs: look for modules as Python does."""
    sys.path[:] = of_targets()
    _set(_Process.variables)
    _Process.path, _Process.variables, _Process.of_targets = [], {}, True


def missing(module: str) -> str:
    """A folder from which nothing is imported here and that holds a module; empty if there is none."""
    return next((place or os.curdir for place in left_out() if PathFinder.find_spec(module, [place])), "")
