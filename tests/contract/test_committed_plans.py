"""What is committed is what the code plans: cells, instances, bounds and formulas, without playing a run.

Each number that the code computes for a study, an auditor or an erratum stands in `reports/`. All but what
runs measured is computed anew here. So a change of a formula or a setting, however small, is noticed.
"""

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands import finished
from tests.committed import MEASURED, REPORTS, committed, differing
from verifiable_dp.core import simulation
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import StudyOutcome
from verifiable_dp.registry.theorems import TheoremTrial
from verifiable_dp.render import study as reporting
from verifiable_dp.render.folders import compare

FROM_RUNS = {"n", "n_a", "n_b", "caption", "estimates", "probability"}  # which two runs cannot give
# Bounds that take measured regrets.
AT_MEASURED = {
    (f"theorem-{n} on its hard instance", key) for n in (8, 11) for key in ("bound", "least_pulls")
}
PLAYED = {  # round by round: two runs each
    *("dp-robust-elimination", "dp-robust-ucb"),
    *("dp-lin-ucb", "dp-lin-ucb-wishart", "ldp-lin-ucb", "lin-ucb-contextual"),
}
DEAR = {"dp-adversarial", "dp-lin-ucb-wishart", "lin-ucb-contextual"}


@pytest.mark.parametrize(("made", "kept", "places"), [
    ({"a": 1.0, "mean": 1}, {"a": 1.0000001, "mean": 2}, []),
    ({"a": [1.0]}, {"a": [1.001]}, [("a", 0)]),
    ({"a": 1}, {}, [("a",)]),
    ({"a": [1]}, {"a": [1, 2]}, [("a",)]),
    ({"a": "x"}, {"a": "y"}, [("a",)]),
])  # fmt: skip
def test_a_difference_is_found(made, kept, places):
    assert [place for place, _, _ in differing(made, kept)] == places


# ---------------------------------------------------------------- studies


def as_measured(cell, row):
    """An outcome with the committed mean and standard deviation."""
    apart = np.zeros(cell.runs)
    apart[:2] = row["sd"] * math.sqrt((cell.runs - 1) / 2) * np.array([1, -1])
    pulls = np.ones((cell.runs, cell.algorithm.n_arms), np.int64)
    return StudyOutcome(row["mean"] + apart, np.array([1]), (row["mean"] + apart)[:, None], pulls, pulls > 0)


def test_every_study_is_committed():
    assert {*studies.names()} == {path.parent.name for path in REPORTS.glob("studies/*/study.json")} != set()


@pytest.mark.parametrize("name", studies.names())
def test_a_committed_study_is_what_its_code_plans(name, monkeypatch):
    kept, study = committed("studies", name, "study.json"), studies.study(name)
    plan = study.plan(1.0)
    assert plan.cells.keys() == kept["cells"].keys() != set()
    outcomes = {key: as_measured(cell, kept["cells"][key]) for key, cell in plan.cells.items()}
    curves = iter([line for f in kept["figures"] for panel in f["panels"] for line in panel["lines"]])
    drawn = reporting.drawn

    def as_kept(line, measured):
        known = next(curves)
        return drawn(line, measured) if line.xs is not None else {**known, "label": line.label}

    monkeypatch.setattr(reporting, "drawn", as_kept)
    about = {"scale": kept["scale"], "seed": kept["seed"], "started": 0.0, "cpu_seconds": 0.0}
    made = reporting.document(study, plan, outcomes, **about)
    for whole in (made, kept):
        whole.pop("digest"), whole.pop("provenance")
        for row in [check for one in whole["statements"] for check in (one, *one["checks"])]:
            row.pop("verdict" if "verdict" in row else "result")  # which follow from what was measured
    assert [*differing(made, kept)] == []


# ---------------------------------------------------------------- the catalogue


@pytest.mark.parametrize("name", registry.every())
def test_a_committed_record_is_about_the_auditors_instance(name):
    """Broken variant: a parameter that no instance gives has another default."""
    target, auditor = committed(name, "record.json")["target"], registry.auditor(name)
    made = dict(auditor.algorithm(**auditor.instance).parameters)
    assert [*differing(json.loads(json.dumps(made)), target["parameters"], frozenset())] == []
    assert target["parameters"]


