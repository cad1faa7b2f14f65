"""The framework knows no catalogue: what it says and does follows from what is registered."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import verifiable_dp
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry import study

ROOT = Path(verifiable_dp.__file__).parent
SOURCES = sorted(
    path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] not in ("algorithms", "auditors")
)
NAMES = (*registry.names(), *study.names(), *study.settings())


def constants(source):
    """Strings of a program, but for what documents it: an example names an algorithm."""
    tree = ast.parse(source)
    told = set()
    for node in ast.walk(tree):
        first = node.body[0] if getattr(node, "body", None) and isinstance(node.body, list) else None
        if isinstance(first, ast.Expr):
            told.add(first.value)
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told
    ]


def named(source):
    """Names of the catalogue that a program knows, as strings or as modules."""
    text = "\n".join([*constants(source), *re.findall(r"^\s*(?:from|import) .*", source, re.MULTILINE)])
    words = {name for known in NAMES for name in (known, known.replace("-", "_"))}
    return sorted(word for word in words if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_framework_names_no_algorithm_and_no_study(path):
    assert named(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('LONGEST = ("dp-se", "mine")', ["dp-se"]),
        ('help = "C1 to C4 of a paper"', ["C1", "C4"]),
        ("from verifiable_dp.auditors.studies import s1\nimport dp_ucb", ["dp_ucb"]),
        ('def f():\n    """Such as ``dp-se``."""\n    return "dp-secure", "case"', []),
    ],
)
def test_a_name_is_found_where_it_decides(source, found):
    assert named(source) == found


# ---------------------------------------------------------------- the record is a type, and a name one thing

INDEXED = re.compile(r"""\brecord\[["']""")
ASKED = re.compile(r'startswith\("[a-z ]{8,}|in .*failure')  # sentences that decide: HOUSE's search


def twice(sources):
    """Names of public classes that more than one program defines."""
    found = Counter(
        node.name
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in found.items() if count > 1)


def test_no_two_public_classes_have_one_name():
    assert twice(path.read_text("utf-8") for path in SOURCES) == []
    assert twice(["class Found: ...\nclass _Law: ...", "class Found: ...\nclass _Law: ..."]) == ["Found"]


def test_only_its_own_room_takes_a_record_apart_by_keys():
    others = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "record"]
    assert [str(path) for path in others if INDEXED.search(path.read_text("utf-8"))] == []
    assert INDEXED.search('verdict = record["verdict"]')


def test_no_line_asks_a_sentence_of_ours():
    files = [*SOURCES, *(ROOT / "render").rglob("*.jinja")]
    assert [str(path) for path in files if ASKED.search(path.read_text("utf-8"))] == []
    for planted in ('note.startswith("the listing as printed")', '"raw rewards" in last.failure'):
        assert ASKED.search(planted)
