"""Where a target's code is: found without importing anything, hashed, and run as it was hashed.

A `Source` is the one value that a record keeps of its code. What `verify --rerun` announces, compares and
runs is made of it and of nothing else.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder
from pathlib import Path

from verifiable_dp.core import engine, paths, pinned_source
from verifiable_dp.core.validate import Foreign, InputError, Json, JsonDict, one_line
from verifiable_dp.targets.guard import importing
from verifiable_dp.targets.process import Exec, ProcessTarget

NOT_FOUND = (
    "its code was written in a session or a notebook, so no command can rerun this record; run the same "
    "cell again"
)


@dataclass(frozen=True)
class SourcePart:
    """A file that is run when a target is loaded, read once.

    Attributes
    ----------
    name
        The module's; of ``file.py:name`` the file as it is named.
    path
        Of the file.
    content
        Its bytes.
    """

    name: str
    path: Path
    content: bytes

    @property
    def sha256(self) -> str:
        """Digest of the content."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def sha256_loaded(self) -> str:
        """Digest of what was run of it, or that of the content where this is not known."""
        module = _place_of(self.path)[0] if self.name.endswith(".py") else self.name
        return pinned_source.sha256_of(module, str(self.path)) or self.sha256


@dataclass(frozen=True)
class CodeSource:
    """Where a target's code is.

    Attributes
    ----------
    name
        As given, or the qualified name of an object.
    path
        File that defines it, or empty if there is none: as the target names it, relative to the package's
        root for a module of a package, relative to the current folder for what is below it, else absolute.
    line
        First line of the definition, or 0.
    sha256
        Digest of the file, or empty.
    loads
        Digests of what else has to be run to reach it, by name: the packages that a module is in, and the
        module or file that is named where another one defines it.
    """

    name: str
    path: str = ""
    line: int = 0
    sha256: str = ""
    loads: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, thing: Foreign, name: str) -> CodeSource:
        """Look up file, line and digest of `thing`; `loads` is left empty.

        There is no digest of a file that has other code now than the one that was loaded.

        Raises
        ------
        InputError
            If Python took other code from a cache.
        """
        if isinstance(thing, Exec | ProcessTarget):
            file = (thing.command if isinstance(thing, ProcessTarget) else thing).file
            return cls(name) if file is None else cls(name, file.as_posix(), 0, file_digest(file))
        try:
            code = code_of(thing)
            path, line = file_of(code), inspect.getsourcelines(code)[1]
        except (TypeError, OSError):
            return cls(name)
        if in_cell(code):
            return cls(name)
        module = str(getattr(code, "__module__", ""))
        digest = pinned_source.sha256_of(module, path) or _digest_of_run(code, module, path)
        return cls(name, _portable(path, module, name), line, digest)

    @classmethod
    def named(cls, thing: Foreign, name: str) -> CodeSource:
        """As `of`, with what has to be run to reach it: what a record needs to be run again."""
        found = cls.of(thing, name)
        if isinstance(thing, Exec | ProcessTarget):
            return found
        try:
            place, way = found.reference.rpartition(":")[0], list(_way(found.reference))
        except InputError:  # it is not found by a name: a closure, an object made at run time
            return found
        apart = [part for part in way if part.name != place or not _same_file(part.path, found.path)]
        return replace(found, loads={part.name: part.sha256_loaded for part in apart})

    @classmethod
    def read(cls, stored: Json, name: str) -> CodeSource:
        """From a record, whose target or bound is called `name`.

        Raises
        ------
        InputError
            If it says two things of what to run.
        """
        found = cls(**stored)
        if name != found.name and ":" in f"{name}{found.name}":
            raise InputError(TWO.format(name, found.name))
        place = found.name.rpartition(":")[0]
        if place and place not in found.loads and not _agrees(place, found.path):
            raise InputError(TWO.format(name, found.path))
        return found

    def as_dict(self) -> JsonDict:
        """JSON values."""
        plain = {"name": self.name, "path": self.path, "line": self.line, "sha256": self.sha256}
        return {**plain, "loads": dict(self.loads)} if self.loads else plain

    @property
    def reference(self) -> str:
        """The code as `load` takes it; an object given in Python is looked up in its file.

        Raises
        ------
        InputError
            If it has no file, or is not a name of it.
        """
        if ":" in self.name:
            return self.name
        if not self.path or "<" in self.name:
            raise InputError(f"record: the source of {self.name} is not known; it cannot be rerun")
        file = Path(self.path)
        packaged = (file.parent / "__init__.py").is_file() or not file.is_file()
        if file.is_absolute() or len(file.parts) == 1 or not packaged:
            return f"{self.path}:{self.name}"
        return f"{_dotted(file)}:{self.name}"

    def announced(self) -> list[str]:
        """What `load` runs, a line each, in order; nothing is run to tell it."""
        lines = [f"imports {name}, SHA-256 {digest[:12]}" for name, digest in self.loads.items()]
        return [*lines, f"imports and runs {self.reference}, SHA-256 {self.sha256[:12] or 'unknown'}"]

    def load(self) -> Foreign:
        """The code, if every file that has to be run for it is the one of the record; those bytes are run.

        Raises
        ------
        InputError
            If a file is another one, before anything is run; or as `load`.
        """
        place, parts = self.reference.rpartition(":")[0], list(_way(self.reference))
        expected = {place: self.sha256, **self.loads}
        if self.sha256 and (place in self.loads or place not in [part.name for part in parts]):
            parts += (defining := self._defining([part.name for part in parts]))
            expected |= {part.name: self.sha256 for part in defining[-1:]}
        for part in parts:
            if part.name not in expected:
                raise InputError(
                    f"record: loading {self.reference} also runs {part.name}, whose digest is not in the "
                    f"record; audit it again"
                )
            if part.sha256 != expected[part.name]:
                raise InputError(f"record: {part.path} has changed since the audit")
        thing = _loaded(self.reference, parts)
        if CodeSource.of(thing, self.name).sha256 != self.sha256:
            raise InputError(f"record: {self.path} has changed since the audit")
        return thing

    def _defining(self, known: Sequence[str]) -> list[SourcePart]:
        """The file that defines the code where the reference names another one, which imports it.

        Raises
        ------
        InputError
            If it is not found.
        """
        file = Path(self.path)
        packaged = not file.is_absolute() and ((file.parent / "__init__.py").is_file() or not file.is_file())
        if packaged:
            parts = [part for part in _searched(_dotted(file)) if part.name not in known]
        else:
            parts = [SourcePart(file.stem, file.absolute(), file.read_bytes())] if file.is_file() else []
        if not parts:
            raise InputError(
                f"record: we cannot find {self.path} without running it, so we cannot compare it with the "
                "record first; audit it again"
            )
        return parts


