"""Tests all of whose assertions stand in loops over computed collections: over an empty one they say nothing.

`python -m tests.loops` lists them. `tests/contract/test_framework.py` holds the list, which may only shrink.
"""

import ast
from pathlib import Path

HERE = Path(__file__).parent
_TESTS = ast.FunctionDef | ast.AsyncFunctionDef
_VIEWS = ("items", "values", "keys", "split", "splitlines")
_SAME_LENGTH = (
    "enumerate",
    "list",
    "tuple",
    "set",
    "sorted",
    "reversed",
    "zip",
    "map",
    "product",
    "permutations",
)


def _display(node, known):
    """Whether a collection is written down with at least one element, so that a loop over it runs."""
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return any(not isinstance(e, ast.Starred) or _display(e.value, known) for e in elements)
        case ast.Dict(keys=keys, values=values):
            return any(k is not None or _display(v, known) for k, v in zip(keys, values, strict=True))
        case ast.Constant(value=value):
            return isinstance(value, str) and bool(value)
        case ast.Name(id=name):
            return name in known
        case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
            return _display(left, known) or _display(right, known)
        case ast.BinOp(left=left, op=ast.Mult()):
            return _display(left, known)
        case ast.Call(func=ast.Name(id="range"), args=[*_, ast.Constant(value=int(stop))]):
            return stop > 0
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _VIEWS:
            return _display(value, known)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _SAME_LENGTH:
            given = args[1:] if name == "map" else args[:1] if name == "permutations" else args
            return bool(given) and all(_display(one, known) for one in given)
        case ast.ListComp(generators=loops) | ast.SetComp(generators=loops) | ast.DictComp(generators=loops):
            return all(not loop.ifs and _display(loop.iter, known) for loop in loops)
    return False


def _named(body, known):
    """Names that are given a collection that is written down, besides those already known."""
    found = set(known)
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name = node.targets[0]
            if isinstance(name, ast.Name):
                (found.add if _display(node.value, found) else found.discard)(name.id)
    return frozenset(found)


def _asserts(node):
    """Whether a statement fails by itself if something is wrong: `assert`, `pytest.raises`, `pytest.fail`."""
    if isinstance(node, ast.Assert):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    name = (
        called.attr
        if isinstance(called, ast.Attribute)
        else called.id
        if isinstance(called, ast.Name)
        else ""
    )
    return name in ("raises", "fail", "warns") or name.startswith("assert_")


def _of_all(node, known):
    """Whether it asserts something of all of a computed collection, or that none of it is wrong."""
    match node:
        case ast.Assert(test=ast.Call(func=ast.Name(id="all"), args=[made])):
            pass
        case ast.Assert(
            test=ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=[made]))
        ):
            pass
        case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=made)):
            pass
        case ast.Assert(test=ast.Compare(left=made, ops=[ast.LtE()])):
            pass
        case ast.Assert(
            test=ast.Compare(left=made, ops=[ast.Eq()], comparators=[ast.List([]) | ast.Dict([])])
        ):
            pass
        case _:
            return False
    found = isinstance(made, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp)
    positive = isinstance(
        node.test, ast.Call
    )  # of `if`, which may leave none; elsewhere it says what is wrong
    return found and any((positive and one.ifs) or not _display(one.iter, known) for one in made.generators)


def _outcomes(node, known, inside):
    """For each assertion below a node: whether it stands in a loop over a computed collection."""
    if _asserts(node):
        yield inside or _of_all(node, known)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Lambda | ast.ClassDef):
            continue
        loop = isinstance(child, ast.For | ast.AsyncFor)
        yield from _outcomes(child, known, inside or (loop and not _display(child.iter, known)))


def only_in_loops(source):
    """Names of the tests of a program that assert only inside such loops."""
    tree = ast.parse(source)
    known = _named(tree.body, frozenset())
    found = []
    for node in ast.walk(tree):
        if isinstance(node, _TESTS) and node.name.startswith("test_"):
            body = [one for one in ast.walk(node) if isinstance(one, ast.Assign)]
            outcomes = list(_outcomes(node, _named(body, known), False))
            if outcomes and all(outcomes):
                found.append(node.name)
    return found


def every():
    """All of them, as `file::test`."""
    return [
        f"{path.relative_to(HERE).as_posix()}::{name}"
        for path in sorted(HERE.rglob("test_*.py"))
        for name in only_in_loops(path.read_text("utf-8"))
    ]


if __name__ == "__main__":
    print(*every(), sep="\n")
