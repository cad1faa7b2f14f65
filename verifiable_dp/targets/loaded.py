"""Whether the modules that run here are those that would run elsewhere: the process had others before.

A process in which code is audited has imported libraries, and looks into other folders. What a file imports
has to be what its path finds, once and in one place, and has to be there: code may catch that it is not.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
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
    names = dict[str, str]()
    for name, module in [*sys.modules.items()]:
        file = _file_of(module)
        if not file or name == "__main__" or is_installed(file):
            if file and name.partition(".")[0] not in (_OURS, "__main__") and not paths.of_python(file):
                _compare_installed(name, file)
            continue
        if names.setdefault(file, name) != name:
            raise InputError(
                f"target: {file!r} is loaded as two modules, {names[file]!r} and {name!r}; "
                "give the one in its package (package.module:NAME)"
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


def _compare_installed(name: str, file: str) -> None:
    """Refuse an installed module of which the repository has another version, as after a change of it.

    One that is the same counts as a file that the code reads: it may change later.
    """
    form = Path(*name.split("."))
    form = form / "__init__.py" if Path(file).name == "__init__.py" else form.with_suffix(".py")
    for place in map(Path, opened.copies(form.as_posix())):
        if place.read_bytes() != Path(file).read_bytes():
            raise InputError(
                f"target: {name} is loaded from {file!r}, where it is installed, and {str(place)!r} in the "
                "repository differs from it; install it again (pip install --editable .), or remove it there"
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
            f"target: line {line} of {file!r} imports {wanted}, which its path finds in {origin!r}, but "
            f"the module of this name here is {there or 'one of Python'}; rename the file"
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
        is_here = f"is {here!r} here" if here else "is not found here"
        raise InputError(
            f"target: {asks}, which {is_here} and may be {others[0]!r} "
            "elsewhere; rename one, or audit in the folder in which the program runs, by package.module:NAME"
        )


def _package_of(name: str) -> str:
    return str(getattr(sys.modules.get(name), "__package__", "") or "")


def _file_of(module: object) -> str:
    file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
    return os.path.realpath(file) if isinstance(file, str) else ""


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
                    f"target: line {step.lineno} of {file!r} imports from its own package, and the file is "
                    "loaded without it; give package.module:NAME"
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
