"""Tracing through the command line: leads like a linter's, SARIF on their lines, classes as targets."""

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

CODE = Path(__file__).parents[1] / "user_code"
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
CLASS = '''
import numpy as np


class Committing:
    """Looks once at noisy sums."""

    def __init__(self, n_arms, rng, scale={scale}):
        self.sums, self.t, self.rng, self.scale = np.zeros(n_arms), 0, rng, scale

    def select(self):
        if self.t == 20:
            self.best = int(np.argmax(self.sums + self.rng.laplace(0, self.scale, len(self.sums))))
        return self.t % len(self.sums) if self.t < 20 else self.best

    def update(self, arm, reward):
        if self.t < 20:
            self.sums[arm] += reward
        self.t += 1
'''


def run(folder, *arguments):
    return subprocess.run(
        [SCRIPT, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def folder(tmp_path):
    shutil.copy(CODE / "styles.py", tmp_path)
    (tmp_path / "right.py").write_text(CLASS.format(scale=1.0), "utf-8")
    (tmp_path / "wrong.py").write_text(CLASS.format(scale=0.2), "utf-8")
    return tmp_path


def audit(folder, target):
    common = ("--epsilon", 1, "--arms", 2, "--horizon", 60, "--budget", 3)
    return run(folder, "audit", target, *common, "--json", "r.json", "--sarif", "r.sarif", "--html", "r.html")


def marked(name):
    """Line of the leak of a bandit, as styles.py marks it."""
    lines = (CODE / "styles.py").read_text("utf-8").splitlines()
    start = lines.index(f"def {name}(rewards, rng):")
    return next(i + 1 for i in range(start, len(lines)) if lines[i].endswith("# leak"))


@pytest.mark.parametrize("name", ["plain_ucb", "raw_tie_break", "peeks_at_the_first"])
def test_a_leak_is_refuted_and_its_line_is_named(name, folder):
    done = audit(folder, f"styles.py:{name}")
    assert done.returncode == 1, done.stdout + done.stderr
    line = marked(name)
    assert f"styles.py:{line}: " in done.stdout
    results = json.loads((folder / "r.sarif").read_text("utf-8"))["runs"][0]["results"]
    leads = [r for r in results if r["ruleId"] == "raw-data"]
    places = [r["locations"][0]["physicalLocation"] for r in leads]
    assert {"artifactLocation": {"uri": "styles.py"}, "region": {"startLine": line}} in places
    assert f"styles.py:{line}" in (folder / "r.html").read_text("utf-8")
    assert run(folder, "verify", "r.json").returncode == 0


def test_without_any_randomness_tracing_refutes_by_itself_and_re_runs(folder):
    audit(folder, "styles.py:plain_ucb")
    record = json.loads((folder / "r.json").read_text("utf-8"))
    check = record["checks"][0]
    assert (check["kind"], check["result"]["verdict"]) == ("tracing", "refuted")
    assert record["counterexamples"][0]["check"] == "tracing"
    again = run(folder, "verify", "r.json", "--rerun")
    assert again.returncode == 0, again.stderr
    assert "every count is the same" in again.stdout


def test_a_class_is_a_target(folder):
    right, wrong = audit(folder, "right.py:Committing"), audit(folder, "wrong.py:Committing")
    assert "cost 1 in" in right.stdout
    assert "within the claim" in right.stdout
    assert right.returncode in (0, 3), right.stdout + right.stderr
    assert "cost 5 in" in wrong.stdout
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr


def test_a_right_bandit_gives_no_findings(folder):
    done = audit(folder, "styles.py:commit")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    results = json.loads((folder / "r.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert not [r for r in results if r["ruleId"] == "raw-data"]
