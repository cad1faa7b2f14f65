"""Which tests name a module: the map that fresh faults follow, made from the imports of the test files.

.venv/bin/python -m tests.module_tests           # every module with the tests that name it
"""

from __future__ import annotations

import ast
import functools
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
PACKAGES = {
    "verifiable_dp": ROOT / "verifiable_dp",
    "verifiable_dp.algorithms": ROOT / "algorithms",
    "verifiable_dp.auditors": ROOT / "auditors",
}
_NO_TESTS = ("user_code", "data")  # programs that tests audit, and what they read


@functools.cache
def modules() -> dict[str, Path]:
    """Every module of the framework and of the catalogue, with its file."""
    found = dict[str, Path]()
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join((package, *parts))] = path
    return found


def _imports(path: Path) -> Iterator[str]:
    """The modules that a file imports, or that it names in a text such as ``evidence.regret.common``."""
    known, tree = modules(), ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in known else node.module
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (name for name in (node.value, f"verifiable_dp.{node.value}") if name in known)
            yield from catalogue().get(node.value, ())


@functools.cache
def points() -> dict[str, dict[str, str]]:
    """The modules of each group of entry points, with the names that they are registered by."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    return {
        group: {value.partition(":")[0]: name for name, value in entries.items()}
        for group, entries in groups.items()
    }


@functools.cache
def catalogue() -> dict[str, tuple[str, ...]]:
    """The modules of an algorithm and of its auditor, by the name under which it is listed: ``dp-se``."""
    found = dict[str, tuple[str, ...]]()
    for group in ("verifiable_dp.auditors", "verifiable_dp.contextual"):
        for auditor, name in points()[group].items():
            both = auditor, auditor.replace("verifiable_dp.auditors", "verifiable_dp.algorithms")
            found[name] = tuple(module for module in both if module in modules())
    return found


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """The known modules that a file names."""
    return frozenset(name for name in _imports(path) if name in modules())


@functools.cache
def test_files() -> tuple[Path, ...]:
    """All files of tests."""
    return tuple(
        path
        for path in sorted(TESTS.rglob("test_*.py"))
        if not set(path.relative_to(TESTS).parts) & set(_NO_TESTS)
    )


@functools.cache
def by_module() -> dict[str, tuple[Path, ...]]:
    """The test files that name each module, unit tests first and then by how few modules a file names."""
    found = defaultdict[str, list[Path]](list)
    for path in test_files():
        for name in imported(path):
            found[name].append(path)

    def nearest(path: Path) -> tuple[bool, int, str]:
        return "unit" not in path.parts, len(imported(path)), str(path)

    return {name: tuple(sorted(found[name], key=nearest)) for name in modules()}


@functools.cache
def importers() -> dict[str, tuple[str, ...]]:
    """The modules that import each module."""
    found = defaultdict[str, list[str]](list)
    for name, path in modules().items():
        for other in imported(path) - {name}:
            found[other].append(name)
        for group, registered in points().items():
            if f'"{group}"' in path.read_text("utf-8"):  # it loads what packages register there
                for other in registered:
                    found[other].append(name)
    return {name: tuple(found[name]) for name in modules()}


def nearest(module: str, most: int = 12) -> list[Path]:
    """The test files nearest to a module: those that name it, then those that name what imports it, …"""
    found, seen, reached = dict.fromkeys(by_module()[module]), {module}, [module]
    while reached and len(found) < most:
        reached = [name for one in reached for name in importers()[one] if name not in seen]
        seen |= set(reached)
        for name in reached:
            found |= dict.fromkeys(by_module()[name])
    return list(found)[:most]


def unnamed() -> list[str]:
    """Modules that no test names, but packages, whose code is their modules'."""
    return [name for name, paths in by_module().items() if not paths and modules()[name].stem != "__init__"]


def main() -> int:
    """Print the map."""
    for name, paths in by_module().items():
        print(name, *(path.relative_to(ROOT).as_posix() for path in paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
