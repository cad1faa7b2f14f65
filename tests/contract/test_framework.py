"""The framework knows no catalogue: what it says and does follows from what is registered."""

import ast
import re
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
