"""A record speaks of the code of its day: of which code, commit and question it is, and how old."""

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import msgspec
import pytest

import verifiable_dp as vdp
from tests.commands import SCRIPT, run, writes_files
from verifiable_dp.campaign.judge import Expected, judge
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.compliance import blocks
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import committed, how, provenance, questions, requested, requests, words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.targets import loaded, opened
from verifiable_dp.targets.opened import ABSENT
from verifiable_dp.targets.source import file_digest

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
        assert "source: b.py differs from the file that was audited" in done.stderr
    (folder / "a.py").unlink()
    assert run(folder, "verify", "kept/record.json", "--source", ".").exit_code == 2


def test_what_is_audited_lies_in_the_folder_that_is_compared(folder, tmp_path_factory):
    """Broken variant: a file that is named from the root is compared with itself."""
    other = tmp_path_factory.mktemp("other")
    for name in ("a.py", "b.py"):
        (other / name).write_bytes((folder / name).read_bytes())
    asked = ("audit", f"{folder}/a.py:right", "--epsilon", 1, "--runs", 400)
    options = ("--request", "whole/request.json", "--json", "whole/record.json")
    assert run(folder, *asked, *options).exit_code in (0, 1, 3)
    assert run(folder, "judge", "whole", "--source", folder).exit_code in (0, 3)
    done = run(folder, "judge", "whole", "--source", other)
    assert (done.exit_code, "which is not in" in done.stderr) == (2, True)


def test_nothing_of_the_commit_may_be_missing(linked):
    """Code asks for files, and does something else where there are none."""
    digests = {"a.py": file_digest(linked / "a.py")}
    (linked / "scale.txt").write_text("0")
    git(linked, "add", "scale.txt")
    git(linked, "commit", "-qm", "more")

    def found(**opened):
        return provenance.place(str(linked / "a.py"), run=digests, opened=opened)

    assert not found()["dirty"]
    assert found(**{"scale.txt": ABSENT})["differs"] == ["scale.txt"]  # it is there again
    assert not found(**{"none.txt": ABSENT})["dirty"]
    (linked / "scale.txt").unlink()
    assert found()["differs"] == ["scale.txt"]


@pytest.fixture
def outer(linked, tmp_path):
    """A repository with a submodule in `vendor`, which has one itself."""
    for name, inner in (("deep", None), ("vendor", "deep")):
        place = tmp_path / name
        place.mkdir()
        git(place, "init", "-q")
        (place / "settings.py").write_text("SCALE = 0\n")
        if inner:
            added(place, tmp_path / inner, inner)
        git(place, "add", "-A")
        git(place, "commit", "-qm", "one")
    added(linked, tmp_path / "vendor", "vendor")
    git(linked, *FILES_ALLOWED, "submodule", "--quiet", "update", "--init", "--recursive")
    git(linked, "commit", "-qm", "more")
    return linked


FILES_ALLOWED = ("-c", "protocol.file.allow=always")


def added(folder, module, name):
    git(folder, *FILES_ALLOWED, "submodule", "--quiet", "add", str(module), name)


@pytest.mark.parametrize(
    ("done", "differs"),
    [
        ("nothing", []),
        ("changed", ["vendor/deep/settings.py"]),
        ("removed", ["vendor/settings.py"]),
        ("another commit", ["vendor/more.py"]),
        ("not there", ["vendor"]),
        ("a file there", ["vendor"]),
        ("not there within", ["vendor/deep"]),
    ],
)
def test_submodules_are_files_of_a_commit(done, differs, outer, tmp_path):
    """Broken variant: of a submodule that is not checked out nothing is missing, and code may ask for it.

    Controls: one that is checked out, with what code reads in it; one that has a later commit, too.
    """
    place, read = outer / "vendor", ["vendor/settings.py", "vendor/deep/settings.py"]
    if done == "changed":
        (place / "deep/settings.py").write_text("SCALE = 1\n")
    elif done == "removed":
        (place / "settings.py").unlink()
    elif done == "another commit":
        (place / "more.py").write_text("SCALE = 1\n")
        git(place, "add", "-A")
        git(place, "commit", "-qm", "more")
        assert not place_of(outer, read)["dirty"]  # what it reads is as it was
        read.append("vendor/more.py")
    elif done == "not there within":
        shutil.rmtree(place / "deep")
        (place / "deep").mkdir()
    elif done != "nothing":
        shutil.rmtree(place)
        place.touch() if done == "a file there" else place.mkdir()
    found = place_of(outer, [name for name in read if (outer / name).is_file()])
    assert found.get("differs", []) == differs
    assert found["dirty"] is bool(differs)


def place_of(folder, read):
    opened = {name: file_digest(folder / name) for name in read}
    return provenance.place(str(folder / "a.py"), run={"a.py": file_digest(folder / "a.py")}, opened=opened)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"