@pytest.fixture
def unplayed(monkeypatch):
    """Simulations give regrets near 1 at once."""

    def near_one(algorithm, environment, *, runs, points=1, **_):
        values, arms = np.random.default_rng(0).uniform(0.99, 1.01, runs), algorithm.n_arms
        times = np.unique(np.linspace(1, algorithm.horizon, points).astype(np.int64))
        pulls, curves = np.ones((runs, arms), np.int64), np.repeat(values[:, None], len(times), 1)
        return Simulation(values, pulls, times, curves, pulls > 0, np.ones((runs, 2)), values)

    real = simulation.simulate
    for module in [m for m in [*sys.modules.values()] if vars(m).get("simulate") is real]:
        monkeypatch.setattr(module, "simulate", near_one)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in DEAR else n for n in registry.every()]
)
def test_committed_regret_checks_are_those_of_the_auditor(name, unplayed, monkeypatch):
    record, auditor, measured = committed(name, "record.json"), registry.auditor(name), MEASURED
    kept = {
        c["name"]: c["statistics"] for c in [*record["regret"]["checks"], *record["regret"].get("tables", ())]
    }
    if name in PLAYED:
        monkeypatch.setattr(TheoremTrial, "runs", lambda self, runs: 2)
        measured |= FROM_RUNS
    checks = auditor.regret(auditor.algorithm(**auditor.experiment), record["plan"]["budget"], 0, 1)
    made = {check.name: dict(check.statistics) for check in checks}
    assert [one for one in differing(made, kept, measured) if one[0][:2] not in AT_MEASURED] == []
    assert kept


# Five committed records come out again, by the rule of `make same`: only what names the run may differ.
#
# `make same` makes all of them and is run by hand; these five are made anew every night.


SAME_REPORTS = Path(__file__).parents[2] / "reports"
# A target of the catalogue, and the folder that is compared.
FIVE = {
    "central": ("tree-sum", "tree-sum"),
    "local": ("ldp-linear", "ldp-linear"),
    "shuffle": ("shuffled-linear", "shuffled-linear"),
    "contextual": ("ldp-lin-ucb", "ldp-lin-ucb"),
    "printed": ("adaptive-tree", "adaptive-tree-printed"),
}


def budget_of(folder):
    return json.loads((SAME_REPORTS / folder / "record.json").read_text("utf-8"))["plan"]["budget"]


def differing_by_rule(old, new):
    return [file for file in compare(old, new).files if file.status not in ("same", "run")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "folder"), FIVE.values(), ids=[*FIVE])
def test_a_committed_record_comes_out_again(name, folder, tmp_path):
    # Records show their kills, and pages link to what there is beside them.
    for made in ("mutants.json", "mutants.html", "errata.json", "errata.html", "papers.html"):
        shutil.copy(SAME_REPORTS / made, tmp_path)
    done = finished(tmp_path, "report", "--only", name, "--budget", budget_of(folder), "--out", tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    assert (tmp_path / folder / "record.json").is_file()
    found = differing_by_rule(SAME_REPORTS / folder, tmp_path / folder)
    assert not found, found


def test_one_is_of_each_trust_model_and_the_printed_one_is_refuted():
    records = {
        kind: json.loads((SAME_REPORTS / folder / "record.json").read_text("utf-8"))
        for kind, (_, folder) in FIVE.items()
    }
    models = {kind: record["claim"]["trust_model"] for kind, record in records.items()}
    assert models["central"] == "central"
    assert models["local"] == "local"
    assert models["shuffle"] == "shuffle"
    assert "/contextual/" in records["contextual"]["target"]["source"]["path"]
    assert records["printed"]["verdict"] == "refuted"


def test_a_number_that_changed_is_noticed(tmp_path):
    shutil.copytree(SAME_REPORTS / "tree-sum", tmp_path / "made")
    assert not differing_by_rule(SAME_REPORTS / "tree-sum", tmp_path / "made")
    path = tmp_path / "made" / "record.json"
    record = json.loads(path.read_text("utf-8"))
    record["checks"][0]["statistics"]["examined"] += 1
    path.write_text(json.dumps(record), "utf-8")
    assert "record.json" in [
        file.path for file in differing_by_rule(SAME_REPORTS / "tree-sum", tmp_path / "made")
    ]
