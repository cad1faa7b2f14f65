"""The command line in this process, for most of the time of a command is the start of Python."""

import contextlib
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from verifiable_dp.cli import main
from verifiable_dp.targets import loaded

CAGED = "TEST_CAGE" in os.environ  # whether audits run in a cage
writes_files = pytest.mark.skipif(CAGED, reason="its code writes files, as it cannot in a cage")
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
PATIENCE = 1800.0  # seconds after which a program that a test started counts as hung, whatever else runs


def run(folder, *arguments):
    """The result of a command that is given in a folder; it raises nothing but its exit."""
    # An audit of what a test file defines follows all test files if a function here names `modules`.
    known = vars(sys)["modules"]
    before = set(known)
    words = [str(argument) for argument in arguments]
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["verifiable-dp", *words])  # which the record names
        patched.setattr(loaded, "ran_before", lambda: "")  # as in a process of its own
        done = CliRunner().invoke(main, words)
    # What it imported from there is not what another test means by the same name.
    for name in set(known) - before:
        if Path(getattr(known[name], "__file__", None) or "/").is_relative_to(Path(folder).resolve()):
            del known[name]
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def finished(folder, *arguments, apart=False):
    """Exit status and output of a command, as `subprocess.run` has them; `apart` in a process of its own."""
    if apart:
        command = [SCRIPT, *map(str, arguments)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    done = run(folder, *arguments)
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


def refused(folder, *arguments):
    """The one line that is said, but for progress, which a slow machine shows."""
    done = run(folder, *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    (line,) = (line for line in done.stderr.splitlines() if not re.search(r" … \d+ s$", line))
    assert line.startswith("verifiable-dp: ")
    return line
