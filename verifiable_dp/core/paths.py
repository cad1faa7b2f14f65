"""Where modules are looked for: no file beside a target is found where none of its code is to run."""

import contextlib
import functools
import os
import site
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import PathFinder

Given = tuple[list[str], dict[str, str | None]]  # a path and variables, as a process was given them
_SAFE, _NAMED = "PYTHONSAFEPATH", "PYTHONPATH"
_HOME = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
)  # what this package was imported from
_ORIGIN = "direct_url.json"  # in which an installer notes what it has installed
_BASE = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}  # what an environment was made from


def _folders(*names: str) -> set[str]:
    """Folders of the interpreter by what they are for, of the one that an environment was made from, too."""
    found = {sysconfig.get_path(name, vars=made) for name in names for made in (None, {**_BASE})}
    return found | {*map(os.path.realpath, found)}


_SITES = {
    *site.getsitepackages([*site.PREFIXES, *_BASE.values()]),
    *([site.getusersitepackages()] if site.ENABLE_USER_SITE else ()),
}
_STDLIB = _folders("stdlib", "platstdlib")
_PACKAGES = _folders("purelib", "platlib") | _SITES | {*map(os.path.realpath, _SITES)}
_INSTALLED = _STDLIB | _PACKAGES
# What this package needs, as it is imported.
REQUIRED = (
    *("click", "hypothesis", "jinja2", "joblib", "jsonschema", "markdown_it"),
    *("msgspec", "numpy", "pytest", "rich", "scipy", "threadpoolctl"),
)


class _Process:
    """What this process was given, where that was changed, and whether code of targets runs in it."""

    def __init__(self) -> None:
        self.path = list[str]()
        self.variables = dict[str, str | None]()
        self.environment = dict[str, str]()  # the whole, if a command runs here: libraries change it
        self.of_targets = False


_PROCESS = _Process()


def leave_out() -> None:
    """Import nothing from folders of targets, neither here nor in a Python that this process starts.

    Called as a command starts. A `numpy.py` that lies beside a target would run in its process otherwise, and
    so would a library that another one looks for and that is not installed.
    """
    if _PROCESS.path:
        return
    named = os.environ.get(_NAMED, "")
    theirs = {os.path.realpath(place) for place in named.split(os.pathsep) if named}
    trees = _trees()
    apart = [place for place in sys.path if not _may_hold_targets(os.path.realpath(place), trees)]
    kept = [place for place in apart if os.path.realpath(place) not in theirs - {_HOME, *_INSTALLED}]
    last = _needed(kept, [place for place in apart if place not in kept])
    _PROCESS.path = sys.path[:]
    sys.path[:] = [*kept, *last]
    _PROCESS.environment = dict(os.environ)
    left = [place for place in sys.path if place and os.path.realpath(place) in theirs]
    _PROCESS.variables = _set({_SAFE: "1", _NAMED: os.pathsep.join(left) or None})


def of_command() -> bool:
    """Whether this process began as a command, before which nothing of targets was found."""
    return bool(_PROCESS.path)


def _trees() -> set[str]:
    """The repositories, from their tops on, of the current folder and of the code that the command names.

    What is in no repository counts from its folder on.
    """
    files = (os.path.realpath(file) for file in map(_file_of, sys.argv[1:]) if os.path.isfile(file))
    named = {os.path.dirname(file) for file in files if not installed(file)}
    return {_top(folder) for folder in (os.path.realpath(os.curdir), *named)}


def _file_of(word: str) -> str:
    """The file that a word of the command names, or its module is in; nothing is imported."""
    name, mark, _ = word.partition(":")
    top = name.partition(".")[0]
    spec = PathFinder.find_spec(top) if mark and top.isidentifier() and not os.path.isfile(name) else None
    return (spec.origin if spec is not None else None) or name


def _top(folder: str) -> str:
    """The nearest folder at or above one that holds ``.git``, or that one."""
    place = folder
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return folder
        place = above
    return place


def _may_hold_targets(place: str, trees: Collection[str]) -> bool:
    """Whether a folder of the path is in a tree of targets, or such a tree is in it.

    What Python or this package was imported from is left.
    """
    if place == _HOME or place in _INSTALLED:
        return False
    return any(_within(place, tree) or _within(tree, place) for tree in trees) and not any(
        _within(place, one) and not any(_within(tree, one) for tree in trees) for one in _INSTALLED
    )


def _needed(kept: Sequence[str], others: Iterable[str]) -> list[str]:
    """Those of the other folders that hold what this package needs and no folder before them has."""
    found: list[str] = []
    for place in others:
        lacking = [name for name in REQUIRED if not PathFinder.find_spec(name, [*kept, *found])]
        if any(PathFinder.find_spec(name, [place]) for name in lacking):
            found.append(place)
    return found


def installed(place: str) -> bool:
    """Whether a file or folder is one of Python's own or of those that it installs into.

    The interpreter says which these are; what a folder is called says nothing.
    """
    return _is_in(place, _INSTALLED)


def of_python(file: str) -> bool:
    """Whether a file is of Python's own library, and not of what is installed into a folder of it."""
    return file.startswith("<frozen ") or (_is_in(file, _STDLIB) and not _is_in(file, _PACKAGES))


def in_packages(file: str) -> str:
    """The path of an installed file from the folder into which it was installed; empty for other files."""
    found = [os.path.relpath(file, folder) for folder in _PACKAGES if _within(file, folder)]
    return min(found, key=len, default="")


@functools.cache
def made_of_folders() -> frozenset[str]:
    """Installed files that are copies of what lies in some folder of a user, under whatever name there.

    Those of distributions whose installer noted a folder and that are not editable; not its own notes.
    """
    import json  # not before the path is safe: a file beside a target may have the name of a module
    from importlib import metadata

    found = set[str]()
    for one in metadata.distributions(path=sorted(_PACKAGES)):
        with contextlib.suppress(ValueError, AttributeError):  # what it noted has another form
            made = json.loads(one.read_text(_ORIGIN) or "{}").get("dir_info")
            inside = [file for file in one.files or () if made is not None and not made.get("editable")]
            notes = {file.parent for file in inside if file.name == _ORIGIN}
            found |= {os.path.realpath(str(file.locate())) for file in inside if file.parent not in notes}
    return frozenset(found)


def source_of(file: str) -> str:
    """The file in which code is written that names `file` as its own: that of a frozen module, else this."""
    name = file.removeprefix("<frozen ").removesuffix(">")
    if name == file:
        return file
    form = os.path.join(sysconfig.get_path("stdlib"), *name.split("."))
    return next((one for one in (f"{form}.py", os.path.join(form, "__init__.py")) if os.path.isfile(one)), "")


def _is_in(file: str, folders: Iterable[str]) -> bool:
    return any(_within(file, one) for one in folders)


def _within(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)


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
    whole = {**(_PROCESS.environment or os.environ), **_PROCESS.variables}
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
    _PROCESS.path, _PROCESS.variables, _PROCESS.environment, _PROCESS.of_targets = [], {}, {}, True


def missing(module: str) -> str:
    """A folder from which nothing is imported here and that holds a module; empty if there is none."""
    return next((place or os.curdir for place in left_out() if PathFinder.find_spec(module, [place])), "")
