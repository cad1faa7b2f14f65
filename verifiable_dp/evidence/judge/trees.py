"""Syntax trees of files, which nobody changes."""

from __future__ import annotations

import ast
import functools


@functools.lru_cache(maxsize=256)
def tree_of(text: str) -> ast.Module:
    """The tree of a file; raises what `ast.parse` does."""
    return ast.parse(text)


def walk(node: ast.AST) -> list[ast.AST]:
    """As `ast.walk`: looked up once, and kept with the node."""
    found: list[ast.AST] | None = vars(node).get("every")
    if found is None:
        found = vars(node)["every"] = [*ast.walk(node)]
    return found
