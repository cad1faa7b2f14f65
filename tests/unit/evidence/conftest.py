"""What the judge of the language says of programs, word for word: any change of it is noticed.

A test that uses `noted` fails where the judge says of its program something else than when
`tests/data/judge_notes.json` was written. Whoever means to change that looks at which programs are named,
and writes it anew:

    NOTES=write python -m pytest tests/unit/evidence -q -p no:xdist
"""

import ast
import hashlib
import json
import os
from pathlib import Path
from unittest import mock

import pytest

from verifiable_dp.evidence.judge.statements import Statements

NOTES = Path(__file__).parents[2] / "data" / "judge_notes.json"
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
    if request.node.get_closest_marker("slow"):
        return
    test, digest = (
        request.node.nodeid.rpartition("/")[2],
        hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12],
    )
    if os.environ.get("NOTES") == "write":
        NOTES.write_text(json.dumps({**_known(), test: digest}, indent=0, sort_keys=True) + "\n", "utf-8")
    assert _known().get(test) == digest, "the judge says something else of this program: see conftest.py"


def _known():
    return json.loads(NOTES.read_text("utf-8")) if NOTES.is_file() else {}