TWO = "the record names two programs to run, {!r} and {!r}, so we rerun neither"


def load(reference: str, digests: Collection[str] | None = None) -> Foreign:
    """The object that ``file.py:name`` or ``package.module:name`` names.

    With `digests`, each file on the way to it has to have one of them; the bytes that had it are run.

    Raises
    ------
    InputError
        If the file, the module or the name does not exist, a file has another digest, or importing it fails.
    """
    parts = _named_way(reference)
    for part in parts:
        if digests is not None and part.sha256 not in digests:
            raise InputError(f"target: {str(part.path)!r} has changed since the audit was requested")
    return _loaded(reference, parts)


def way_of(reference: str) -> list[Path]:
    """The files that run when a reference is loaded; nothing is imported.

    Raises
    ------
    InputError
        If it has not the form of a reference, or there is no such file.
    """
    return [part.path for part in _named_way(reference)]


def located(reference: str, path: str) -> Path:
    """The file of a path that `CodeSource` gives, as it was found when the reference was loaded.

    That of a module is from the folder in which its modules are found, which need not be the current one.
    """
    place = reference.rpartition(":")[0]
    try:
        parts = list(_way(reference)) if place else []
    except InputError:
        parts = []
    if not parts or any(_same_file(part.path, path) for part in parts):
        return Path(path)
    last = parts[-1].path
    up = parts[-1].name.count(".") + (last.stem == "__init__")
    inside = (_place_of(last)[1] if place.endswith(".py") else last.parents[up]) / path
    return inside if inside.is_file() else Path(path)


def _named_way(reference: str) -> list[SourcePart]:
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise InputError(
            f"target must be a catalogue name, file.py:name or package.module:name, got {reference!r}"
        )
    return list(_way(reference))


