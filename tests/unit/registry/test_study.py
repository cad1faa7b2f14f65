"""Studies: cells that are found again, documents that follow from their numbers, runs that resume."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.campaign import reproduction
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.regret.comparison import comparison as comparison_check
from verifiable_dp.record.sealing import digest
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import Cell, Figure, Guide, Line, Panel, Statement, Study, StudyPlan
from verifiable_dp.render import study as reporting

HERE = Path(__file__).parents[3]
PLACE = bernoulli([0.9, 0.1], "far apart")
SOURCE = Source("Nobody, Nowhere, 2026", "Theorem 0", "made up for a test")


def comparison(outcomes):
    mine, theirs = outcomes["se 1"].regret, outcomes["ucb"].regret
    return [comparison_check("one", mine, theirs, factor=0.001)]


def plan(scale=1.0):
    horizon = int(20_000 * scale)
    cells = {f"se {e:g}": Cell(DPSE(2, e, horizon), PLACE, 8, points=20) for e in (0.25, 0.5, 1.0, 2.0)}
    cells["ucb"] = Cell(UCB1(2, horizon), PLACE, 8, points=20)
    over = {0.25: "se 0.25", 0.5: "se 0.5", 1.0: "se 1", 2.0: "se 2"}
    figure = Figure(
        "figure-1",
        "Two <algorithms>.",
        (
            Panel("curves", (Line("DP-SE", ("se 1",)), Line("UCB1", ("ucb",)))),
            Panel(
                "over epsilon",
                (Line("DP-SE", tuple(over.values()), tuple(over)),),
                (Guide("slope", -1.0),),
                axis="epsilon",
            ),
        ),
        ("first",),
    )
    return StudyPlan(cells, [figure], [Statement("first", "It holds.", SOURCE, comparison)], ["Made <up>."])


TINY = Study("tiny", "a study", "Nobody, Nowhere, 2026", plan)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(studies, "study", lambda name: TINY)


def stripped(path):
    whole = json.loads((path / "study.json").read_text("utf-8"))
    return {key: value for key, value in whole.items() if key not in ("provenance", "digest")}


@pytest.mark.usefixtures("tiny")
def test_one_and_two_workers_give_identical_tables(tmp_path):
    for workers in (1, 2):
        reproduction.reproduce("tiny", out=tmp_path / str(workers), workers=workers)
    one, two = (tmp_path / str(workers) / "tiny" for workers in (1, 2))
    assert stripped(one) == stripped(two)
    for name in ("tables/curves.csv", "tables/runs.csv", "figures/figure-1.svg", "figures/figure-1.png"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.mark.usefixtures("tiny")
def test_a_finished_cell_is_not_simulated_again(tmp_path, monkeypatch):
    before = reproduction.reproduce("tiny", out=tmp_path)
    monkeypatch.setattr(studies, "play", lambda *task: pytest.fail(f"{task[0]} was simulated again"))
    assert reproduction.reproduce("tiny", out=tmp_path)["statements"] == before["statements"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("content", [pytest.param(b"", marks=pytest.mark.slow), b"PK\x03\x04"])
def test_a_damaged_cell_is_simulated_again(content, tmp_path):
    before = reproduction.reproduce("tiny", out=tmp_path)
    for path in (tmp_path / "tiny" / "cells").iterdir():
        path.write_bytes(content)
    assert reproduction.reproduce("tiny", out=tmp_path)["statements"] == before["statements"]


def test_cells_are_told_apart_by_everything_that_counts():
    cell = Cell(DPSE(2, 1.0, 1000), PLACE, 8)
    others = [
        ("a", cell, 0),
        ("b", cell, 0),
        ("a", cell, 1),
        ("a", replace(cell, runs=9), 0),
        ("a", replace(cell, points=9), 0),
        ("a", replace(cell, algorithm=DPSE(2, 1.0 + 1e-15, 1000)), 0),
        ("a", replace(cell, environment=bernoulli([0.9, 0.2], "far apart")), 0),
    ]
    prints = [studies.fingerprint(*other) for other in others]
    assert len(set(prints)) == len(prints)
    assert studies.fingerprint("a", Cell(DPSE(2, 1.0, 1000), PLACE, 8), 0) == prints[0]


def test_long_arrays_are_told_apart_by_their_content():
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1e-300
    assert repr(long) == repr(other)
    assert studies.described(long) != studies.described(other)


def test_what_cannot_be_described_is_refused():
    with pytest.raises(InputError, match="cell: function cannot be described"):
        studies.described(lambda: 0)


@pytest.mark.usefixtures("tiny")
def test_a_study_is_verified_and_edits_are_found(tmp_path):
    reproduction.reproduce("tiny", out=tmp_path)
    path = tmp_path / "tiny" / "study.json"
    whole = reporting.verify_study(path)
    assert whole["statements"][0]["verdict"] == "consistent"
    edited = json.loads(path.read_text("utf-8"))
    edited["statements"][0]["checks"][0]["statistics"]["mean_b"] /= 1e6
    path.write_text(json.dumps(edited), "utf-8")
    with pytest.raises(InputError, match="digest"):
        reporting.verify_study(path)
    edited["digest"] = digest(edited)
    path.write_text(json.dumps(edited), "utf-8")
    with pytest.raises(InputError, match=r"study: its digest holds, but statements"):
        reporting.verify_study(path)
    whole["figures"][0]["statements"] = ["another"]  # its page could not be drawn
    path.write_text(json.dumps({**whole, "digest": digest(whole)}), "utf-8")
    with pytest.raises(InputError, match=r"^study: its figures name a statement that is not there"):
        reporting.verify_study(path)


def test_the_verdicts_of_long_names_stand_apart():
    rows = [
        {"name": "exponents-of-the-whole-of-figure-4", "verdict": "consistent", "words": "It holds."},
        {"name": "short", "verdict": "contradicted", "words": "It does not."},
    ]
    long, short = reporting.lines({"statements": rows})
    assert long.split() == ["exponents-of-the-whole-of-figure-4", "consistent", "It", "holds."]
    assert long.index("consistent") == short.index("contradicted")
    assert reporting.lines({"statements": []}) == []


@pytest.mark.usefixtures("tiny")
def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tables").touch()
    with pytest.raises(InputError, match=r"out: .*tables' cannot be made: File exists"):
        reproduction.reproduce("tiny", out=tmp_path, cells=tmp_path / "cells")


@pytest.mark.usefixtures("tiny")
def test_the_page_is_whole_and_escaped(tmp_path):
    reproduction.reproduce("tiny", out=tmp_path)
    page = (tmp_path / "tiny" / "index.html").read_text("utf-8")
    assert "Two &lt;algorithms&gt;" in page
    assert "Made &lt;up&gt;" in page
    assert "<svg" not in page
    names = re.findall(r'<a href="([^"#]*html)', page)
    drawn = [(tmp_path / "tiny" / name).read_text("utf-8") for name in names]
    assert [shown.count("<svg") for shown in drawn] == [4]  # of two panels, for a desktop and for a phone
    for shown in (page, *drawn):
        assert len(shown) < 400_000
        assert "<script" not in shown
        assert "http" not in shown.replace("http://www.w3.org", "").replace("http-equiv", "")


def test_a_plan_with_unknown_cells_or_names_twice_is_refused():
    good = plan()
    figure = replace(good.figures[0], panels=(Panel("x", (Line("y", ("nothing",)),)),))
    with pytest.raises(InputError, match="unknown cell 'nothing'"):
        replace(good, figures=[figure])
    with pytest.raises(InputError, match="figures must have different names"):
        replace(good, figures=[*good.figures, *good.figures])


@pytest.mark.parametrize("scale", [0, -1, 1.5, float("nan")])
def test_a_scale_out_of_range_is_refused(scale, tmp_path):
    with pytest.raises(InputError, match="scale"):
        reproduction.reproduce("S1", out=tmp_path, scale=scale)


def test_an_unknown_study_is_named():
    with pytest.raises(InputError, match="unknown name 'S9', known are S1"):
        studies.study("S9")


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from tests.unit.registry.test_study import plan
from verifiable_dp.campaign import reproduction
print("ready", flush=True)
outcomes = reproduction.simulate(plan(), 0, Path({store!r}))
print("done", flush=True)
"""


@pytest.mark.slow
def test_killed_at_random_times_nothing_is_lost(tmp_path):
    """SIGKILL between the first and the last cell; what is there is whole, and the end is the same."""
    whole = reproduction.simulate(plan(), 0)
    rng, finished = random.Random(0), 0
    code = KILLED.format(here=str(HERE), store=str(tmp_path))
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.0, 0.25))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        found = [path for path in tmp_path.iterdir() if path.suffix == ".npz" and path.name[0] != "."]
        assert len(found) >= finished
        finished = len(found)
        keys = {studies.fingerprint(name, cell, 0): name for name, cell in plan().cells.items()}
        for path in found:
            outcome = reproduction._load(tmp_path, path.stem)
            np.testing.assert_array_equal(outcome.regrets, whole[keys[path.stem]].regrets)
    again = reproduction.simulate(plan(), 0, tmp_path)
    for name, part in itertools.product(whole, ("regret", "pulls", "regrets")):
        np.testing.assert_array_equal(getattr(again[name], part), getattr(whole[name], part))
