"""The documentation as a whole: links lead somewhere, the index is complete, made pages are current."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging import test_readme
from verifiable_dp.cli import main

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
    elsewhere = {"add-an-algorithm.md"}
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
