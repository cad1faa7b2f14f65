"""`init` and `--declarations` on the command line: from the commented file to the record and its page."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
MINE = """
unprotected_outputs = ["server logs <with> raw rewards"]
[[actors]]
role = "curator"
trusted = true
[[threat_hypotheses]]
world_0 = [0.0, 1.0]
world_1 = [1.0, 1.0]
[administrative]
authors = ["A. Author"]
"""


@pytest.fixture
def run(tmp_path):
    def run(*words):
        return subprocess.run(
            [SCRIPT, *words], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )

    return run


def statuses(path):
    return {row["id"]: row["status"] for row in json.loads(path.read_text())["hazards"]}


def test_from_init_to_a_verified_record(run, tmp_path):
    assert run("init").stdout == "written: declarations.toml\n"
    again = run("init")
    assert again.returncode == 2
    assert again.stderr.strip().endswith("exists already; it is not overwritten")

    audit = ("audit", "tree-sum", "--budget", "0.3", "--declarations", "declarations.toml")
    assert run(*audit, "--json", "bare.json").returncode == 0
    assert "declared" not in statuses(tmp_path / "bare.json").values()

    (tmp_path / "declarations.toml").write_text(MINE)
    assert run(*audit, "--json", "record.json", "--html", "page.html").returncode == 0
    found = statuses(tmp_path / "record.json")
    assert [found[f"NIST-H{number:02}"] for number in (3, 8, 20)] == ["declared"] * 3
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "server logs &lt;with&gt; raw rewards" in page
    assert "<b>Declared:</b>" in page
    assert run("verify", "record.json", "--rerun").returncode == 0

    record = json.loads((tmp_path / "record.json").read_text())
    record["declarations"]["administrative"]["authors"] = ["B. Author"]
    (tmp_path / "edited.json").write_text(json.dumps(record))
    edited = run("verify", "edited.json")
    assert edited.returncode == 2
    assert "edited or corrupted" in edited.stderr


def test_a_file_that_is_wrong_is_named_before_any_work(run, tmp_path):
    (tmp_path / "declarations.toml").write_text("actor = 1\n")
    for command in (("audit", "tree-sum"), ("report", "--only", "nas", "--out", "out")):
        done = run(*command, "--declarations", "declarations.toml")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "actor is unknown; accepted: unprotected_outputs" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_report_of_the_catalogue_takes_them(run, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    done = run("report", "--only", "tree-sum", "--out", "out", "--declarations", "mine.toml")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "tree-sum" / "record.json").read_text())
    assert record["administrative"]["authors"] == ["A. Author"]
