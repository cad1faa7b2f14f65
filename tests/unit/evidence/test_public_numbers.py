"""How much noise there is, and how much data count, is the same in every run, or there is no bound."""

import ast
import inspect

import pytest

from tests import public_numbers
from tests.user_code import decided, held, peaks, rare, turns
from verifiable_dp.evidence.judge import calls, flow, values
from verifiable_dp.evidence.judge.calls import Calls
from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.values import Value
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
