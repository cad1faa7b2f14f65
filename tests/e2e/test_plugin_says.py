"""What the plugin says: failing inputs and seeds, the plan of a regret check, time by phase, --dp-help."""

import re
import subprocess
import sys

import pytest

import verifiable_dp as vdp
from verifiable_dp.core import neighbours

CODE = """
import numpy as np

def leak(rewards, rng):
    return rewards.argmax(1)

def turn(rewards, rng):
    return np.arange(len(rewards)) % rewards.shape[1]

def test_leak(privacy_audit):
    privacy_audit(leak, epsilon=1, n_arms=2, horizon=5, budget="smoke", seed=7)

def test_regret(regret_check):
    regret_check(turn, n_arms=2, horizon=600, scaling={"T": "log"}, seed=3)

def test_right(privacy_audit):
    privacy_audit(turn, epsilon=1, n_arms=2, horizon=5, budget="smoke", expect=None)
"""


def run(folder, *words):
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    folder = tmp_path_factory.mktemp("says")
    (folder / "test_it.py").write_text(CODE)
    done = run(folder, "test_it.py")
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    return done.stdout


def test_a_failure_has_its_seed_and_inputs_that_work(said):
    leak = said.partition("test_leak")[2].partition("test_regret")[0]
    assert "\n  seed: 7\n" in leak
    shown = re.search(r"inputs: pairs=(\[.*\])$", leak, re.MULTILINE)[1]
    (pair,) = eval(shown, {"vdp": vdp})  # as a reader would paste it
    assert isinstance(pair, neighbours.TablePair)
    right = said.partition("test_leak")[0]
    assert "inputs:" not in right  # the control: nothing is said of tests that pass


def test_a_regret_check_says_its_plan(said):
    regret = said.partition("test_regret __")[2]
    plan = re.search(r"^plan of the regret check: (.*)$", regret, re.MULTILINE)[1]
    assert re.match(r"\d+ runs each; instances: \d+; over T at [\d, ]+600; seed 3$", plan)


def test_time_is_told_by_phase(said):
    (line,) = re.findall(r"^by phase: (.*)$", said, re.MULTILINE)
    phases = dict(re.findall(r"(\S.*?) (\d+\.\d) s(?:, |$)", line))
    whole = float(re.search(r"audits in (\d+\.\d) s", said)[1])
    assert 1 < len(phases) <= 6
    assert sum(map(float, phases.values())) <= whole + 0.1 * len(phases)
    assert "by phase" not in said.partition("verifiable-dp: 3 audits")[0]


def test_help_of_the_plugin_runs_no_test(tmp_path):
    (tmp_path / "test_it.py").write_text(CODE)
    done = run(tmp_path, "--dp-help", "test_it.py")
    assert done.returncode == 0
    for word in ("privacy_audit(", "regret_check(", "--dp-budget", "--dp-help", "dp_slow", "Example"):
        assert word in done.stdout
    assert "failed" not in done.stdout
