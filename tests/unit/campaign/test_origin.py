"""A record speaks of the code of its day: of which code, commit and question it is, and how old."""

import json
import shutil
import subprocess

import pytest

import verifiable_dp as vdp
from tests.commands import run
from verifiable_dp.campaign.judge import Expected, judge
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import requested, requests
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed

CODE = "import b\n\ndef right(data, size, rng):\n    return data + rng.laplace(0, b.scale, size)\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with code, and its record in the folder `kept`."""
    place = tmp_path_factory.mktemp("made")
    (place / "a.py").write_text(CODE, "utf-8")
    (place / "b.py").write_text("scale = 1.0\n", "utf-8")
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (["init", "-q"], ["add", "a.py", "b.py"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *names, *command], cwd=place, check=True, capture_output=True)
    (place / "kept").mkdir()
    options = (
        "--epsilon",
        1,
        "--budget",
        "smoke",
        "--request",
        "kept/request.json",
        "--json",
        "kept/record.json",
    )
    assert run(place, "audit", "a.py:right", *options).exit_code == 0
    return place


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "x")
    return tmp_path / "x"


def head(folder):
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_an_old_record_does_not_pass_for_changed_code(folder):
    """The noise became a hundredth, in a file that is imported. Control: without --source it passes."""
    commands = [["verify", "kept/record.json"], ["judge", "kept"]]
    for command in commands:
        assert run(folder, *command, "--source", ".").exit_code == 0, command
    (folder / "b.py").write_text("scale = 0.01\n", "utf-8")
    for command in commands:
        assert run(folder, *command).exit_code == 0
        done = run(folder, *command, "--source", ".")
        assert done.exit_code == 2
        assert "source: b.py is not the file that was audited" in done.stderr
    (folder / "a.py").unlink()
    assert run(folder, "verify", "kept/record.json", "--source", ".").exit_code == 2


def test_the_commit_is_that_of_the_record(folder):
    found = head(folder)
    other = "0" * 40
    for command in (["verify", "kept/record.json"], ["judge", "kept"]):
        assert run(folder, *command, "--commit", found).exit_code == 0
        assert run(folder, *command, "--commit", found[:7]).exit_code == 0
        done = run(folder, *command, "--commit", other)
        assert (done.exit_code, f"is from {found}" in done.stderr) == (2, True)
        assert run(folder, *command, "--commit", "main").exit_code == 2
    record = vdp.verify(folder / "kept/record.json").record
    place = {**record["provenance"]["target"], "dirty": True}
    dirty = Record.of(sealed({**record, "provenance": {**record["provenance"], "target": place}}))
    with pytest.raises(InputError, match="uncommitted"):
        RecordOrigin(commit=found).check(dirty)


@pytest.mark.parametrize(
    ("made_at", "holds"), [("1971-01-01T00:00:00Z", False), ("", True), ("2999-01-01T00:00:00Z", False)]
)
def test_a_record_may_be_so_old(made_at, holds, folder):
    record = vdp.verify(folder / "kept/record.json").record
    if made_at:
        asked = sealed({**record["provenance"]["request"], "made": made_at})
        record = sealed({**record, "provenance": {**record["provenance"], "request": asked}})
        vdp.Report(record).save(folder / "kept")
        (folder / "kept/request.json").write_text(json.dumps(asked))
    for command in (["verify", "kept/record.json"], ["judge", "kept"]):
        assert run(folder, *command).exit_code == 0
        assert run(folder, *command, "--max-age", "1d").exit_code == (0 if holds else 2)
        assert run(folder, *command, "--max-age", "1").exit_code == 2


@pytest.mark.parametrize(("last", "holds"), [("1971-01-01", False), ("2999-12-31", True)])
def test_a_record_expires(last, holds, folder):
    """On the day that its declarations name; one that names none does not."""
    (folder / "d.toml").write_text(f"expires = {last}\n")
    asked = ("--request", "new/request.json", "--json", "new/record.json", "--html", "new/record.html")
    done = run(
        folder, "audit", "a.py:right", "--epsilon", 1, "--runs", 400, "--declarations", "d.toml", *asked
    )
    assert done.exit_code in ((0, 3) if holds else (1,)), done.stderr  # it expired before the audit: a hole
    for command in (["verify", "new/record.json"], ["verify", "new"], ["judge", "new"]):
        done = run(folder, *command)
        assert (done.exit_code == 2) == (not holds), command
        assert (f"valid until {last}; audit again" in done.stderr) == (not holds), command
    page = (folder / "new/record.html").read_text()
    assert f"{last}</span> (UTC)" in page.partition("Valid until")[2]
    assert f'expires <span class="whole">{last}.' in page.partition("Who vouches")[2].partition("</dd>")[0]
    assert run(folder, "verify", "kept/record.json").exit_code == 0
    (folder / "d.toml").write_text("expires = 'soon'\n")
    done = run(folder, "audit", "a.py:right", "--epsilon", 1, "--declarations", "d.toml")
    assert (done.exit_code, "expires must match" in done.stderr) == (2, True)


def test_a_record_answers_the_request_that_is_brought(folder):
    kept = folder / "mine.json"
    shutil.copy(folder / "kept/request.json", kept)
    assert run(folder, "verify", "kept/record.json", "--request", kept).exit_code == 0
    other = requests.made(
        {
            key: value
            for key, value in json.loads(kept.read_text()).items()
            if key not in ("schema_version", "declarations", "made", "nonce", "digest")
        },
        None,
    )
    kept.write_text(other.written())
    done = run(folder, "verify", "kept/record.json", "--request", kept)
    assert (done.exit_code, "the record answers sha256:" in done.stderr) == (2, True)
    with pytest.raises(InputError, match="has the digest"):
        judge(folder / "kept", [], None, Expected([str(kept)]))
    assert requested.read(kept) == other


def test_records_without_a_request_are_compared_by_their_source(folder):
    record = vdp.verify(folder / "kept/record.json").record
    provenance = {key: value for key, value in record["provenance"].items() if key != "request"}
    old = Record.of(sealed({**record, "provenance": provenance}))
    RecordOrigin(source=folder, max_age="1d").check(old)
    (folder / "a.py").write_text(CODE + "\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.py is not the file"):
        RecordOrigin(source=folder).check(old)


def test_the_catalogue_is_its_own_source(tmp_path):
    report = vdp.audit("dp-se", n_arms=2, horizon=40, budget="smoke", mutants=False)
    RecordOrigin(source=tmp_path).check(report.parsed)
    whole = report.record
    other = sealed({**whole["provenance"]["request"], "code": "0" * 64})
    changed = Record.of(sealed({**whole, "provenance": {**whole["provenance"], "request": other}}))
    with pytest.raises(InputError, match="installed here is a different"):
        RecordOrigin(source=tmp_path).check(changed)


def test_what_is_expected_of_folders_is_judged(folder):
    done = run(folder, "verify", "kept", "--commit", head(folder))
    assert (done.exit_code, "judge takes a folder" in done.stderr) == (2, True)
    assert run(folder, "verify", "kept/record.json", "--source", "nowhere").exit_code == 2
