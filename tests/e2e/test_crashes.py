"""An error of the program is never a verdict: status 70, one line, and the traceback in a file elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import run
from verifiable_dp import api
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.core import crash
from verifiable_dp.record.sealing import sealed
from verifiable_dp.report import Report

ROOT = Path(__file__).parents[2]
LINE = re.compile(
    r"verifiable-dp: internal error, which says nothing about the claim: (.*); the traceback is in (.*)\n"
)


def breaks(*arguments, **options):
    raise TypeError("two\nlines")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, apart from the one of the audit."""
    place, folder = tmp_path / "temporary", tmp_path / "evidence"
    place.mkdir()
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place, folder


@pytest.mark.parametrize("error", [TypeError("two\nlines"), MemoryError(), RecursionError("deep")])
def test_a_crash_is_told_in_one_line(error, temporary, monkeypatch):
    def breaks(*arguments, **options):
        raise error

    place, folder = temporary
    monkeypatch.setattr(api, "audit", breaks)
    done = run(folder, "audit", "tree-sum", "--json", "r.json")
    assert done.exit_code == crash.STATUS == 70
    assert done.stdout == ""
    said, path = LINE.fullmatch(done.stderr).groups()
    assert said.startswith(type(error).__name__)
    whole = Path(path).read_text("utf-8")
    assert Path(path).is_relative_to(place)
    assert "Traceback (most recent call last)" in whole
    assert "raise error" in whole
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("json", [("--json", "r.json"), ()], ids=["file", "shown"])
def test_a_record_of_ours_that_does_not_hold_is_a_crash(json, temporary, monkeypatch):
    _, folder = temporary
    made = api.audit

    def broken(*arguments, **options):
        report = made(*arguments, **options)
        return Report(sealed({**report.record, "plan": {**report.record["plan"], "unheard": 1}}))

    monkeypatch.setattr(api, "audit", broken)
    done = run(folder, "audit", "tree-sum", "--budget", "smoke", *json)
    assert done.exit_code == 70
    assert "does not fit the schema: plan" in done.stderr
    assert list(folder.iterdir()) == []


def test_without_a_place_for_it_the_traceback_follows(temporary, monkeypatch):
    _, folder = temporary
    monkeypatch.setattr(api, "audit", breaks)
    monkeypatch.setattr("tempfile.tempdir", str(folder))  # as where no other folder can be written
    done = run(folder, "audit", "tree-sum")
    assert done.exit_code == 70
    assert "no file can be written" in done.stderr
    assert "Traceback (most recent call last)" in done.stderr
    monkeypatch.setattr("tempfile.tempdir", str(folder / "missing"))
    assert "no file can be written" in run(folder, "audit", "tree-sum").stderr
    assert list(folder.iterdir()) == []


def test_what_cannot_be_imported_is_a_crash():
    code = "import sys; sys.modules['click'] = None; from verifiable_dp.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "list"], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert LINE.fullmatch(done.stderr)[1].startswith("ModuleNotFoundError: import of click halted")


def test_the_lowest_click_that_is_declared_will_do():
    """Its types are not generic, and it has no error for a missing command."""
    older = "import click; click.ParamType = object; del click.exceptions.NoArgsIsHelpError"
    code = f"{older}; from verifiable_dp.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage:")


def test_errors_of_a_users_code_stay_unusable_input(tmp_path):
    (tmp_path / "mine.py").write_text("def release(data, rng):\n    return data + missing\n", "utf-8")
    done = run(tmp_path, "audit", "mine.py:release", "--epsilon", 1, "--runs", 400)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "NameError: name 'missing' is not defined" in line


def test_one_target_of_a_campaign_that_crashes_leaves_the_others(temporary, monkeypatch):
    _, folder = temporary
    whole, audit = "[defaults]\nbudget = 0.02\nmutants = false\n", api.audit
    whole += "".join(f'[[targets]]\nname = "{name}"\ntarget = "tree-sum"\nseed = 1\n' for name in ("a", "b"))
    (folder / "c.toml").write_text(whole, "utf-8")
    calls = []

    def once(*arguments, **options):
        calls.append(1)
        return breaks() if len(calls) == 1 else audit(*arguments, **options)

    monkeypatch.setattr(campaign_file.api, "audit", once)
    done = run(folder, "campaign", "c.toml", "--out", "out")
    assert done.exit_code == 2
    assert "a: internal error" in done.stderr
    assert (folder / "out/b/record.json").is_file()


@pytest.mark.parametrize("argument", ["n_arms=2", "name=x", "horizon=2048"])
def test_a_parameter_may_have_any_name(argument, tmp_path):
    given = ("--scaling", "T=log", "--runs", 8, "--values", "T=256,512,1024,2048")
    done = run(tmp_path, "regret", "ucb1", "--set", argument, *given)
    assert done.exit_code in ((2,) if argument == "name=x" else (0, 1, 3)), done.stderr


ODD = """
import sys

def release(data, size, rng):
    return data + rng.laplace(0, 1, size)

def unpaired(data, size, rng):
    return release(data, size, rng)

def none(data, size, rng):
    return release(data, size, rng)

unpaired.neighbours, none.neighbours = [1, 2], []

def bound(gaps, horizon):
    sys.exit(1)
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("audit odd.py:unpaired --epsilon 1 --own-neighbours", "neighbours must be a list of pairs"),
        ("audit odd.py:none --epsilon 1 --own-neighbours", "neighbours must be a list of pairs"),
        # Its status would have been that of a contradiction.
        ("regret ucb1 --bound odd.py:bound --horizon 1024 --runs 2", "ended the program in"),
        ("simulate dp-se --horizon 1000000000000000000000", "horizon must be an integer in"),
        ("sign . --key odd.py", "'odd.py' is not a private PEM key"),
        ("audit odd.py:release --rho 1e300 --delta 2", "delta must lie in"),
    ],
)
def test_odd_input_is_unusable(arguments, said, tmp_path):
    (tmp_path / "odd.py").write_text(ODD, "utf-8")
    done = run(tmp_path, *arguments.split())
    (line,) = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in line


@pytest.mark.parametrize(
    "option", ["--rho 1e300", "--rho 300", "--epsilon 800 --curve", "--epsilon 800 --sequential"]
)
def test_a_promise_whose_exponential_overflows_is_unusable(option, tmp_path):
    (tmp_path / "odd.py").write_text(ODD, "utf-8")
    done = run(tmp_path, "audit", "odd.py:release", *option.split(), "--budget", "smoke")
    assert done.exit_code == 2
    assert "epsilon must be at most 150 with `sequential`, `curve` or `rho`" in done.stderr


def test_no_command_is_unusable(tmp_path):
    done = run(tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Usage:" in done.stderr


@pytest.mark.parametrize("status", [0, 1, 2, 3, 70, 127, 139])
def test_in_ci_only_a_record_makes_a_verdict(status, tmp_path):
    """A program that leaves no record; those that leave one are in `tests/packaging/test_action.py`."""
    program = tmp_path / "bin" / "verifiable-dp"
    program.parent.mkdir()
    line = 'echo "verifiable-dp: internal error, which says nothing" >&2; '
    program.write_text(f"#!/bin/bash\n{line if status == 70 else ''}exit {status}\n", "utf-8")
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", str(ROOT / "ci/audit.sh"), "--epsilon", "1"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "TARGETS": "mine.py:release"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    summary = (tmp_path / "audit-reports/summary.md").read_text("utf-8")
    assert ("internal error" if status == 70 else f"exit status {status}") in summary
    assert "`mine.py:release:" in summary
