"""Where modules are looked for: the folders of targets come last where none of their code is to run."""

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterator

_FIRST: list[str] = []  # what came before all else
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def put_last() -> None:
    """Import from the current folder and those of PYTHONPATH only what is nowhere else.

    Called as a command starts. A `numpy.py` that lies beside a target would run in its process otherwise.
    """
    named = {os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    named.add(os.getcwd())
    _FIRST[:] = [place for place in of_targets() if os.path.abspath(place) in named]
    sys.path[:] = [*(place for place in sys.path if place not in _FIRST), *_FIRST]


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Import a library in this block that reads settings from the current folder, where a target may lie.

    What is installed comes first here, also where code of targets runs: a `numba.py` beside it is no library.
    """
    places = sys.path[:]
    sys.path.sort(key=lambda place: not os.path.abspath(place).startswith(_INSTALLED))
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
    return [*_FIRST, *(place for place in sys.path if place not in _FIRST)]


def restore() -> None:
    """In a process where code of targets runs: look for modules as Python does."""
    sys.path[:] = of_targets()
    _FIRST.clear()
