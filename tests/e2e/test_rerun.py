"""The command that a refutation prints, taken out of the output and run: it comes to the same refutation."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig

import pytest

from tests.commands import run
from verifiable_dp import audit
from verifiable_dp.core.validate import InputError

SCRIPTS = sysconfig.get_path("scripts")
# What is audited stands in the file of its tests: these are callers from the same file.
TESTS = """
import functools

import numpy as np
import pytest


class Greedy:
    def __init__(self, n_arms, rng):
        self.sums, self.t, self.rng = np.zeros(n_arms), 0, rng

    def select(self):
        if self.t < 6:
            return self.t % len(self.sums)
        return int(np.argmax(self.sums + self.rng.laplace(0, 0.1, len(self.sums))))

    def update(self, arm, reward):
        if self.t < 6:
            self.sums[arm] += reward
        self.t += 1


def wrong(data, size, rng, scale=0.4):
    return data + rng.laplace(0, scale, size)


def test_class(privacy_audit):
    privacy_audit(Greedy, epsilon=1.0, n_arms=2, horizon=12, budget="smoke")


def test_mechanism(privacy_audit):
    privacy_audit(wrong, epsilon=1.0, budget="smoke")


def test_closure(privacy_audit):
    def closure(data, size, rng):
        return wrong(data, size, rng)

    privacy_audit(closure, epsilon=1.0, budget="smoke")


def test_partial(privacy_audit):
    privacy_audit(functools.partial(wrong, scale=0.3), epsilon=1.0, budget="smoke")


def test_pairs(privacy_audit):
    privacy_audit(wrong, epsilon=1.0, pairs=[(0.0, 1.0)], budget="smoke")
"""


def shell(folder, command):
    """What a command gives where it is typed into a shell in a folder."""
    environment = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def refutations(output):
    """Commands and p-values that failures show, in order; where CI is set pytest repeats them at the end."""
    output = output.partition("short test summary info")[0]
    return re.findall(r"again: (.*)", output), re.findall(r"counterexample.*p-value .*", output)


@pytest.mark.parametrize(
    ("place", "start", "options", "number"),
    [
        ("tests", ".", "--dp-report audits -k class", 1),
        pytest.param("tests", ".", "--dp-report audits", 5, marks=pytest.mark.slow),
        pytest.param(".", ".", "", 5, marks=pytest.mark.slow),
        pytest.param("tests", "tests", "--dp-seed 5", 5, marks=pytest.mark.slow),
    ],
)
def test_what_pytest_prints_can_be_run(place, start, options, number, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "test_mine.py").write_text(TESTS, "utf-8")
    folder = tmp_path / start
    done = shell(folder, f"{shlex.quote(sys.executable)} -m pytest {options}")
    assert done.returncode == 1, done.stdout + done.stderr
    commands, found = refutations(done.stdout)
    assert len(commands) == number, done.stdout
    records = [command.startswith("verifiable-dp verify ") for command in commands]
    # A record does not say how closures, partial objects and given pairs were made: the test runs again.
    made = min(number, 2)
    assert records == [True] * made + [False] * (number - made)
    assert all((" audits/" in command) == ("audits" in options) for command in commands[:made])
    for command in commands[: made + 1]:
        again = shell(folder, command)
        if command.startswith("pytest"):
            assert again.returncode == 1
            same = refutations(again.stdout)[1]
            assert same
            assert set(same) <= set(found)
        else:
            assert again.returncode == 0, again.stderr
            assert "privacy refuted" in again.stdout
            assert "every count is the same" in again.stdout
    if "audits" in options and number == 5:  # in another checkout, too
        other = tmp_path.rename(tmp_path.with_name("other"))
        assert shell(other, commands[0]).returncode == 0


def test_without_a_record_the_command_itself_is_printed(tmp_path):
    (tmp_path / "mine.py").write_text(TESTS.replace("import pytest", ""), "utf-8")
    first = run(tmp_path, "audit", "mine.py:wrong", "--epsilon", 1, "--budget", "smoke", "--seed", 7)
    (command,), found = refutations(first.stdout)
    assert command == "verifiable-dp audit mine.py:wrong --epsilon 1 --budget smoke --seed 7"
    again = shell(tmp_path, command)
    assert (again.returncode, again.stdout) == (1, first.stdout)
    assert found


AUDITS_ITSELF = """
import verifiable_dp

def release(data, size, rng):
    return data + rng.laplace(0, 0.4, size)

report = verifiable_dp.audit(release, epsilon=1, budget="smoke", seed=1, workers=WORKERS)
report.save("out")
"""


@pytest.mark.slow
def test_a_module_that_audits_when_it_is_imported_is_refused(tmp_path):
    """It hung: each process imported it, and began another audit."""
    (tmp_path / "mine.py").write_text(AUDITS_ITSELF.replace("WORKERS", "1"), "utf-8")
    assert shell(tmp_path, f"{sys.executable} mine.py").returncode == 0
    commands = [
        "verifiable-dp verify out/record.json --rerun --workers 2",
        "verifiable-dp audit mine:release --epsilon 1 --workers 2 --budget smoke",
    ]
    for command in commands:
        done = shell(tmp_path, f"timeout -k 5 100 {command}")
        assert done.returncode == 2, done.stderr
        assert "must not start an audit while it is being imported" in done.stderr
        assert '`if __name__ == "__main__":`' in done.stderr
    main = 'if __name__ == "__main__":\n    report = '
    guarded = AUDITS_ITSELF.replace("report = ", main).replace("report.save", "    report.save")
    (tmp_path / "mine.py").write_text(guarded.replace("WORKERS", "1"), "utf-8")
    assert shell(tmp_path, f"{sys.executable} mine.py && {commands[0]}").returncode == 0


def test_several_processes_are_refused_while_the_module_is_imported(tmp_path):
    (tmp_path / "mine.py").write_text(AUDITS_ITSELF.replace("WORKERS", "2"), "utf-8")
    done = shell(tmp_path, f"timeout -k 5 100 {sys.executable} -c 'import mine'")
    assert "workers must be 1 for an audit that starts while 'mine'" in done.stderr
    (tmp_path / "mine.py").write_text(AUDITS_ITSELF.replace("WORKERS", "1"), "utf-8")
    assert shell(tmp_path, f"{sys.executable} -c 'import mine'").returncode == 0


def test_an_audit_within_an_import_is_refused_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "within.py").write_text(AUDITS_ITSELF.replace("WORKERS", "1"), "utf-8")
    with pytest.raises(InputError, match=r"'within\.py' must not start an audit while it is being imported"):
        audit("within.py:release", epsilon=1, budget="smoke")