def file_digest(path: Path | None) -> str:
    """SHA-256 of a file; empty if there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path is not None and path.is_file() else ""


def _digest_of_run(code: Foreign, module: str, path: str) -> str:
    """SHA-256 of a file, if its code is what runs; else empty."""
    if Path(path).suffix not in SOURCE_SUFFIXES:
        return file_digest(Path(path))
    if pinned_source.is_stale(module, path):
        raise InputError(
            f"target: Python ran bytecode of another version of {path!r}, with the same size and date, "
            "instead of the file itself; remove the folder __pycache__ next to it, and audit again"
        )
    members = vars(code).values() if inspect.isclass(code) else (code,)
    codes = [one.__code__ for one in members if inspect.isfunction(one)]
    written = [one for one in codes if one.co_filename == path]
    return file_digest(Path(path)) if pinned_source.runs(module, path, written) else ""


def code_of(thing: Foreign) -> Foreign:
    """What was written down of a target: a function, or the class of an object."""
    if not callable(thing):
        return type(thing)
    code = inspect.unwrap(thing)
    while isinstance(code, functools.partial):
        code = inspect.unwrap(code.func)
    return code if inspect.isroutine(code) or inspect.isclass(code) else type(code)


def file_of(code: Foreign) -> str:
    """File in which a function or a class is written; empty if there is none.

    Of what is written in a notebook it is the name that its cell was compiled under, which is not a file.
    """
    try:
        return inspect.getsourcefile(code) or ""
    except (TypeError, OSError):  # a built-in, or a class of a session
        members = vars(code).values() if inspect.isclass(code) else ()
        return next((one.__code__.co_filename for one in members if inspect.isfunction(one)), "")


def last_line(error: BaseException, file: str) -> str:
    """` (file:line)` of the innermost frame of an error that is in this file; empty if none is."""
    place, frame = "", error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == file:
            place = f" ({file}:{frame.tb_lineno})"
        frame = frame.tb_next
    return place


def parsed(file: str) -> ast.AST | None:
    """A file's syntax tree; None if it cannot be read."""
    try:
        return ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def resolved(node: ast.AST, scope: Mapping[str, Foreign]) -> Foreign:
    """The object that a name, or a name with attributes, stands for in a module; None for anything else."""
    if isinstance(node, ast.Attribute):
        return getattr(resolved(node.value, scope), node.attr, None)
    return scope.get(node.id) if isinstance(node, ast.Name) else None


def in_cell(code: Foreign) -> bool:
    """Whether a function or a class was written in a session or a notebook, where nothing finds it again."""
    return getattr(code, "__module__", "") == "__main__" and not Path(file_of(code)).is_file()


def _portable(path: str, module: str, name: str) -> str:
    """A path that means the same in another checkout, where there is one."""
    given = name.rpartition(":")[0]
    if given.endswith(".py") and _same_file(Path(given), path):
        return Path(given).as_posix()
    inside = Path(*module.split(".")).with_suffix(".py").as_posix()
    if "." in module and Path(path).as_posix().endswith(inside):
        return inside
    try:
        below = Path(path).relative_to(Path.cwd())
    except (ValueError, OSError):  # elsewhere, or the current folder is gone
        return path
    return path if paths.installed(path) else below.as_posix()


def _same_file(file: Path, path: str) -> bool:
    return bool(path) and file.resolve() == Path(path).resolve()


def _dotted(file: Path) -> str:
    """Name of the module in a file of a package."""
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _agrees(place: str, path: str) -> bool:
    """Whether a path of a record may be the file of the module or file that its name begins with."""
    if place.endswith(".py"):
        return Path(place).as_posix() == path
    inside = "/".join(place.split("."))
    files = [f"{inside}.py", f"{inside}/__init__.py"]
    return not path or any(path == file or path.endswith(f"/{file}") for file in files)


# ---------------------------------------------------------------- searched


def _way(reference: str) -> Iterator[SourcePart]:
    """Files that are run when a reference is loaded, in order; nothing is imported.

    Raises
    ------
    InputError
        If there is no such file.
    """
    place = reference.rpartition(":")[0]
    if not place.endswith(".py"):
        yield from _searched(place)
        return
    path = Path(place)
    if not path.is_file():
        relative = "; paths are relative to the folder in which you start the audit"
        raise InputError(f"target: no file {place!r}{'' if path.is_absolute() else relative}")
    module, folder = _place_of(path)
    for package in _packages(module):
        file = folder.joinpath(*package.split("."), "__init__.py")
        yield SourcePart(package, file, file.read_bytes())
    yield SourcePart(place, path.absolute(), path.read_bytes())


def _place_of(file: Path) -> tuple[str, Path]:
    """The module that a file is, with the packages that it lies in, and the folder that it is found from.

    Python runs a file that is in no package as a script, by its real name.
    """
    folder = file.absolute().parent
    while folder.name.isidentifier() and (folder / "__init__.py").is_file():
        folder = folder.parent
    if folder == file.absolute().parent:
        return file.stem.replace(".", "_"), file.resolve().parent
    return _dotted(file.absolute().relative_to(folder)), folder


def _packages(module: str) -> list[str]:
    """Those that a module is in, the outermost first."""
    return [module[:end] for end, letter in enumerate(module) if letter == "."]


def _searched(name: str) -> Iterator[SourcePart]:
    """Source files of a module and of the packages that it is in, as the path is searched for them."""
    folder, path, place, whole = str(Path.cwd()), paths.of_targets(), None, name.split(".")
    if folder not in path:
        path.insert(0, folder)
    for end in range(1, len(whole) + 1):
        part = ".".join(whole[:end])
        spec = _spec(part, place, path)
        if spec is None:  # perhaps made by the package when it is imported; loading will tell
            return
        file = Path(spec.origin) if spec.has_location and spec.origin else None
        if file is not None and file.suffix in SOURCE_SUFFIXES and file.is_file():
            yield SourcePart(part, file.absolute(), file.read_bytes())
        place = spec.submodule_search_locations
        if place is None:
            return


