"""Edges of what follows from the rows of tables of regret: intervals, who wins, what a floor makes of it."""

import math
from types import SimpleNamespace

import pytest
from scipy import stats

from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.regret.table import where_they_win, who_wins

NEAR = 1e-6
# 25 runs with standard deviation 5 a side: errors 1, and sqrt(2) with 48 degrees of freedom for the
# difference.
ROW = {
    "n_a": 25,
    "mean_a": 10.0,
    "sd_a": 5.0,
    "n_b": 25,
    "mean_b": 10.0,
    "sd_b": 5.0,
    "contamination": 0.25,
    "gap": 0.5,
    "resolution": 0.4,
    "first": 900,
}


def table(*rows):
    numbers = {"confidence": 0.99, "algorithms": ["a", "b"], "horizon": 1000, "order": 2.0}
    return judged("table", {**numbers, "rows": [ROW | row for row in rows]})


def test_who_wins_is_counted_first_and_where_comes_after():
    rows = [ROW | {"instance": "x", "kind": "none"} | row for row in ({"mean_a": 1.0}, {}, {"mean_a": 2.0})]
    rows.append(ROW | {"instance": "y", "kind": "point", "mean_a": 1.0})
    numbers = {"confidence": 0.99, "algorithms": ["p", "q"], "horizon": 1000, "order": 2.0, "rows": rows}
    found = SimpleNamespace(statistics=numbers, result=judged("table", numbers))
    counted = "Of 4 rows, p has the smaller clean regret in 3 and q in 0."
    assert who_wins(found) == f"{counted} In 1 of them, the interval of the difference contains 0."
    where = "p has the smaller regret on x (no outliers), all of y."
    assert where_they_win(found) == f"{where} The interval contains 0 on x (no outliers)."


def level(intervals):
    """One-sided level of each of so many intervals that hold together at 99 %."""
    return 1 - 0.01 / (2 * intervals)


DIFFERENCE = stats.t.ppf(level(3), 48) * math.sqrt(2)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, {"wins": "neither"}),
        ({"mean_a": 10 - DIFFERENCE + NEAR}, {"wins": "neither"}),
        ({"mean_a": 10 - DIFFERENCE - NEAR}, {"wins": "a"}),
        ({"mean_a": 10 + DIFFERENCE - NEAR}, {"wins": "neither"}),
        ({"mean_a": 10 + DIFFERENCE + NEAR}, {"wins": "b"}),
        ({"sd_a": 0.0, "sd_b": 0.0}, {"wins": "neither", "lower": 0.0, "upper": 0.0}),
        ({"sd_a": 0.0, "sd_b": 0.0, "mean_a": 10 + NEAR}, {"wins": "b"}),
        ({"sd_a": 0.0, "sd_b": 0.0, "mean_a": 10 - NEAR}, {"wins": "a"}),
        # T alpha^(1 - 1/k) = 1000 sqrt(.25) = 500; none without outliers.
        ({"mean_b": 20.0}, {"floor": 500.0, "floors_a": 0.02, "floors_b": 0.04}),
        ({"contamination": 0.0}, {"floor": 0.0, "floors_a": None, "floors_b": None}),
        ({"contamination": 1e-12}, {"floor": 1e-3, "floors_a": 1e4, "floors_b": 1e4}),
        ({"gap": 0.4}, {"separable": False}),
        ({"gap": 0.4 + NEAR}, {"separable": True}),
        ({"gap": 0.1}, {"separable": False}),
        ({"resolution": None}, {"separable": False}),
        ({"first": 1000}, {"acts": True}),
        ({"first": 1001}, {"acts": False}),
        ({"first": 1}, {"acts": True}),
        (
            {},
            {
                "lower_a": 10 - stats.t.ppf(level(3), 24),
                "upper_a": 10 + stats.t.ppf(level(3), 24),
                "lower_b": 10 - stats.t.ppf(level(3), 24),
                "upper_b": 10 + stats.t.ppf(level(3), 24),
                "lower": -DIFFERENCE,
                "upper": DIFFERENCE,
                "difference": 0.0,
            },
        ),
        # Unequal samples: variances 9/4 and 25/9.
        (
            {"n_a": 4, "sd_a": 3.0, "n_b": 9},
            {
                "lower_a": 10 - stats.t.ppf(level(3), 3) * 1.5,
                "upper_b": 10 + stats.t.ppf(level(3), 8) * 5 / 3,
                "upper": stats.t.ppf(level(3), (9 / 4 + 25 / 9) ** 2 / ((9 / 4) ** 2 / 3 + (25 / 9) ** 2 / 8))
                * math.sqrt(9 / 4 + 25 / 9),
            },
        ),
    ],
)
def test_a_row_of_two_algorithms(changes, wanted):
    [row] = table(changes)["rows"]
    found = {name: row[name] for name in wanted}
    assert {name: value for name, value in found.items() if not isinstance(value, float)} == {
        name: value for name, value in wanted.items() if not isinstance(value, float)
    }
    floats = {name: value for name, value in wanted.items() if isinstance(value, float)}
    assert {name: found[name] for name in floats} == pytest.approx(floats, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2])
