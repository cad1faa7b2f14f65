"""The command line as a user meets it: exit statuses, files, one line for what is unusable.

Most commands run in this process; what depends on a process of its own (streams, signals, the script that is
installed) has one.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import formats
from tests.commands import PATIENCE, SCRIPT
from tests.commands import finished as run
from verifiable_dp.record.sealing import SCHEMAS, schema

CODE = Path(__file__).parents[1] / "user_code" / "bandits.py"
CONTEXTUAL = ["adac-oful", "dp-lin-ucb", "dp-lin-ucb-wishart", "ldp-lin-ucb", "lin-ucb-contextual"]
NAMES = [
    "adac-gope",
    "adac-ucb",
    "adap-klucb",
    "adap-tt",
    "adap-ucb",
    "adaptive-tree",
    "dist-dp-se",
    "dp-adversarial",
    "dp-exponential-nas",
    "dp-imed",
    "dp-klucb",
    "dp-linear",
    "dp-nas",
    "dp-robust-elimination",
    "dp-robust-se",
    "dp-robust-ucb",
    "dp-se",
    "dp-se-doubling",
    "dp-ucb",
    "gaussian-ts",
    "lazy-dp-ts",
    "ldp-linear",
    "ldp-robust-se",
    "ldp-ucb",
    "linear-elimination",
    "linucb",
    "nas",
    "robust-ucb",
    "se",
    "shuffled-linear",
    "shuffled-se",
    "tree-sum",
    "ucb1",
]


@pytest.fixture
def folder(tmp_path):
    """An empty folder with the user's code."""
    (tmp_path / "bandits.py").write_text(CODE.read_text("utf-8"), "utf-8")
    return tmp_path


def files(folder):
    return sorted(p.name for p in folder.iterdir() if p.name != "__pycache__")


# ---------------------------------------------------------------- a user's code

# Leaks so large that the first look, a thirtieth of the budget, refutes and ends the audit; the others, and
# the right code, are audited with fixed plans in tests/statistical/test_styles.py.
REFUTED = [
    pytest.param("shared_noise", 3000, 12_000, marks=pytest.mark.slow),
    pytest.param("plain_se", 3000, 80_000, marks=pytest.mark.slow),
    ("ucb1", 100, 4000),
    pytest.param("epsilon_greedy", 100, 240_000, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "horizon", "runs"), REFUTED)
