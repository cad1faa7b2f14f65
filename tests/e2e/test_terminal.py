"""Commands in a real terminal: the spinner stays on its line, also while the audited code prints."""

import os
import pty
import select
import signal
import subprocess
import sys

import pytest

from tests.commands import PATIENCE, SCRIPT

# From the first stage on, so that no test depends on how long a command takes.
AT_ONCE = "from verifiable_dp import cli; cli.shell._PATIENCE = -1.0; cli.main()"
MANY = 3000  # lines after which a command is ended; far more than any of these writes
SILENT = 120  # seconds; a spinner that turns writes twelve times in one
SPINNER = b"\x1b[?25l"  # it hides the cursor

CODE = r"""
import numpy as np

# Without noise: the first look refutes it, which is soon.
def play(rewards, rng):
    half = len(rewards) // 2
    return np.r_[rng.integers(0, 2, half), np.full(half, rewards[:half].sum(axis=0).argmax())]

def loud(rewards, rng):
    print("a line\n" * 20)
    return play(rewards, rng)

def release(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with code to audit."""
    (tmp_path / "mine.py").write_text(CODE, "utf-8")
    return tmp_path


def in_terminal(folder, *arguments):
    """What a command writes to a terminal; it is ended after too many lines, or none at all."""
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    command = [sys.executable, "-c", AT_ONCE, *map(str, arguments)]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=its, stdout=its, stderr=its, start_new_session=True
    )
    os.close(its)
    written = b""
    try:
        while written.count(b"\n") <= MANY:
            assert select.select([ours], [], [], SILENT)[0], f"it hangs, after {written[-500:]!r}"
            try:
                written += os.read(ours, 1 << 16)
            except OSError:  # its end is closed
                break
        return written
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
        os.close(ours)


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "mine.py:play", "--epsilon", 1, "--arms", 2, "--horizon", 8, "--runs", 800),
        pytest.param(("audit", "mine.py:release", "--epsilon", 1, "--runs", 800), marks=pytest.mark.slow),
        pytest.param(
            ("selftest", "--only", "laplace", "--only", "noisy-max-laplace", "--budget", 0.2),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:2])),
)
def test_a_spinner_takes_no_lines(arguments, folder):
    # Negative control: with rich's own proxy as `rich_proxied_file` it writes thousands of lines, or hangs.
    written = in_terminal(folder, *arguments)
    assert SPINNER in written
    assert written.count(b"\n") < 40, written[-2000:].decode()


def test_code_that_prints_much_leaves_the_spinner_alone(folder):
    written = in_terminal(
        folder, *("audit", "mine.py:loud", "--epsilon", 1, "--arms", 2, "--horizon", 8, "--runs", 800)
    )
    assert SPINNER in written
    # Its lines stand alone, above the spinner; without the limit of lines there were 9 000.
    lines = [line for line in written.decode().splitlines() if line.endswith("a line")]
    assert 100 < len(lines) < 1100
    assert written.count(b"the rest is not shown") == 1
    assert written.count(b"\n") < 1200


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_says_nothing_but_completions(shell, tmp_path):
    """As each shell asks for them at every Tab."""
    asked = {"COMP_WORDS": "verifiable-dp aud", "COMP_CWORD": "1" if shell != "fish" else "aud"}
    for step, found in (("source", "_verifiable_dp_completion"), ("complete", "audit")):
        environment = {**os.environ, **asked, "_VERIFIABLE_DP_COMPLETE": f"{shell}_{step}"}
        done = subprocess.run(
            [SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert found in done.stdout
