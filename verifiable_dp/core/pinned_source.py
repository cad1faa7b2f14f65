"""Modules whose source is held in memory: what was hashed is what runs, here and in worker processes.

Python reads a module's file itself, after anyone who hashed it, and may take bytecode from a cache instead. A
held module is compiled from the bytes that were read once.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign

_HELD: dict[str, tuple[str, bytes]] = {}  # file and source of the modules that were loaded so, by their names


class _Uncached(SourceFileLoader):
    """Compiles the source; bytecode of a cache is not looked at."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class Held(_Uncached):
    """Loads a module from bytes; other files of its package are read from disk.

    Parameters
    ----------
    name, path
        Of the module.
    content
        Its source.
    """

    def __init__(self, name: str, path: str, content: bytes) -> None:
        super().__init__(name, path)
        self.content = content

    @property
    def sha256(self) -> str:
        """Digest of the source."""
        return hashlib.sha256(self.content).hexdigest()

    def get_data(self, path: str) -> bytes:
        """The source, or another file's content."""
        return self.content if path == self.path else super().get_data(path)


class _Finder:
    """Finds these modules, file and source by name, before anything else does."""

    def __init__(self, modules: Mapping[str, tuple[str, bytes]]) -> None:
        self._modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = self._modules.get(name)
        return None if found is None else spec_of(name, *found)


_FINDER = _Finder(_HELD)


def spec_of(name: str, path: str, content: bytes) -> ModuleSpec:
    """Of a module that will be loaded from `content`, which is kept for worker processes."""
    _HELD[name] = (path, content)
    found = importlib.util.spec_from_file_location(name, path, loader=Held(name, path, content))
    assert found is not None  # only without a loader there is none
    return found


def sha256_of(module: str, path: str) -> str:
    """Digest of the source that a loaded module was made of; empty if it was not held."""
    loader = getattr(getattr(sys.modules.get(module), "__spec__", None), "loader", None)
    return loader.sha256 if isinstance(loader, Held) and loader.path == path else ""


class _Taken(SourceFileLoader):
    """Gives the code that Python takes, of the file or of a cache; it writes none."""

    def set_data(self, path: str, data: Foreign, *, _mode: int = 0o666) -> None:
        """Write nothing."""


def is_stale(module: str, path: str) -> bool:
    """Whether Python takes a module's bytecode from a cache that is not of the source that is there."""
    loader = getattr(getattr(sys.modules.get(module), "__spec__", None), "loader", None)
    if type(loader) is not SourceFileLoader or module == "__main__":
        return False
    return _Taken(module, path).get_code(module) != _Uncached(module, path).get_code(module)


def runs(module: str, path: str, codes: Iterable[CodeType]) -> bool:
    """Whether these functions of a loaded module, and what it was made of, are as its source is now.

    What is loaded by a loader of somebody else, such as pytest's, is not known to be other code.
    """
    loader = getattr(getattr(sys.modules.get(module), "__spec__", None), "loader", None)
    if not isinstance(loader, SourceFileLoader):
        return True
    there, cache = _Uncached(module, path).get_code(module), importlib.util.cache_from_source(path)
    if type(loader) is SourceFileLoader and not sys.dont_write_bytecode:
        with suppress(OSError, ImportError, EOFError, ValueError):  # Python wrote it as it loaded the module
            if SourcelessFileLoader(module, cache).get_code(module) != there:
                return False
    return {*codes} <= {*within(there)}


def within(code: CodeType) -> Iterator[CodeType]:
    """A piece of code and all that is in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from within(part)


@contextmanager
def served(modules: Mapping[str, tuple[str, bytes]]) -> Iterator[None]:
    """Imports within this block take these modules, file and source by name, from memory."""
    finder = _Finder(modules)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@functools.cache
def ignore_caches() -> None:
    """From now on compile what is not installed: a cache beside it, numba's too, may hold other code."""
    from verifiable_dp.core import kernels

    kernels.compile_anew(installed)
    loaders = (
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_Uncached, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
    hook = FileFinder.path_hook(*loaders)

    def of(folder: str) -> Foreign:
        if installed(Path(folder or ".")):
            raise ImportError
        return hook(folder)

    sys.path_hooks.insert(0, of)
    sys.path_importer_cache.clear()


_OURS = Path(__file__).parents[1]


def installed(folder: Path) -> bool:
    """Whether a folder is one of Python's own, of installed packages, or of this one."""
    places = (Path(os.path.abspath(folder)), folder.resolve())  # our own algorithms are behind a link
    return any(place.is_relative_to(_OURS) or paths.installed(str(place)) for place in places)


def all_held() -> dict[str, tuple[str, bytes]]:
    """File and source of what was loaded from memory so far, by name: what workers need to run the same."""
    return dict(_HELD)


def take_over(modules: Mapping[str, tuple[str, bytes]]) -> None:
    """In a worker: import these modules from memory from now on, in place of others of that name."""
    ignore_caches()
    for name, (path, content) in modules.items():
        if name in sys.modules and sha256_of(name, path) != hashlib.sha256(content).hexdigest():
            del sys.modules[name]
    _HELD.update(modules)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