def test_broken_code_is_refuted(name, horizon, runs, folder):
    target = f"bandits.py:{name}"
    done = run(
        folder,
        *("audit", target, "--epsilon", 1, "--arms", 2, "--horizon", horizon, "--runs", runs),
        *("--json", "r.json", "--html", "r.html", "--sarif", "r.sarif"),
        apart=name == "ucb1",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "refuted" in done.stdout.splitlines()[0]
    assert "counterexample" in done.stdout
    assert done.stdout.endswith("  again: verifiable-dp verify r.json --rerun\n  record: r.json\n")
    record = json.loads((folder / "r.json").read_text("utf-8"))
    assert record["verdict"] == "refuted"
    assert float(record["epsilon_lower"]) > 1
    assert formats.sarif(folder / "r.sarif")["runs"][0]["results"]
    assert "refuted" in (folder / "r.html").read_text("utf-8")
    if name == "ucb1":
        again = run(folder, "verify", "r.json", "--rerun")
        assert again.returncode == 0, again.stderr
        assert "every count is the same" in again.stdout


@pytest.mark.slow  # by day with a fixed plan in tests/statistical/test_styles.py
@pytest.mark.parametrize("name", ["dp_se", "dp_se_many"])
def test_right_code_is_never_refuted(name, folder):
    done = run(
        folder,
        *("audit", f"bandits.py:{name}", "--epsilon", 1, "--arms", 2, "--horizon", 3000, "--runs", 12_000),
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr


def test_a_plain_mechanism(folder):
    right = run(folder, "audit", "bandits.py:laplace", "--epsilon", 1, "--json", "r.json")
    assert right.returncode == 0, right.stderr
    assert 0.98 <= json.loads((folder / "r.json").read_text("utf-8"))["epsilon_lower"] <= 1
    wrong = run(folder, "audit", "bandits.py:laplace_half", "--epsilon", 1)
    assert wrong.returncode == 1


def test_a_target_in_a_package(folder):
    package = folder / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "noise.py").write_text((folder / "bandits.py").read_text("utf-8"), "utf-8")
    done = run(folder, "audit", "house.noise:laplace_half", "--epsilon", 1, "--json", "r.json")
    assert done.returncode == 1, done.stderr
    record = json.loads((folder / "r.json").read_text("utf-8"))
    assert record["target"]["source"]["path"] == "house/noise.py"
    assert run(folder, "verify", "r.json", "--rerun").returncode == 0


def test_an_audit_is_inconclusive_without_power(folder):
    (folder / "coin.py").write_text(
        "def play(rewards, rng):\n"
        "    unseen = repr(rewards) == ''\n"  # tracing can say nothing of it
        "    return rng.integers(0, 2, len(rewards)) + unseen\n"
    )
    coin = ("coin.py:play", "--epsilon", 1, "--arms", 2, "--horizon", 20, "--runs", 8000)
    done = run(folder, "audit", *coin, "-v")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "inconclusive (unsearched)" in done.stdout
    assert "we could not measure power" in done.stdout


def test_what_reads_no_reward_has_an_epsilon_of_0(folder):
    for name, text in ("coin", "rng.integers(0, 2, len(rewards))"), ("first", "[0] * len(rewards)"):
        (folder / f"{name}.py").write_text(f"def play(rewards, rng):\n    return {text}\n")
        sizes = ("--arms", 2, "--horizon", 20, "--runs", 400)
        done = run(folder, "audit", f"{name}.py:play", "--epsilon", 1, *sizes)
        assert done.returncode == 0, done.stderr
        # A coin is one of many numbers, of which paths see a few.
        scope = {"coin": "63 paths", "first": "every path"}[name]
        assert f"epsilon exactly 0 on {scope}" in done.stdout


def test_a_re_run_of_changed_code_is_refused(folder):
    run(folder, "audit", "bandits.py:laplace_half", "--epsilon", 1, "--runs", 800, "--json", "r.json")
    with (folder / "bandits.py").open("a") as file:
        file.write("\n# changed\n")
    done = run(folder, "verify", "r.json", "--rerun")
    assert done.returncode == 2
    assert "has changed since the audit" in done.stderr
    assert run(folder, "verify", "r.json").returncode == 0


# ---------------------------------------------------------------- unusable input

PLAY = ["--arms", "2", "--horizon", "50", "--epsilon", "1", "--budget", "smoke"]
BAD = [
    (["audit", "bandits.py:dp_se", *PLAY, "--epsilon", "0"], "epsilon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--epsilon", "-1"], "epsilon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--epsilon", "nan"], "epsilon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--epsilon", "inf"], "epsilon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--epsilon", "one"], "epsilon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--delta", "1"], "delta"),
    (["audit", "bandits.py:dp_se", *PLAY, "--delta", "-0.1"], "delta"),
    (["audit", "bandits.py:dp_se", *PLAY, "--arms", "1"], "n_arms"),
    (["audit", "bandits.py:dp_se", *PLAY, "--horizon", "1"], "horizon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--bounds", "1", "0"], "bounds"),
    (["audit", "bandits.py:dp_se", *PLAY, "--budget", "0"], "budget"),
    (["audit", "bandits.py:dp_se", *PLAY, "--budget", "lots"], "budget"),
    (["audit", "bandits.py:dp_se", *PLAY, "--seed", "-1"], "seed"),
    (["audit", "bandits.py:dp_se", *PLAY, "--budget", "1e18"], "budget must be at most 1000000 seconds"),
    (["audit", "bandits.py:dp_se", *PLAY, "--workers", "0"], "workers"),
    (["audit", "bandits.py:dp_se", *PLAY, "--workers", "100000"], "workers must be an integer in [1, 1024]"),
    (
        ["audit", "bandits.py:dp_se", *PLAY, "--set", "beta=0.1"],
        "parameters: dp_se has no parameter beta",
    ),
    (["audit", "dp-linear", "--set", "variant=prnted"], "variant must be one of corrected, printed"),
    (["audit", "dp-linear", "--set", "varant=printed"], "dp-linear has no parameter varant"),
    (["audit", "dp-linear", "--set", "variant"], "set must be NAME=VALUE"),
    (["audit", "dp-linear", "--set", "epsilon=2", "--epsilon", "1"], "parameters must not contain epsilon"),
    (["audit", "bandits.py:dp_se", *PLAY, "--observe", "reports"], "observe"),
    (["audit", "bandits.py:dp_se", "--arms", "2", "--horizon", "50"], "epsilon must be given"),
    (
        ["audit", "bandits.py:dp_se", "--epsilon", "1", "--horizon", "50"],
        "n_arms must be given for the bandit bandits.py:dp_se",
    ),
    (["audit", "bandits.py:dp_se", "--epsilon", "1", "--arms", "2"], "horizon must be given"),
    (["audit", "bandits.py:wrong_shape", *PLAY], "shape"),
    (["audit", "bandits.py:out_of_range", *PLAY], "play"),
    (["audit", "bandits.py:raises", *PLAY], "the disk is full"),
    (
        ["audit", "bandits.py:constant", "--epsilon", "1", "--budget", "smoke"],
        "release: deterministic output",
    ),
    (["audit", "bandits.py:no_such", *PLAY], "no_such"),
    (
        ["audit", "none.py:play", *PLAY],
        "no file 'none.py'; paths are relative to the folder in which you start the audit",
    ),
    (["audit", "no.such.module:play", *PLAY], "no.such.module"),
    (["audit", "bandits.py:EPSILON", *PLAY], "callable"),
    (["audit", "dp-see"], "dp-see"),
    (["audit", "dp-se", "--epsilon", "0"], "epsilon"),
    (["audit", "dp-se", "--arms", "1"], "n_arms"),
    (["audit", "dp-se", "--horizon", "1"], "horizon"),
    (["audit"], "target"),
    (["audit", "dp-se", "--no-such-option"], "no-such-option"),
    (["audit", "dp-se", "--html", "."], "r"),
    (["regret", "dp-see"], "dp-see"),
    (["regret", "dp-se", "--budget", "3"], "budget"),
    (["simulate", "dp-se", "--setting", "C9"], "setting"),
    (["simulate", "dp-se", "--setting", ".5,1.5"], "means"),
    (["simulate", "dp-se", "--runs", "0"], "runs"),
    (["simulate", "dp-se", "--horizon", "2", "--arms", "3"], "horizon"),
    (["simulate", "dp-nas"], "dp-nas"),
    (["report", "--only", "dp-see"], "dp-see"),
    (["report", "--out", "bandits.py/reports"], "reports"),
    (["verify", "none.json"], "none.json"),
    (["verify", "bandits.py"], "record"),
    (["selftest", "--budget", "-1"], "budget"),
    (["no-such-command"], "no-such-command"),
]


