"""What holds of the source itself: which room knows what, how long functions are, what tests assert."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import verifiable_dp
from tests.loops import every, only_in_loops
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


# Values decide, sentences only show: outside of `render/` nothing is asked of our own words.
#
# What is found are a literal with a blank between words, or a word in place of another, in anything that
# looks into a text: `startswith`, `replace`, `in`, `==`, a regular expression. An id, a name in code and a
# file's format have no blank. A line that asks for the words of others says so: `# their words`. Broken
# variants that it finds stand in `WRONG`.


WHOLE = Path(__file__).parents[2] / "verifiable_dp"
SAID = (
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
            if name in SAID or (name in MATCHED and ast.unparse(node.func.value) == "re"):
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
    for path in sorted(WHOLE.rglob("*.py")):
        if path.relative_to(WHOLE).parts[0] == "render":
            continue
        source = path.read_text("utf-8")
        lines = source.splitlines()
        theirs += source.count("# their words")
        places = [line for line in asked(source) if "# their words" not in lines[line - 1]]
        found += [f"{path.relative_to(WHOLE)}:{line}" for line in places]
    assert not found
    assert theirs <= 3, "each has to be one that no value can stand for"


# Functions stay small: what is long, or takes much, is named here with the reason.


PACKAGE = Path(verifiable_dp.__file__).parent
FOLDERS = (
    PACKAGE,
    *(PACKAGE / name for name in ("algorithms", "auditors")),
)  # links, which rglob does not follow
MOST_LINES, MOST_PARAMETERS = 80, 7
# Loops that numba compiles: they take arrays and numbers, each by itself, for it knows no dataclass.
KERNELS = {
    "core/adversaries.py": {"_teased", "_scored", "_pay", "_pay_all", "play_blocks"},
    "evidence/blackbox/machine.py": {"_walk"},
}
# Rows of tables of theorems: an argument for each column of `studies.Rate`.
ROWS = {
    f"auditors/studies/{name}.py": {made}
    for name, made in zip(("s1", "s2", "s3", "s4"), ("_law", "_rate", "_law", "_law"), strict=True)
}
# Formulas of the papers: an argument for each symbol.
FORMULAS = {"auditors/_closed_forms.py": {"ldp_robust_se_epoch"}}


def sources():
    found = {path.resolve(): path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))}
    return {path.relative_to(PACKAGE).as_posix(): path for path in found.values()}


def too_large(source):
    """Functions of a program that are too long or take too much; decorators do not count, docstrings do."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = node.args
        names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        several = [one for one in (given.vararg, given.kwarg) if one]
        taken = len([name for name in names if name not in ("self", "cls")]) + len(several)
        if node.end_lineno - node.lineno >= MOST_LINES or taken > MOST_PARAMETERS:
            found[node.name] = any(
                "kernel" in ast.unparse(one) or "_compiled" in ast.unparse(one) for one in node.decorator_list
            )
    return found


def test_no_function_is_long_or_takes_much_but_those_named_here():
    large = {name: found for name, path in sources().items() if (found := too_large(path.read_text("utf-8")))}
    assert {name: set(found) for name, found in large.items()} == {**KERNELS, **ROWS, **FORMULAS}
    assert all(compiled for name in KERNELS for compiled in large[name].values())
    assert len(sources()) > 200


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(a, b, c, d, e, g, h): ...", []),
        ("def f(a, b, c, d, e, g, h, i): ...", ["f"]),
        ("def f(a, b, *, c, d, e, g, **h): ...", []),
        ("def f(a, b, *c, d, e, g, h, **i): ...", ["f"]),
        ("class A:\n    def f(self, a, b, c, d, e, g, h): ...", []),
        ("def f():\n" + "    x = 1\n" * 79, []),
        ("def f():\n    '''\n" + "    words\n" * 78 + "    '''", ["f"]),
        ("def f():\n    def g():\n" + "        x = 1\n" * 80, ["f", "g"]),
    ],
)
def test_what_is_too_large_is_found(source, found):
    assert list(too_large(source)) == found


# A test that asserts only in loops over computed collections also says that they are not empty.
#
# Negative controls are the programs below.


def test_no_test_asserts_only_over_what_may_be_empty():
    found = every()
    assert not found, f"these assert nothing over an empty collection: {found}"


@pytest.mark.parametrize(
    "body",
    [
        "for x in found(): assert x",
        "for x in found().items(): assert x",
        "for x in []: assert x",
        "for x in range(n): assert x",
        "for x in (*found(),): assert x",
        "for x in zip((1, 2), found()): assert x",
        "for x in [x for x in (1, 2) if x > 2]: assert x",
        "rows = found()\n    for x in rows: assert x",
        "for x in found():\n        with pytest.raises(ValueError): x()",
        "for x in found():\n        for y in (1, 2): assert y",
        "for x in found():\n        if x: assert x",
        "assert all(x for x in found())",
        "assert all(x for x in (1, 2) if x > 2)",
        "assert not any(x for x in found())",
        "assert not [x for x in found() if x]",
        "assert [x for x in found() if x] == []",
        "assert {x for x in found()} <= {1, 2}",
    ],
)
def test_an_assertion_over_a_computed_collection_is_found(body):
    assert only_in_loops(f"def test_it(n):\n    {body}\n") == ["test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "rows = found()\n    assert rows\n    for x in rows: assert x",
        "for x in (1, 2): assert x",
        "for x in range(3): assert x",
        "for x in enumerate(ROWS): assert x",
        "for x, y in {1: 2}.items(): assert x",
        "for x in [x + 1 for x in ROWS]: assert x",
        "for x in found(): x()",
        "assert all(x for x in (1, 2))",
        "assert any(x for x in found())",
        "assert not [x for x in (1, 2) if x > n]",
        "assert [x for x in found()] == [1]",
        "with pytest.raises(ValueError): it()\n    for x in found(): assert x",
        "assert_allclose(1, 1)\n    for x in found(): assert x",
    ],
)
def test_what_always_asserts_is_not_named(body):
    assert only_in_loops(f"ROWS = (1, 2)\ndef test_it():\n    {body}\n") == []
