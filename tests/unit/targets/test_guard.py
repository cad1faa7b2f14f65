"""While a user's code runs: output, exits and changes of modules stay under control."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from verifiable_dp import api
from verifiable_dp.core.validate import InputError, one_line, printable
from verifiable_dp.targets import guard
from verifiable_dp.targets.guard import guarded, watched

HOSTILE = """
import json
import os
import sys
import numpy as np

def right(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, 1, size)

def exits(data, size, rng):
    sys.exit(0)

def leaves(data, size, rng):
    os._exit(0)

def deep(data, size, rng):
    return deep(data, size, rng)

class Odd(BaseException):
    pass

def odd(data, size, rng):
    raise Odd("red \\x1b[31m")

class Mute(Exception):
    def __str__(self):
        raise ValueError

def mute(data, size, rng):
    raise Mute

def long(data, size, rng):
    raise ValueError("x" * 10**6)

def meddles(data, size, rng):
    json.dumps = lambda *given, **named: "{}"
    return right(data, size, rng)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hostile_targets.py"
    path.write_text(HOSTILE)
    yield path
    sys.modules.pop("hostile_targets", None)
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits", "SystemExit: 0"),
        ("leaves", r"SystemExit: os._exit(0)"),
        ("deep", "RecursionError"),
        ("odd", r"Odd: red \x1b[31m"),
        ("mute", "its message cannot be read"),
        ("long", "…"),
        ("meddles", "it replaced json.dumps"),
    ],
)
def test_hostile_code_ends_in_one_clear_line(name, said, file):
    before = json.dumps
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        api.audit(f"{file}:{name}", epsilon=1, budget="smoke", runs=400)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()
    assert json.dumps is before
    assert os._exit.__module__ == "posix"


def test_guards_of_threads_may_overlap():
    first, second = guarded(), guarded()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert os._exit.__module__ != "posix"  # else the next line ends pytest, with status 0
    with pytest.raises(SystemExit):
        os._exit(0)
    second.__exit__(None, None, None)
    assert os._exit.__module__ == "posix"


def test_right_code_in_the_same_file_is_audited(file):
    assert api.audit(f"{file}:right", epsilon=1, budget="smoke", runs=400).verdict != "refuted"


@pytest.mark.parametrize("line", ["json.loads = None", "json.JSONEncoder.encode = None", "del json.dump"])
def test_a_file_that_replaces_json_when_it_is_imported_is_refused(line, file):
    kept = (json.loads, json.JSONEncoder.encode, json.dump)
    file.write_text(f"{HOSTILE}\n{line}\n")
    with pytest.raises(InputError, match="on which the record depends"):
        api.audit(f"{file}:right", epsilon=1, budget="smoke", runs=400)
    assert (json.loads, json.JSONEncoder.encode, json.dump) == kept


def test_what_was_replaced_before_is_nobodys_fault(monkeypatch):
    monkeypatch.setattr(hashlib, "sha1", None)
    with watched():
        pass


def test_an_error_of_the_target_goes_before():
    before = json.dumps

    @watched()
    def fails():
        json.dumps = None
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert json.dumps is before


def test_output_goes_to_stderr_escaped(capsys):
    with guarded():
        print("a\x1b[2Jb\tc")
        sys.stdout.buffer.write(b"\xff\x07")
        sys.stderr.write("\u202ed\r\n")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "target | a\\x1b[2Jb\tc\ntarget | \\xff\\x07\\u202ed\\r\n"


def test_too_much_output_is_cut_once(capsys):
    with watched(), guarded():
        for _ in range(40):
            print("x" * 10_000)
    err = capsys.readouterr().err
    assert err.count("no more is shown") == 1
    assert len(err) < guard._MOST + 200
    with watched(), guarded():
        for _ in range(1000):
            print("sums", 5.0)
    assert capsys.readouterr().err.count("target | sums 5.0") < 80  # a screen or two
    with watched(), guarded():  # the next audit has its own allowance
        print("y")
    assert capsys.readouterr().err == "target | y\n"


def test_what_is_relayed_can_be_flushed_and_closed(capsys):
    """Python 3.13 says what goes wrong where a stream is closed because nobody holds it any more."""
    with guard.relayed() as shown:
        print("x", end="", file=shown, flush=True)
        shown.close()
    assert capsys.readouterr().err == "target | x\n"


def test_a_closed_stderr_stops_nothing(monkeypatch, tmp_path):
    with (tmp_path / "err").open("w") as closed:
        pass
    monkeypatch.setattr(sys, "stderr", closed)
    with guarded():
        print("x", flush=True)


def test_a_forked_child_may_leave():
    code = (
        "import os\nfrom verifiable_dp.targets.guard import guarded\n"
        "with guarded():\n    child = os.fork()\n    if child == 0:\n        os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"


def test_the_working_directory_is_put_back(tmp_path):
    here = Path.cwd()
    with guarded():
        os.chdir(tmp_path)
    assert Path.cwd() == here


def test_plain_text_stays_as_it_is():
    text = "ε ≤ 1, “quoted”, tab\tand\nlines – ünï"
    assert printable(text) == text
    assert printable("\x9b1m\x7f\u2066") == "\\x9b1m\\x7f\\u2066"
    assert one_line(ValueError("two\nlines")) == "ValueError: two lines"
