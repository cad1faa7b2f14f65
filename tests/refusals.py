"""Every refusal of some rooms, and a fast test that makes it happen.

    .venv/bin/python -m tests.line_tests         # record which test runs a line
    .venv/bin/python -m tests.refusals           # write tests/refusals.toml from what was recorded

A refusal is a `raise`, or a place where the language of the judge ends (`tell`, `picks`). Its line runs in a
test only if the test makes it happen. What no test makes happen is listed with the reason; by night the tests
of the table are run, and each line is looked for.
"""

from __future__ import annotations

import ast
import functools
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.line_tests import seconds, tests_of
from tests.module_tests import ROOT, modules

TABLE = ROOT / "tests" / "refusals.toml"
ROOMS = (
    "evidence.judge",
    "evidence.certify",
    "core.meter",
    "core.session",
    "core.rights",
    "targets",
    "campaign.file",
)
_ENDS = ("tell", "picks")
_WORDS = 80  # characters of a message that name it


@dataclass(frozen=True)
class Refusal:
    """A place of the source that refuses something."""

    module: str
    name: str
    first: int
    last: int


@functools.cache
def refusals() -> tuple[Refusal, ...]:
    """All refusals of the rooms."""
    found, alike = list[Refusal](), Counter[str]()
    for module, path in modules().items():
        short = module.removeprefix("verifiable_dp.")
        if not any(short == room or short.startswith(f"{room}.") for room in ROOMS):
            continue
        for scope, node in _places(ast.parse(path.read_text("utf-8"))):
            name = f"{short}.{scope}: {_words(node)}"
            alike[name] += 1
            again = f" ({alike[name]})" if alike[name] > 1 else ""
            found.append(Refusal(module, name + again, node.lineno, node.end_lineno or node.lineno))
    return tuple(found)


def _places(tree: ast.AST, scope: str = "") -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    for node in ast.iter_child_nodes(tree):
        inner = scope
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{scope}.{node.name}".lstrip(".")
        if isinstance(node, ast.Raise) and _new(node.exc):
            yield scope, node
        if isinstance(node, ast.Call) and _ends(node):
            yield scope, node
        yield from _places(node, inner)


def _ends(node: ast.Call) -> bool:
    """Whether the language of the judge ends there, in words that stand there or have a name."""
    told = isinstance(node.func, ast.Attribute) and node.func.attr in _ENDS and len(node.args) == 2
    return told and not (isinstance(node.args[1], ast.Name) and node.args[1].id.islower())


def _new(raised: ast.expr | None) -> bool:
    """Whether something is raised that begins here, not handed on, and that is no gap for subclasses."""
    return isinstance(raised, ast.Call) or (
        isinstance(raised, ast.Name) and raised.id[:1].isupper() and (raised.id != "NotImplementedError")
    )


def _words(node: ast.AST) -> str:
    """The text of a message, as far as it is written down; else the code."""
    texts = [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    words = " ".join(" ".join(texts).split())
    return (words or ast.unparse(node))[:_WORDS].strip()


def table() -> dict[str, str]:
    """The test of each refusal, by name."""
    return dict(tomllib.loads(TABLE.read_text("utf-8"))["tests"])


def left() -> dict[str, str]:
    """Refusals without a fast test, with the reason."""
    rows = tomllib.loads(TABLE.read_text("utf-8")).get("left", ())
    return {name: row["why"] for row in rows for name in row["refusals"]}


def defined(test: str) -> bool:
    """Whether a test is defined in its file."""
    file, _, name = test.partition("::")
    return name.partition("[")[0] in _tests(ROOT / file)


@functools.cache
def _tests(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


def main() -> int:
    """Write the table; print the refusals that no recorded test makes happen."""
    known, lines, missing = table() if TABLE.is_file() else {}, list[str](), list[Refusal]()
    for one in refusals():
        tests = [test for test in tests_of(one.module, one.first, one.last) if "\n" not in test]
        tests.sort(key=lambda test: ("/unit/" not in test, seconds()[test]))
        kept = known.get(one.name, "")
        test = kept if kept in tests or (kept and not tests and defined(kept)) else tests[0] if tests else ""
        if test:
            lines.append(f"{_quoted(one.name)} = {_quoted(test)}")
        else:
            missing.append(one)
    for one in missing:
        place = f"{modules()[one.module].relative_to(ROOT)}:{one.first}"
        print(f"{place}: {one.name}: {left().get(one.name, 'NO TEST')}")
    head = TABLE.read_text("utf-8").partition("[tests]\n")[0] if TABLE.is_file() else ""
    TABLE.write_text(head + "[tests]\n" + "\n".join(sorted(lines)) + "\n", "utf-8")
    print(f"{len(lines)} of {len(refusals())} have a test")
    return int(any(one.name not in left() for one in missing))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


if __name__ == "__main__":
    sys.exit(main())
