"""The pytest plugin, in a pytest of its own, and what it says.

That is: failing inputs and seeds, the plan of a regret check, time by phase, --dp-help.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests import formats
from tests.commands import PATIENCE
from verifiable_dp.core import neighbours
from verifiable_dp.record.requested import beside

BANDIT = """
import numpy as np

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def wrong(data, size, rng):
    return data + rng.laplace(0, 0.5, size)
"""


def run(pytester, test, *options, apart=False):
    """A pytest in this process, or in one of its own, where what it loads for the first time stays loaded."""
    pytester.makepyfile(promised=BANDIT, test_it="import promised\n" + test)
    start = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
    return start("-p", "no:cacheprovider", *options)


def test_kept_promises_pass(pytester):
    result = run(
        pytester,
        "import pytest\n"
        "def test_right(privacy_audit):\n"
        "    report = privacy_audit(promised.right, epsilon=1.0, budget='smoke')\n"
        "    assert report.verdict == 'not_refuted'\n"
        "@pytest.mark.regret\n"
        "def test_nas(regret_check):\n"
        "    assert regret_check('nas').regret_verdict == 'consistent'\n",
        "--strict-markers",
        apart=True,
    )
    result.assert_outcomes(passed=2)


def test_a_broken_promise_fails_with_the_counterexample_and_the_command(pytester):
    result = run(
        pytester,
        "def test_wrong(privacy_audit):\n    privacy_audit(promised.wrong, epsilon=1.0, budget='smoke')\n",
        *("--dp-report", "audits", "--junitxml", "junit.xml"),
    )
    result.assert_outcomes(failed=1)
    report = formats.junit(pytester.path / "junit.xml")
    assert "refuted: epsilon >= " in report.find("testsuite/testcase/failure").get("message")
    result.stdout.fnmatch_lines(
        ["refuted: epsilon >= *, claimed 1 (expected not_refuted)", "*counterexample*data 0. against 1.*"]
    )
    result.stdout.fnmatch_lines(["*verifiable-dp verify *.json --rerun*"])
    assert "cannot be rerun" not in result.stdout.str()
    record, request = sorted((pytester.path / "audits").glob("*.json"))
    assert request == beside(record)
    assert json.loads(record.read_text("utf-8"))["verdict"] == "refuted"
    assert len(list((pytester.path / "audits").glob("*.html"))) == 1


def test_a_refutation_can_be_expected(pytester):
    result = run(
        pytester,
        "def test_wrong(privacy_audit):\n"
        "    privacy_audit(promised.wrong, epsilon=1.0, budget='smoke', expect='refuted')\n"
        "def test_right(privacy_audit):\n"
        "    def right(data, size, rng):\n"
        "        return promised.right(data, size, rng)\n"
        "    privacy_audit(right, epsilon=1.0, budget='smoke', expect='refuted')\n",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*again: pytest test_it.py::test_right",
            "  its record cannot be rerun: a lambda, a closure, * test_it.py::test_right",
            "=* verifiable-dp: 2 audits in *.* s (*.* s of processor time) =*",
        ]
    )
    for name, verdict in (("wrong", "refuted"), ("right", "not_refuted")):  # the longest first
        result.stdout.re_match_lines([rf" +\d+\.\d s \(\d+\.\d s\)  {verdict} +test_it\.py::test_{name}"])


def test_the_budget_option_overrides(pytester):
    result = run(
        pytester,
        "def test_budget(privacy_audit):\n"
        "    report = privacy_audit(promised.right, epsilon=1.0, budget='thorough', expect=None)\n"
        "    assert report.record['plan']['budget'] == '0.3'\n",
        "--dp-budget",
        "0.3",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("options", [["--dp-budget", "lots"], ["--dp-budget", "-1"]])
def test_a_bad_budget_is_refused(pytester, options):
    result = run(
        pytester, "def test_it(privacy_audit):\n    privacy_audit(promised.right, epsilon=1.0)\n", *options
    )
    assert result.ret != 0
    assert "budget" in result.stdout.str() + result.stderr.str()


def test_an_option_of_the_command_line_hints_at_the_argument(pytester):
    result = run(
        pytester,
        "import pytest\n"
        "def test_arms(privacy_audit):\n"
        "    with pytest.raises(TypeError, match=\"argument 'arms'; did you mean n_arms\"):\n"
        "        privacy_audit(promised.right, epsilon=1.0, arms=2)\n"
        "def test_horizon(regret_check):\n"
        "    with pytest.raises(TypeError, match=\"'horizn'; did you mean horizon\"):\n"
        "        regret_check('nas', horizn=2)\n"
        "def test_neither(privacy_audit):\n"
        "    with pytest.raises(TypeError, match=\"does not take an argument 'qqqq'; accepted: target, \"):\n"
        "        privacy_audit(promised.right, epsilon=1.0, qqqq=2)\n",
    )
    result.assert_outcomes(passed=3)


def test_wrong_arguments_show_the_line_of_the_test_and_none_of_ours(pytester):
    """They came with up to 90 lines of this package."""
    calls = ("promised.right, epsilon=-1.0", "promised.right, epsilon=1.0, qqqq=2", "'nope', epsilon=1.0")
    tests = [f"def test_{i}(privacy_audit):\n    privacy_audit({c})\n" for i, c in enumerate(calls)]
    result = run(pytester, "\n".join(tests))
    result.assert_outcomes(failed=3)
    said = result.stdout.str()
    assert "verifiable_dp/" not in said.partition("short test summary")[0]
    assert said.count(">       privacy_audit(") == 3
    assert len(said.splitlines()) < 60


def test_an_undecided_audit_says_what_to_try(pytester):
    result = run(
        pytester,
        "def weak(data, size, rng):\n"
        "    return data + rng.uniform(-4e9, 4e9, size)\n"
        "def test_weak(privacy_audit):\n"
        "    privacy_audit(weak, epsilon=1.0, budget='smoke')\n"
        "def test_few(privacy_audit, monkeypatch):\n"
        "    import verifiable_dp.pytest_plugin as plugin\n"
        "    monkeypatch.setattr(plugin, '_RUNS', 400)\n"
        "    privacy_audit(weak, epsilon=1.0)\n"
        "def test_taken(privacy_audit):\n"
        "    taken = privacy_audit(weak, epsilon=1.0, budget='smoke', expect=None)\n"
        "    assert taken.verdict == 'inconclusive'\n",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*we could not measure power: dividing the noise by 6 changed nothing*expect=None*"]
    )
    lines = result.stdout.lines
    # In CI the summary repeats what a failure says.
    lines = lines[: next(i for i, line in enumerate(lines) if "short test summary info" in line)]
    advice = [line for line in lines if '; budget="quick" (or --dp-budget quick) allows' in line]
    assert len(advice) == 1  # of the audit that nobody sized


def test_code_that_ends_its_process_fails_its_test_and_no_other(pytester):
    result = run(
        pytester,
        "import ctypes, os\n"
        "import posix\n"
        "ENDS = {'posix': lambda: posix._exit(0), 'c': lambda: ctypes.CDLL(None)._exit(0),\n"
        "        'another': lambda: os.execv('/bin/echo', ['echo', '4 passed'])}\n"
        "import pytest\n"
        "@pytest.mark.parametrize('name', ENDS)\n"
        "def test_ends(privacy_audit, name):\n"
        "    def release(data, size, rng):\n"
        "        ENDS[name]()\n"
        "    privacy_audit(release, epsilon=1.0, budget='smoke')\n"
        "def test_right(privacy_audit):\n"
        "    privacy_audit(promised.right, epsilon=1.0, budget='smoke')\n"
        "def test_regret(regret_check):\n"
        "    regret_check('ucb1', bound=lambda gaps, horizon: posix._exit(0), runs=2)\n",
        apart=True,  # a worker of xdist has threads, so that it could not fork
    )
    result.assert_outcomes(passed=1, failed=4)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*InputError: target: its process ended early (exit status 0)*"])


def test_a_time_limit_of_the_test_fails_it_in_its_own_words(pytester):
    """As pytest-timeout sets one; what hangs is not left behind."""
    result = run(
        pytester,
        "import os, pathlib, signal, time\n"
        "import pytest\n"
        "BEGUN = pathlib.Path('begun')\n"
        "def late(*_):\n"
        "    if BEGUN.exists():\n"
        "        pytest.fail('Timeout >1s')\n"
        "    signal.setitimer(signal.ITIMER_REAL, 1)\n"
        "def test_hangs(privacy_audit):\n"
        "    def release(data, size, rng):\n"
        "        pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "        os.rename('pid', BEGUN)\n"
        "        time.sleep(600)\n"
        "    signal.signal(signal.SIGALRM, late)\n"
        "    late()\n"
        "    privacy_audit(release, epsilon=1.0, budget='smoke')\n",
        apart=True,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Failed: Timeout >1s"])
    pid = int((pytester.path / "begun").read_text())
    for _ in range(600):
        if not (Path("/proc") / str(pid)).exists():
            return
        time.sleep(0.1)
    pytest.fail("the process of the target is still there")


COVERED = """
def release(data, size, rng):
    noise = rng.laplace(0, 1, size)
    return data + noise

