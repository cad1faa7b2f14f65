"""Whether the modules that run here are those that would run elsewhere: the process had others before.

A process in which code is audited has imported libraries, and looks into other folders. What a file imports
has to be what its path finds, once and in one place, and has to be there: code may catch that it is not.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import sys
import sysconfig
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from pathlib import Path
from types import ModuleType

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign, InputError
from verifiable_dp.targets import opened
from verifiable_dp.targets.asker import is_installed
from verifiable_dp.targets.source import on_path, resolved

_OURS = __name__.partition(".")[0]


def check() -> None:
    """Refuse code whose imports gave it something else than they give in production.

    Raises
    ------
    InputError
        If a file is loaded under two names, a module is not the one that its name finds, or it is installed
        and the repository has another version of it.
    """
    names, real = dict[str, str](), functools.cache(os.path.realpath)  # there are thousands, in few folders
    for name, module in [*sys.modules.items()]:
        file = _file_of(module, real)
        if not file or name == "__main__" or is_installed(file):
            if file and name.partition(".")[0] not in (_OURS, "__main__") and not paths.of_python(file):
                _compare_installed(name, file)
            continue
        if names.setdefault(file, name) != name:
            raise InputError(
                f"target: {file!r} is loaded as two modules, {names[file]!r} and {name!r}; name it by its "
                "package (package.module:NAME)"
            )
    for file, name in names.items():
        for line, wanted, sure in _imported(file, name):
            origin = _found(wanted)
            if origin and (sure or wanted in sys.modules):
                _compare(file, line, wanted, origin)
            beside = [] if _package_of(name) else [os.path.dirname(file)]
            for one in dict.fromkeys((wanted.partition(".")[0], wanted)):
                _alone(f"line {line} of {file!r} imports {one}", one, beside)
    for wanted in opened.asked():  # perhaps by a computed name
        _alone(f"the code imports {wanted}", wanted, [])


class _Path(list[str]):
    """The path on which modules are found, which hears code look into it.

    Its first folder is that of the program that was started, which here is ours.
    """

    def __getitem__(self, index: Foreign) -> Foreign:
        """As of any list."""
        if not isinstance(index, slice):
            _note_path()
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[str]:
        """As of any list."""
        _note_path()
        return super().__iter__()


def _note_path() -> None:
    root, found = opened.here()
    file = sys._getframe(2).f_code.co_filename
    if root and not (is_installed(file) or paths.of_python(file)):
        found["./sys.path"] = opened.BESIDE


def hear_path() -> None:
    """Note from now on that code asks in which folders modules are looked for."""
    sys.path = _Path(sys.path)


def forget() -> None:
    """Forget modules that are not installed, so that code that is loaded now reads their files, and is heard.

    For a process that is a copy of the one that asks: what that has imported may since have changed, in
    memory or in its file. What this program itself needs stays: NumPy cannot be loaded twice.
    """
    importlib.invalidate_caches()
    tops = {name.partition(".")[0] for name in sys.modules} - {"__main__", *paths.REQUIRED}
    others = {top for top in tops if _is_found_elsewhere(top)}
    theirs = {name for name, one in [*sys.modules.items()] if _is_theirs(one)}
    for name in [*sys.modules]:
        top = name.partition(".")[0]
        if top in others or (top in tops and name in theirs):
            del sys.modules[name]


def ran_before() -> str:
    """A file of no library that has run here, of whose changes nobody knows: of a script, tests, a notebook.

    Empty if this process is a command of ours, and has run nothing else.
    """
    main = sys.modules["__main__"]
    place = os.path.realpath(vars(main).get("__file__") or os.curdir)
    scripts = {os.path.realpath(sysconfig.get_path("scripts", one)) for one in sysconfig.get_scheme_names()}
    scripts.add(os.path.realpath(os.path.dirname(sys.executable)))
    if not (paths.of_command() and (is_installed(place) or os.path.dirname(place) in scripts)):
        return place
    others = (one for one in [*sys.modules.values()] if one is not main and _is_theirs(one))
    return next((str(vars(one).get("__file__") or next(iter(one.__path__))) for one in others), "")


def _is_found_elsewhere(name: str) -> bool:
    """Whether an import would find what is not installed, in the place of what was loaded."""
    with suppress(Exception):  # whatever a finder makes of a name
        for finder in (BuiltinImporter, FrozenImporter, PathFinder):
            if (spec := finder.find_spec(name)) is not None:
                place = spec.origin if spec.has_location else None
                return place is not None and not is_installed(os.path.abspath(place))
    return False


def _is_theirs(module: object) -> bool:
    known = vars(module) if isinstance(module, ModuleType) else {}
    places = [known["__file__"]] if known.get("__file__") else [*known.get("__path__", ())]
    return bool(places) and not any(is_installed(os.path.abspath(one)) for one in places)


def _compare_installed(name: str, file: str) -> None:
    """Refuse an installed module of which the repository has another version, as after a change of it.

    One that is the same counts as a file that the code reads: it may change later.
    """
    end = "/__init__.py" if os.path.basename(file) == "__init__.py" else ".py"
    for place in map(Path, opened.copies(name.replace(".", "/") + end)):
        if place.read_bytes() != Path(file).read_bytes():
            raise InputError(
                f"target: {name} is loaded from the installed file {file!r}, but {str(place)!r} in the "
                "repository differs from that file; install the repository's version (pip install "
                "--editable .), or remove one of the two"
            )
        opened.note(str(place))


def _found(wanted: str, places: list[str] | None = None) -> str:
    """The file of a module as the path finds it, or these places; empty if installed or not found."""
    parent = wanted.rpartition(".")[0]
    if places is None:
        places = [*getattr(sys.modules.get(parent), "__path__", ())] if parent else sys.path
    elif parent:  # which need not be loaded
        places = _folders_of(parent, places)
    try:
        spec = on_path(wanted, places)
    except (ImportError, ValueError):
        return ""
    origin = spec.origin if spec is not None and spec.has_location else None
    return "" if origin is None or is_installed(os.path.abspath(origin)) else os.path.realpath(origin)


def _folders_of(package: str, places: Sequence[str]) -> list[str]:
    """Where modules of a package lie that is found in these places; it may be a folder without a file."""
    for end in range(package.count(".") + 1):
        spec = on_path(".".join(package.split(".")[: end + 1]), places)
        places = [*(spec.submodule_search_locations or ())] if spec is not None else []
    return [*places]


def _compare(file: str, line: int, wanted: str, origin: str) -> None:
    """Refuse an import that found another module; one that found none is noted, and makes a doubt."""
    parent, _, name = wanted.rpartition(".")
    if wanted not in sys.modules:
        if not hasattr(sys.modules.get(parent), name):
            opened.note_unloaded(wanted)
        return
    there = _file_of(sys.modules[wanted])
    if there != origin:
        raise InputError(
            f"target: line {line} of {file!r} imports {wanted}, which its search path finds in "
            f"{origin!r}, but the module loaded here under this name is {there or 'part of Python'}; "
            "rename the file"
        )


def _alone(asks: str, wanted: str, beside: list[str]) -> None:
    """Refuse an import of which another module, or one at all, may be found in production: which is meant?

    A script looks beside itself, and what runs as a module where it is started, or in `src` of that.
    """
    here = _found(wanted) or _file_of(sys.modules.get(wanted))
    places = [os.curdir, "src", *beside]
    others = [
        there for place in places if (there := _found(wanted, [os.path.realpath(place)])) not in ("", here)
    ]
    if others:
        is_here = f"is {here!r} here," if here else "is not found here,"
        raise InputError(
            f"target: {asks}, which {is_here} but may be {others[0]!r} elsewhere; rename one of the "
            "modules, or give package.module:NAME and audit in the folder in which the program runs"
        )


def _package_of(name: str) -> str:
    return str(getattr(sys.modules.get(name), "__package__", "") or "")


def _file_of(module: object, real: Callable[[str], str] = os.path.realpath) -> str:
    """The file of a module without links; `real` says what a folder is without them."""
    file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
    if not isinstance(file, str) or os.path.islink(file):
        return os.path.realpath(file) if isinstance(file, str) else ""
    folder, name = os.path.split(file)
    return os.path.normpath(os.path.join(real(folder), name))


def _imported(file: str, name: str) -> Iterator[tuple[int, str, bool]]:
    """Modules that a file imports, each with its line, and whether it always does so as it is loaded."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    package, scope = _package_of(name), vars(sys.modules[name])
    waiting: list[tuple[ast.AST, bool]] = [(step, True) for step in tree.body]
    while waiting:
        step, sure = waiting.pop()
        if isinstance(step, ast.Import):
            yield from ((step.lineno, one.name, sure) for one in step.names)
        elif isinstance(step, ast.ImportFrom):
            if step.level > len(package.split(".")) or (step.level and not package):
                raise InputError(
                    f"target: line {step.lineno} of {file!r} imports from its own package, but the file "
                    "was loaded without that package; give package.module:NAME"
                )
            asked = "." * step.level + (step.module or "")
            module = importlib.util.resolve_name(asked, package)
            yield from ((step.lineno, one, sure) for one in (module, *_parts(module, step)))
        elif not (isinstance(step, ast.If) and _is_for_types(step.test, tree, scope)):
            sure = sure and not isinstance(step, _SOMETIMES)
            waiting += [(part, sure) for part in ast.iter_child_nodes(step)]


def _parts(module: str, step: ast.ImportFrom) -> list[str]:
    """What is imported from a module, by the names that it has if these are modules, too."""
    return [f"{module}.{one.name}" for one in step.names]


def _is_for_types(test: ast.AST, tree: ast.Module, scope: Mapping[str, Foreign]) -> bool:
    """Whether a condition is `TYPE_CHECKING` of `typing`, which holds in no run."""
    if isinstance(test, ast.Attribute):
        return resolved(test.value, scope) is typing and test.attr == _FOR_TYPES
    steps = (one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == typing.__name__)
    every = (one for step in steps for one in step.names)
    named = test.id if isinstance(test, ast.Name) and scope.get(test.id) is typing.TYPE_CHECKING else ""
    return any((one.name, one.asname or one.name) == (_FOR_TYPES, named) for one in every)


_FOR_TYPES = "TYPE_CHECKING"
_SOMETIMES = (ast.If, ast.ExceptHandler, ast.match_case, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
