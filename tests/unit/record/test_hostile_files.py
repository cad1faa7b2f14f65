"""Files of strangers: read once, regular ones only, and refused before they take time or memory."""

import hashlib
import json
import os
import shutil
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import refused, run
from tests.small_records import small
from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.sealing import sealed, text
from verifiable_dp.record.verify import Verified, parsed, read, said_of, verify
from verifiable_dp.render import folders, portfolio

REPORTS = Path(__file__).parents[3] / "reports"


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
    assert first == "signature holds: Ed25519 key sha256:00"
    assert second.startswith("record of tree-sum: ")
    assert "; signature holds: Ed25519 key sha256:00; counts not run again" in second


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
    assert verify(read(good)) == verify(good)


# ---------------------------------------------------------------- regular files only


@pytest.mark.parametrize("command", [["verify"], ["render", "--to", "markdown"], ["sign", "--key", "pipe"]])
def test_a_pipe_is_refused_and_does_not_hang(command, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    said = refused(tmp_path, command[0], "pipe", *command[1:])
    assert "'pipe' is not a regular file" in said


def test_a_device_is_refused(tmp_path):
    with pytest.raises(InputError, match="'/dev/zero' is not a regular file"):
        read("/dev/zero")
    assert portfolio.find(tmp_path).records == {}


def test_a_pipe_with_a_writer_is_refused_too(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ends = [os.open(pipe, kind | os.O_NONBLOCK) for kind in (os.O_RDONLY, os.O_WRONLY)]
    try:
        os.write(ends[1], b"{}")
        with pytest.raises(InputError, match="is not a regular file"):
            read(pipe)
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
        with pytest.raises(InputError, match=rf"holds \d+ values, more than {files.MOST_VALUES}"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 128 << 20
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 5
    found = portfolio.find(tmp_path)
    assert "more than" in found.broken[path]


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
        (b'{"a": ' + b"9" * 300 + b"}", b'{"a": ' + b"9" * 301 + b"}", "beyond what a float holds"),
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
    with pytest.raises(InputError, match="it holds 4 values, more than 3"):
        files.check_values("record", b"[1,{}]", 3)


def test_values_of_an_honest_record_are_far_fewer():
    for path in REPORTS.glob("*/record.json"):
        files.check_values("record", path.read_bytes(), files.MOST_VALUES // 20)


def test_values_are_counted_by_the_signs_before_them():
    """An empty list or object counts as two: nothing is parsed."""
    files.check_values("record", b'[[0],{"a":1},1,2]', 7)
    with pytest.raises(InputError, match="holds 7 values, more than 6"):
        files.check_values("record", b'[[0],{"a":1},1,2]', 6)


# ---------------------------------------------------------------- what the line says


def test_the_line_says_what_was_not_checked(good):
    """Digest and schema also hold for a record with another target's counts."""
    record = json.loads(good.read_text("utf-8"))
    record["target"]["name"] = "another"
    found = verify(sealed(record))
    assert found.summary().startswith("record of another: digest and schema hold, ")
    assert found.summary().endswith("; no signature was looked for; counts not run again")
    again = Verified(found.record, 1, rerun=True, signature="signature holds: Ed25519 key sha256:1")
    assert again.summary().endswith(
        "; signature holds: Ed25519 key sha256:1; run again, every count is the same"
    )
    resumed = replace(
        found, record={**record, "provenance": {**record["provenance"], "resumed": {"steps": 3}}}
    )
    assert "; resumed from a checkpoint; no signature was looked for" in resumed.summary()
    assert said_of("", False, "number") == "no signature was looked for; numbers not run again"


def test_every_kind_of_data_file_says_so(tmp_path, good):
    line = run(tmp_path, "verify", REPORTS / "studies" / "S3" / "study.json").stdout
    assert line.endswith("; no signature found; numbers not run again\n")
    shutil.copy(good, tmp_path / "record.json")
    assert run(tmp_path, "verify", ".").stdout == (
        "1 of 1 files hold; no signature found; counts not run again\n"
    )


@pytest.mark.parametrize("content", ["a." * 100_000 + "a = 1", "x = " + "9" * 5000, "x = " + "[" * 100_000])
def test_hostile_settings_are_refused_soon(content, tmp_path):
    """Dotted keys take time with the square of their length; a long number is an error of its own kind."""
    (tmp_path / "x.toml").write_text(content, "utf-8")
    began = time.process_time()
    with pytest.raises(InputError, match="declarations: "):
        files.toml("declarations", tmp_path / "x.toml", 1 << 20)
    assert time.process_time() - began < 5