def test_all_intervals_of_a_table_hold_together(count):
    found = table(*[{}] * count)
    assert found["intervals"] == 3 * count
    assert found["level"] == pytest.approx(1 - 0.01 / (3 * count), rel=1e-12)


def test_the_order_of_the_moments_is_that_of_the_floor():
    """T alpha^(1 - 1/k) with k = 4: 1000 * .0625^.75 = 125."""
    numbers = {"confidence": 0.99, "algorithms": ["a", "b"], "horizon": 1000, "order": 4.0}
    [row] = judged("table", {**numbers, "rows": [ROW | {"contamination": 0.0625}]})["rows"]
    assert row["floor"] == pytest.approx(125.0)


@pytest.mark.parametrize("count", [1, 2])
def test_the_price_of_privacy(count):
    """Relative errors 1/10 and 1/40 of the means 10 and 40: the log ratio has the error sqrt(.010625)."""
    entry = ROW | {"mean_b": 40.0}
    found = judged("price", {"confidence": 0.99, "rows": [entry] * count})
    upper = level(3 * count)
    squares = 0.01, 1 / 1600
    df = sum(squares) ** 2 / sum(square**2 / 24 for square in squares)
    spread = stats.t.ppf(upper, df) * math.sqrt(sum(squares))
    wanted = {
        "lower_a": 10 - stats.t.ppf(upper, 24),
        "upper_a": 10 + stats.t.ppf(upper, 24),
        "lower_b": 40 - stats.t.ppf(upper, 24),
        "upper_b": 40 + stats.t.ppf(upper, 24),
        "ratio": 0.25,
        "lower": 0.25 * math.exp(-spread),
        "upper": 0.25 * math.exp(spread),
    }
    assert found["intervals"] == 3 * count
    assert found["level"] == pytest.approx(1 - 0.01 / (3 * count), rel=1e-12)
    for row in found["rows"]:
        assert row == pytest.approx(wanted, rel=1e-9)


def test_a_price_of_unequal_samples():
    entry = ROW | {"n_a": 4, "sd_a": 3.0, "n_b": 9}
    [row] = judged("price", {"confidence": 0.99, "rows": [entry]})["rows"]
    assert row["upper_a"] == pytest.approx(10 + stats.t.ppf(level(3), 3) * 1.5)
    assert row["upper_b"] == pytest.approx(10 + stats.t.ppf(level(3), 8) * 5 / 3)


def floors(*rows):
    entry = {"n": 25, "mean": 10.0, "sd": 5.0, "bound": 5.0}
    return judged("floors", {"confidence": 0.99, "rows": [entry | row for row in rows]})


OUT = {count: stats.t.isf(1e-6 / count, 24) for count in (1, 2)}


@pytest.mark.parametrize(
    ("changes", "count", "verdict"),
    [
        ({"bound": 10 - stats.t.ppf(0.99, 24) - NEAR}, 1, "consistent"),
        ({"bound": 10 - stats.t.ppf(0.99, 24) + NEAR}, 1, "inconclusive"),
        ({"bound": 10 + OUT[1] - NEAR}, 1, "inconclusive"),
        ({"bound": 10 + OUT[1] + NEAR}, 1, "contradicted"),
        ({"bound": 10 + OUT[2] - NEAR}, 2, "inconclusive"),  # the level is shared by the rows
        ({"bound": 10 + OUT[2] + NEAR}, 2, "contradicted"),
        ({"bound": 1e-300}, 1, "consistent"),  # a bound above 0 says something, one of 0 does not
        ({"bound": 0.01}, 1, "consistent"),
        ({"bound": -0.01}, 1, "vacuous"),
    ],
)
def test_an_algorithm_against_a_lower_bound(changes, count, verdict):
    found = floors(*[changes] * count)
    assert [row["verdict"] for row in found["rows"]] == [verdict] * count


@pytest.mark.parametrize("count", [1, 2])
def test_numbers_of_an_algorithm_against_a_lower_bound(count):
    found = floors(*[{}] * count)
    quantile = stats.t.ppf(level(count), 24)
    assert (found["intervals"], len(found["rows"])) == (count, count)
    assert found["level"] == pytest.approx(1 - 0.01 / count, rel=1e-12)
    for row in found["rows"]:
        wanted = {"lower": 10 - quantile, "upper": 10 + quantile, "times": 2.0}
        assert {name: row[name] for name in wanted} == pytest.approx(wanted, rel=1e-9)