def _spec(name: str, place: Sequence[str] | None, path: Sequence[str]) -> ModuleSpec | None:
    """What importing a module would find, with its packages not imported; `path` for those in none."""
    known = sys.modules.get(name)
    if known is not None:
        return getattr(known, "__spec__", None)
    for finder in sys.meta_path:
        if finder is PathFinder:
            found = on_path(name, path if place is None else place)
        else:
            found = finder.find_spec(name, place) if hasattr(finder, "find_spec") else None
        if found is not None:
            return found
    return None


def on_path(name: str, place: Iterable[str]) -> ModuleSpec | None:
    """As `PathFinder`, which looks for the package of a folder without ``__init__.py`` in `sys.modules`."""
    portions: list[str] = []
    for folder in place:
        finder = pkgutil.get_importer(folder)
        found = None if finder is None else finder.find_spec(name, None)
        if found is not None and found.loader is not None:
            return found
        portions += [] if found is None else found.submodule_search_locations or []
    if not portions:
        return None
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = portions
    return spec


# ---------------------------------------------------------------- loaded


def _loaded(reference: str, parts: list[SourcePart]) -> Foreign:
    """What a reference names, made of the bytes of these parts."""
    pinned_source.ignore_caches()
    find(reference)
    place, _, name = reference.rpartition(":")
    module = _run_file(reference, parts) if place.endswith(".py") else _run_module(place, parts)
    try:
        thing: Foreign = module
        for word in name.split("."):
            thing = getattr(thing, word)
    except AttributeError:
        raise InputError(f"target: {place} has no {name!r}{_near(module, name)}") from None
    return thing


def _near(module: Foreign, name: str) -> str:
    """What may have been meant, of a module's public names."""
    known = {n.lower(): n for n, v in vars(module).items() if callable(v) and not n.startswith("_")}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {known[near[0]]!r}?" if near else ""


def find(reference: str) -> None:
    """Have modules found where Python finds them when it loads what a reference names."""
    place = reference.rpartition(":")[0]
    folder = _place_of(Path(place))[1] if place.endswith(".py") else Path.cwd()
    if place.endswith(".py"):
        sys.path[:] = [str(folder), *(one for one in sys.path if one != str(folder))]
    elif str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    engine.ship(folder)


def _run_file(reference: str, parts: list[SourcePart]) -> Foreign:
    place = reference.rpartition(":")[0]
    name = _place_of(Path(place))[0]
    shadowed = sys.modules.pop(name, None)
    try:
        named = [replace(part, name=name) if part.name == place else part for part in parts]
        with importing(place), pinned_source.served(_by_name(named)):
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if shadowed is not None:
            sys.modules[name] = shadowed
        at = last_line(error, str(Path(place).absolute()))
        advice = _in_package(reference, name) if isinstance(error, ImportError) and not error.name else ""
        raise InputError(f"target: importing {place!r} raised {one_line(error)}{at}{advice}") from None


def _run_module(name: str, parts: list[SourcePart]) -> Foreign:
    try:
        with importing(name), pinned_source.served(_by_name(parts)):
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        advice = _below(name) if isinstance(error, ModuleNotFoundError) else ""
        raise InputError(f"target: importing {name!r} raised {one_line(error)}{advice}") from None


def _in_package(reference: str, module: str) -> str:
    """How to name a file whose relative imports have no package; empty if it has none of them, or one."""
    place, _, name = reference.rpartition(":")
    nodes = ast.walk(parsed(place) or ast.Module([], []))
    if "." in module or not any(isinstance(node, ast.ImportFrom) and node.level for node in nodes):
        return ""
    folders = Path(os.path.relpath(place)).with_suffix("").parts
    named = f": name it {'.'.join(folders)}:{name}" if all(map(str.isidentifier, folders[:-1])) else ""
    return f"; relative imports need a package{named if folders[1:] else ''}"


def _below(name: str) -> str:
    """Where a module lies that is not found; empty if it is not in src either."""
    source = Path("src").resolve()
    inside = source.joinpath(*name.split("."))
    found = inside.with_suffix(".py").is_file() or inside.is_dir()
    return f"; it is in the folder src{_path_to(source, ': set')}" if found else ""


def _path_to(folder: Path, before: str) -> str:
    """How modules of a folder are found from here, after these words."""
    try:
        below = folder.relative_to(Path.cwd()).as_posix()
    except ValueError:
        below = str(folder)
    return "" if below == "." else f"{before} PYTHONPATH={below}"


def _by_name(parts: list[SourcePart]) -> dict[str, tuple[str, bytes]]:
    """What is not imported yet."""
    return {part.name: (str(part.path), part.content) for part in parts if part.name not in sys.modules}