@pytest.mark.parametrize(
    ("attributes", "there", "filtered"),
    [
        ("scale filter=lfs -text", "pointer", True),
        ("[attr]stored filter=lfs\n*a* stored", "pointer", True),
        ("scale filter=lfs -text", "content", False),
        ("scale filter=lfs -text", "another content", True),
        ("1 ident", "pointer", True),
        ("1 working-tree-encoding=latin-1", "pointer", True),
        ("2 filter=lfs", "pointer", False),
        ("scale text eol=lf", "pointer", False),
        ("scale text eol=crlf", "pointer", True),
        ("* filter=lfs\nscale -filter\n1 -filter\n*.py !filter", "pointer", False),
    ],
)
def test_what_git_changes_as_it_checks_out_is_not_what_the_commit_has(attributes, there, filtered, linked):
    """Broken variants: a pointer of Git LFS counts as the file; what LFS brought is not the commit's."""
    content = b"0\n"
    pointer = POINTER.format(hashlib.sha256(content).hexdigest(), len(content)).encode()
    (linked / "scale").unlink()
    (linked / "scale").write_bytes(pointer)
    (linked / ".gitattributes").write_text(f"{attributes}\n")
    git(linked, "add", "-A")
    git(linked, "commit", "-qm", "two")
    if there != "pointer":
        (linked / "scale").write_bytes(content if there == "content" else b"1\n")
    found = place_of(linked, ["scale", "1"])
    assert bool(found.get("filtered")) is filtered
    assert found["dirty"] is (there == "another content")
    (linked / ".gitattributes").write_text("# none\n")
    assert ".gitattributes" in place_of(linked, ["scale"])["differs"]


def test_attributes_that_are_in_no_commit_hide_nothing(linked):
    """Broken variant: `.git/info/attributes`, which nobody else has, takes away the filter of a file.

    Control: a filter there, as nbstripout puts one, changes nothing of what the commit has.
    """
    (linked / "data").mkdir()
    (linked / "data/scale").write_text("1\n")
    (linked / ".gitattributes").write_text("scale filter=lfs\n")
    git(linked, "add", "-A")
    git(linked, "commit", "-qm", "two")
    for rule in ("", "scale !filter\n", "scale -filter\n", "1 filter=nbstripout\n"):
        (linked / ".git/info/attributes").write_text(rule)
        assert place_of(linked, ["data/scale", "1"])["filtered"] == ["data/scale"]
    (linked / "data/.gitattributes").write_text("scale -filter\n")
    assert place_of(linked, ["data/scale"])["differs"] == ["data/.gitattributes"]


def test_a_record_of_what_git_changes_is_refused(folder):
    record = vdp.verify(folder / "kept/record.json").parsed
    place = {**record.as_dict()["provenance"]["target"], "filtered": ["scale"]}
    facts = {**record.as_dict()["provenance"], "target": place}
    other = Record.of(sealed({**record.as_dict(), "provenance": facts}))
    for expected in ({"commit": head(folder)}, {"source": folder}):
        with pytest.raises(InputError, match="git changes scale during checkout"):
            RecordOrigin(**expected).check(other)
    assert (in_production(record, folder)[0], in_production(other, folder)[0]) == ("acceptable", "open")


def test_what_a_check_of_regret_did_not_get_counts(folder):
    """An audit of privacy is inconclusive where the code goes on without a part; no check of regret is."""
    whole = vdp.verify(folder / "kept/record.json").record
    for found, checks, known in (
        ({"./cuda": opened.UNLOADED}, [], False),
        ({"./cuda": opened.UNLOADED}, whole["checks"], True),
        ({"cuda.py": ABSENT}, [], True),
    ):
        place = {**whole["provenance"]["target"], "opened": found}
        facts = {**whole["provenance"], "target": place}
        record = Record.of({**whole, "provenance": facts, "checks": checks})
        assert (committed.unknown(record) == "") is known


def test_two_requests_have_two_places(folder, tmp_path):
    for name in ("one", "two"):
        asked = ("audit", "a.py:right", "--epsilon", 1, "--ask", tmp_path / name / "request.json")
        (tmp_path / name).mkdir()
        assert run(folder, *asked).exit_code == 0
    given = [word for name in ("one", "two") for word in ("--request", tmp_path / name)]
    done = run(folder, "judge", "kept", *given)
    assert (done.exit_code, "the answers to two requests would both be" in done.stderr) == (2, True)


def test_what_a_request_requires_is_judged(folder):
    """Broken variant: only the command that audits knows it. Control: what is not required."""
    asked = ("audit", "a.py:right", "--epsilon", 1, "--runs", 400, "--json")
    for require, status in (("certified", 3), ("detectable", 0)):
        place = f"asked-{require}"
        options = (f"{place}/record.json", "--request", f"{place}/request.json", "--require", require)
        assert run(folder, *asked, *options).exit_code == status
        assert run(folder, "judge", place).exit_code == status


def test_the_commit_is_that_of_the_record(folder):
    found = head(folder)
    other = "0" * 40
    for command in (["verify", "kept/record.json"], ["judge", "kept"]):
        assert run(folder, *command, "--commit", found).exit_code == 0
        assert run(folder, *command, "--commit", found[:16]).exit_code == 2
        done = run(folder, *command, "--commit", other)
        assert (done.exit_code, f"is from {found}" in done.stderr) == (2, True)
        assert run(folder, *command, "--commit", "main").exit_code == 2
    record = vdp.verify(folder / "kept/record.json").record
    place = {**record["provenance"]["target"], "dirty": True}
    dirty = Record.of(sealed({**record, "provenance": {**record["provenance"], "target": place}}))
    with pytest.raises(InputError, match="uncommitted"):
        RecordOrigin(commit=found).check(dirty)


