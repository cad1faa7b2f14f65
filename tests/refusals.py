"""Every refusal of some rooms, and a fast test that makes it happen.

    .venv/bin/python -m tests.line_tests         # record which test runs a line
    .venv/bin/python -m tests.refusals           # write tests/refusals.toml from what was recorded

A refusal is a `raise`, or a place where the language of the judge ends (`tell`, `picks`). Its line runs in a
test only if the test makes it happen (`tests`). Of code that runs in another process no line is recorded:
there a test is named that holds words of the message (`words`). What no test makes happen is listed with the
reason; by night the tests of lines are run, and each line is looked for.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.line_tests import seconds, tests_of
from tests.module_tests import ROOT, modules, test_files

TABLE = ROOT / "tests" / "refusals.toml"
ROOMS = (
    "evidence.judge",
    "evidence.branching",
    "evidence.certify",
    "evidence.forced_runs",
    "core.meter",
    "core.kept_session",
    "core.session",
    "core.turns",
    "core.rights",
    "targets",
    "core.outputs",
    "campaign.entries",
    "campaign.file",
)
_ENDS = ("tell", "picks")
_WORDS = 80  # characters of a message that name it
_SHORT = 12  # characters of a part of a message that tell nothing by themselves


@dataclass(frozen=True)
class Refusal:
    """A place of the source that refuses something."""

    module: str
    name: str
    first: int
    last: int
    texts: tuple[str, ...]  # what is written down of the message


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
            last = node.end_lineno or node.lineno
            found.append(Refusal(module, name + again, node.lineno, last, _texts(node, path)))
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
    told = isinstance(node.func, ast.Attribute) and node.func.attr in _ENDS and len(node.args) in (2, 3)
    return told and not (isinstance(node.args[1], ast.Name) and node.args[1].id.islower())


def _new(raised: ast.expr | None) -> bool:
    """Whether something is raised that begins here, not handed on, and that is no gap for subclasses."""
    return isinstance(raised, ast.Call) or (
        isinstance(raised, ast.Name) and raised.id[:1].isupper() and (raised.id != "NotImplementedError")
    )


def _texts(node: ast.AST, path: Path) -> tuple[str, ...]:
    """The texts of a message, those of a constant of the module among them."""
    found = [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id.isupper()} | {
        one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id[1:].isupper()
    }
    for step in ast.parse(path.read_text("utf-8")).body:
        if (
            isinstance(step, ast.Assign)
            and isinstance(step.targets[0], ast.Name)
            and step.targets[0].id in names
        ):
            found += [
                text
                for one in ast.walk(step)
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
                for text in re.split(r"\{[^}]*\}", one.value)
            ]
    return tuple(found)


def _words(node: ast.AST) -> str:
    """The text of a message, as far as it is written down; else the code."""
    texts = [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    words = " ".join(" ".join(texts).split())
    return (words or ast.unparse(node))[:_WORDS].strip()


def table(part: str = "tests") -> dict[str, str]:
    """The test of each refusal, by name: those that run its line, or that hold ``words`` of it."""
    return dict(tomllib.loads(TABLE.read_text("utf-8")).get(part, {}))


def left() -> dict[str, str]:
    """Refusals without a fast test, with the reason."""
    rows = tomllib.loads(TABLE.read_text("utf-8")).get("left", ())
    return {name: row["why"] for row in rows for name in row["refusals"]}


def defined(test: str) -> bool:
    """Whether a test is defined in its file."""
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and (not name or name.partition("[")[0] in _tests(ROOT / file))


@functools.cache
def _tests(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


@functools.cache
def _texts_of_tests() -> tuple[tuple[str, str], ...]:
    """Every text of a test file, with the test that it stands in, or the file."""
    found = list[tuple[str, str]]()
    for path in test_files():
        name, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))
        inside = dict[int, str]()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                inside |= {id(one): f"{name}::{node.name}" for one in ast.walk(node)}
        for one in ast.walk(tree):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                plain = re.sub(r"\\(.)", r"\1", one.value)
                found.append((" ".join(plain.split()), inside.get(id(one), name)))
    return tuple(found)


def named(one: Refusal) -> str:
    """A fast test that holds words of the message: four that follow one another, or a whole part of it."""
    for text in sorted(one.texts, key=len, reverse=True):
        words = text.strip(" :;,.").split()
        if len(words) < 2 or len(text) < _SHORT:
            continue
        several = [" ".join(words[i : i + 4]) for i in range(max(1, len(words) - 3))]
        for said, test in _texts_of_tests():
            if any(part in said for part in several):
                return test
    return ""


def main() -> int:
    """Write the table; print the refusals that no test makes happen."""
    ran, said, missing = table(), table("words"), list[Refusal]()
    lines: dict[str, list[str]] = {"tests": [], "words": []}
    for one in refusals():
        tests = [test for test in tests_of(one.module, one.first, one.last) if "\n" not in test]
        tests.sort(key=lambda test: ("/unit/" not in test, seconds()[test]))
        kept = ran.get(one.name, "")
        by_line = kept if kept in tests or (not tests and kept and defined(kept)) else "".join(tests[:1])
        by_words = said.get(one.name, "") if defined(said.get(one.name, "-")) else named(one)
        if by_line:
            lines["tests"].append(f"{_quoted(one.name)} = {_quoted(by_line)}")
        elif by_words:
            lines["words"].append(f"{_quoted(one.name)} = {_quoted(by_words)}")
        else:
            missing.append(one)
    for one in missing:
        place = f"{modules()[one.module].relative_to(ROOT)}:{one.first}"
        print(f"{place}: {one.name}: {left().get(one.name, 'NO TEST')}")
    head = TABLE.read_text("utf-8").partition("[tests]\n")[0]
    parts = [f"[{part}]\n" + "".join(f"{line}\n" for line in sorted(some)) for part, some in lines.items()]
    TABLE.write_text(head + "\n".join(parts), "utf-8")
    print(f"of {len(refusals())} {len(lines['tests'])} by line, {len(lines['words'])} by words")
    return int(any(one.name not in left() for one in missing))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


if __name__ == "__main__":
    sys.exit(main())
