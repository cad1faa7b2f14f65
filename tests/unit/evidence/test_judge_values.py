"""What the judge of the language may say of a value, rule by rule: of two, of an entry, of a constant."""

import ast
import math
import operator
import random
import types

import numpy as np
import pytest

from verifiable_dp.evidence.judge import calls, flow, language, values
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import (
    LIST,
    NONE,
    PUBLIC,
    RECORD,
    SMOOTH,
    STEEP,
    WIDE,
    Value,
)

A, B = frozenset((("function", 1),)), frozenset((("function", 2),))


def test_levels_are_in_order():
    assert PUBLIC < SMOOTH < STEEP < WIDE


def test_of_two_values_the_worse_of_each_part():
    one = Value(level=SMOOTH, size=STEEP, own=A, data=True)
    other = Value(turn=STEEP, rough=SMOOTH, own=B, inner=A, many=True)
    both = Value(SMOOTH, STEEP, STEEP, SMOOTH, A | B, A, True, True)
    assert one | other == other | one == both
    assert values.joined([one, other]) == both
    assert one | Value() == one
    assert values.joined([]) == Value()


@pytest.mark.parametrize(
    ("value", "steep"),
    [
        (Value(), Value()),
        (Value(level=SMOOTH), Value(level=STEEP)),
        (Value(level=WIDE), Value(level=WIDE)),
        (Value(level=SMOOTH, data=True), Value(level=SMOOTH, data=True)),  # what moves with data is followed
        (Value(turn=SMOOTH, rough=SMOOTH), Value(turn=STEEP, rough=STEEP)),
        (Value(size=SMOOTH), Value(size=SMOOTH)),
    ],
)
def test_what_may_take_any_turn(value, steep):
    assert value.steep() == steep


def test_of_a_number_only_steps_are_left():
    assert Value(level=SMOOTH, data=True).whole() == Value(level=SMOOTH, apart=True)


@pytest.mark.parametrize(
    ("own", "things", "container"),
    [
        (NONE, NONE, NONE),
        (A, A, NONE),
        (A | {LIST}, A, {LIST}),
        ({RECORD, LIST}, NONE, {RECORD, LIST}),
    ],
)
def test_containers_and_things(own, things, container):
    value = Value(own=frozenset(own))
    assert (value.things, value.container) == (things, container)


@pytest.mark.parametrize(
    ("table", "at", "level", "turn"),
    [
        (Value(), Value(), PUBLIC, PUBLIC),
        (Value(), Value(level=SMOOTH), PUBLIC, PUBLIC),  # entries that are alike tell nothing of the position
        (Value(), Value(level=STEEP), PUBLIC, PUBLIC),
        (Value(inner=A), Value(level=STEEP), SMOOTH, PUBLIC),  # but objects of a kind are not alike
        (Value(rough=STEEP), Value(), PUBLIC, PUBLIC),
        (Value(rough=STEEP), Value(level=SMOOTH), STEEP, PUBLIC),
        (Value(rough=STEEP), Value(turn=SMOOTH), PUBLIC, STEEP),
        (Value(rough=SMOOTH), Value(level=WIDE), WIDE, PUBLIC),
        (Value(own=frozenset({RECORD})), Value(level=SMOOTH), STEEP, PUBLIC),
        (Value(own=frozenset({LIST})), Value(level=SMOOTH), PUBLIC, PUBLIC),
        (Value(), Value(turn=STEEP), PUBLIC, PUBLIC),
        (Value(level=WIDE, turn=STEEP), Value(), WIDE, STEEP),
    ],
)
def test_an_entry_at_a_position(table, at, level, turn):
    found = table.entry(at)
    assert (found.level, found.turn) == (level, turn)


@pytest.mark.parametrize(("inner", "size"), [(NONE, PUBLIC), (frozenset({LIST}), PUBLIC), (A, PUBLIC)])
def test_entries_that_are_containers_may_be_of_different_lengths(inner, size):
    found = Value(inner=inner).entry(Value(level=SMOOTH))
    assert (found.size, found.own, found.inner) == (size, inner, inner)


def test_what_is_known_of_data_is_known_of_an_entry():
    loop = frozenset({ast.For()})
    table = Value(data=True, many=True, noisy=True, raw=True, tossed=True)
    table = table._replace(partial=True, kept=loop)
    known = (True, True, False, True, True, True, NONE, 0, False, False, 0, True, loop, False)
    assert table.entry(Value())[6:] == table.each[6:] == known


@pytest.mark.parametrize("text", ["", "a", "aa", "ab", b"ab"])
def test_the_characters_of_a_text_may_differ(text):
    assert flow.of_constant(text).unlike == STEEP


@pytest.mark.parametrize("number", [1, None, True, 0.5])
def test_a_number_has_no_entries(number):
    assert flow.of_constant(number) == Value(truth=number is True)


@pytest.mark.parametrize(
    ("value", "known", "found"),
    [(len, (max, len), True), (len, (max, min), False), (len, (), False), (np.sum, (np.sum,), True)],
)
def test_library_functions_are_told_by_what_they_are(value, known, found):
    assert values.same(value, known) is found


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (math.exp, "pure"),
        (np.exp, "pure"),
        (len, "pure"),
        (operator.add, "pure"),
        (operator.attrgetter, "reflection"),
        (operator.methodcaller, "reflection"),
        (type, "reflection"),
        (eval, "reflection"),
        (np.random.default_rng, "makes_draws"),
        (np.random.Generator, "makes_draws"),
        (np.random.default_rng(0).normal, "draws"),
        (random.random, "draws"),
        (types.SimpleNamespace, "pure"),
        (test_levels_are_in_order, "unknown"),
    ],
)
def test_what_an_object_of_a_library_is(value, kind):
    assert values.kind_of(value) == kind


