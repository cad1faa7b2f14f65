"""Where modules are looked for: no file beside a target is found where none of its code is to run."""

import contextlib
import os
import site
import sys
import sysconfig
from collections.abc import Collection, Iterator, Mapping
from importlib.machinery import PathFinder

Given = tuple[list[str], dict[str, str | None]]  # a path and variables, as a process was given them
_SAFE, _NAMED = "PYTHONSAFEPATH", "PYTHONPATH"
_HOME = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
)  # what this package was imported from
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_INSTALLED = {*map(os.path.realpath, (*_LIBRARIES, *site.getsitepackages(), site.getusersitepackages()))}


class _Process:
    """What this process was given, where that was changed, and whether code of targets runs in it."""

    def __init__(self) -> None:
        self.path = list[str]()
        self.variables = dict[str, str | None]()
        self.of_targets = False


_PROCESS = _Process()


def leave_out() -> None:
    """Import nothing from folders of targets, neither here nor in a Python that this process starts.

    Called as a command starts. A `numpy.py` that lies beside a target would run in its process otherwise, and
    so would a library that another one looks for and that is not installed.
    """
    if _PROCESS.path:
        return
    here, named = os.path.realpath(os.curdir), os.environ.get(_NAMED, "")
    theirs = {os.path.realpath(place) for place in named.split(os.pathsep) if named}
    kept = [place for place in sys.path if not _may_hold_targets(os.path.realpath(place), here, theirs)]
    left = [place for place in kept if place and os.path.realpath(place) in theirs]
    last = [place for place in left if os.path.realpath(place) not in {_HOME, *_INSTALLED}]
    _PROCESS.path = sys.path[:]
    sys.path[:] = [*(place for place in kept if place not in last), *last]
    _PROCESS.variables = _set({_SAFE: "1", _NAMED: os.pathsep.join(left) or None})


def _may_hold_targets(place: str, here: str, named: Collection[str]) -> bool:
    """Whether a folder of the path is in one tree with the current one, or PYTHONPATH names it.

    What Python or this package was imported from is left, and of PYTHONPATH what pip has installed elsewhere.
    """
    if place == _HOME or place in _INSTALLED:
        return False
    if _within(place, here) or _within(here, place):
        return not any(_within(place, one) and not _within(here, one) for one in _INSTALLED)
    return place in named and not any(name.endswith(".dist-info") for name in _names(place))


def _names(folder: str) -> list[str]:
    """What is in a folder; nothing if it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


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
    if _PROCESS.variables or _PROCESS.of_targets:
        yield
        return
    _PROCESS.variables = _set({_SAFE: "1"})
    try:
        yield
    finally:
        _set(_PROCESS.variables)
        _PROCESS.variables = {}


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
    return [*(place for place in sys.path if place not in _PROCESS.path), *_PROCESS.path]


def environment() -> dict[str, str]:
    """The environment in which the code of targets runs: as this process was given it."""
    whole = {**os.environ, **_PROCESS.variables}
    return {name: value for name, value in whole.items() if value is not None}


def left_out() -> list[str]:
    """Folders of the path from which nothing is imported here."""
    return [place for place in of_targets() if place not in sys.path]


def given() -> Given:
    """What this process was given; for one that it starts."""
    return _PROCESS.path, _PROCESS.variables


def take_over(found: Given) -> None:
    """In a process that another one started to do a part of its work: know what that one was given."""
    _PROCESS.path, _PROCESS.variables = found


def restore() -> None:
    """In a process where code of targets runs: look for modules as Python does."""
    sys.path[:] = of_targets()
    _set(_PROCESS.variables)
    _PROCESS.path, _PROCESS.variables, _PROCESS.of_targets = [], {}, True


def missing(module: str) -> str:
    """A folder from which nothing is imported here and that holds a module; empty if there is none."""
    return next((place or os.curdir for place in left_out() if PathFinder.find_spec(module, [place])), "")
