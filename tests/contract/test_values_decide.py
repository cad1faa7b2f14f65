"""Values decide, sentences only show: outside of `render/` nothing is asked of our own words.

What is found are a literal with a blank between words, or a word in place of another, in anything that looks
into a text: `startswith`, `replace`, `in`, `==`, a regular expression. An id, a name in code and a file's
format have no blank. A line that asks for the words of others says so: `# their words`. Broken variants that
it finds stand in `WRONG`.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "verifiable_dp"
ASKED = (
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "find",
    "index",
    "count",
)
MATCHED = ("match", "search", "fullmatch", "findall", "finditer", "sub", "compile")
SPOKEN = re.compile(r"[A-Za-z]{2,},? [A-Za-z]|^[a-z]{2,}: |^[A-Za-z]{2,} $")
WORD = re.compile(r"^[a-z]{4,}$")

WRONG = {
    "a prefix of a sentence": 'note.startswith("the listing as printed")',
    "one of several": 'line.startswith(("timing", "inputs, events"))',
    "a constant": 'BASE = "non-private baseline"\nnote.startswith(BASE)',
    "a part of a sentence": '"raw rewards" in failure',
    "a whole sentence": 'unit == "one reward of one round"',
    "a word in place of another": 'said.replace("rewards", "data")',
    "a pattern": 're.match(r"rounds after the (.+)", line)',
    "a membership in sentences": 'words in ("one round", "two rounds")',
    "a first word": 'group.words.startswith("run ")',
}
RIGHT = (
    'kind.startswith("release")',
    'name == "black_box"',
    'path.endswith("site-packages")',
    'value.replace("_", " ")',
    '"seed" in parameters',
    're.match(r"[a-z]+-[0-9]+", name)',
    'print("one reward of one round")',
)


def texts(node: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    """The literals that an argument may be."""
    if isinstance(node, ast.Name):
        found = constants.get(node.id)
        return [] if found is None or isinstance(found, ast.Name) else texts(found, constants)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [text for part in node.elts for text in texts(part, constants)]
    if isinstance(node, ast.JoinedStr):
        return [text for part in node.values for text in texts(part, constants)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def asked(source: str) -> list[int]:
    """Lines on which a text is asked for our words."""
    tree, found = ast.parse(source), []
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        said: list[str] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            name, first = node.func.attr, texts(node.args[0], constants)
            if name in ASKED or (name in MATCHED and ast.unparse(node.func.value) == "re"):
                said = first
            if name == "replace" and any(map(WORD.search, first)):
                found.append(node.lineno)
            said = first if name == "replace" else said
        elif isinstance(node, ast.Compare):
            said = [text for part in (node.left, *node.comparators) for text in texts(part, constants)]
        if any(map(SPOKEN.search, said)):
            found.append(node.lineno)
    return sorted(set(found))


@pytest.mark.parametrize("name", WRONG)
def test_what_asks_for_words_is_found(name):
    assert asked(WRONG[name])


@pytest.mark.parametrize("source", RIGHT)
def test_what_asks_for_ids_is_not(source):
    assert not asked(source)


def test_nothing_is_asked_of_our_words_outside_of_render():
    found, theirs = [], 0
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] == "render":
            continue
        source = path.read_text("utf-8")
        lines = source.splitlines()
        theirs += source.count("# their words")
        places = [line for line in asked(source) if "# their words" not in lines[line - 1]]
        found += [f"{path.relative_to(ROOT)}:{line}" for line in places]
    assert not found
    assert theirs <= 3, "each has to be one that no value can stand for"
