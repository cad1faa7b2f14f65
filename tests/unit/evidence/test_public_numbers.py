"""How much noise there is, and how much data count, is the same in every run, or there is no bound."""

from __future__ import annotations

import ast
import inspect

import pytest

from tests import public_numbers
from tests.user_code import counted, decided, held, peaks, rare, turns
from verifiable_dp.evidence.judge import calls, flow, values
from verifiable_dp.evidence.judge.calls import Calls
from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.loops import Loops
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import STEEP, Value
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

SHAPE = (60, 2)


def bound(play):
    return explore(Program(play, SHAPE, (0.0, 1.0)), 2, most=6).epsilon()


@pytest.mark.parametrize("play", decided.LEAKS, ids=lambda f: f.__name__)
def test_a_weight_that_readings_decide_together_has_no_bound(play):
    assert bound(play) > 100


@pytest.mark.parametrize("play", decided.RIGHT, ids=lambda f: f.__name__)
def test_what_readings_decide_without_a_weight_keeps_the_bound(play):
    assert bound(play) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "play",
    [decided.never_set, decided.iterator, decided.grades, decided.turned_wheel, decided.last_of_a_loop],
    ids=lambda f: f.__name__,
)
def test_without_the_rule_such_a_weight_has_a_bound(play, monkeypatch):
    monkeypatch.setattr(Value, "varies", False)
    assert bound(play) == pytest.approx(1.0)


# ---------------------------------------------------------------- what draws have a part in

RULES = {  # a rule that is left out, and the leaks that have a bound then
    "calls": (
        Calls,
        "chosen_there",
        lambda self, node, target, at, value, **_: value,
        "used_in_the_last_call",
    ),
    "moves": (calls.values, "MOVES", frozenset(), "turned_wheel"),
    "text": (calls.values, "TEXTS", (), "length_of_text"),
    "to one": (calls.values, "TO_ONE", (), "as_many_ones"),
    "generators": (Expressions, "consumes", lambda self, node: True, "counted_until_any"),
    "loops": (Expressions, "is_behind", lambda self, key: False, "left_by_a_comparison"),
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_of_what_draws_have_a_part_in_is_needed(rule, monkeypatch):
    place, name, other, leak = RULES[rule]
    monkeypatch.setattr(place, name, other)
    assert bound(getattr(decided, leak)) == pytest.approx(1.0)


# ---------------------------------------------------------------- held against runs

PROGRAMS = [*decided.LEAKS, *decided.RIGHT, *peaks.LEAKS, *peaks.RIGHT, *turns.LEAKS, *rare.LEAKS]
PROGRAMS += [play for play in held.LEAKS if inspect.getmodule(play) is held]


@pytest.mark.parametrize("play", PROGRAMS[::4], ids=lambda f: f.__name__)
def test_what_is_called_public_is_the_same_in_every_run(play):
    assert public_numbers.unlike(play, SHAPE)[0] == []


def test_many_expressions_are_compared():
    assert sum(public_numbers.unlike(play, SHAPE)[1] for play in decided.LEAKS[:6]) > 60


@pytest.mark.slow
@pytest.mark.parametrize("play", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_called_public_is_the_same_in_every_run_of_all(play):
    assert public_numbers.unlike(play, SHAPE)[0] == []


def test_runs_show_what_is_not_the_same(monkeypatch):
    """The control: with everything called public, runs differ."""
    monkeypatch.setattr(Value, "varies", False)
    assert len(public_numbers.unlike(decided.best_reading, SHAPE)[0]) > 3


# ---------------------------------------------------------------- what a choice leaves


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("if a:\n    x = 1\nelse:\n    x = 2", {"x"}),
        ("if a:\n    x = 1", set()),
        ("if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x, y = 3, 4", {"x"}),
        ("for _ in a:\n    x = 1", set()),
        ("with a:\n    x = 1", set()),
        ("x += 1", set()),
        ("x: int = 1", set()),
        ("try:\n    x = 1\nexcept E:\n    pass", set()),
    ],
)
def test_names_that_are_set_whatever_happens(text, names):
    assert flow.names_always_set(ast.parse(text).body) == names


def test_only_a_number_that_nothing_random_is_in_does_not_vary():
    assert not Value().varies
    assert not Value(turn=values.STEEP, size=values.STEEP).varies
    assert Value(values.SMOOTH).varies
    assert Value(draws=1).varies


# How often a turn is made may not say how often data count, or whether noise hides them.


@pytest.mark.parametrize("play", counted.LEAKS, ids=lambda f: f.__name__)
def test_what_a_rare_number_of_turns_does_has_no_bound(play):
    assert bound(play) > 100


@pytest.mark.parametrize("play", counted.RIGHT, ids=lambda f: f.__name__)
def test_turns_with_entries_of_their_own_keep_the_bound(play):
    assert bound(play) == pytest.approx(1.0)


def nothing(*_args):
    return False


OF_TURNS = {  # what is left out, and a leak that has a bound then
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


@pytest.mark.parametrize("rule", OF_TURNS)
def test_each_rule_for_turns_is_needed(rule, monkeypatch):
    place, name, other, leak = OF_TURNS[rule]
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


# What noise by itself may set: how much noise there is, how much data counts.


def bound_of_few(play):
    return explore(Program(play, (24, 2), (0.0, 1.0)), 2, most=6).epsilon()


@pytest.mark.parametrize("play", peaks.LEAKS, ids=lambda f: f.__name__)
def test_what_may_have_a_peak_in_the_noise_sets_nothing(play):
    assert bound_of_few(play) > 100


@pytest.mark.parametrize("play", peaks.RIGHT, ids=lambda f: f.__name__)
def test_what_is_told_of_noise_may_be_used(play):
    assert bound_of_few(play) <= 1 + 1e-9


@pytest.mark.parametrize("play", peaks.ONE_WAY, ids=lambda f: f.__name__)
def test_right_programs_that_noise_scales_have_no_bound(play):
    """Paths see it at its ends, but nothing random sets how much noise there is."""
    assert bound_of_few(play) == float("inf")


@pytest.mark.parametrize("play", peaks.LEAKS, ids=lambda f: f.__name__)
def test_without_the_rule_such_a_leak_has_a_bound(play, monkeypatch):
    monkeypatch.setattr(Value, "varies", property(lambda value: value.level >= STEEP and not value.data))
    assert bound_of_few(play) == pytest.approx(1.0)
