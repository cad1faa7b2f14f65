"""What the judge of the language says of programs, all of it: see `tests.notes`."""

import ast
import json
from unittest import mock

import pytest

from tests.notes import held
from verifiable_dp.evidence.judge.statements import Statements

KEPT = ("asked", "operands", "arithmetic", "bases", "drawn_at", "picked_at", "carrying", "often", "spots")


def shown(said, value):
    """A value without what is another in each process; lines are counted from what stands around them."""
    match value:
        case ast.AST():
            return [type(value).__name__, getattr(value, "name", "")]
        case ("library" as kind, int()):  # an object by its address
            return [kind]
        case (str(file), (int(line), int(column), *_)) if file in said.names.files:
            body = said.names.files[file].tree.body
            return [line - max((s.lineno for s in body if s.lineno <= line), default=0), column]
        case tuple():
            return [shown(said, part) for part in value]
        case frozenset() | set() | list() | dict():
            parts = [*value.items()] if isinstance(value, dict) else value
            return sorted(json.dumps(shown(said, part)) for part in parts)
        case None | bool() | int() | str():
            return value
    return type(value).__name__


@pytest.fixture
def noted(request):
    """Fails a test whose program the judge no longer says the same of."""
    said = []
    run = Statements.run

    def spied(self):
        run(self)
        outside = [one.words for one in self.outside.values()]
        said.append([shown(self, outside), *(shown(self, getattr(self, name)) for name in KEPT)])

    with mock.patch.object(Statements, "run", spied):
        yield
    if not request.node.get_closest_marker("slow"):
        held(request.node.nodeid.rpartition("/")[2], json.dumps(said).encode())
