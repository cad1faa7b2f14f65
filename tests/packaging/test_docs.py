"""The documentation as a whole: links lead somewhere, the index is complete, made pages are current."""

import ast
import contextlib
import importlib
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from tests.packaging import test_readme
from verifiable_dp.cli import main
from verifiable_dp.selfcheck import operators

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES = sorted([*TOP, *DOCS.glob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(?:    )*```.*?^(?:    )*```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def anchors(path):
    """Anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path, text):
    """Links of a page within the repository that lead nowhere."""
    broken = []
    for link in LINK.findall(FENCED.sub("", text)):
        place, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (path.parent / place).resolve() if place else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    assert broken_links(path, path.read_text("utf-8")) == []


def test_broken_links_are_seen():
    text = (
        "[a](no-such-page.md) [b](concepts.md#no-such-heading) [c](concepts.md#verdicts) [d](#documentation)"
    )
    assert broken_links(DOCS / "index.md", text) == ["no-such-page.md", "concepts.md#no-such-heading"]


def test_the_index_lists_every_page():
    linked = set(LINK.findall((DOCS / "index.md").read_text("utf-8")))
    assert {path.name for path in DOCS.glob("*.md")} - {"index.md"} <= linked


def test_pages_that_show_commands_are_run():
    run = {path.name for path in test_readme.PAGES}
    # Followed to the letter by tests/e2e/test_third_party.py.
    elsewhere = {"add-an-algorithm.md", "extend.md"}
    signatures = {"api.md"}
    shown = {path.name for path in DOCS.glob("*.md") if test_readme.BLOCK.search(path.read_text("utf-8"))}
    assert shown - run == elsewhere | signatures


COMMAND = re.compile(r"verifiable-dp ((?!COMMAND|TARGET)[a-z][\w-]*)((?: +[^\s`|]+)*)")


def unknown_words(text):
    """Commands and options of the command line that a page shows and that do not exist."""
    unknown = []
    for name, rest in COMMAND.findall(text.replace("\\\n", " ")):
        if name not in main.commands:
            unknown.append(name)
            continue
        known = {option for parameter in main.commands[name].params for option in parameter.opts}
        given = re.findall(r"(?<!\S)--[\w-]+", re.sub(r"\".*?\"|#.*", "", rest))
        unknown += [f"{name} {option}" for option in given if option not in known | {"--help"}]
    return unknown


def shown(text):
    """What a page shows as code: fenced blocks, and code within lines that names a command."""
    inline = re.findall(r"`(verifiable-dp [^`]+)`", FENCED.sub("", text))
    return "\n".join([*FENCED.findall(text), *inline])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_and_targets_of_make_exist(path):
    text = path.read_text("utf-8")
    assert unknown_words(shown(text)) == []
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)) <= targets


def test_unknown_commands_are_seen():
    fenced = "```sh\nverifiable-dp examine x\nverifiable-dp audit x --epsilom 1 --delta 0\n```\n"
    text = fenced + "`verifiable-dp no-such`"
    assert unknown_words(shown(text)) == ["examine", "audit --epsilom", "no-such"]


DOTTED = re.compile(r"\bverifiable_dp(?:\.[A-Za-z_]\w*)+")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Named like modules.
GROUPS = {point.group for point in metadata.distribution("verifiable-dp").entry_points} | {operators.GROUP}
SHOWN = {
    Path(name).parts[0].removesuffix(".py") for path in PAGES for name, _ in FILE.findall(path.read_text())
}


def found(dotted):
    """The module, class or function of a dotted name; an error if there is none."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(dotted)
    parent, _, name = dotted.rpartition(".")
    return getattr(found(parent) if "." in parent else importlib.import_module(parent), name)


def imported(tree):
    """What a program imports of this package and of others, by the name it has there; errors as text."""
    names, missing = {}, []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            whole = module + alias.name
            if whole.partition(".")[0] in SHOWN:
                continue
            try:
                thing = found(whole)
            except (ImportError, AttributeError):
                missing.append(whole)
                continue
            plain = alias.asname is None and not module
            names[alias.asname or alias.name.partition(".")[0]] = (
                sys.modules[whole.partition(".")[0]] if plain else thing
            )
    return names, missing


def missing_names(text):
    """Names that a page gives to this package, or its programs take from a module, and that do not exist."""
    missing = []
    for dotted in set(DOTTED.findall(text)) - GROUPS:
        try:
            found(dotted)
        except (ImportError, AttributeError):
            missing.append(dotted)
    for program in PYTHON.findall(text):
        tree = ast.parse(program)
        names, absent = imported(tree)
        missing += absent
        missing += [
            f"{node.value.id}.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and isinstance(names.get(node.value.id), ModuleType)
            and not hasattr(names[node.value.id], node.attr)
        ]
    return sorted(set(missing))


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.name != "CHANGELOG.md"], ids=lambda path: path.name
)
def test_names_of_the_package_exist(path):
    """By day too, where most programs are parsed only."""
    text = path.read_text("utf-8")
    assert missing_names(PYTHON.sub("", text) if path.name == "api.md" else text) == []  # it has signatures


def test_missing_names_are_seen():
    program = """```python
import numpy as np
import verifiable_dp as vdp
from verifiable_dp.auditing import mutation
from verifiable_dp.selfcheck import nulls
from somewhere import thing

vdp.audit(np.no_such(nulls.gone))
```
"""
    text = f"`verifiable_dp.core.nose`, group `verifiable_dp.papers`\n{program}"
    expected = ["np.no_such", "nulls.gone", "somewhere.thing", "verifiable_dp.auditing.mutation"]
    assert missing_names(text) == [*expected, "verifiable_dp.core.nose"]


def test_the_reference_is_current(tmp_path):
    """`make docs` makes it from the docstrings."""
    command = [sys.executable, DOCS / "build_api.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The same program beside an older page.
    (tmp_path / "build_api.py").write_text((DOCS / "build_api.py").read_text("utf-8"), "utf-8")
    old = (DOCS / "api.md").read_text("utf-8").replace("vdp.audit", "vdp.examine", 1)
    (tmp_path / "api.md").write_text(old, "utf-8")
    done = subprocess.run(
        [sys.executable, tmp_path / "build_api.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "make docs" in done.stderr


def test_the_picture_is_shown_and_small():
    path = DOCS / "images" / "report.png"
    assert "docs/images/report.png" in LINK.findall((ROOT / "README.md").read_text("utf-8"))
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 150_000


@pytest.mark.slow  # by day the plugin in tests/e2e/test_plugin.py
def test_the_tests_of_the_pytest_page_pass(tmp_path):
    ((name, content),) = FILE.findall((DOCS / "pytest.md").read_text("utf-8"))
    (tmp_path / name).write_text(content, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-m", "not dp_slow", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 1 deselected" in done.stdout