@pytest.mark.parametrize(("arguments", "names"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_unusable_input_gets_one_line_and_writes_nothing(arguments, names, folder):
    before = files(folder)
    done = run(folder, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    # What takes longer than two seconds shows its progress before.
    (line,) = (line for line in done.stderr.strip().splitlines() if not re.fullmatch(r".* … \d+ s", line))
    assert line.startswith("verifiable-dp: ")
    assert names in line
    assert done.stdout == ""
    assert files(folder) == before


@pytest.mark.parametrize("command", ["audit", "regret"])
def test_a_command_that_fails_leaves_no_answer_of_the_one_before(command, folder):
    """Broken variant: `judge` accepts the record of the day before, beside a request that it answers."""
    outputs = ("--json", "r.json", "--html", "r.html", "--sarif", "r.sarif")
    for name in outputs[1::2]:
        (folder / name).write_text("of the day before")
    assert run(folder, command, "none.py:x", *outputs).returncode == 2
    assert files(folder) == ["bandits.py"]


def test_an_edited_record_is_refused(folder):
    run(folder, "audit", "bandits.py:laplace", "--epsilon", 1, "--runs", 800, "--json", "r.json")
    text = (folder / "r.json").read_text("utf-8")
    (folder / "r.json").write_text(text.replace('"not_refuted"', '"refuted"', 1), "utf-8")
    done = run(folder, "verify", "r.json")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    (folder / "r.json").write_text(text[: len(text) // 2], "utf-8")
    assert "corrupted" in run(folder, "verify", "r.json").stderr


def test_an_interrupt_leaves_nothing_behind(folder):
    # Long work, on a fast machine too.
    play = ["--arms", "2", "--horizon", "3000", "--epsilon", "1", "--budget", "thorough"]
    with subprocess.Popen(
        [SCRIPT, "audit", "bandits.py:dp_se", *play, "--json", "r.json", "--html", "r.html"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        # Progress begins after two seconds: by then it is at work.
        assert "…" in process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert out == ""
    assert err.strip().splitlines()[-1] == "verifiable-dp: interrupted; nothing was written"
    time.sleep(0.1)
    assert files(folder) == ["bandits.py"]


# ---------------------------------------------------------------- the catalogue


def test_list(folder):
    done = run(folder, "list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == sorted([*NAMES, *CONTEXTUAL])
    claims = run(folder, "list", "--claims").stdout
    assert "dp-se: privacy, Theorem 4.1" in claims
    assert "dp-se: lemma-4.2" in claims


def test_claims_have_the_verdicts_of_the_reports(folder):
    reports = Path(__file__).parents[2] / "reports"
    lines = run(folder, "list", "--claims", "--reports", str(reports)).stdout.splitlines()
    assert "dp-se: privacy, Theorem 4.1: not refuted" in lines
    assert any(
        line.startswith("dp-se: lemma-4.2, proof of Lemma 4.2: ") and "consistent" in line for line in lines
    )
    assert "dp-se: privacy, Theorem 4.1: no record" in run(folder, "list", "--claims").stdout


def test_an_erratum_is_run_again_and_its_file_verified(folder):
    done = run(folder, "errata", "fact-2.1", "good-event", "--json", "errata.json")
    assert done.returncode == 0
    assert "log(a log x)/x exceeds b" in done.stdout
    assert ": contradicted, 0.00389, must be at least 0.05" in done.stdout
    assert "by reading" in done.stdout
    assert run(folder, "verify", "errata.json").returncode == 0
    again = run(folder, "verify", "errata.json", "--rerun")
    assert again.returncode == 0
    assert "every count is the same" in again.stdout
    text = (folder / "errata.json").read_text("utf-8")
    (folder / "errata.json").write_text(text.replace('"outcome": "confirmed"', '"outcome": "by_reading"'))
    edited = run(folder, "verify", "errata.json")
    assert edited.returncode == 2
    assert "errata" in edited.stderr
    unknown = run(folder, "errata", "no-such")
    assert unknown.returncode == 2
    assert "no-such" in unknown.stderr


def test_help_and_version(folder):
    assert run(folder, "--version", apart=True).stdout.strip().endswith("0.1.0")
    text = run(folder, "--help", apart=True).stdout
    for command in ("audit", "list", "regret", "report", "selftest", "simulate", "verify"):
        assert f"  {command}" in text


def test_simulate_writes_a_curve(folder):
    done = run(folder, "simulate", "dp-se", "--setting", "C2", "--horizon", 200_000, "--csv", "c.csv")
    assert done.returncode == 0, done.stderr
    assert "mean regret" in done.stdout
    lines = (folder / "c.csv").read_text().splitlines()
    assert lines[0] == "t,mean,std,low,high"
    assert lines[-1].startswith("200000,")


def test_regret_of_one_algorithm(folder):
    done = run(folder, "regret", "nas", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "consistent" in done.stdout
    assert run(folder, "verify", "r.json", "--rerun").returncode == 0


@pytest.mark.slow
def test_report_writes_records_pages_and_an_index(folder):
    done = run(folder, "report", "--only", "tree-sum", "--only", "nas", "--out", "reports")
    assert done.returncode == 0, done.stdout + done.stderr
    place = folder / "reports"
    assert sorted(p.name for p in place.iterdir()) == ["index.html", "nas", "schema", "tree-sum"]
    index = (place / "index.html").read_text("utf-8")
    for name in ("tree-sum", "nas"):
        assert f'href="{name}/record.html"' in index
        assert run(folder, "verify", place / name / "record.json").returncode == 0
    for name in SCHEMAS:
        assert json.loads((place / "schema" / f"{name}.json").read_text()) == schema(name)
    record = json.loads((place / "tree-sum" / "record.json").read_text("utf-8"))
    assert record["verdict"] == "not_refuted"
    assert {m["verdict"] for m in record["mutants"]} <= {"refuted", "contradicted"}
    assert record["regret"]["verdict"] == "consistent"


# ---------------------------------------------------------------- streams, and names that are nearly right


def test_without_a_command_the_help_keeps_its_lines(folder):
    done = run(folder, apart=True)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: verifiable-dp [OPTIONS] COMMAND")
    assert any(line.strip().startswith("audit ") for line in done.stderr.splitlines())


def test_a_reader_that_goes_is_no_verdict(folder):
    """As under `| head -1`: 1 would say refuted, and 0 not refuted."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [SCRIPT, "list"], stdout=write, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    finally:
        os.close(write)
    assert done.returncode == 141, done.stderr
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_output_leaves_the_exit_status(folder):
    (folder / "empty.json").write_text("")
    for arguments, status in (("--version", 0), ("verify empty.json", 2)):
        command = ["sh", "-c", f'exec "$0" {arguments} >&-', SCRIPT]
        done = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_results_that_cannot_be_written_are_said_in_one_line(folder):
    """It was an internal error with a traceback in a file."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [SCRIPT, "list"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    assert done.returncode == 2
    assert done.stderr == "verifiable-dp: the output cannot be written: No space left on device\n"


def test_a_session_that_python_begins_at_the_end_changes_no_status(folder):
    """With PYTHONINSPECT, Python shows how a program exits, and exits with 1 itself: refuted."""
    given = {**os.environ, "PYTHONINSPECT": "1"}
    for arguments, status in (("--version", 0), ("verify none.json", 2)):
        command = [SCRIPT, *arguments.split()]
        done = subprocess.run(
            command, env=given, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE
        )
        assert done.returncode == status, done.stderr


@pytest.mark.slow
def test_a_small_scale_is_said_beside_the_verdicts(folder):
    done = run(folder, "reproduce", "S3", "--scale", 0.001)
    assert done.returncode == 0, done.stderr
    assert "scale 0.001: smaller than in the paper" in done.stdout


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("bandits.py", "target: 'bandits.py' is a file; name what to audit in it: bandits.py:NAME"),
        ("bandits.py:Laplace", "target: bandits.py has no 'Laplace'; did you mean 'laplace'?"),
        ("bandits.py:zzzzzz", "target: bandits.py has no 'zzzzzz'\n"),
    ],
)
def test_a_target_that_is_nearly_right(target, message, folder):
    done = run(folder, "audit", target, "--epsilon", 1)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.slow
def test_a_listed_algorithm_is_audited_as_printed(folder):
    printed = run(folder, "audit", "dp-linear", "--set", "variant=printed", "--budget", 1, "--json", "r.json")
    assert printed.returncode == 1, printed.stdout + printed.stderr
    record = json.loads((folder / "r.json").read_text("utf-8"))
    assert record["target"]["parameters"]["variant"] == "printed"
    assert run(folder, "verify", "r.json", "--rerun").returncode == 0
    changed = ("--set", "variant=corrected", "--set", "epsilon=2", "--budget", 1, "-v")
    corrected = run(folder, "audit", "dp-linear", *changed)
    assert corrected.returncode == 0, corrected.stdout + corrected.stderr
    assert "epsilon exactly 2 certified" in corrected.stdout.splitlines()[0]
    checks = re.findall(r"^  check (\w.*?): not refuted, .*, claimed (\d+)", corrected.stdout, re.MULTILINE)
    assert ("upper bound", "2") in checks
    assert {claimed for _, claimed in checks} == {"2"}  # every check is held against the epsilon that was set


def test_claims_without_records_name_the_folder(folder):
    done = run(folder, "list", "--claims")
    assert done.returncode == 0
    assert done.stderr.startswith(
        f"{folder / 'reports'} contains no record, so no verdicts are shown; write "
    )
    assert done.stderr.endswith("then give --reports FOLDER\n")
    committed = Path(__file__).parents[2] / "reports"
    assert run(folder, "list", "--claims", "--reports", committed).stderr == ""


def test_it_runs_as_a_module(folder):
    done = subprocess.run(
        [sys.executable, "-m", "verifiable_dp", "audit", "no-such"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("verifiable-dp: ")
