"""Declarations: a strict file, one form, and worlds that are neighbouring or not."""

import hashlib
import json
import os
import re
import shutil
import time
import tomllib
import tracemalloc
from dataclasses import replace as replace_of_files
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.commands import refused, run
from tests.small_records import small
from verifiable_dp.compliance import blocks
from verifiable_dp.core import files
from verifiable_dp.core.units import Unit
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import worth
from verifiable_dp.record.decision import decision
from verifiable_dp.record.declarations import STARTER, checked, given, read, starter
from verifiable_dp.record.model import Record, RelationEntry
from verifiable_dp.record.questions import QUESTIONS, answers
from verifiable_dp.record.sealing import digest, sealed, text
from verifiable_dp.record.verify import Verified, examine, parsed, said_of, verify
from verifiable_dp.record.verify import read as read_of_files
from verifiable_dp.record.worlds import neighbouring
from verifiable_dp.record.worth import AnswerState, lookup
from verifiable_dp.render import folders, portfolio
from verifiable_dp.report import Report

REPORTS = Path(__file__).parents[3] / "reports"
LONG = (REPORTS / "dp-se" / "record.json").read_text("utf-8")


def claiming(unit, kind=None):
    """A claim with this unit, about one event or about two."""
    claim = Record.of(json.loads(LONG)).claimed
    return replace(claim, unit=Unit(unit), relation=RelationEntry(kind=kind, size=2) if kind else None)


EVENT = claiming("reward")
CLIENT = claiming("client")
GROUP = claiming("group", "group")
USER = claiming("user", "user")


def test_the_starter_declares_nothing():
    assert checked(tomllib.loads(STARTER)) == {}


def test_every_example_of_the_starter_is_accepted():
    whole = checked(tomllib.loads(re.sub(r"^#(?=\S)", "", STARTER, flags=re.MULTILINE)))
    assert set(whole) == {one.id.partition(".")[0] for one in QUESTIONS}
    for one in QUESTIONS:
        assert lookup(whole, one.id) is not None, one.id
    assert [actor["trusted"] for actor in whole["actors"]] == [True, False]
    assert checked(whole) == whole


