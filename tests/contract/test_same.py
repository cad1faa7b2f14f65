"""Five committed records come out again, by the rule of `make same`: only what names the run may differ.

`make same` makes all of them and is run by hand; these five are made anew every night.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import finished
from verifiable_dp.render.folders import compare

REPORTS = Path(__file__).parents[2] / "reports"
# A target of the catalogue, and the folder that is compared.
FIVE = {
    "central": ("tree-sum", "tree-sum"),
    "local": ("ldp-linear", "ldp-linear"),
    "shuffle": ("shuffled-linear", "shuffled-linear"),
    "contextual": ("ldp-lin-ucb", "ldp-lin-ucb"),
    "printed": ("adaptive-tree", "adaptive-tree-printed"),
}


def budget_of(folder):
    return json.loads((REPORTS / folder / "record.json").read_text("utf-8"))["plan"]["budget"]


def differing(old, new):
    return [file for file in compare(old, new).files if file.status not in ("same", "run")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "folder"), FIVE.values(), ids=[*FIVE])
def test_a_committed_record_comes_out_again(name, folder, tmp_path):
    # Records show their kills, and pages link to what there is beside them.
    for made in ("mutants.json", "mutants.html", "errata.json", "errata.html", "papers.html"):
        shutil.copy(REPORTS / made, tmp_path)
    done = finished(tmp_path, "report", "--only", name, "--budget", budget_of(folder), "--out", tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    assert (tmp_path / folder / "record.json").is_file()
    found = differing(REPORTS / folder, tmp_path / folder)
    assert not found, found


def test_one_is_of_each_trust_model_and_the_printed_one_is_refuted():
    records = {
        kind: json.loads((REPORTS / folder / "record.json").read_text("utf-8"))
        for kind, (_, folder) in FIVE.items()
    }
    models = {kind: record["claim"]["trust_model"] for kind, record in records.items()}
    assert models["central"] == "central"
    assert models["local"] == "local"
    assert models["shuffle"] == "shuffle"
    assert "/contextual/" in records["contextual"]["target"]["source"]["path"]
    assert records["printed"]["verdict"] == "refuted"


def test_a_number_that_changed_is_noticed(tmp_path):
    shutil.copytree(REPORTS / "tree-sum", tmp_path / "made")
    assert not differing(REPORTS / "tree-sum", tmp_path / "made")
    path = tmp_path / "made" / "record.json"
    record = json.loads(path.read_text("utf-8"))
    record["checks"][0]["statistics"]["examined"] += 1
    path.write_text(json.dumps(record), "utf-8")
    assert "record.json" in [file.path for file in differing(REPORTS / "tree-sum", tmp_path / "made")]
