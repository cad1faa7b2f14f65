"""Functions stay small: what is long, or takes much, is named here with the reason."""

import ast
from pathlib import Path

import pytest

import verifiable_dp

ROOT = Path(verifiable_dp.__file__).parent
FOLDERS = (ROOT, *(ROOT / name for name in ("algorithms", "auditors")))  # links, which rglob does not follow
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
    return {path.relative_to(ROOT).as_posix(): path for path in found.values()}


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