PLACED, ANYWHERE = Value(level=SMOOTH, own=A), Value(turn=SMOOTH, inner=B)


def test_what_a_call_gives():
    given = calls.Given([(0, PLACED, set()), ("key", ANYWHERE, set())])
    assert given.every == PLACED | ANYWHERE
    assert calls.Given([]).every == Value()
    [(place, value, roots)] = given.anywhere.parts
    assert (place, roots) == (..., set())
    assert (value.level, value.turn, value.own, value.inner) == (STEEP, STEEP, A | B, A | B)


@pytest.mark.parametrize(
    ("given", "also", "level"),
    [
        (Value(), (), PUBLIC),
        (Value(own=frozenset({values.GENERATOR})), (), STEEP),
        (Value(inner=frozenset({("draws", 1)})), (), STEEP),
        (Value(own=A), (), PUBLIC),
        (Value(own=A), ("function",), STEEP),
    ],
)
def test_what_is_made_with_a_generator_may_be_anything(given, also, level):
    found = calls.drawing(Value(), given, *also)
    assert (found.level, found.size) == (level, level)


# ---------------------------------------------------------------- names, methods and conditions

SCOPES = """
x = 1
class C:
    x = 2
    y = [x for _ in x]
    def method(self):
        return x, self
def outer():
    x = 3
    def inner():
        return x
"""


def followed(text):
    tree = ast.parse(text)
    said = Statements(flow.Names({"a.py": flow.File(tree, {})}), {}, set())
    said.scope = tree
    return said, {getattr(node, "name", ""): node for node in ast.walk(tree)}


@pytest.mark.parametrize(
    ("scope", "name", "owner"),
    [
        ("C", "x", "C"),
        ("method", "x", None),  # a class is no scope for its methods
        ("method", "self", "method"),
        ("outer", "x", "outer"),
        ("inner", "x", "outer"),
        ("inner", "z", None),
    ],
)
def test_whose_a_name_is(scope, name, owner):
    said, nodes = followed(SCOPES)
    found = said.names.owner(nodes[scope], name)
    assert getattr(found, "name", None) == owner


@pytest.mark.parametrize(
    ("call", "shares"),
    [
        ("x.get(0)", True),
        ("x.pop()", True),
        ("x.copy()", True),
        ("x.nobody_knows(0)", True),
        ("x.count(0)", False),
        ("x.argmax()", False),
    ],
)
def test_which_methods_give_parts_of_their_table(call, shares):
    """What is not known may give any."""
    said, nodes = followed(f"def f(x):\n    return {call}")
    said.scope = nodes["f"]
    found = said.roots(nodes["f"].body[0].value)
    assert any(root.key == (nodes["f"], "x") for root in found) == shares


@pytest.mark.parametrize(
    ("size", "tossed", "decides"), [(PUBLIC, True, False), (SMOOTH, True, True), (SMOOTH, False, False)]
)
def test_a_condition_on_a_container_asks_for_its_length(size, tossed, decides):
    said, _ = followed("x = []")
    asked = said.ask(Value(level=STEEP, size=size, own=frozenset((LIST,)), tossed=tossed))
    assert (asked.level, asked.tossed) == (size, decides)


def test_what_a_comprehension_sets_it_sets_in_turns():
    """Broken variant: only loops have turns."""
    said, _ = followed("x = 1")
    assert said.reached(Value(), own=True).turn == PUBLIC
    said.turning = [ast.ListComp()]
    assert said.reached(Value(), own=True).turn == SMOOTH


@pytest.mark.parametrize(
    ("data", "level", "made"),
    [
        (False, PUBLIC, (PUBLIC, 2)),
        (False, SMOOTH, (STEEP, 2)),
        (True, SMOOTH, (STEEP, 0)),
    ],
)
def test_an_attribute_of_an_object_that_a_draw_chooses(data, level, made):
    """How many draws are in it: those that choose, unless data stand there."""
    said, _ = followed("")
    found = said.of_one(Value(level=level, draws=2), Value(data=data))
    assert (found.level, found.draws) == made


@pytest.mark.parametrize(
    ("value", "names", "entered"),
    [
        (Value(level=STEEP), ["x"], True),
        (Value(level=WIDE), ["x"], True),
        (Value(level=SMOOTH), ["x"], False),
        (Value(level=STEEP, data=True), ["x"], False),
        (Value(level=STEEP), ["y"], False),
        (None, ["x"], False),
        (Value(level=STEEP), None, True),  # it looks it up elsewhere
    ],
)
def test_steep_values_enter_a_function_by_their_names(value, names, entered):
    node = ast.parse("def f():\n    return x").body[0]
    known = types.SimpleNamespace(nodes_of=lambda code: [node], owner=lambda node, name: "home")
    said = types.SimpleNamespace(marks={("home", "x"): value}, stored=lambda name: None)
    judge = types.SimpleNamespace(_names=known, _said=said)
    assert language.Language.enters(judge, None, names) is entered
