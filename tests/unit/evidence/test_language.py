"""What paths that were not run may do: the judge of the language, with the black box switched off."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.user_code import choices, held, language, turns
from tests.user_code.searching.evaluated import evaluated
from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.marks import Marks, where
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import SMOOTH, Value
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

HORIZON = 24


def by_night(plays, by_day):
    """Parameters, of which those that are not named wait for the night."""
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(f, id=f.__name__, marks=marks[f.__name__ in by_day]) for f in plays]


def found(function, most=6):
    return explore(Program(function, (HORIZON, 2), (0.0, 1.0)), 2, most=most)


@pytest.mark.parametrize("play", [*language.LEAKS, evaluated], ids=lambda f: f.__name__)
def test_what_a_draw_decides_without_a_branch_has_no_bound(play):
    got = found(play)
    assert got.epsilon() == float("inf")
    assert got.at is not None
    assert got.at.line > 0


@pytest.mark.parametrize("play", language.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_keep_their_bound(play):
    got = found(play)
    assert got.words() == ""
    assert got.epsilon() <= 1 + 1e-9


@pytest.mark.parametrize(("play", "said"), [*language.UNFOLLOWED, held.UNFOLLOWED])
def test_right_twins_that_are_not_followed_have_no_bound(play, said):
    """For what reason the programs say. Where what is called is unknown, so is the rest: that comes first."""
    assert found(play).failure == said


@pytest.mark.parametrize("play", turns.LEAKS, ids=lambda f: f.__name__)
def test_what_changes_while_a_table_is_made_makes_it_rough(play):
    """Broken variants: a call gives the same each time; a comprehension is no turn; names stay the same."""
    assert found(play).epsilon() > 100


@pytest.mark.parametrize("play", turns.DRAWS, ids=lambda f: f.__name__)
def test_what_is_made_of_many_draws_sets_no_weight(play):
    """Broken variants: a weight may be made of many draws; a count of them may be told from others."""
    assert found(play).epsilon() > 100


@pytest.mark.parametrize("play", turns.PARTS, ids=lambda f: f.__name__)
def test_one_entry_that_is_there_before_others_or_changed_by_another_name_is_seen(play):
    assert found(play).epsilon() == float("inf")


@pytest.mark.parametrize("play", turns.SHARED, ids=lambda f: f.__name__)
def test_what_a_container_holds_and_where_it_was_put_is_followed(play):
    """All of these had a bound of 1: leaks of a reader of the judge."""
    assert found(play).epsilon() == float("inf")


@pytest.mark.parametrize(
    ("kind", "rule", "wrong", "play"),
    [
        (Marks, "holds", lambda *_: None, turns.appended_to_a_history),
        (values, "keeps_alike", lambda _: True, turns.one_of_two_results),
        (Marks, "behind", lambda *_, **__: set(), turns.a_part_at_a_fixed_place),
    ],
)
def test_without_the_rule_such_an_entry_is_not_seen(monkeypatch, kind, rule, wrong, play):
    monkeypatch.setattr(kind, rule, wrong)
    assert found(play).epsilon() <= 1.0 + 1e-9


@pytest.mark.parametrize("play", turns.FACTS, ids=lambda f: f.__name__)
def test_what_numpy_only_reads_keeps_its_shape_and_a_drawn_part_its_likeness(play):
    assert found(play).words() == ""
    assert found(play).epsilon() == pytest.approx(1.0)


def test_what_a_key_chooses_follows_what_it_returns():
    """Broken variant: of public arms it is public."""
    play = turns.chosen_by_a_key
    names = Names({turns.__file__: File(ast.parse(Path(turns.__file__).read_text("utf-8")), vars(turns))})
    (node,) = names.nodes_of(play.__code__)
    said = Statements(names, {play.__code__: {"rewards": "data", "rng": "generator"}}, {node})
    said.run()
    assert said.marks[node, "leader"].level == SMOOTH
    assert found(play).epsilon() == pytest.approx(1.0)


def test_a_call_by_the_class_gives_the_parameter_that_stands_there():
    """Broken variant: what stands one place before, the object, which is the same in both calls."""
    play = turns.turned_by_its_class
    names = Names({turns.__file__: File(ast.parse(Path(turns.__file__).read_text("utf-8")), vars(turns))})
    (node,), (turn,) = names.nodes_of(play.__code__), names.methods["turn"]
    said = Statements(names, {play.__code__: {"rewards": "data", "rng": "generator"}}, {node})
    said.run()
    assert said.marks[turn, "to"].level == SMOOTH


def test_methods_of_each_round_find_what_others_left():
    """Broken variant: adapters ask each of them once."""
    methods = (
        "    def __init__(self):\n        self.n = 0\n    def update(self):\n        self.n = self.n + 1\n"
    )
    text = f"class Bandit:\n{methods}"
    scope = {}
    exec(compile(text, "bandit.py", "exec"), scope)
    codes = [scope["Bandit"].__init__.__code__, scope["Bandit"].update.__code__]
    names = Names({"bandit.py": File(ast.parse(text), scope)})
    said = Statements(
        names, {code: {} for code in codes}, {node for c in codes for node in names.nodes_of(c)}
    )
    said.run()
    assert said.marks["attribute", "n"].turn == SMOOTH


def test_a_function_without_parameters_gives_no_object_its_attributes():
    """Broken variant: its first parameter is looked for, which ended in an internal error."""
    text = "class Held:\n    pass\nheld = Held()\ndef __init__():\n    held.x = [1]\n"
    scope = {}
    exec(compile(text, "held.py", "exec"), scope)
    names = Names({"held.py": File(ast.parse(text), scope)})
    said = Statements(names, {}, {*names.nodes_of(scope["__init__"].__code__)})
    said.run()
    assert ("attribute", "x") in said.marks


# Of what modules hold, a few by day and all of them by night.
BY_DAY = ("fd", "wk", "bound_getitem", "partial_positional", "decorated_table", "kwdefault", "slots")


@pytest.mark.parametrize("play", by_night(held.LEAKS, BY_DAY))
def test_what_modules_hold_is_known_or_has_no_bound(play):
    assert found(play).epsilon() > 100


def test_what_is_not_known_is_told_where_it_is_called():
    """Nothing else tells of it. Broken variant: what is called need not be known."""
    got = found(held.bound_getitem)
    assert got.failure == "calls something that is known only when the code runs"
    assert got.at.line > 0


@pytest.mark.parametrize("play", held.RIGHT, ids=lambda f: f.__name__)
def test_what_modules_hold_and_nothing_chooses_is_known(play):
    got = found(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))


@pytest.mark.parametrize("play", choices.RIGHT, ids=lambda f: f.__name__)
def test_what_a_draw_picks_from_may_be_disclosed(play):
    got = found(play)
    assert got.words() == ""
    assert got.epsilon() <= 1 + 1e-9


@pytest.mark.parametrize("play", choices.LEAKS, ids=lambda f: f.__name__)
def test_a_rare_pick_ends_the_bound_or_is_paid_for(play):
    """Broken variants: raw data may be disclosed; what is disclosed stays hidden in the run."""
    assert found(play).epsilon() > 100


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        (Value, {"by_chance": False}),
        (Statements, {"selected": lambda self, node, value, *given: value}),
    ],
    ids=["condition", "choice"],
)
def test_without_the_rule_what_ten_coins_leave_has_a_bound(rule, wrong, monkeypatch):
    monkeypatch.setattr(Value, "varies", False)
    for name, value in wrong.items():
        monkeypatch.setattr(rule, name, value)
    assert found(choices.path_of_ten_coins, most=63).epsilon() == pytest.approx(1.0)
    assert found(choices.noise_unless_ten_coins_match, most=63).epsilon() == pytest.approx(1.0)


def test_of_two_functions_in_one_line_both_may_run():
    """Broken variant: then none of them is followed."""
    text, scope = "f = lambda x: x + 1; g = lambda x: x + 2\n", {}
    exec(compile(text, "two.py", "exec"), scope)
    names, code = Names({"two.py": File(ast.parse(text), scope)}), scope["f"].__code__
    assert [node.col_offset for node in names.nodes_of(code)] == [4, 25]
    assert names.node_of(code) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("def f(*n):\n    return n", "starred"),
        ("def f(n):\n    try:\n        x = n\n    except ValueError:\n        x = 0\n    return x", "try"),
        ("def f(n):\n    with n as x:\n        return x", "with"),
        ("def f(n):\n    match n:\n        case int(real=x):\n            return x", "matchclass"),
        ("def f(n):\n    import math as x\n    return x", "import"),
        ("def f(n):\n    class x:\n        pass\n    return x", "classdef"),
        ("def f(n):\n    @n\n    def x():\n        pass\n    return x", "functiondef"),
        ("def f(n):\n    x, *y = n\n    return y", "starred"),
    ],
)
def test_forms_that_are_not_followed_end_the_language_also_where_code_is_read(text, form):
    """Broken variants: of what is read all forms are known; what such a form sets is public."""
    scope = {}
    exec(compile(text, "form.py", "exec"), scope)
    code = scope["f"].__code__
    names = Names({"form.py": File(ast.parse(text), scope)})
    said = Statements(names, {code: {"n": "public"}}, {*names.nodes_of(code)})
    said.run()
    (node,) = names.nodes_of(code)
    assert [unknown for _, _, unknown in said.outside] == [True]
    assert [one.words for one in said.outside.values()] == [outside.STATEMENT.words.format(form)]
    assert form == "starred" or said.marks[node, "x"].level > SMOOTH


def test_an_attribute_that_a_drawn_call_sets_follows_the_draw():
    """Broken variant: as names of the call alone do not."""
    play, late = choices.set_in_a_drawn_call, choices.Late
    codes = [play.__code__, late.__init__.__code__, late.mark.__code__]
    roles = {play.__code__: {"rewards": "data", "rng": "generator"}}
    said = Language({choices.__file__: vars(choices)}, codes, roles)
    text = Path(choices.__file__).read_text("utf-8")
    tests = [n.test for n in ast.walk(ast.parse(text)) if isinstance(n, ast.If)]
    (asked,) = (one for one in tests if ast.unparse(one) == "made.late")
    assert not said.public(choices.__file__, where(asked))
