"""`report` run twice, and `diff` of the two folders: nothing but the run differs; what else does is told.

In one process, for most of the time of a command is the start of Python.
"""

import json
import shutil

import pytest

from tests.commands import refused, run
from verifiable_dp.evidence.check import judged
from verifiable_dp.record.sealing import digest, plain, text
from verifiable_dp.record.verify import verify
from verifiable_dp.render import folders

pytestmark = pytest.mark.slow
NAMES = ("tree-sum", "shuffled-linear")  # the second has a listing as printed, with a counterexample
FILES = [f"{name}/record.{kind}" for name in (*NAMES, "shuffled-linear-printed") for kind in ("html", "json")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The same report twice, with another number of workers."""
    base = tmp_path_factory.mktemp("made")
    only = [word for name in NAMES for word in ("--only", name)]
    for out, workers in (("first", 1), ("second", 2)):
        done = run(base, "report", *only, "--out", out, "--workers", workers)
        assert done.exit_code == 0, done.output
    return base


@pytest.fixture
def base(made, tmp_path):
    """A copy, to be spoilt."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def status(base, *options):
    """Exit status, statuses by file, and the lines."""
    done = run(base, "diff", "first", "second", "--json", "d.json", *options)
    assert done.stderr == ""
    found = json.loads((base / "d.json").read_text("utf-8"))
    assert found["outcome"] == ("differs" if done.exit_code else "same")
    assert f": {found['outcome']}: " in done.stdout.splitlines()[-1]
    return done.exit_code, {file["path"]: file["status"] for file in found["files"]}, done.stdout.splitlines()


def test_a_report_made_again_is_the_same_but_for_the_run(base):
    code, statuses, lines = status(base)
    assert code == 0
    assert statuses == {
        **dict.fromkeys(FILES, "run"),
        "index.html": "same",
        "schema/certificate-1.json": "same",
        "schema/compliance-1.json": "same",
        "schema/record-4.json": "same",
    }
    assert lines[-1] == "folders first -> second: same: 4 same bytes, 6 same except for the run"
    assert len(lines) == 11
    records = [json.loads((base / side / FILES[1]).read_text("utf-8")) for side in ("first", "second")]
    assert records[0]["digest"] != records[1]["digest"]


def test_a_report_of_another_seed_differs(base, monkeypatch):
    assert run(base, "report", "--only", "tree-sum", "--out", "second", "--seed", "1").exit_code == 0
    code, statuses, lines = status(base)
    assert code == 1
    changed = {"tree-sum/record.html", "tree-sum/record.json"}  # the index shows four digits: it may
    assert {path for path, word in statuses.items() if word == "differs"} - {"index.html"} == changed
    fields = [line for line in lines if line.startswith("  field ") and not line.startswith("  field line ")]
    assert any(line.startswith("  field checks.") and ".statistics.k1: " in line for line in fields)
    assert "  field seed: 0 -> 1" in fields
    monkeypatch.setattr(folders, "_FIELDS", 5)
    assert f"  and {len(fields) - 5} more" in status(base)[2]


def reseal(path, edit):
    """Edit a record and write everything anew that follows from its numbers, so that it holds."""
    record = json.loads(path.read_text("utf-8"))
    edit(record)
    for check in record["checks"]:
        check["result"] = plain(judged(check["kind"], check["statistics"]))
    path.write_text(text(record | {"digest": digest(record)}), "utf-8")
    return verify(path).record


def one_more(record):
    (check,) = (check for check in record["checks"] if check["kind"] == "black_box")
    check["statistics"]["k0"] += 1


def another_commit(record):
    record["provenance"]["commit"] = "f" * 40
    record["provenance"]["cpu_seconds"] += 1


@pytest.mark.parametrize(("edit", "code"), [(one_more, 1), (another_commit, 0)])
def test_an_edited_record_that_was_sealed_again(base, edit, code):
    path = base / "second" / "tree-sum" / "record.json"
    reseal(path, edit)
    assert run(base, "render", path, "--to", "html", "--out", path.with_suffix(".html")).exit_code == 0
    found, statuses, lines = status(base)
    assert found == code
    assert (
        statuses["tree-sum/record.json"] == statuses["tree-sum/record.html"] == ("differs" if code else "run")
    )
    told = [line for line in lines if ".statistics.k0: " in line]
    assert len(told) == code


@pytest.mark.parametrize(("old", "new", "code"), [("not refuted", "refuted", 1), ("refuted", "refuted", 0)])
def test_an_edited_page(base, old, new, code):
    path = base / "second" / "shuffled-linear" / "record.html"
    content = path.read_text("utf-8")
    assert old in content
    path.write_text(content.replace(old, new), "utf-8")
    found, statuses, _ = status(base)
    assert found == code
    assert statuses["shuffled-linear/record.html"] == ("differs" if code else "run")


def test_a_missing_file_and_one_too_many(base):
    gone = base / "second" / "tree-sum" / "record.html"
    content = gone.read_bytes()
    gone.unlink()
    code, statuses, lines = status(base)
    assert (code, statuses["tree-sum/record.html"]) == (1, "old")
    assert lines[-1].endswith("5 same except for the run, 1 only in first")
    assert status(base, "--without", "tree-sum")[0] == 0
    gone.write_bytes(content)
    assert status(base)[0] == 0
    (base / "second" / "mutants.json").write_text("{}\n")
    code, statuses, _ = status(base)
    assert (code, statuses["mutants.json"]) == (1, "new")
    code, statuses, lines = status(base, "--without", "mutants.*", "--without", "studies")
    assert code == 0
    assert "mutants.json" not in statuses
    assert lines[-1].endswith(", 1 not compared")


def test_what_cannot_be_compared(base):
    record = "first/tree-sum/record.json"
    assert "is not a folder" in refused(base, "diff", "first", record)
    assert "is not a folder" in refused(base, "diff", "none", "second")
    assert "cannot be read" in refused(base, "diff", "none", record)
    assert "--without works only with two folders" in refused(base, "diff", record, record, "--without", "x")
    assert "no file to compare" in refused(base, "diff", "first", "second", "--without", "*")
    (base / "empty").mkdir()
    assert "no file to compare" in refused(base, "diff", "empty", "empty")
    assert "no folder" in refused(base, "diff", "first", "second", "--json", "none/d.json")
    assert run(base, "diff", "empty", "second").exit_code == 1