def unused():
    return 1
"""


@pytest.mark.parametrize("threads", [False, True])
def test_coverage_sees_what_runs_in_the_child_of_an_audit(threads, pytester):
    """Whether that is a copy of the process or, beside other threads, a new Python."""
    pytester.makepyfile(
        covered=COVERED,
        test_it="import threading\n"
        f"if {threads}: threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "def test_it(privacy_audit):\n"
        "    privacy_audit('covered.py:release', epsilon=1.0, runs=400, expect=None)\n",
    )
    start = (sys.executable, "-m", "coverage")
    options = ("--branch", "--include=*/covered.py", "-m", "pytest", "-q")
    assert pytester.run(*start, "run", *options, timeout=PATIENCE).ret == 0
    assert pytester.run(*start, "json", "-o", "found.json", timeout=PATIENCE).ret == 0
    (file,) = json.loads((pytester.path / "found.json").read_text("utf-8"))["files"].values()
    assert file["missing_lines"] == [6]
    assert not list(pytester.path.glob(".coverage.*"))


# ---------------------------------------------------------------- what it says


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


def started(folder, *words):
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    folder = tmp_path_factory.mktemp("says")
    (folder / "test_it.py").write_text(CODE)
    done = started(folder, "test_it.py")
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
    done = started(tmp_path, "--dp-help", "test_it.py")
    assert done.returncode == 0
    for word in ("privacy_audit(", "regret_check(", "--dp-budget", "--dp-help", "dp_slow", "Example"):
        assert word in done.stdout
    assert "failed" not in done.stdout