def test_the_starter_is_written_once(tmp_path):
    path = starter(tmp_path / "declarations.toml")
    assert read(path) == {}
    path.write_text('unprotected_outputs = ["mine"]\n')
    with pytest.raises(InputError, match="already exists; we do not overwrite it"):
        starter(path)
    with pytest.raises(InputError, match="already exists"):
        starter(tmp_path)
    assert read(path) == {"unprotected_outputs": ["mine"]}
    with pytest.raises(InputError, match="cannot be written"):
        starter(tmp_path / "none" / "a.toml")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("deployement = 1", "deployement is unknown; accepted: access_control, accounting, actors"),
        (
            "[deployment]\nmodle = 1",
            r"deployment\.modle is unknown; accepted: data_source, description, model",
        ),
        ('[deployment]\nmodel = "centre"', r"deployment\.model must be one of central, local, shuffle"),
        ("deployment = 3", "deployment must be a table"),
        ("[[actors]]\ntrusted = true", r"actors\[0\] must have role"),
        ('[[actors]]\nrole = "a"\ntrusted = "yes"', r"actors\[0\]\.trusted must be true or false"),
        ('[[actors]]\nrole = ""\ntrusted = true', r"actors\[0\]\.role must not be empty"),
        ('unprotected_outputs = "logs"', "unprotected_outputs must be a list"),
        ("unprotected_outputs = [1979-05-27]", r"unprotected_outputs\[0\] must be a text"),
        ("[contribution]\nmax_rounds_per_user = 0", "max_rounds_per_user must be an integer"),
        ("[contribution]\nmax_rounds_per_user = true", "max_rounds_per_user must be an integer"),
        ("[administrative]\ntier = 4", r"tier must be an integer in \[1, 3\]"),
        ("[deployment]\nproduction_commit = 'main'", "production_commit must match .*, got 'main'"),
        ("expires = 2026-13-01", "is not TOML"),
        ("expires = 'soon'", "expires must match"),
        ("[administrative]\nexpires = 2030-12-31", "administrative.expires is unknown"),
        ("[accounting]\ntotal_epsilon = -1", "total_epsilon must be"),
        ("[[unprotected_outputs]]\nwhat = 'x'", r"unprotected_outputs\[0\] must have readers"),
        ("actors = 3\nmodel = 1", "2 errors: actors is|2 errors: model is unknown.*; actors must be a list"),
        ("[[threat_hypotheses]]\nworld_0 = [0.0]", r"threat_hypotheses\[0\] must have world_1"),
        ("[[threat_hypotheses]]\nworld_0 = [nan]\nworld_1 = [0]", r"world_0 must be words, a list"),
        ("[[threat_hypotheses]]\nworld_0 = [[0], [0, 1]]\nworld_1 = [0]", "of one length"),
        ("[[threat_hypotheses]]\nworld_0 = [true]\nworld_1 = [0]", "'True' among them"),
        (f"unprotected_outputs = ['{'x' * 2001}']", "at most 2000 characters"),
        ("unprotected_outputs = [" + '"x",' * 201 + "]", "at most 200 items"),
        ("a = ", "is not TOML"),
        ("a = 1\na = 2", "is not TOML"),
        ("a = " + "[" * 3000, "is not TOML"),
        ("#" * (257 << 10), "larger than 256 KiB"),
    ],
)
def test_what_is_unknown_or_out_of_range_is_refused_in_one_line(text, match, tmp_path):
    path = tmp_path / "declarations.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=match) as error:
        read(path)
    assert str(error.value).startswith("declarations: ")
    assert "\n" not in str(error.value)