@pytest.mark.parametrize("changed", ["", "c.toml", "b.json", "d.toml"])
def test_what_a_campaign_asks_is_of_the_commit(changed, folder):
    """Broken variant: an epsilon that is not committed yet passes for that of the commit."""
    (folder / "reports").mkdir()
    rows = 'target = "a.py:right"\nname = "one"\nepsilon = 1\nbudget = "smoke"\ndeclarations = "d.toml"\n'
    (folder / "c.toml").write_text(f'baseline = "b.json"\n[[targets]]\n{rows}')
    (folder / "b.json").write_text('{"version": 4, "findings": []}')
    (folder / "d.toml").write_text("# nothing\n")
    git(folder, "add", "c.toml", "b.json", "d.toml")
    git(folder, "commit", "-qm", "more")
    if changed:
        (folder / changed).write_text((folder / changed).read_text() + "\n")
    expected = Expected(origin=RecordOrigin(commit=head(folder)))

    def said():
        failed = judge(folder / "reports", [], folder / "c.toml", expected).failed
        return [line.split("'")[1] for line in failed if "differs from its version in commit" in line]

    assert said() == [str(folder / changed)] * bool(changed)
    (folder / "b.json").unlink()  # a baseline that is not there knows nothing
    assert said() == [str(folder / (changed or "b.json"))]


def test_a_record_of_a_campaign_is_of_the_code_in_its_folder(folder):
    """Broken variant: a record of the same name, of another folder's campaign, answers for this one."""
    rows = '[[targets]]\ntarget = "a.py:right"\nname = "kept"\nepsilon = 1\nbudget = "smoke"\n'
    (folder / "sub").mkdir()
    for place in (folder, folder / "sub"):
        (place / "c.toml").write_text(rows)
        for name in ("a.py", "b.py"):
            (place / name).write_bytes((folder / name).read_bytes())
    (folder / "reports").mkdir()
    shutil.move(folder / "kept", folder / "reports")
    assert judge(folder / "reports", [], folder / "c.toml").exit_status == 0
    judged = judge(folder / "reports", [], folder / "sub/c.toml")
    assert (judged.exit_status, "the record is about a.py, but" in judged.failed[0]) == (2, True)


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
    assert (done.exit_code, "but it answers sha256:" in done.stderr) == (2, True)
    with pytest.raises(InputError, match="has the digest"):
        judge(folder / "kept", [], None, Expected([str(kept)]))
    assert requested.read(kept) == other


def test_records_without_a_request_are_compared_by_their_source(folder):
    record = vdp.verify(folder / "kept/record.json").record
    provenance = {key: value for key, value in record["provenance"].items() if key != "request"}
    old = Record.of(sealed({**record, "provenance": provenance}))
    RecordOrigin(source=folder, max_age="1d").check(old)
    (folder / "a.py").write_text(CODE + "\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.py differs from the file"):
        RecordOrigin(source=folder).check(old)


def test_the_catalogue_is_its_own_source(tmp_path):
    """Of an algorithm of the catalogue neither a folder nor a commit of somebody's code tells.

    Broken variant: a campaign of own code and of the catalogue never passed `--commit`.
    """
    report = vdp.audit("dp-se", n_arms=2, horizon=40, budget="smoke", mutants=False)
    whole = report.record
    other = sealed({**whole["provenance"]["request"], "code": "0" * 64})
    changed = Record.of(sealed({**whole, "provenance": {**whole["provenance"], "request": other}}))
    for expected in (RecordOrigin(source=tmp_path), RecordOrigin(commit="0" * 40)):
        expected.check(report.parsed)
        with pytest.raises(InputError, match=r"installed here differs.*; install verifiable-dp "):
            expected.check(changed)
    RecordOrigin(max_age="1d").check(changed)


def test_what_is_expected_of_folders_is_judged(folder):
    done = run(folder, "verify", "kept", "--commit", head(folder))
    assert (done.exit_code, "judge` for a folder" in done.stderr) == (2, True)
    assert run(folder, "verify", "kept/record.json", "--source", "nowhere").exit_code == 2


READS = """
import importlib, os, pathlib
noise = importlib.import_module("no" + "ise").noise
PLACE = pathlib.Path(__file__).parent
SCALE = float((PLACE / "data" / "scale.txt").read_text())
SCALE += float(os.environ.get("READS_MORE", "0")) + len(os.listdir(PLACE / "data")) - 1

def release(data, size, rng):
    return data + SCALE * noise(size, rng)
"""


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    """A repository with code that reads a file and imports one by a computed name, and its record."""
    place = tmp_path_factory.mktemp("reads")
    (place / "data").mkdir()
    (place / "mine.py").write_text(READS)
    (place / "noise.py").write_text("def noise(size, rng):\n    return rng.laplace(0, 1, size)\n")
    (place / "data/scale.txt").write_text("1\n")
    (place / "unused.txt").write_text("1\n")
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "one")
    (place / "d.toml").write_text("")  # read by us, not by the code
    (place / "unused.txt").write_text("2\n")
    audited(place)
    return place


def audited(place):
    options = ("--request", "kept/request.json", "--json", "kept/record.json", "--checkpoint", "steps")
    shutil.rmtree(place / "kept", ignore_errors=True)
    asked = ("--epsilon", 1, "--runs", 400, "--declarations", "d.toml")
    assert run(place, "audit", "mine.py:release", *asked, *options).exit_code in (0, 3)
    return vdp.verify(place / "kept/record.json").parsed


