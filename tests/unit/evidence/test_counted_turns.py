"""How often a turn is made may not say how often data count, or whether noise hides them."""

import ast

import pytest

from tests.user_code import counted
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.loops import Loops
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

SHAPE = (60, 2)


def bound(play):
    return explore(Program(play, SHAPE, (0.0, 1.0)), 2, most=6).epsilon()


@pytest.mark.parametrize("play", counted.LEAKS, ids=lambda f: f.__name__)
def test_what_a_rare_number_of_turns_does_has_no_bound(play):
    assert bound(play) > 100


@pytest.mark.parametrize("play", counted.RIGHT, ids=lambda f: f.__name__)
def test_turns_with_entries_of_their_own_keep_the_bound(play):
    assert bound(play) == pytest.approx(1.0)


def nothing(*_args):
    return False


RULES = {  # what is left out, and a leak that has a bound then
    "unhidden": (Language, "unhidden", nothing, "released_again"),
    "partial": (Language, "partial", nothing, "sum_of_the_same"),
    "kept": (Loops, "kept_in", lambda self, name, value: value, "released_again"),
    "remade": (Loops, "remade", lambda self, loop: self.moving(loop), "listed_in_each_turn"),
    "carrying": (Loops, "carries", lambda self, step: None, "doubled"),
    "carrying by recursion": (Loops, "goes_round", nothing, "added_by_recursion"),
    "set in a turn": (Loops, "left_out", lambda self, name, value: value, "noise_of_the_last_turn"),
    "beside": (Loops, "beside", nothing, "next_or_none"),
    "told": (Language, "told_again", nothing, "tossed_again"),
    "told at once": (Loops, "note_told", lambda self, node, parts, size: None, "many_choices"),
    "one of two": (Loops, "one_of", lambda self, one, other: one | other, "latest"),
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_for_turns_is_needed(rule, monkeypatch):
    place, name, other, leak = RULES[rule]
    monkeypatch.setattr(place, name, other)
    assert bound(getattr(counted, leak)) == pytest.approx(1.0)


def followed(source):
    """Statements of a file, as they are followed, and its first loop."""
    tree = ast.parse(source)
    said = Statements(Names({"a.py": File(tree, {})}), {}, set())
    said.scope = tree
    return said, next(node for node in ast.walk(tree) if isinstance(node, ast.For | ast.ListComp))


@pytest.mark.parametrize(
    ("source", "moving"),
    [
        ("for i in rows: x = y", {"i"}),
        ("for i in rows: x = table[i]", {"i", "x"}),
        ("for _ in rows:\n for arm in arms: x = table[arm]", {"_"}),
        ("for _ in rows:\n t += 1\n x = table[t]", {"_", "t", "x"}),
        ("for _ in rows: x = x + y", {"_", "x"}),
        ("for _ in rows: line.append(y)", {"_", "line"}),
        ("for _ in rows: line.reverse()", {"_"}),
        ("for _ in rows: line[0] = y", {"_", "line"}),
        ("for _ in rows: x = draw()", {"_"}),
        ("def more():\n self.v = self.v + 1\nfor _ in rows: more()", {"_", ".v"}),
        ("def more():\n v = v + 1\nfor _ in rows: more()", {"_"}),
        ("[x for x in rows for _ in turns]", {"x", "_"}),
    ],
)
def test_names_that_a_turn_sets_anew(source, moving):
    said, loop = followed(source)
    assert said.moving(loop) == moving


def test_of_a_comprehension_what_stands_before_the_uneven_part_is_the_same_in_its_turns():
    said, loop = followed("[x for x in rows for _ in turns]")
    said.uneven_parts[loop] = 1
    assert said.moving(loop) == {"_"}
