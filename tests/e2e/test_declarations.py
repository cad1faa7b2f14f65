"""`init` and `--declarations` on the command line: from the commented file to the record and its page."""

import functools
import json

import pytest

from tests.commands import finished
from verifiable_dp.compliance import blocks
from verifiable_dp.record.sealing import digest

MINE = """
unprotected_outputs = [{ what = "server logs <with> raw rewards", readers = "trusted" }]
[[actors]]
role = "curator"
trusted = true
[[threat_hypotheses]]
world_0 = [0.0, 1.0]
world_1 = [1.0, 1.0]
[administrative]
authors = ["C. Curator"]
"""


@pytest.fixture
def run(tmp_path):
    return functools.partial(finished, tmp_path)


def statuses(path):
    return {row["id"]: row["status"] for row in blocks.of(json.loads(path.read_text()))["hazards"]}


@pytest.mark.slow  # by day the same commands of README.md
def test_from_init_to_a_verified_record(run, tmp_path):
    assert run("init").stdout == "written: declarations.toml\n"
    again = run("init")
    assert again.returncode == 2
    assert again.stderr.strip().endswith("already exists; we do not overwrite it")

    audit = ("audit", "tree-sum", "--budget", "0.02", "--declarations", "declarations.toml")
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
        assert "actor is unknown; accepted: access_control" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A small record without declarations."""
    folder = tmp_path_factory.mktemp("audited")
    words = ("audit", "tree-sum", "--budget", "0.02", "--json", "record.json")
    assert finished(folder, *words).returncode == 0
    return (folder / "record.json").read_bytes()


@pytest.fixture
def given(tmp_path, audited):
    """The record beside a file of declarations; nothing else is in the folder."""
    (tmp_path / "record.json").write_bytes(audited)
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path


def test_declarations_are_joined_to_a_record(run, given, audited):
    done = run("declare", "record.json", "mine.toml", "--json", "new.json", "--html", "new.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "declared: actors, administrative, threat_hypotheses, unprotected_outputs\n" in done.stdout
    assert (given / "record.json").read_bytes() == audited
    old, new = (json.loads((given / name).read_text("utf-8")) for name in ("record.json", "new.json"))
    core = set(old) - {"digest", "declarations"}
    assert {key: old[key] for key in core} == {key: new[key] for key in core}
    assert old["digest"] != new["digest"]
    assert new["declarations"]["administrative"]["authors"] == ["C. Curator"]
    assert "server logs &lt;with&gt; raw rewards" in (given / "new.html").read_text("utf-8")
    assert run("verify", "new.json", "--rerun").returncode == 0

    done = run("diff", "record.json", "new.json")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].endswith(": same")
    assert {line.split(":")[0].partition(".")[0] for line in lines[1:]} == {"  declarations", "  hazards"}


def test_declarations_that_are_joined_replace_older_ones(run, given):
    (given / "other.toml").write_text('[administrative]\nauthors = ["B. Author"]\n')
    assert run("declare", "record.json", "mine.toml", "--json", "a.json").returncode == 0
    assert run("declare", "a.json", "other.toml", "--json", "b.json").returncode == 0
    found = json.loads((given / "b.json").read_text("utf-8"))
    assert found["declarations"] == {"administrative": {"authors": ["B. Author"]}}
    assert statuses(given / "a.json")["NIST-H08"] == "declared"
    assert statuses(given / "b.json") == {**statuses(given / "b.json"), "NIST-H08": "open"}
    assert run("declare", "record.json", "other.toml", "--json", "c.json").returncode == 0
    assert (given / "b.json").read_bytes() == (given / "c.json").read_bytes()


def spoilt(folder, how):
    """What is wrong with the record, the declarations or the places; words for it."""
    record, mine = folder / "record.json", folder / "mine.toml"
    whole = json.loads(record.read_text("utf-8"))
    if how == "edited":
        record.write_text(json.dumps(whole | {"verdict": "refuted"}))
        return "edited or corrupted (its digest"
    if how == "sealed again":  # whoever edits can write a new digest, but not other verdicts
        whole["checks"][0]["result"]["verdict"] = "refuted"
        record.write_text(json.dumps(whole | {"digest": digest(whole)}))
        return "result.verdict"
    if how == "no record":
        record.write_text("{}")
        return "schema_version must be"
    mine.write_text({"no TOML": "actors = [", "unknown": "actor = 1\n"}[how])
    return {"no TOML": "is not TOML", "unknown": "actor is unknown"}[how]


@pytest.mark.parametrize("how", ["edited", "sealed again", "no record", "no TOML", "unknown"])
def test_what_cannot_be_joined_is_refused_and_nothing_is_written(run, given, how):
    words = spoilt(given, how)
    before = {path.name: path.read_bytes() for path in given.iterdir()}
    done = run("declare", "record.json", "mine.toml", "--json", "new.json", "--html", "new.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert {path.name: path.read_bytes() for path in given.iterdir()} == before


def test_what_is_read_is_never_overwritten(run, given):
    (given / "link.json").symlink_to("record.json")
    (given / "hard.json").hardlink_to(given / "record.json")
    before = {path.name: path.read_bytes() for path in given.iterdir()}
    for places, words in (
        (("--json", "record.json"), "is RECORD"),
        (("--json", "./record.json"), "is RECORD"),
        (("--json", "link.json"), "is RECORD"),
        (("--json", "hard.json"), "is RECORD"),
        (("--json", "new.json", "--html", "record.json"), "is RECORD"),
        (("--json", "mine.toml"), "is DECLARATIONS"),
        (("--json", "new.json", "--html", "new.json"), "is given twice"),
        (("--json", "mine.toml/new.json"), "mine.toml"),
        ((), "Missing option '--json'"),
    ):
        done = run("declare", "record.json", "mine.toml", *places)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert {path.name: path.read_bytes() for path in given.iterdir()} == before


@pytest.mark.slow
def test_the_report_of_the_catalogue_takes_them(run, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    done = run("report", "--only", "tree-sum", "--out", "out", "--declarations", "mine.toml")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "tree-sum" / "record.json").read_text())
    assert record["declarations"]["administrative"]["authors"] == ["C. Curator"]