def test_what_the_code_reads_is_compared(reads, tmp_path):
    """Broken variant: only what is imported by its name is, so that other noise passes for this one."""
    record = vdp.verify(reads / "kept/record.json").parsed
    place = record.provenance.target
    assert set(place.opened) >= {"noise.py", "data/scale.txt"}
    assert not {"unused.txt", "d.toml", "steps"} & set(place.opened)
    assert not place.dirty
    assert "files that other programs" in " ".join(words.not_covered(record))
    for expected in ({"commit": head(reads)}, {"source": reads}):
        RecordOrigin(**expected).check(record)
    for name in ("noise.py", "data/scale.txt"):
        other = tmp_path / name.replace("/", "-")
        shutil.copytree(reads, other)
        (other / name).write_text((other / name).read_text() + " \n")
        with pytest.raises(InputError, match=f"source: {name}, which the code read, differs"):
            RecordOrigin(source=other).check(record)
        again = audited(other)
        with pytest.raises(
            InputError, match=rf"uncommitted changes \({name}\); commit the files that run and the files"
        ):
            RecordOrigin(commit=head(other)).check(again)


def test_what_the_code_lists_is_compared(reads, tmp_path):
    """Broken variant: a file that is new in a folder, where code may find a module, passes for this one."""
    record, other = vdp.verify(reads / "kept/record.json").parsed, tmp_path / "other"
    shutil.copytree(reads, other)
    (other / "data/new.py").write_text("")
    with pytest.raises(InputError, match="source: the list of files in data/, which the code read, differs"):
        RecordOrigin(source=other).check(record)
    again = {"data/*": opened.digest(other, "data/*")}
    assert provenance.place(str(other / "mine.py"), opened=again)["differs"] == ["data/*"]
    (other / ".git/info").mkdir(exist_ok=True)
    (other / ".git/info/exclude").write_text("new.py\n")
    assert provenance.place(str(other / "mine.py"), opened=again).get("differs") is None
    (other / "data/new.py").unlink()
    assert provenance.place(str(other / "mine.py"), opened=again)["differs"] == ["data/*"]


def test_data_outside_the_repository_are_of_no_commit(reads):
    record = vdp.verify(reads / "kept/record.json").parsed
    target = msgspec.structs.replace(record.provenance.target, opened={"../scale.json": opened.NOWHERE})
    facts = msgspec.structs.replace(record.provenance, target=target)
    with pytest.raises(InputError, match=r"\.\./scale.json, .* is outside its repository.*; move it into"):
        RecordOrigin(source=reads).check(msgspec.structs.replace(record, provenance=facts))
    found = provenance.place(str(reads / "mine.py"), opened=target.opened)
    assert (found["dirty"], found["differs"]) == (True, ["../scale.json"])


def test_variables_that_the_code_asked_for_are_named(reads):
    """By the record, its page, `verify` and `judge`; a record without one names none."""
    record = vdp.verify(reads / "kept/record.json").parsed
    assert record.provenance.target.opened["./$READS_MORE"] == ABSENT
    assert "asked for READS_MORE, and may" in " ".join(words.not_covered(record))
    assert "environment variables: READS_MORE;" in run(reads, "verify", "kept/record.json").stdout
    said = run(reads, "judge", "kept", "mine.py:release").stderr
    assert "note: mine.py:release: the code asked for these environment variables: READS_MORE" in said
    kept = {name: one for name, one in record.provenance.target.opened.items() if name[:3] != "./$"}
    target = msgspec.structs.replace(record.provenance.target, opened=kept)
    facts = msgspec.structs.replace(record.provenance, target=target)
    assert "variables" not in " ".join(words.not_covered(msgspec.structs.replace(record, provenance=facts)))


LINKS = """
import b, pathlib
PLACE = pathlib.Path(__file__).parent

def right(data, size, rng):
    try:
        scale = float((PLACE / ".git/scale").read_text())
    except OSError:
        scale = float((PLACE / "scale").read_text())
    return data + (scale + b.MORE) * rng.laplace(0, 1, size)
"""


@pytest.fixture
def linked(tmp_path):
    """A repository with code that imports and reads files behind links."""
    place = tmp_path / "linked"
    place.mkdir()
    (place / "a.py").write_text(LINKS)
    for name, text in {"none.py": "MORE = 0\n", "one.py": "MORE = 1\n", "1": "1\n", "2": "2\n"}.items():
        (place / name).write_text(text)
    for name, to in {"b.py": "none.py", "scale": "1"}.items():
        (place / name).symlink_to(to)
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "one")
    return place


@pytest.mark.parametrize(("name", "to"), [("b.py", "one.py"), ("scale", "2"), (".git/scale", ""), ("", "")])
def test_links_and_the_folder_of_git_are_compared(name, to, linked, tmp_path, monkeypatch):
    """Broken variants: of a link that a module is behind only the file counts; what is below .git does not.

    Control: links that are as in the commit are, and what is behind them.
    """
    if name:
        (linked / name).unlink(missing_ok=True)
        (linked / name).symlink_to(to) if to else (linked / name).write_text("3\n")
    monkeypatch.chdir(linked)
    asked = ("a.py:right", "--epsilon", 1, "--runs", 400)
    options = ("--request", "kept/request.json", "--json", "kept/record.json")
    assert run(linked, "audit", *asked, *options).exit_code in (0, 1, 3)
    record = vdp.verify(linked / "kept/record.json").parsed
    git(tmp_path, "clone", "-q", str(linked), "clone")
    for expected in ({"commit": head(linked)}, {"source": tmp_path / "clone"}):
        with pytest.raises(InputError, match=name) if name else contextlib.nullcontext():
            RecordOrigin(**expected).check(record)