def test_no_file_and_no_text(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff")
    for path in (tmp_path / "none.toml", tmp_path, tmp_path / "a.toml"):
        with pytest.raises(InputError, match="declarations"):
            read(path)
    with pytest.raises(InputError, match="not a regular file"):
        read("/dev/zero")
    (tmp_path / "a.toml").write_bytes(b"#" * ((256 << 10) + 1))
    with pytest.raises(InputError, match="larger than 256 KiB"):
        read(tmp_path / "a.toml")


def test_values_paths_and_nothing(tmp_path):
    values = {"administrative": {"notes": " a "}}
    (tmp_path / "a.toml").write_text('[administrative]\nnotes = " a "\n')
    assert given(None) is None
    assert given(values) == given(str(tmp_path / "a.toml")) == {"administrative": {"notes": "a"}}


@pytest.mark.parametrize(
    ("claim", "left", "right", "neighbours", "words"),
    [
        (EVENT, [0, 1, 1], [0, 0, 1], True, "round 2 differs; the claim covers 1 reward"),
        (EVENT, [0, 1, 1], [1, 0, 1], False, "rounds 1, 2 differ; the claim covers 1 reward"),
        (EVENT, [[0, 1]], [[1, 0]], False, "round 1 differs; the claim covers 1 reward"),
        (CLIENT, [[0, 1]], [[1, 0]], True, "the claim covers 1 round"),
        (CLIENT, [[0, 1], [0, 1]], [[1, 0], [1, 1]], False, "the claim covers 1 round"),
        (GROUP, [0, 1, 1], [1, 0, 1], True, "the claim covers 2 rewards"),
        (GROUP, [0, 1, 1], [1, 0, 0], False, "the claim covers 2 rewards"),
        (USER, [[0, 1], [0, 1]], [[1, 0], [1, 0]], None, "if they are one user's"),
        (USER, [0, 1, 1], [1, 0, 0], False, "the claim covers 2 rounds"),
        (EVENT, [0, 1], [0, 1], False, "the same"),
        (EVENT, [0, 1], [0, 1, 1], False, "equal length"),
        (EVENT, [0, 1], [0, 1.5], False, "outside [0, 1]"),
        (EVENT, "clicked", [0, 1], None, "in words"),
        (EVENT, [0] * 9, [1] * 9, False, "rounds 1, 2, 3, 4, 5 and 4 more differ"),
    ],
)
def test_worlds_are_neighbouring_or_not(claim, left, right, neighbours, words):
    found, reason = neighbouring(left, right, claim, (0.0, 1.0))
    assert found is neighbours
    assert words in reason
    turned = neighbouring(right, left, claim, (0.0, 1.0))[0]
    assert turned is neighbours


@pytest.mark.parametrize("text", ["unprotected_outputs = []\n", "unprotected_outputs = []\r\n"])
def test_files_of_windows_editors_are_read(text, tmp_path):
    """They begin with a byte order mark, or end their lines with two characters."""
    path = tmp_path / "declarations.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read(path) == {"unprotected_outputs": []}


# ---------------------------------------------------------------- joined to a record


@pytest.fixture
def report():
    whole = Report.load(REPORTS / "tree-sum" / "record.json")
    return whole.declare(
        {"unprotected_outputs": ["server logs"], "administrative": {"authors": ["A. Author"]}}
    )


def test_a_report_takes_other_declarations(report, tmp_path):
    (tmp_path / "mine.toml").write_text('[administrative]\nstatus = "final"\n')
    before = json.dumps(report.record)
    new = report.declare({"administrative": {"status": "final"}})
    assert new.record == report.declare(tmp_path / "mine.toml").record
    assert new.record["declarations"] == {"administrative": {"status": "final"}}
    assert blocks.of(new.record)["report_status"] == "final"
    assert examine(new.record) == examine(report.record) > 0
    for key in set(new.record) - {"digest", "declarations"}:
        assert new.record[key] == report.record[key], key
    assert new.record["digest"] == digest(new.record) != report.record["digest"]
    assert json.dumps(report.record) == before


def test_the_declarations_of_before_give_the_record_of_before(report):
    between = report.declare({})
    assert between.record["declarations"] == {}
    assert between.declare(report.record["declarations"]).record == report.record


def test_an_edited_report_takes_none(report):
    """Else a new digest would cover the edit."""
    declared = {"administrative": {"status": "final"}}
    for key, value in (("epsilon_lower", 9.0), ("seed", 9), ("digest", "sha256:" + "0" * 64)):
        with pytest.raises(InputError, match="edited or corrupted"):
            Report({**report.record, key: value}).declare(declared)
    sealed = {**report.record, "verdict": "refuted"}
    with pytest.raises(InputError, match="verdict is"):
        Report({**sealed, "digest": digest(sealed)}).declare(declared)


def test_what_a_report_does_not_take(report, tmp_path):
    for wrong, words in (({"actor": 1}, "actor is unknown"), (tmp_path / "none.toml", "cannot be read")):
        with pytest.raises(InputError, match=words):
            report.declare(wrong)


def test_places_of_the_template_are_refused_all_at_once_in_a_file(tmp_path):
    """Control: the same keys in words of one's own, even those that the template suggests, are read."""
    path = tmp_path / "d.toml"
    path.write_text(re.sub(r"^#(?=\S)", "", STARTER, flags=re.MULTILINE), "utf-8")
    with pytest.raises(InputError, match="has not been filled in") as error:
        read(path)
    said = str(error.value)
    assert said.count("has not been filled in") == STARTER.count("<") - 1 == 22  # "<...>" in its head
    assert said.startswith("declarations: 22 errors: unprotected_outputs.0.what has not been filled in")
    own = """
expires = 2027-01-31
actors = [{ role = "reader", trusted = false, assumption = "sees all actions" }]
[data_security]
statement = "raw rewards are encrypted at rest"
[administrative]
authors = ["A. Author"]
"""
    path.write_text(own, "utf-8")
    found = read(path)
    assert found["actors"][0]["assumption"] == "sees all actions"
    assert found["administrative"] == {"authors": ["A. Author"]}
    assert found["expires"] == "2027-01-31"


# ---------------------------------------------------------------- what an answer is worth

NEAR = {"world_0": [[0.0, 1.0]], "world_1": [[0.0, 0.0]]}
FAR = {"world_0": [[0.0, 1.0]], "world_1": [[1.0, 0.0]]}
OK, HOLE, OPEN = AnswerState.ACCEPTABLE, AnswerState.HOLE, AnswerState.OPEN
READER = [{"role": "a", "trusted": True}, {"role": "b", "trusted": False, "assumption": "sees no raw data"}]
COMMIT = Record.of(json.loads(LONG)).provenance.commit


@pytest.mark.parametrize(("name", "state"), [("tree-sum", OPEN), ("dp-se", OK)])
def test_an_interactive_use_needs_an_adversary_that_was_tried(name, state):
    """Control: with one it is acceptable."""
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    record |= {"declarations": {"deployment": {"query_model": "interactive"}}}
    assert [one.state for one in answers(Record.of(record)) if one.given] == [state]


@pytest.mark.parametrize(
    ("key", "value", "state", "beside"),
    [
        ("unprotected_outputs", [], OK, {}),
        ("unprotected_outputs", [{"what": "logs", "readers": "trusted"}], OK, {}),
        ("unprotected_outputs", [{"what": "logs", "readers": "others"}], HOLE, {}),
        ("unprotected_outputs", [{"what": "a public board", "readers": "public"}], HOLE, {}),
        ("unprotected_outputs", [{"what": "published to trusted analysts", "readers": "trusted"}], OK, {}),
        ("unprotected_outputs", ["server logs"], HOLE, {}),
        ("unprotected_outputs", ["server logs", "raw clicks with user ids"], HOLE, {}),
        ("deployment.model", "central", OK, {}),
        ("deployment.model", "local", HOLE, {}),
        ("deployment.production_commit", COMMIT.upper(), OK, {}),
        ("deployment.production_commit", COMMIT[:12], OPEN, {}),
        ("deployment.production_commit", "0" * 12, HOLE, {}),
        ("deployment.query_model", "non-interactive", OK, {}),
        ("actors", [{"role": "a", "trusted": True}], OK, {}),
        ("actors", [{"role": "a", "trusted": False}], HOLE, {}),
        ("actors", [], OPEN, {}),
        ("actors", READER, OPEN, {}),
        ("actors", READER, OK, {"access_control": {"readers": "nobody"}}),
        ("threat_hypotheses", [NEAR], OK, {}),
        ("threat_hypotheses", [NEAR, FAR], HOLE, {}),
        ("contribution.max_rounds_per_user", 10, OK, {}),
        ("contribution.max_rounds_per_user", 11, HOLE, {}),
        ("contribution.max_rounds_per_user", 11, HOLE, {"accounting": {"total_epsilon": 5.0}}),
        ("contribution.enforced_by", "a cap", OK, {}),
        ("contribution.enforced_by", "nothing", HOLE, {}),
        ("contribution.enforced_by", "unknown", OPEN, {}),
        ("accounting.why_epsilon", "n/a", OPEN, {}),
        ("accounting.total_epsilon", 10.0, OK, {}),
        ("accounting.total_epsilon", 10.1, HOLE, {}),
        ("accounting.total_epsilon", 0.5, HOLE, {}),
        ("accounting.post_processing", "none", OK, {}),
        ("data_security.encrypted", True, OK, {}),
        ("data_security.encrypted", False, HOLE, {}),
        ("data_security.statement", "encrypted at rest", OPEN, {}),
        ("data_security.statement", "none", HOLE, {}),
        ("data_security.statement", "None.", OPEN, {"data_security": {"encrypted": True}}),
        ("data_security.statement", "tbd", OPEN, {}),
        ("data_security.statement", "not readable by anyone", OK, {"data_security": {"encrypted": True}}),
        ("access_control.readers", "anyone", HOLE, {}),
        ("access_control.readers", "named people", OK, {}),
        ("access_control.readers", "named people", HOLE, {"deployment": {"model": "local"}}),
        ("access_control.readers", "nobody", OK, {"deployment": {"model": "local"}}),
        ("access_control.statement", "anybody may look", OPEN, {}),
        ("access_control.statement", "published only here", OK, {"access_control": {"readers": "nobody"}}),
        ("data_minimisation.kept_days", 365, OK, {}),
        ("data_minimisation.kept_days", 366, OPEN, {}),
        ("data_minimisation.kept_days", 36_501, HOLE, {}),
        ("data_minimisation.statement", "kept indefinitely", OPEN, {}),
        ("data_minimisation.statement", "never deleted later than 30 days", OPEN, {}),
        (
            "data_minimisation.statement",
            "never deleted later than 30 days",
            OK,
            {"data_minimisation": {"kept_days": 30}},
        ),
        ("expires", "2020-01-01", HOLE, {}),
        ("expires", "2099-01-01", OK, {}),
        ("administrative.reviewers", ["B"], OK, {}),
        ("administrative.reviewers", [], OPEN, {}),
    ],
)
def test_an_answer_is_acceptable_a_hole_or_open(key, value, state, beside):
    table, _, name = key.rpartition(".")
    declared = {**beside, **({table: {**beside.get(table, {}), name: value}} if table else {key: value})}
    record = Record.of({**json.loads(LONG), "declarations": checked(declared)})
    found = {one.question.id: one for one in answers(record)}
    assert (found[key].state, found[key].why != "") == (state, True)
    assert (key in decision(record).holes) == (state is HOLE)
    assert {one.state for one in found.values() if not one.given} == {OPEN}


def test_rounds_that_the_audited_instance_does_not_have_are_open():
    record = Record.of(json.loads(LONG))
    record.target.parameters["horizon"] = 7
    assert worth.rounds(7, record)[0] is OK
    state, why = worth.rounds(8, record)
    assert (state, why.endswith("the audited instance ends after 7")) == (OPEN, True)


def test_a_total_that_is_enforced_settles_many_rounds_and_an_author_is_no_reviewer():
    whole = Report.load(REPORTS / "dp-se" / "record.json")
    declared = {
        "contribution": {"max_rounds_per_user": 100_000, "enforced_by": "a budget per account"},
        "accounting": {"total_epsilon": 5.0},
        "administrative": {"authors": ["A"], "reviewers": ["A"]},
        "data_security": {"encrypted": True, "statement": "encrypted at rest"},
    }
    record = whole.declare(declared).parsed
    found = {one.question.id: one.state for one in answers(record) if one.given}
    assert decision(record).holes == ()
    assert found.pop("administrative.reviewers") is OPEN
    assert set(found.values()) == {OK}


# Files of strangers: read once, regular ones only, and refused before they take time or memory.


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "record.json"
    path.write_text(text(small()), "utf-8")
    return path


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    path = tmp_path_factory.mktemp("other") / "record.json"
    path.write_text(text(small(0.5)), "utf-8")
    return path


@pytest.fixture
def reads(monkeypatch, other):
    """Every content that is read, by name; after it was read, its file is another one."""
    found = []
    real = files.content

    def content(what, path, largest, **more):
        taken = real(what, path, largest, **more)
        found.append(Path(path).name)
        if Path(path).name == "r.json":
            shutil.copy(other, path)
        return taken

    monkeypatch.setattr(files, "content", content)
    return found


# ---------------------------------------------------------------- read once


def test_what_is_signed_is_what_is_judged(tmp_path, reads, monkeypatch, good):
    """A file that changes between two reads would have one record's signature and another one's verdict."""
    pytest.importorskip("cryptography")
    from verifiable_dp.record import signing

    shutil.copy(good, tmp_path / "r.json")
    seen = []

    def check(record, key, signature):
        seen.append(record["digest"])
        return "sha256:00"

    monkeypatch.setattr(signing, "check", check)
    done = run(tmp_path, "verify", "r.json", "--key", "k.pem")
    assert done.exit_code == 0, done.stderr
    assert seen == [json.loads(good.read_text("utf-8"))["digest"]]
    assert reads == ["r.json"]
    first, second = done.stdout.splitlines()
    assert first == "valid signature: Ed25519 key sha256:00"
    assert second.startswith("record of tree-sum: ")
    assert "; valid signature: Ed25519 key sha256:00; the runs were not repeated" in second


@pytest.mark.parametrize("command", [["render", "r.json", "--to", "in-toto"], ["verify", "r.json"]])
def test_every_command_reads_a_record_once(command, tmp_path, reads, good):
    shutil.copy(good, tmp_path / "r.json")
    assert run(tmp_path, *command).exit_code == 0
    assert reads == ["r.json"]


def test_an_in_toto_statement_is_about_the_bytes_that_were_verified(tmp_path, reads, good, other):
    shutil.copy(good, tmp_path / "r.json")
    done = run(tmp_path, "render", "r.json", "--to", "in-toto")
    assert done.exit_code == 0, done.stderr
    assert hashlib.sha256(good.read_bytes()).hexdigest() in done.stdout
    assert hashlib.sha256(other.read_bytes()).hexdigest() not in done.stdout


def test_folders_are_compared_as_they_were_read_first(tmp_path, reads, good, other):
    for side, source in (("old", good), ("new", other)):
        (tmp_path / side).mkdir()
        shutil.copy(source, tmp_path / side / "r.json")
    found = folders.compare(tmp_path / "old", tmp_path / "new")
    assert reads == ["r.json", "r.json"]
    assert [file.status for file in found.files] == ["differs"]


def test_values_that_were_read_are_verified_as_they_are(good):
    assert verify(read_of_files(good)) == verify(good)


# ---------------------------------------------------------------- regular files only


@pytest.mark.parametrize("command", [["verify"], ["render", "--to", "markdown"], ["sign", "--key", "pipe"]])
def test_a_pipe_is_refused_and_does_not_hang(command, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    said = refused(tmp_path, command[0], "pipe", *command[1:])
    assert "'pipe' is not a regular file" in said


def test_a_device_is_refused(tmp_path):
    with pytest.raises(InputError, match="'/dev/zero' is not a regular file"):
        read_of_files("/dev/zero")
    assert portfolio.find(tmp_path).records == {}


def test_a_pipe_with_a_writer_is_refused_too(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ends = [os.open(pipe, kind | os.O_NONBLOCK) for kind in (os.O_RDONLY, os.O_WRONLY)]
    try:
        os.write(ends[1], b"{}")
        with pytest.raises(InputError, match="is not a regular file"):
            read_of_files(pipe)
    finally:
        for end in ends:
            os.close(end)


# ---------------------------------------------------------------- bombs


def bomb(path, unit, size):
    with path.open("wb") as file:
        file.write(b"[" + unit)
        block = (b"," + unit) * 100_000
        while file.tell() < size:
            file.write(block)
        file.write(b"]")


@pytest.mark.parametrize("unit", [b"{}", b"[]", b"0", b'{"a":0}', b'""'])
def test_a_file_of_many_values_is_refused_before_it_is_parsed(unit, tmp_path):
    """60 MiB of ``[{},{},...]`` took 64 s and 3.2 GB."""
    path = tmp_path / "record.json"
    bomb(path, unit, 60 << 20)
    began = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=rf"contains \d+ values, but at most {files.MOST_VALUES} are"):
            read_of_files(path)
        assert tracemalloc.get_traced_memory()[1] < 128 << 20
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 5
    found = portfolio.find(tmp_path)
    assert "at most" in found.broken[path]


def nested(levels):
    return b'{"a": ' * (levels - 1) + b"1" + b"}" * (levels - 1)


@pytest.mark.parametrize(
    ("largest", "beyond", "words"),
    [
        (nested(64), nested(65), "nested too deeply"),
        (
            b'{"a": ' + b"[" * 62 + b"1" + b"]" * 62 + b"}",
            b'{"a": ' + b"[" * 63 + b"1" + b"]" * 63 + b"}",
            "too deeply",
        ),
        (b'{"a": ' + b"9" * 300 + b"}", b'{"a": ' + b"9" * 301 + b"}", "too large for a float"),
    ],
    ids=["objects", "lists", "digits"],
)
def test_limits_hold_to_the_last_one(largest, beyond, words):
    assert parsed("r.json", largest)
    with pytest.raises(InputError, match=words):
        parsed("r.json", beyond)


def test_the_largest_file_is_read_and_no_larger_one(tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(b"x" * 2048)
    assert files.content("record", path, 2048) == b"x" * 2048
    with pytest.raises(InputError, match="KiB"):
        files.content("record", path, 2047)
    files.check_values("record", b"[1,{}]", 4)
    with pytest.raises(InputError, match="it contains 4 values, but at most 3 are"):
        files.check_values("record", b"[1,{}]", 3)


def test_values_of_an_honest_record_are_far_fewer():
    for path in REPORTS.glob("*/record.json"):
        files.check_values("record", path.read_bytes(), files.MOST_VALUES // 20)


def test_values_are_counted_by_the_signs_before_them():
    """An empty list or object counts as two: nothing is parsed."""
    files.check_values("record", b'[[0],{"a":1},1,2]', 7)
    with pytest.raises(InputError, match="contains 7 values, but at most 6 are"):
        files.check_values("record", b'[[0],{"a":1},1,2]', 6)


# ---------------------------------------------------------------- what the line says


def test_the_line_says_what_was_not_checked(good):
    """Digest and schema also hold for a record with another target's counts."""
    record = json.loads(good.read_text("utf-8"))
    record["target"]["name"] = "another"
    found = verify(sealed(record))
    assert found.summary().startswith("record of another: digest and schema are valid, ")
    assert found.summary().endswith("; no signature was looked for; the runs were not repeated")
    again = Verified(found.record, 1, rerun=True, signature="valid signature: Ed25519 key sha256:1")
    assert again.summary().endswith("; valid signature: Ed25519 key sha256:1; rerun: every count is the same")
    resumed = replace_of_files(
        found, record={**record, "provenance": {**record["provenance"], "resumed": {"steps": 3}}}
    )
    assert "; resumed from a checkpoint; no signature was looked for" in resumed.summary()
    assert said_of("", False, "number") == "no signature was looked for; the runs were not repeated"


def test_every_kind_of_data_file_says_so(tmp_path, good):
    line = run(tmp_path, "verify", REPORTS / "studies" / "S3" / "study.json").stdout
    assert line.endswith("; no signature found; the runs were not repeated\n")
    shutil.copy(good, tmp_path / "record.json")
    assert run(tmp_path, "verify", ".").stdout == (
        "1 of 1 files are valid; no signature found; the runs were not repeated\n"
    )


@pytest.mark.parametrize("content", ["a." * 100_000 + "a = 1", "x = " + "9" * 5000, "x = " + "[" * 100_000])
def test_hostile_settings_are_refused_soon(content, tmp_path):
    """Dotted keys take time with the square of their length; a long number is an error of its own kind."""
    (tmp_path / "x.toml").write_text(content, "utf-8")
    began = time.process_time()
    with pytest.raises(InputError, match="declarations: "):
        files.toml("declarations", tmp_path / "x.toml", 1 << 20)
    assert time.process_time() - began < 5
