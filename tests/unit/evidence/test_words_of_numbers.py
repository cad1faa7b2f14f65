"""Numbers in words, and what the sentences beside the judges say with them."""

import math
from types import SimpleNamespace
from unittest import mock

import pytest

from verifiable_dp.evidence import premises, words
from verifiable_dp.evidence.regret import readings


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0.0, "0"),
        (3.0, "3"),
        (-2.0, "-2"),
        ("2.5", "2.5"),
        (0.123456, "0.1235"),
        (123456.7, "1.235e+05"),
        (999_999_999.0, "999999999"),
        (1e9, "1e+09"),
        (math.nan, "undefined"),
        (math.inf, "infinity"),
        (-math.inf, "-infinity"),
        ("inf", "infinity"),
    ],
)
def test_digits(value, said):
    assert words.digits(value) == said


def test_infinity_by_another_name():
    assert (words.digits(math.inf, "no bound"), words.digits(-math.inf, "x")) == ("no bound", "-x")


@pytest.mark.parametrize(("value", "said"), [(0.01234, "0.0123"), (0.0, "below 1e-300"), (1e-300, "1e-300")])
def test_p_values(value, said):
    assert words.p_value(value) == said


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({}, ""),
        ({"lower": 1.0}, ""),
        ({"upper": 1.0, "lower": None}, ""),
        ({"lower": 0.0, "upper": 2.0}, " (95 %: 0 to 2)"),
    ],
)
def test_intervals(result, said):
    assert words.interval(result) == said


def test_what_a_test_says_of_epsilon():
    numbers = {"confidence": 0.95, "epsilon": 0.5}
    result = {"epsilon_lower": 0.75, "p_value": 0.001}
    assert words.bounded(numbers, result) == (
        "epsilon at least 0.75 with 95 % confidence, claimed 0.5, p-value 0.001"
    )


def test_what_a_table_comes_down_to():
    """Four sentences of a table; of any other kind the one that stands beside its judge."""
    table = SimpleNamespace(kind="table", form=SimpleNamespace(about="table"))
    price = SimpleNamespace(kind="price", form=SimpleNamespace(about="regret"))
    names = ("who_wins", "where_they_win", "against_the_floor", "what_is_separated")
    named = {name: mock.Mock(return_value=name) for name in names}
    with mock.patch.multiple(readings, in_words=mock.Mock(return_value="words"), **named):
        assert readings.reading(table) == list(named)
        assert readings.reading(price) == ["words"]
    assert (readings.is_table(table), readings.is_table(price)) == (True, False)


@pytest.mark.parametrize(
    ("lines", "branches", "said"),
    [
        ([3], 1, "a condition always comes out as in 5 plain runs (line 3: "),
        ([3], 2, "conditions always come out as in 5 plain runs (line 3: "),
        ([3, 9], 2, "conditions always come out as in 5 plain runs (lines 3, 9: "),
    ],
)
def test_conditions_that_are_closed_are_told_one_or_many(lines, branches, said):
    assert premises._closed({"lines": lines, "branches": branches, "runs": 5}).startswith(said)
