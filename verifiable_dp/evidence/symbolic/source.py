"""Source text of users' code as trees: where conditions, functions and handlers stand."""

from __future__ import annotations

import ast
import dis
import functools
import types
from typing import NamedTuple

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.desugar_match import PREFIX, parsed


def where(node: Foreign) -> Foreign:
    """Position of a node."""
    try:
        return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    except AttributeError:  # made, and not given a place
        return None, None, None, None


def place_of(position: Foreign) -> Foreign:
    """As `where`, of an instruction."""
    return position.lineno, position.col_offset, position.end_lineno, position.end_col_offset


def called(node: ast.Call) -> str:
    """The name of what is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def called_here(name: str, *args: ast.expr) -> ast.expr:
    """A call of what is put into the traced code under a name."""
    return ast.Call(ast.Name(PREFIX + name, ast.Load()), list(args), [])


def unwatched(node: Foreign) -> Foreign:
    """The node at a place without width: its branch is not one of the user's."""
    part: Foreign
    for part in ast.walk(node):
        part.end_lineno, part.end_col_offset = getattr(part, "lineno", 0), getattr(part, "col_offset", 0)
    return node


def placed(made: Foreign, node: ast.AST) -> Foreign:
    """What was made, at the place of a node."""
    return ast.fix_missing_locations(ast.copy_location(made, node))


def is_choice(node: ast.Call) -> bool:
    """Whether it is `np.where(condition, one, other)`."""
    made = getattr(getattr(node.func, "value", None), "id", "")
    return made in ("np", "numpy") and called(node) == "where" and len(node.args) == 3 and not node.keywords


@functools.lru_cache(maxsize=64)
def read(text: str) -> ast.Module:
    """The tree of a file, which stays as it is."""
    return parsed(text)


def tree_of(file: str) -> ast.Module | None:
    """The tree of a file; None if it cannot be read."""
    try:
        with open(file, encoding="utf-8") as text:
            return read(text.read())
    except (OSError, SyntaxError, ValueError):
        return None


def body_of(code: types.CodeType) -> Foreign:
    """The syntax tree of a function; None if it cannot be read."""
    tree = tree_of(code.co_filename)
    return None if tree is None else _functions_of(tree).get((code.co_name, code.co_firstlineno))


@functools.lru_cache(maxsize=64)
def _functions_of(tree: ast.Module) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line, decorators included."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {(n.name, min([n.lineno, *(d.lineno for d in n.decorator_list)])): n for n in nodes}


def around(file: str, positions: frozenset[Foreign]) -> set[Foreign]:
    """Where all of what the conditions at these positions decide stands."""
    tree = tree_of(file)
    assert tree is not None
    return {place for place, parts in _conditions_of(tree) if parts & positions}


@functools.lru_cache(maxsize=64)
def _conditions_of(tree: ast.Module) -> list[tuple[Foreign, frozenset[Foreign]]]:
    """Where what is done on a condition stands, with where the parts of the condition do."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.If | ast.While | ast.IfExp)]
    return [(where(n), frozenset(map(where, ast.walk(n.test)))) for n in nodes]


class Handler(NamedTuple):
    """An ``except`` clause: where what it does stands, and whether that is to raise again; or `suppress`."""

    start: tuple[int, int]
    end: tuple[int, int]
    raises: bool = False
    suppresses: bool = False


def handlers_of(file: str) -> list[Handler]:
    """The clauses of a file that catch exceptions, ``suppress`` among them."""
    tree = tree_of(file)
    return [] if tree is None else _handlers_of(tree)


@functools.lru_cache(maxsize=64)
def _handlers_of(tree: ast.Module) -> list[Handler]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            first, last = node.body[0], node.body[-1]
            start, end = (first.lineno, first.col_offset), (last.end_lineno or 0, last.end_col_offset or 0)
            found.append(Handler(start, end, isinstance(first, ast.Raise)))
        if isinstance(node, ast.Call) and called(node) == "suppress":
            # What is left out then shows nowhere.
            start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
            found.append(Handler(start, end, suppresses=True))
    return found


@functools.lru_cache(maxsize=1 << 12)
def asserts(code: types.CodeType) -> bool:
    """Whether code asserts something, or asks whether asserts are there."""
    steps = dis.get_instructions(code)
    return any(step.argrepr == "AssertionError" or step.opname == "LOAD_ASSERTION_ERROR" for step in steps)
