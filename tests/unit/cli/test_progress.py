"""Progress of the command line without a terminal: few lines, none of them the last that is lost."""

import itertools
import os
import re

import pytest

from verifiable_dp.cli import shell


@pytest.fixture
def written(monkeypatch, capfd):
    """Lines that messages at given seconds leave on stderr."""

    def lines(messages):
        clock = [0.0]
        monkeypatch.setattr(shell.time, "monotonic", lambda: clock[0])
        with shell.progressing() as progress:
            for second, message in messages:
                clock[0] = second
                progress(message)
        return capfd.readouterr().err.splitlines()

    return lines


def test_eleven_lines_a_second_become_one_in_five_seconds(written):
    lines = written(
        (second, f"mutants: {round(11 * second)} of 660") for second in (i / 11 for i in range(661))
    )
    seconds = [int(re.fullmatch(r"mutants: \d+ of 660 … (\d+) s", line)[1]) for line in lines]
    assert lines[-1] == "mutants: 660 of 660 … 60 s"
    assert len(lines) == 13
    assert min(b - a for a, b in itertools.pairwise(seconds[:-1])) >= 5


def test_each_stage_and_what_is_said_of_the_checkpoint_is_shown(written):
    said = ["black box: 200 runs", "checkpoint: 'c' cannot be written any more", "power on mutants"]
    assert len(written((3 + i / 10, message) for i, message in enumerate(said))) == 3


def test_what_is_quick_says_nothing(written):
    assert written([(0.1, "first runs"), (1.9, "tracing")]) == []


def test_what_is_written_to_stdout_meanwhile_goes_to_stderr(capfd):
    """As by C code, past `sys.stdout`: results alone are there."""
    with shell.progressing():
        os.write(1, b"meanwhile\n")
    os.write(1, b"afterwards\n")
    said = capfd.readouterr()
    assert (said.out, "meanwhile" in said.err) == ("afterwards\n", True)
