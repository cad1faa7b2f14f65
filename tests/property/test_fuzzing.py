"""Files of strangers gone wrong: each is read or refused in one line, soon and in little memory."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import fuzzing
from tests.commands import PATIENCE
from verifiable_dp.core.validate import InputError

FILES = {
    "record": 1,  # each takes seconds
    "errata": 3,
    "study": 2,
    "mutants": 1,
    "portfolio": 2,
    "checkpoint": 20,
    "session": 15,
    "campaign": 20,
    "declarations": 30,
}


@pytest.fixture(scope="module")
def valid():
    return {name: fuzzing.READERS[name].valid() for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files_are_read_or_refused(name, valid, tmp_path):
    assert valid[name]
    for number in range(FILES[name]):
        content = fuzzing.contents(name, random.Random(f"canary {name} {number}"), valid[name])
        found = fuzzing.read(name, content, tmp_path)
        assert found is None, found.what


@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hypothesis_finds_no_declarations_that_break_their_reader(rng, valid, tmp_path):
    content = fuzzing.contents("declarations", rng, valid["declarations"])
    found = fuzzing.read("declarations", content, tmp_path)
    assert found is None, found.what


def test_every_reader_reads_what_holds(valid, tmp_path):
    """Else the canary would only show that everything is refused."""
    for name in ("record", "study", "checkpoint", "session", "campaign", "declarations"):
        path = tmp_path / "record.json"
        path.write_bytes(valid[name][0])
        fuzzing.READERS[name].read(path)


def test_the_canary_sees_what_it_looks_for(tmp_path, monkeypatch):
    """Negative control: a traceback, a message of several lines, and time."""

    def several(path):
        raise InputError("a\nb")

    for what, read in {"KeyError": lambda path: {}["x"], "a message of several lines": several}.items():
        monkeypatch.setitem(fuzzing.READERS, "broken", fuzzing.Reader(list, read, fuzzing.damaged))
        assert what in fuzzing.read("broken", b"", tmp_path).what
    monkeypatch.setitem(fuzzing.READERS, "slow", fuzzing.Reader(list, lambda path: None, fuzzing.damaged))
    monkeypatch.setattr(fuzzing, "SECONDS", -1.0)
    assert "s of processor time" in fuzzing.read("slow", b"", tmp_path).what


@pytest.mark.slow
def test_ten_minutes_of_hostile_files():
    """In a process of its own, whose memory is its own; VDP_FUZZ_SECONDS of processor time."""
    seconds = os.environ.get("VDP_FUZZ_SECONDS", "600")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzzing", "--seconds", seconds],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
