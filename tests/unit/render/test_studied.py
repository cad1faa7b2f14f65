"""Regret against epsilon from a study beside a record: which cells are taken, and what its page says."""

import functools
import json
import re
from dataclasses import replace

import pytest

from tests.committed import NAMES, REPORTS
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import verify
from verifiable_dp.render import prices, sidecars, studied
from verifiable_dp.render.page import render

# Those without cells of at least three values of epsilon in a committed study: why.
SUMS = "This target chooses no arms, so it has no regret."
UNSTUDIED = {
    "adaptive-tree": SUMS,
    "adaptive-tree-printed": SUMS,
    "tree-sum": SUMS,
    "gaussian-ts": "This promise follows from other parameters, so there is no epsilon to plot ",
}


@functools.cache
def record(name):
    return verify(REPORTS / name / "record.json").parsed


@functools.cache
def study(name):
    return json.loads((REPORTS / "studies" / name / "study.json").read_text("utf-8"))


def written(folder, cells):
    """A study with these cells alone, at a folder of reports."""
    whole = {**study("S5"), "cells": cells}
    place = folder / "studies" / "X"
    place.mkdir(parents=True)
    (place / "study.json").write_text(json.dumps(sealed(whole)), "utf-8")
    return folder


def drawn(found):
    """The line of a figure, and its baseline if there is one."""
    (panel,) = found["figure"]["panels"]
    (line,) = panel["lines"]
    return line, next(iter(panel["bounds"]), None)


@pytest.fixture
def cells():
    """Of dp-imed in five values of epsilon, and of UCB1 in the same place."""
    every = study("S5")["cells"]
    names = [f"choice dp-imed K=5 epsilon={e} T=1e+07" for e in ("0.01", "0.1", "1", "3.16", "10")]
    return {name: every[name] for name in (*names, "choice ucb1 K=5 epsilon=1 T=1e+07")}


def test_every_promise_that_was_studied_has_its_line():
    found = {
        name
        for name in NAMES
        if words.promises(record(name)) and not studied.over_epsilon(record(name), REPORTS)
    }
    assert found == set(UNSTUDIED)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_a_line_or_says_why_not(name):
    """Control: beside studies that lack its cells, a page says that they do."""
    path, whole = REPORTS / name / "record.json", record(name)
    around = sidecars.of(path, whole, path.with_suffix(".html"))
    why = UNSTUDIED.get(name, "" if words.promises(whole) else "This target promises no privacy, so ")
    page = render(whole, drawn=False, around=around)
    assert (around.prices is None) == bool(why)
    assert prices.missing(whole).startswith(why)
    assert why in page
    if words.promises(whole) and not why:
        assert around.prices["figure"]["panels"][0]["bounds"]  # a baseline beside it
        alone = render(whole, drawn=False, around=replace(around, prices=None))
        assert prices.missing(whole) in alone


def test_samples_of_a_stopping_rule_are_not_called_regret():
    for name, said in (("dp-nas", "Samples"), ("dp-se", "Regret")):
        found = studied.over_epsilon(record(name), REPORTS)
        assert found["measured"] == said
        assert ("measured" in found["figure"]["panels"][0]) == (said == "Samples")
    assert studied.over_epsilon(record("dp-nas"), REPORTS)["free"] == "nas"


def test_a_line_has_the_means_and_limits_of_its_cells_and_a_baseline(tmp_path, cells):
    found = studied.over_epsilon(record("dp-imed"), written(tmp_path, cells))
    line, free = drawn(found)
    assert line["xs"] == [0.01, 0.1, 1.0, pytest.approx(3.162, rel=1e-3), 10.0]
    first = cells["choice dp-imed K=5 epsilon=0.01 T=1e+07"]
    assert line["means"][0] == first["mean"]
    half = 2.0452 * first["sd"] / 30**0.5
    ends = (line["lows"][0], line["highs"][0])
    assert ends == pytest.approx((first["mean"] - half, first["mean"] + half), rel=1e-3)
    assert (found["free"], free["label"]) == ("ucb1", "ucb1: C2, T = 10000000")
    assert free["ys"] == [cells["choice ucb1 K=5 epsilon=1 T=1e+07"]["mean"]] * 5
    assert (found["axis"], found["runs"], found["study"], found["played"]) == ("epsilon", 30, "S5", 2)


def test_what_cannot_be_told_apart_or_is_elsewhere_is_left_out(tmp_path, cells):
    """Another number of arms is no baseline; two cells that say the same are none; two values are no line."""
    name, free = "choice dp-imed K=5 epsilon=0.1 T=1e+07", "choice ucb1 K=5 epsilon=1 T=1e+07"
    cells["again"] = cells[name]
    cells[free] = {**cells[free], "parameters": {**cells[free]["parameters"], "n_arms": 4}}
    found = studied.over_epsilon(record("dp-imed"), written(tmp_path / "a", cells))
    line, free = drawn(found)
    assert line["xs"][:2] == [0.01, 1.0]
    assert (found["free"], free) == ("", None)
    assert studied.over_epsilon(record("dp-klucb"), tmp_path / "a") is None
    two = {name: cells[name] for name in list(cells)[:2]}
    assert studied.over_epsilon(record("dp-imed"), written(tmp_path / "b", two)) is None


def test_a_study_that_does_not_hold_is_not_shown(tmp_path, cells):
    place = written(tmp_path, cells) / "studies" / "X" / "study.json"
    assert studied.over_epsilon(record("dp-imed"), tmp_path)
    place.write_text(place.read_text("utf-8").replace('"runs": 30', '"runs": 31'), "utf-8")
    assert studied.over_epsilon(record("dp-imed"), tmp_path) is None


def test_the_printed_listing_has_its_own_line():
    for name in ("dp-linear", "dp-linear-printed"):
        found = studied.over_epsilon(record(name), REPORTS)
        assert found["apart"] == []
        other = studied.over_epsilon(record("dp-linear"), REPORTS)
        assert (drawn(found) == drawn(other)) == (name == "dp-linear")
    assert studied.over_epsilon(record("dp-robust-se"), REPORTS)["apart"] == ["constants = proof"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "dp-imed",
            "of 30 runs, with 95 % bars; the fine dots are ucb1, a different algorithm without privacy.",
        ),
        (
            "adac-gope",
            "Regret against rho in study S6: means of 30 runs, with 95 % bars; the fine dots are "
            "linear-elimination, ",
        ),
        (
            "dp-robust-elimination",
            "in study S6: means of 30 runs, with 95 % bars; the fine dots are ucb1, a different",
        ),
        (
            "dp-nas",
            "Samples against epsilon in study S6: means of 30 runs, with 95 % bars; the fine dots are nas, "
            "a different",
        ),
        (
            "dp-lin-ucb",
            "Regret against epsilon in study S6: means of 30 runs, with 95 % bars; the fine dots are "
            "lin-ucb-",
        ),
        ("gaussian-ts", "This promise follows from other parameters, so there is no epsilon to plot"),
        ("dp-se", "Regret against epsilon, with privacy (points) and without (fine dots)."),
    ],
)
def test_a_page_says_where_its_line_is_from(name, said):
    """Control: the page of a record alone has no line, and says nothing of studies."""
    path, whole = REPORTS / name / "record.json", record(name)
    page = render(whole, around=sidecars.of(path, whole, path.with_suffix(".html")))
    assert said in re.sub(r"<[^>]*>", "", page)
    alone = render(Record.of(whole.as_dict()), drawn=False)
    assert "Regret against" not in alone
    assert "No study" not in alone