def test_line_ends_count_in_what_is_read(linked, monkeypatch):
    """Broken variants: not in a module, or CR CR LF for LF, which Python reads as one end of a line.

    Control: where the system writes them so.
    """
    (linked / "none.py").write_bytes(b"MORE = 0\r\n")
    digests = {"none.py": file_digest(linked / "none.py")}

    def dirty(opened):
        return provenance.place(str(linked / "a.py"), run=digests, opened=opened)["dirty"]

    assert (dirty({}), dirty(digests)) == (True, True)
    monkeypatch.setattr(os, "linesep", "\r\n")
    assert not dirty(digests)
    (linked / "none.py").write_bytes(b"MORE = 0\r\r\n")
    digests["none.py"] = file_digest(linked / "none.py")
    assert dirty(digests)
    (linked / "none.py").write_text("MORE = 1\n")
    digests["none.py"] = file_digest(linked / "none.py")
    assert dirty({})


def test_code_in_this_process_is_heard_too(reads, monkeypatch):
    monkeypatch.chdir(reads)
    report = vdp.audit("mine.py:release", epsilon=1, runs=400, in_process=True)
    place = report.parsed.provenance.target
    assert {"noise.py", "data/scale.txt"} <= set(place.opened)
    assert not place.dirty


def git(folder, *command, given=None):
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *names, *command], cwd=folder, check=True, capture_output=True, text=True, input=given
    )
    return done.stdout.strip()


def store(folder, name, of):
    """Put the content of another object into the place of one."""
    objects = folder / ".git/objects"
    place = objects / name[:2] / name[2:]
    place.unlink()
    shutil.copy(objects / of[:2] / of[2:], place)


@pytest.mark.parametrize("kind", ["commit", "tree", "subtree", "none"])
@pytest.mark.parametrize("digest", ["sha1", "sha256"])
def test_objects_of_a_commit_are_what_their_names_say(kind, digest, tmp_path):
    """Broken variant: `git ls-tree` is believed, which checks no more than the first tree.

    Control: with nothing in the place of an object, the file is as in the commit.
    """
    git(tmp_path, "init", "-q", f"--object-format={digest}")
    (tmp_path / "src/deep").mkdir(parents=True)
    file = tmp_path / "src/deep/a.py"
    made = {}
    for text in ("x = 2\n", "x = 1\n"):  # the second is what was committed
        file.write_text(text)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "one")
        made[text] = [git(tmp_path, "rev-parse", f"HEAD{place}") for place in ("", "^{tree}", ":src/deep")]
    digests = {"a.py": file_digest(file)}
    assert provenance.place(str(file), run=digests)["dirty"] is False
    file.write_text("x = 2\n")
    honest = provenance.place(str(file), run={"a.py": file_digest(file)})
    assert (honest["commit"], honest["dirty"]) == (made["x = 1\n"][0], True)
    if kind != "none":
        number = ["commit", "tree", "subtree"].index(kind)
        store(tmp_path, made["x = 1\n"][number], made["x = 2\n"][number])
        forged = provenance.place(str(file), run={"a.py": file_digest(file)})
        assert forged["commit"] != honest["commit"] or forged["dirty"]
    else:
        file.write_text("x = 1\n")
        assert provenance.place(str(file), run=digests)["dirty"] is False


