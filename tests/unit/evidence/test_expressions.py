"""What the judge of the language says of each form of expression: a table of values, without any bound."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import Value

ROLES = {"n": "public", "data": "data", "drawn": "drawn", "rng": "generator"}
FLAGS = ("data", "bent", "many", "truth", "noisy", "raw", "tossed")
LEVELS = ("public", "smooth", "steep", "wide")
WAYS = ("", "up", "down", "both", "either")


def said_of(expression):
    """What is said of an expression that a function computes, and what is told of it."""
    text = f"def play(n, data, drawn, rng):\n    x = {expression}\n"
    scope = {"np": np}
    exec(compile(text, "one.py", "exec"), scope)
    code = scope["play"].__code__
    names = Names({"one.py": File(ast.parse(text), scope)})
    said = Statements(names, {code: ROLES}, set(names.nodes_of(code)))
    said.run()
    (node,) = said.ran
    return said.marks.get((node, "x"), Value()), sorted(said.outside.values())


def in_words(value):
    """Parts of a value that differ from those of a public number."""
    found = [LEVELS[value.level], WAYS[value.way]]
    found += [
        f"{name}:{LEVELS[getattr(value, name)]}" for name in ("turn", "size", "rough") if getattr(value, name)
    ]
    found += [kind for kind in ("list", "record") if kind in dict(value.own)]
    return " ".join(filter(None, [*found, *(name for name in FLAGS if getattr(value, name))]))


SCALED = "rng.laplace(0, 1, 2)"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        # what parameters are
        ("n", "public"),
        ("data", "smooth up data raw"),
        ("drawn", "smooth up"),
        (SCALED, "smooth up data bent noisy tossed"),
        # signs and truth
        ("-n", "public"),
        ("-data", "smooth down data bent raw"),
        ("+drawn", "smooth up bent"),
        ("~drawn", "steep up"),
        ("not n", "public truth"),
        ("not drawn", "steep up truth"),
        ("not data", "smooth up truth raw"),
        # a comparison of data or noise is a branch that is followed, if it asks for an order
        ("n < 3", "public truth"),
        ("n == 3", "public truth"),
        ("data < n", "smooth up truth raw"),
        ("data <= n", "smooth up truth raw"),
        ("data > n", "smooth up truth raw"),
        ("data >= n", "smooth up truth raw"),
        ("data == n", "steep up truth raw"),
        ("0 < data == n", "steep up truth raw"),
        ("data is n", "steep up truth raw"),
        ("drawn < n", "steep up truth"),
        ("drawn < data", "smooth up truth raw"),
        (f"{SCALED} < n", "smooth up truth tossed"),
        (f"data < {SCALED}", "smooth up truth raw tossed"),
        # sums
        ("n + 1", "public"),
        ("n + drawn", "smooth up many"),
        ("n - drawn", "smooth down bent many"),
        ("drawn - n", "smooth up bent many"),
        ("drawn - drawn", "smooth both bent many"),
        ("[drawn] + [n]", "smooth up record many"),
        # products: by a constant, whose sign is known, or by a public number, whose sign is not
        ("drawn * 2", "smooth up many"),
        ("2 * drawn", "smooth up many"),
        ("drawn * -2", "smooth down bent many"),
        ("-2 * drawn", "smooth down bent many"),
        ("drawn / -2", "smooth down bent many"),
        # one public number has one sign, and a table of them may have two
        ("drawn * n", "smooth either many"),
        ("drawn / n", "smooth either many"),
        ("n / drawn", "smooth either many"),
        ("1 / (drawn * n)", "smooth either many"),
        ("drawn * np.array([1, -1])", "smooth either rough:steep bent many"),
        ("drawn + drawn * n", "smooth both bent many"),
        ("n ** drawn * n", "smooth both bent many"),
        ("2 / drawn", "smooth down many"),
        ("drawn / drawn", "steep both many"),
        ("drawn * drawn", "smooth up many"),
        ("drawn // 2", "smooth up many"),
        ("drawn % 2", "steep up many"),
        ("drawn << n", "smooth up many"),
        ("drawn >> n", "smooth up many"),
        ("2 << drawn", "smooth up many"),
        ("drawn & 2", "steep up many"),
        ("drawn @ drawn", "steep both many"),
        # of what may change its sign, or goes both ways, products and powers have a peak
        ("drawn ** 2", "smooth up many"),
        ("(-drawn) ** 2", "steep down bent many"),
        ("2 ** drawn", "smooth up many"),
        ("0.5 ** drawn", "smooth down many"),
        ("1 ** drawn", "smooth up many"),
        ("n ** drawn", "smooth both bent many"),
        ("drawn * (drawn - n)", "steep up bent many"),
        ("n * (drawn - drawn)", "smooth both bent many"),
        ("1 / (drawn - n)", "smooth both bent many"),
        (f"1 / {SCALED}", "smooth both data bent many noisy tossed"),
        (f"{SCALED} * {SCALED}", "smooth both data bent many noisy tossed"),
        (f"{SCALED} ** 2", "smooth both data bent many noisy tossed"),
        (f"data * {SCALED}", "smooth up data bent many noisy raw tossed"),
        (f"{SCALED} * (data - n)", "smooth up data bent many noisy raw tossed"),
        # choices
        ("n if n else 3", "public"),
        ("n if drawn else 3", "smooth up size:smooth"),
        ("n if data < 0 else 3", "smooth up size:smooth raw"),
        ("n if n else drawn", "smooth up"),
        ("n and drawn", "smooth up"),
        ("n or data", "smooth up data raw"),
        # containers: of entries that are alike, or not; how many there are
        ("[]", "public list"),
        ("[n]", "public list"),
        ("(n, n)", "public list"),
        ("[n, drawn]", "smooth up record"),
        ("{n, n}", "public list"),
        ("{n, drawn}", "smooth up size:steep record"),
        ("{n: drawn}", "smooth up record"),
        ("{drawn: n}", "smooth up size:smooth record"),
        ("{}", "public list"),
        ("[*data]", "smooth up turn:smooth list data raw"),
        ("[drawn] * 2", "smooth up list"),
        ("[n] * drawn", "public size:smooth list"),
        ("drawn * [n]", "public size:smooth list"),
        ("f'{n}'", "public"),
        ("f'{drawn}'", "steep up size:steep"),
        # places and parts
        ("data[n]", "smooth up data raw"),
        ("data[drawn]", "smooth up data raw"),
        ("data[:n]", "smooth up data raw"),
        ("data[:drawn]", "smooth up size:smooth data raw"),
        ("data[drawn:]", "smooth up size:smooth data raw"),
        ("data[::drawn]", "smooth up size:smooth data raw"),
        ("data[data > 0]", "smooth up size:smooth data raw"),
        ("data.shape", "public"),
        ("drawn.ndim", "public"),
        ("data.T", "smooth up data raw"),
        # comprehensions
        ("[n for _ in range(n)]", "public list"),
        ("[n for _ in range(drawn)]", "public size:smooth list"),
        ("[d for d in data]", "smooth up turn:smooth rough:smooth list data raw"),
        ("[d for d in data if n]", "smooth up turn:smooth rough:smooth list data raw"),
        ("[d for d in data if d > 0]", "smooth up turn:smooth size:smooth rough:steep list data raw"),
        ("[n for _ in range(3) if drawn]", "smooth up size:smooth list"),
        ("{n: d for d in data}", "smooth up turn:smooth rough:smooth list data raw"),
        ("{d: n for d in data}", "smooth up turn:smooth size:smooth list data raw"),
        ("{d for d in data}", "smooth up turn:smooth size:smooth rough:smooth list data raw"),
        # names and calls
        ("(y := drawn) + y", "smooth up many"),
        ("(lambda: drawn)()", "smooth up"),
        ("np.sum(data)", "smooth up data raw"),
        # what a function of the user's is asked
        ("len(list(filter(lambda a: data[a] > 0, range(3))))", "smooth up many"),
        ("max(range(3), key=lambda a: data[a])", "smooth up rough:smooth raw"),
        ("sorted(range(3), key=lambda a: data[a])[0]", "smooth up rough:smooth raw"),
    ],
)
def test_what_is_said_of_an_expression(expression, words):
    value, told = said_of(expression)
    assert in_words(value) == words
    assert told == []


@pytest.mark.parametrize(
    ("expression", "construct", "name"),
    [
        ("rng.laplace.__self__", outside.REFLECTION, "__self__"),
        ("[n, drawn][drawn](n)", outside.AT_A_PLACE, ""),
        ("(abs if drawn else max)(n)", outside.ONE_OF_TWO, ""),
        ("(lambda: [n, 2.0][drawn])()()", outside.RETURNED, ""),
        ("{1: data}.get(drawn, 0.0)", outside.TAKEN, ""),
        ("[n for _ in range(drawn % 3)]", outside.TURNS, ""),
        ("data[: drawn % 3]", outside.SLICED, ""),
        ("[data] * (drawn % 3)", outside.REPEATED, ""),
    ],
)
def test_what_is_told_of_an_expression(expression, construct, name):
    """Control: of those in the table above nothing is told."""
    _, told = said_of(expression)
    assert construct.words.format(name) in [one.words for one in told]


def test_a_form_that_is_not_known_may_be_anything():
    """Broken variant: it is public."""
    assert Expressions(Names({}), {}, set()).of(ast.expr()) == values.UNKNOWN
