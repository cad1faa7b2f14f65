"""`match` as conditions: the same comes out, and what is not known stays as it is."""

import ast

import pytest

from verifiable_dp.evidence.symbolic.desugar_match import fits, parsed
from verifiable_dp.evidence.symbolic.terms import PREFIX

KNOWN = {
    "values": """
def f(x):
    match x:
        case 0:
            return "none"
        case 1 | 2 | None:
            return "few"
        case Colour.RED:
            return "red"
        case _:
            return "other"
""",
    "no_wildcard": """
def f(x):
    found = "nothing"
    match x:
        case "a":
            found = "a"
        case "b" | "c" if len(CALLS) % 2:
            found = "b or c"
    return found
""",
    "names": """
def f(x):
    match x:
        case 0 | 1 as small:
            return "small", small
        case other if other == 3:
            return "three", other
        case rest:
            return "rest", rest
""",
    "several": """
def f(x):
    match (called(x), x == 2):
        case 0, _:
            return "zero"
        case first, True if first:
            return "never known"
        case _:
            return "rest"
""",
    "pairs": """
def f(x):
    match called(x), 1:
        case 0 | 1, 2:
            return "never"
        case (2, one):
            return "two", one
        case (_, 1) if called(x) != 3:
            return "not three"
        case _:
            return "three"
""",
    "inside": """
def f(x):
    for way in (0, 1):
        match way:
            case 0:
                match x:
                    case 1:
                        continue
                    case 2:
                        break
            case 1:
                return "second", x
    return "out", x
""",
}
KNOWN |= {
    "tuples": """
def f(x):
    state = {0: ("a", 1), 1: ("a", 5), 2: ("b", 2)}.get(x, ("c", 3))
    match state:
        case ("a", k) if k + 1 < 4:
            return "first", k
        case ("a", _):
            return "last"
        case ("b", n) if n == 7:
            return "never"
        case ("b" | "c" as tag, n):
            return tag, n
""",
    "lengths": """
def f(x):
    match {0: (), 1: (1,), 2: (1, 2)}.get(x, (3, 4)):
        case ():
            return "none"
        case (one,):
            return one
        case (1, two):
            return two
    return "other"
""",
    "classes": """
from typing import NamedTuple
class Point(NamedTuple):
    left: int
    right: int
class Plain:
    at = 3
def f(x):
    match {0: Point(1, 2), 1: Point(2, 5), 2: Plain()}.get(x, x):
        case Point(left=1, right=right):
            return right
        case Point(left=side) if side == 2:
            return "two"
        case Plain(at=3):
            return "plain"
        case int() | float():
            return "number"
        case str(text):
            return text
    return "other"
""",
}
KNOWN |= {
    "no_tuples": """
def f(x):
    match {0: (1, 2), 1: [1, 2], 2: "ab", 3: (1, 2, 3)}.get(x, x):
        case (1, two):
            return two
        case (_, _):
            return "two"
        case _:
            return "no pair"
""",
}
ASKED_AS_IT_IS = {
    "order_of_fields": "case Known(1): pass",
    "name_used_elsewhere": "case (1, n) if n: pass",
    "class": "case int(2, 3): pass",
    "fields": "case Unknown(1): pass",
    "mapping": "case {'a': 1}: pass",
    "star": "case [1, *rest]: pass",
    "sequence": "case [1, 2]: pass",
    "named_alternatives": "case (0 as n) | (1 as n): pass",
}


def outcome(tree: ast.Module, value: object) -> object:
    calls: list[object] = []

    def called(x: object) -> object:
        calls.append(x)
        return x

    class Colour:
        RED = "red"

    scope: dict[str, object] = {
        "__name__": "cases",
        f"{PREFIX}fits": fits,
        "Colour": Colour,
        "CALLS": calls,
        "called": called,
    }
    exec(compile(tree, "<cases>", "exec"), scope)
    return scope["f"](value), calls  # type: ignore[operator]


@pytest.mark.parametrize("name", KNOWN)
def test_conditions_do_what_cases_did(name):
    made = parsed(KNOWN[name])
    assert not any(isinstance(node, ast.Match) for node in ast.walk(made))
    for value in (0, 1, 2, 3, None, "a", "b", "red", 1.0, True):
        assert outcome(made, value) == outcome(ast.parse(KNOWN[name]), value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from math import exp, log as ln\nexp(ln(2))", "math.exp(math.log(2))"),
        ("import math\nfrom math import exp\nexp(2)", "math.exp(2)"),
        ("from math import exp\ndef f(exp): return exp(2)", "return exp(2)"),
        ("from math import exp\nfrom numpy import exp\nexp(2)", "exp(2)"),
        ("from math import exp\nmath = 3\nexp(2)", "exp(2)"),
        ("from math import exp\nimport cmath as math\nexp(2)", "exp(2)"),
        ("from math import *\nexp(2)", "exp(2)"),
        ("from math import e\nmatch x:\n case {'a': e}: pass\ne", "e"),
        ("from math import e\ntry: pass\nexcept ValueError as e: pass\ne", "e"),
    ],
)
def test_names_from_math_are_its_attributes_where_they_are_nothing_else(text, found):
    assert ast.unparse(parsed(text)).split("\n")[-1].strip() == found


@pytest.mark.parametrize("case", ASKED_AS_IT_IS.values(), ids=ASKED_AS_IT_IS)
def test_other_patterns_stay(case):
    last = "(5, 6)" if "if n" in case else "5"
    made = parsed(f"match x:\n    {case}\n    case {last}: pass\nprint(n)\n")
    assert isinstance(made.body[0], ast.Match)


def test_conditions_stand_where_the_patterns_did():
    text = KNOWN["names"]
    tests = [n.test for n in ast.walk(parsed(text)) if isinstance(n, ast.If)]
    assert {ast.get_source_segment(text, test) for test in tests} == {"0 | 1", "other == 3"}