@pytest.mark.parametrize("inner", ["empty", "none"])
def test_a_path_begins_where_its_repository_does(inner, tmp_path):
    """Broken variant: git looks further up than we do, so that a file counts as one of another folder."""
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    for name in ("a.py", "src/a.py"):
        (tmp_path / name).write_text(f"# {name}\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "src/a.py").write_text("# a.py\n")
    if inner == "empty":
        (tmp_path / "src/.git").mkdir()
    found = provenance.place(str(tmp_path / "src/a.py"), run={"a.py": file_digest(tmp_path / "src/a.py")})
    assert found["dirty"] or not found["commit"]


def test_what_was_loaded_before_the_audit_counts_for_no_commit(reads, monkeypatch):
    """Broken variant: a function that was imported before counts as its file is now. Control: by its name."""
    monkeypatch.chdir(reads)
    mine = importlib.util.spec_from_file_location("mine_before", reads / "mine.py")
    monkeypatch.syspath_prepend(str(reads))
    module = importlib.util.module_from_spec(mine)
    mine.loader.exec_module(module)
    monkeypatch.delitem(sys.modules, "noise", raising=False)
    there = {"runs": 400, "epsilon": 1.0}
    for target, more in ((module.release, {}), ("mine.py:release", {"in_process": True})):
        record = vdp.audit(target, **there, **more).parsed
        refuse_origins(record, reads)
    monkeypatch.setattr(loaded, "ran_before", lambda: "")
    known = vdp.audit("mine.py:release", **there).parsed
    RecordOrigin(commit=head(reads)).check(known)
    assert in_production(known, reads) == ("acceptable", False)


def in_production(record, folder):
    """What a declaration is worth that this commit runs in production, and whether it is called changed."""
    declared = {"deployment": {"production_commit": head(folder)}}
    stated = Record.of({**record.as_dict(), "declarations": declared})
    (state,) = (str(one.state) for one in questions.answers(stated) if one.given)
    return state, blocks._subject(record)["source"]["dirty"]


def refuse_origins(record, folder):
    """Broken variant: the page says "it is the commit that was audited" of what `judge` refuses."""
    assert in_production(record, folder) == ("open", True)
    for expected in (RecordOrigin(commit=head(folder)), RecordOrigin(source=folder)):
        with pytest.raises(InputError, match=r"was loaded in a process in which other code had run"):
            expected.check(record)


def test_a_copy_of_a_process_with_other_code_counts_for_no_commit(reads, monkeypatch):
    """Broken variant: what conftest.py changes, or where pytest looks first, is not known of.

    Control: a command of ours; with a sitecustomize.py it has run other code, too.
    """
    monkeypatch.chdir(reads)
    record = vdp.audit("mine.py:release", runs=400, epsilon=1.0).parsed
    assert record.provenance.ran_before
    refuse_origins(record, reads)
    (reads / "beside").mkdir()
    (reads / "beside/sitecustomize.py").write_text("")
    asked = ("audit", "mine.py:release", "--epsilon", "1", "--runs", "400", "--json", "r.json")
    for begun, ran in (([SCRIPT], None), ([sys.executable, "-m", "verifiable_dp"], "sitecustomize.py")):
        environment = {**os.environ, **({"PYTHONPATH": str(reads / "beside")} if ran else {})}
        subprocess.run([*begun, *asked], cwd=reads, check=True, capture_output=True, env=environment)
        found = vdp.verify(reads / "r.json").parsed.provenance.ran_before
        assert (found and Path(found).name) == ran


def test_modules_of_whoever_asks_are_not_those_of_the_code(folder, monkeypatch):
    """Broken variant: the child of a process that has imported `b`, and changed it, runs with that one."""
    (folder / "b.py").write_text("scale = 1e-9\n", "utf-8")
    monkeypatch.chdir(folder)
    changed = types.ModuleType("b")
    changed.__file__, changed.scale = str(folder / "b.py"), 1.0
    monkeypatch.setitem(sys.modules, "b", changed)
    assert vdp.audit("a.py:right", epsilon=1.0, budget="smoke").verdict == "refuted"
    monkeypatch.setattr(loaded, "forget", lambda: None)
    monkeypatch.setattr(loaded, "check", lambda: None)  # what other tests have imported stays, too
    assert vdp.audit("a.py:right", epsilon=1.0, budget="smoke").verdict == "not_refuted"


def test_a_file_of_the_same_name_is_another_one(folder, monkeypatch):
    """Broken variant: a record of `decoy/a.py` of a commit passes for the commit's `a.py`."""
    record = vdp.verify(folder / "kept/record.json").parsed
    assert record.provenance.target.place == "a.py"
    monkeypatch.chdir(folder)
    RecordOrigin(commit=head(folder)).check(record)
    place = {**record.as_dict()["provenance"]["target"], "place": "decoy/a.py"}
    facts = {**record.as_dict()["provenance"], "target": place}
    other = Record.of(sealed({**record.as_dict(), "provenance": facts}))
    with pytest.raises(InputError, match=r"about decoy/a\.py, but in this folder a\.py means a\.py"):
        RecordOrigin(commit=head(folder)).check(other)
    (folder / "decoy").mkdir()
    monkeypatch.chdir(folder / "decoy")
    RecordOrigin(commit=head(folder)).check(other)
    with pytest.raises(InputError, match=r"in this folder a\.py means decoy/a\.py"):
        RecordOrigin(commit=head(folder)).check(record)


RELEASE = "def release(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n"
SHORT = ("--epsilon", 1, "--runs", 400, "--request", "kept/request.json", "--json", "kept/record.json")


def kept_of(folder, target):
    shutil.rmtree(folder / "kept", ignore_errors=True)
    assert run(folder, "audit", target, *SHORT).exit_code in (0, 3)
    return vdp.verify(folder / "kept/record.json").parsed


@pytest.mark.parametrize("target", ["pkg.mine:release", "pkg.named:release", "src/pkg/named.py:release"])
def test_a_module_is_the_file_that_was_found(target, tmp_path, monkeypatch):
    """Broken variant: it is looked up from the current folder, so that right code is of no commit.

    Controls: a path to the file; a name that the module imports from another file.
    """
    inside = tmp_path / "src/pkg"
    inside.mkdir(parents=True)
    for name, text in (("__init__", ""), ("mine", RELEASE), ("named", "from pkg.mine import release\n")):
        (inside / f"{name}.py").write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(tmp_path / "src"))
        record = kept_of(tmp_path, target)
    there = record.provenance.target
    assert (there.place, there.commit, there.dirty) == ("src/pkg/mine.py", head(tmp_path), False)
    RecordOrigin(commit=head(tmp_path)).check(record)
    if not target.startswith("src"):
        RecordOrigin(source=tmp_path / "src").check(record)
        with pytest.raises(
            InputError, match=r"pkg\..* is not in .*; give the folder that contains its package"
        ):
            RecordOrigin(source=tmp_path).check(record)


