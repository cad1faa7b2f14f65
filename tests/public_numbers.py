"""What the judge of the language calls the same in every run, held against runs.

Each expression that it calls public, and comes to whatever draws say, is noted where the code runs: with
other data and other draws it has to take the same values, one after the other.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import types
import warnings
from collections import defaultdict
from pathlib import Path
from unittest import mock

import numpy as np

from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.marks import where
from verifiable_dp.evidence.judge.values import PUBLIC, joined
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

_NOTE = "_noted_by_the_tests"
_PLAIN = (int, float, bool, str, np.float64, np.int64, np.bool_, np.float32, np.int32)
_MOST = 200  # entries of what is compared


def called_public(play, shape):
    """Positions of expressions, by file, that the judge calls the same in every run."""
    found, inside = defaultdict(list), Expressions.of

    def of(self, node):
        value = inside(self, node)
        if self.telling and isinstance(node, ast.expr):
            found[self.names.home[self.scope], where(node)].append((value, self.control.level))
        return value

    with mock.patch.object(Expressions, "of", of):
        explore(Program(play, shape, (0.0, 1.0)), shape[1], most=6)
    public = defaultdict(dict)
    for (file, at), pairs in found.items():
        value = joined(value for value, _ in pairs)
        if not (value.varies or value.size or any(level for _, level in pairs)):
            public[file][at] = value.turn > PUBLIC
    return public


class _Noting(ast.NodeTransformer):
    """Hands what stands at some positions to a function that gives it back."""

    def __init__(self, positions):
        self.positions = positions

    def visit(self, node):
        at = where(node) if isinstance(node, ast.expr) else None
        node = self.generic_visit(node)
        left_alone = isinstance(node, ast.Constant | ast.Starred | ast.Slice | ast.Lambda | ast.GeneratorExp)
        if (
            at not in self.positions
            or left_alone
            or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        ):
            return node
        name = ast.Name(_NOTE, ast.Load())
        return ast.copy_location(ast.Call(name, [ast.Constant(at), node], []), node)

    def visit_JoinedStr(self, node):
        return node

    def visit_Match(self, node):
        for case in node.cases:
            case.body = [self.visit(step) for step in case.body]
        return node

    def visit_FunctionDef(self, node):
        node.body = [self.visit(step) for step in node.body]
        return node


def _shown(value):
    """What is compared of a value: numbers, text, and tables of them."""
    if type(value) in _PLAIN:
        return value
    if type(value) is np.ndarray and value.dtype.kind in "iufb" and value.size <= _MOST:
        return (value.shape, *value.ravel().tolist())
    if type(value) in (list, tuple) and len(value) <= _MOST and all(type(one) in _PLAIN for one in value):
        return tuple(value)
    return None


def _noted_module(file, name, positions, note):
    """The globals of a file that notes what stands at these positions."""
    tree = ast.fix_missing_locations(_Noting(positions).visit(ast.parse(Path(file).read_text("utf-8"))))
    module = types.ModuleType(name)
    module.__dict__.update({"__file__": file, _NOTE: note})
    with mock.patch.dict(sys.modules, {name: module}):
        exec(compile(tree, file, "exec", dont_inherit=True), module.__dict__)
    return module


def unlike(play, shape, runs=12):
    """Positions of what is called public and was not the same in some run, and how many there are."""
    file = play.__code__.co_filename
    public = called_public(play, shape)
    seen = defaultdict(list)

    def note(at, value):
        shown = _shown(value)
        if shown is not None:
            seen[at].append(shown)
        return value

    module = _noted_module(file, play.__module__, public[file], note)
    other = getattr(module, play.__name__)
    first, wrong = {}, set()
    for run in range(runs):
        seen.clear()
        rng = np.random.default_rng([20261129, run])
        data = rng.random(shape) if run % 3 else np.full(shape, float(run % 2))
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            other(data, rng)
        for at, values in seen.items():
            before = first.setdefault(at, values)
            if len(before) == len(values):  # else it was come to more often
                wrong |= {at} if repr(before) != repr(values) else set()
            elif not public[file][at]:
                wrong |= {at} if {*map(repr, before)} != {*map(repr, values)} else set()
    return sorted(wrong), len(first)
