"""Modules whose source is held in memory: what was hashed is what runs, here and in worker processes.

Python reads a module's file itself, after anyone who hashed it, and may take bytecode from a cache instead. A
held module is compiled from the bytes that were read once.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

_HELD: dict[str, tuple[str, bytes]] = {}  # file and source of the modules that were loaded so, by their names


class Held(SourceFileLoader):
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

    def get_code(self, fullname: str) -> CodeType:
        """The source compiled; bytecode of a cache is not looked at."""
        return self.source_to_code(self.content, self.path)


class _Finder:
    """Finds held modules before anything else does."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = _HELD.get(name)
        return None if found is None else spec_of(name, *found)


_FINDER = _Finder()


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


@contextmanager
def served(modules: Mapping[str, tuple[str, bytes]]) -> Iterator[None]:
    """Imports within this block take these modules, file and source by name, from memory."""
    _HELD.update(modules)
    sys.meta_path.insert(0, _FINDER)
    try:
        yield
    finally:
        sys.meta_path.remove(_FINDER)


def all_held() -> dict[str, tuple[str, bytes]]:
    """File and source of what was loaded from memory so far, by name: what workers need to run the same."""
    return dict(_HELD)


def take_over(modules: Mapping[str, tuple[str, bytes]]) -> None:
    """In a worker: import these modules from memory from now on, in place of others of that name."""
    for name, (path, content) in modules.items():
        if name in sys.modules and sha256_of(name, path) != hashlib.sha256(content).hexdigest():
            del sys.modules[name]
    _HELD.update(modules)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