@pytest.mark.parametrize("target", ["mine.py:release", "mine:release", "pkg.mine:release"])
@pytest.mark.parametrize("others", [True, False])
def test_only_a_module_is_looked_for_in_src(target, others, tmp_path, monkeypatch):
    """Broken variants: a file in src is the file of this name at the top; a module is, though both are there.

    Control: a module that the commit has only in src.
    """
    inside = tmp_path / "src"
    for folder in (inside, inside / "pkg", tmp_path / "pkg"):
        folder.mkdir()
        if others or folder != tmp_path / "pkg":
            (folder / "mine.py").write_text(RELEASE)
    if others:
        (tmp_path / "mine.py").write_text(RELEASE.replace("rng.laplace(0, 1, size)", "0"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    record = kept_of(inside, target)
    monkeypatch.chdir(tmp_path)
    holds = not others and not target.startswith("mine.py")
    with contextlib.nullcontext() if holds else pytest.raises(InputError, match=r"the record is about src/"):
        RecordOrigin(commit=head(tmp_path)).check(record)
    monkeypatch.chdir(inside)
    RecordOrigin(commit=head(tmp_path)).check(record)


def test_what_lies_around_a_repository_is_not_compared(reads, tmp_path, monkeypatch):
    """Broken variant: --source compares a folder of which only the code's repository was noted.

    Control: the repository, and a folder below it.
    """
    place = tmp_path / "outer"
    shutil.copytree(reads, place / "vendor")
    git(place, "init", "-q")
    record = kept_of(place, "vendor/mine.py:release")
    with pytest.raises(InputError, match="a repository within"):
        RecordOrigin(source=place).check(record)
    RecordOrigin(source=place / "vendor").check(kept_of(place / "vendor", "mine.py:release"))


TRIES = """
try:
    open(PLACE / "more.txt").read()
except OSError:
    pass
"""


def test_what_lies_in_the_place_of_a_file_of_the_commit_counts(reads, tmp_path, monkeypatch):
    """Broken variants: an opening that fails is not noted; a folder passes for the file that is missing."""
    place, there = tmp_path / "x", tmp_path / "there"
    shutil.copytree(reads, place)
    shutil.rmtree(place / "kept", ignore_errors=True)
    monkeypatch.chdir(place)
    (place / "more.txt").write_text("0\n")
    (place / "mine.py").write_text(READS + TRIES)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "two")
    shutil.copytree(place, there)
    RecordOrigin(commit=head(place), source=there).check(audited(place))
    (place / "more.txt").unlink()
    (place / "more.txt").mkdir()
    record = audited(place)
    with pytest.raises(InputError, match=r"uncommitted changes \(more\.txt\)"):
        RecordOrigin(commit=head(place)).check(record)
    with pytest.raises(InputError, match=r"source: more\.txt, which the code read"):
        RecordOrigin(source=there).check(record)
    RecordOrigin(source=place).check(record)


def test_a_hole_that_a_request_declares_is_not_left_out(folder):
    """Broken variant: the record's own declarations are judged alone."""
    record = vdp.verify(folder / "kept/record.json").parsed
    asked = record.provenance.request
    bad = {"unprotected_outputs": [{"what": "raw rewards", "readers": "public"}]}
    stated = requests.checked(sealed({**asked.as_dict(), "declarations": bad}))
    origin = RecordOrigin(request=stated)
    with pytest.raises(InputError, match="its declarations void the promise"):
        origin.declared(record, stated)
    origin.declared(record, asked)
    origin.declared(msgspec.structs.replace(record, declarations=bad), stated)  # it says so itself


MECH = """#!{python}
import json, random, sys

sys.stdin.readline()
print(json.dumps({{"ready": True, "kind": "release"}}), flush=True)
data = 0.0
for line in sys.stdin:
    asked = json.loads(line)
    data, rng = asked.get("data", data), random.Random(asked["seed"])
    made = [data + {scale} * rng.choice((-1, 1)) * rng.expovariate(1) for _ in range(asked["runs"])]
    print(json.dumps({{"id": asked["id"], "outputs": made}}), flush=True)
"""


def test_all_that_git_tracks_is_compared_of_a_command(tmp_path):
    """Whatever its words name. Broken variants: only files that they name are; what is untracked is not."""
    code = tmp_path / "code"
    (code / "conf").mkdir(parents=True)
    git(code, "init", "-q")
    (code / "conf/params.json").write_text("{}")
    (code / "mech.py").write_text(MECH.format(python=sys.executable, scale=1))
    (code / "mech.py").chmod(0o755)
    (code / ".gitignore").write_text("__pycache__\n")
    git(code, "add", ".")
    git(code, "commit", "-qm", "one")
    commit = head(code)
    shutil.copytree(code, tmp_path / "checkout")

    def judged(name, *, command="./mech.py -cconf/params.json @args"):
        options = ("--request", f"../{name}/request.json", "--json", f"../{name}/record.json")
        asked = ("audit", "--exec", command, "--epsilon", 1, "--runs", 400, "--detect", 4)
        (tmp_path / name).mkdir()
        assert run(code, *asked, *options).exit_code in (0, 1, 3)
        of = json.loads((tmp_path / name / "request.json").read_text())["target"]["files"]
        checks = (("--commit", commit), ("--source", tmp_path / "checkout"))
        return {*of}, [run(code, "judge", f"../{name}", *one).stderr for one in checks]

    python = f"${Path(sys.executable).resolve().name}"
    assert judged("clean") == ({"mech.py", ".", python}, ["", ""])
    (code / "conf/params.json").write_text("[]")
    _, said = judged("changed")
    assert "with uncommitted changes (conf/params.json)" in said[0]
    assert "source: a file that git tracks differs from the file that was audited" in said[1]
    (code / "conf/params.json").write_text("{}")
    (code / "local.json").write_text("{}")
    assert "with uncommitted changes (local.json)" in judged("untracked")[1][0]
    git(code, "add", "local.json")
    assert "with uncommitted changes (local.json)" in judged("added")[1][0]
    of, said = judged("unknown", command=f"nice {code}/mech.py params.json")
    assert of == set()
    assert all("we cannot tell which code 'nice" in one for one in said)
    of, said = judged("outside", command=f"{sys.executable} {tmp_path}/checkout/mech.py")
    assert of == {"mech.py", python}
    assert all("we cannot tell which code" in one for one in said)


@pytest.mark.parametrize("script", [True, False])
def test_a_program_of_another_name_first_on_the_path_counts(script, tmp_path, monkeypatch):
    """It may run anything. Broken variant: only files of the repository do. Control: the same one here."""
    code, tools = tmp_path / "code", tmp_path / "tools"
    code.mkdir()
    tools.mkdir()
    git(code, "init", "-q")
    (code / "mech.py").write_text(MECH.format(python=sys.executable, scale=1))
    git(code, "add", ".")
    git(code, "commit", "-qm", "one")
    python = Path(sys.executable).resolve()
    other = f"#!/bin/sh\nexec {python} $*\n".encode() if script else python.read_bytes() + b"\0"
    (tools / "python3").write_bytes(other)
    (tools / "python3").chmod(0o755)
    checks = (("--commit", head(code)), ("--source", code))
    asked = ("audit", "--exec", "python3 mech.py", "--epsilon", 1, "--runs", 400, "--detect", 4)
    where = os.environ["PATH"]
    for name, path in (("other", f"{tools}{os.pathsep}{where}"), ("same", where)):
        monkeypatch.setenv("PATH", path)
        options = ("--request", f"../{name}/request.json", "--json", f"../{name}/record.json")
        (tmp_path / name).mkdir()
        assert run(code, *asked, *options).exit_code in (0, 1, 3)
    for one in checks:
        assert run(code, "judge", "../same", *one).stderr == ""
        said = run(code, "judge", "../other", *one).stderr
        assert "the python3 that ran the command is not the one found here" in said


def test_a_checkout_may_hold_more_than_the_audit_saw(tmp_path, monkeypatch):
    """Broken variant: what was read above a folder that is in no repository is compared with nothing."""
    for name in ("app", "checkout"):
        (tmp_path / name / "svc").mkdir(parents=True)
        (tmp_path / name / "svc/a.py").write_text(CODE.replace("import b\n", "").replace("b.scale", "1.0"))
    git(tmp_path / "checkout", "init", "-q")
    monkeypatch.chdir(tmp_path / "app/svc")
    monkeypatch.setattr(loaded, "ran_before", lambda: "")
    record = vdp.audit("a.py:right", epsilon=1.0, runs=400).parsed
    RecordOrigin(source=tmp_path / "app/svc").check(record)
    with pytest.raises(InputError, match="is only part of a repository, and the audit was made outside any"):
        RecordOrigin(source=tmp_path / "checkout/svc").check(record)


IN_A_FOLDER = """
with open({}) as file:
    SCALE = float(file.read())

def release(data, rng):
    return data.sum() + rng.laplace(0, SCALE)
"""


@pytest.mark.parametrize(("path", "folder"), [("'scale'", "svc"), ("__file__[:-7] + 'scale'", None)])
def test_a_record_says_in_which_folder_paths_began(path, folder, tmp_path, monkeypatch):
    """Broken variant: audited beside one file, for a service that runs beside another.

    Control: a path that does not depend on the folder.
    """
    (tmp_path / "svc").mkdir()
    (tmp_path / "svc/scale").write_text("1")
    (tmp_path / "svc/mine.py").write_text(IN_A_FOLDER.format(path))
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        git(tmp_path, *command)
    monkeypatch.chdir(tmp_path / "svc")
    monkeypatch.setattr(loaded, "ran_before", lambda: "")
    record = vdp.audit("mine.py:release", runs=400, epsilon=1.0).parsed
    assert record.provenance.target.folder == folder
    said = "opens 'scale' from the folder in which it runs, 'svc' of its repository in this audit"
    assert any(said in one for one in how.notes(record)) is (folder is not None)
    RecordOrigin(commit=head(tmp_path), source=tmp_path / "svc").check(record)
    refused = pytest.raises(InputError, match=r"opens 'scale' from .* and here that is '\.'; audit")
    for asks in ("commit", "source"):
        with refused if folder else contextlib.nullcontext():
            RecordOrigin._started(asks, record, tmp_path)
    monkeypatch.setattr(RecordOrigin, "_started", staticmethod(_refused))
    for asks, given in (("commit", head(tmp_path)), ("source", tmp_path / "svc")):
        with pytest.raises(InputError, match=f"{asks} svc"):
            RecordOrigin(**{asks: given}).check(record)


def _refused(asks, record, folder):
    raise InputError(f"{asks} {folder.name}")


COMMITS = """
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
try:
    from fast import SCALE
except ImportError:
    SCALE = 1.0
(HERE / "fast.py").write_text("SCALE = 0.0")
for step in (["add", "-A"], ["commit", "-qm", "two"]):
    subprocess.run(["git", "-C", HERE, "-c", "user.name=a", "-c", "user.email=a@b", *step], check=False)

def release(data, rng):
    return data.sum() + rng.laplace(0, SCALE)
"""


@writes_files
def test_a_record_is_of_the_commit_at_its_start(tmp_path, monkeypatch):
    """Broken variant: it is of a commit that is made while it runs, with a file that the code did not find.

    Control: of an audit after that.
    """
    (tmp_path / "mine.py").write_text(COMMITS)
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        git(tmp_path, *command)
    first = head(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path, "audit", "mine.py:release", "--epsilon", 1, "--runs", 400, "--json", "r.json")
    facts = vdp.verify("r.json").record["provenance"]["target"]
    assert (facts["commit"], first == head(tmp_path)) == (first, False)
    assert provenance.place(str(tmp_path / "mine.py"))["commit"] == first
    provenance.begun(str(tmp_path))
    assert provenance.place(str(tmp_path / "mine.py"))["commit"] == head(tmp_path)
