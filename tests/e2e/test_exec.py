"""`--exec`: programs in Python, Perl and C, audited from the command line."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests import formats
from tests.asking import audited
from tests.commands import PATIENCE
from verifiable_dp import api, cli
from verifiable_dp.core import steering

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
TARGETS = Path(__file__).parents[1] / "user_code" / "exec_targets"
PYTHON = shlex.quote(sys.executable)
# Seconds of sampling decide only how sharp a verdict is: the leaks are large, the right programs right.
QUICK = ("--epsilon", 1, "--budget", "smoke")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(TARGETS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Runs the command line in this process, which has imported everything already."""

    def command_line(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), said.out, said.err)

    return command_line


@pytest.fixture
def compiled(folder):
    """The C program, where there is a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Werror", "-o", "rounded", "rounded.c", "-lm"], cwd=folder, check=True
    )
    return folder


def record_of(folder):
    return json.loads((folder / "r.json").read_text("utf-8"))


def test_a_right_python_program(folder, run):
    command = f"{PYTHON} laplace.py"
    done = run("audit", "--exec", command, *QUICK, "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    record = record_of(folder)
    assert record["verdict"] == "not_refuted"
    assert record["target"]["kind"] == "release"
    assert record["target"]["parameters"]["exec"] == command
    assert record["target"]["source"]["path"] == "laplace.py"
    assert record["power"]["smallest_epsilon"] <= 3  # by the noise_factor that it declares
    again = run("verify", "r.json", "--rerun", "--workers", 2)
    assert again.returncode == 0, again.stderr
    assert f"runs the command: {command}" in again.stderr
    assert "every count is the same" in again.stdout
    (folder / "laplace.py").write_text((folder / "laplace.py").read_text("utf-8") + "\n", "utf-8")
    changed = run("verify", "r.json", "--rerun")
    assert changed.returncode == 2
    assert "laplace.py has changed since the audit" in changed.stderr


NOTES = """
import os
from settings import SCALE
open("seen.json", "w").write(__import__("json").dumps(dict(os.environ)))
"""


@pytest.mark.parametrize("command", ["beside.py", "-m beside", "-mbeside"])
def test_a_command_runs_as_it_does_without_us(command, folder):
    """With the environment that we were given, but for secrets, so that it finds the modules beside it.

    Broken variant: it has that of our process, which finds none there.
    """
    (folder / "beside.py").write_text(NOTES, "utf-8")
    (folder / "settings.py").write_text("SCALE = 1\n", "utf-8")
    given = {**os.environ, "MY_TOKEN": "hidden", "MINE": "1"}
    asked = (SCRIPT, "audit", "--exec", f"{PYTHON} {command}", "--epsilon", "1", "--runs", "400")
    done = subprocess.run(asked, cwd=folder, env=given, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2, done.stdout + done.stderr  # it has ended, and noted what it was given
    seen = json.loads((folder / "seen.json").read_text("utf-8"))
    hidden = steering.steering(given)
    assert "MY_TOKEN" in hidden
    assert seen == {name: value for name, value in given.items() if name not in hidden}


def test_a_leaky_python_program(folder, run):
    done = run("audit", "--exec", f"{PYTHON} laplace.py 0.5", *QUICK, "--sarif", "r.sarif")
    assert done.returncode == 1, done.stdout + done.stderr
    assert formats.sarif(folder / "r.sarif")["runs"][0]["results"]


@pytest.mark.skipif(shutil.which("perl") is None, reason="no perl")
@pytest.mark.parametrize(("scale", "status"), [(1, (0, 3)), (0.2, (1,))])
def test_a_bandit_in_perl(scale, status, folder, run):
    bandit = ("--exec", f"perl explore.pl {scale}", "--arms", 2, "--horizon", 12, "--json", "r.json")
    done = run("audit", *bandit, *QUICK)
    assert done.returncode in status, done.stdout + done.stderr
    assert record_of(folder)["target"]["kind"] == "play"


@pytest.mark.parametrize(("scale", "status"), [(1, 0), (0.5, 1)])
def test_a_mechanism_in_c(scale, status, compiled, run):
    done = run("audit", "--exec", f"./rounded {scale}", *QUICK, "--json", "r.json")
    assert done.returncode == status, done.stdout + done.stderr
    record = record_of(compiled)
    assert record["target"]["source"]["path"] == "rounded"
    # Its noise cannot be reduced from outside: what would have been detected is all that is known of power.
    assert ("noise_factor" in record["target"]["note"]) == (status == 0)
    assert status == 1 or 1 < record["detectable"] < 1.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "target: give TARGET or --exec COMMAND"),
        (["dp-se", "--exec", "cat"], "not both"),
        (["dp-se", "--exec-timeout", 3], "needs --exec"),
        (["--exec", "cat"], "epsilon must be given"),
        (["--exec", " ", "--epsilon", 1], "exec must be a program"),
        (["--exec", "cat", "--exec-timeout", 0, "--epsilon", 1], "exec_timeout must be"),
        (["--exec", "no-such-program", "--epsilon", 1], "cannot be started"),
        (["--exec", "cat", "--epsilon", 1], "the first line must be"),
        (["--exec", "false", "--epsilon", 1], "exit status 1"),
        (["--exec", "sleep 60", "--exec-timeout", 0.2, "--epsilon", 1], "did not answer within 0.2 seconds"),
        (["--exec", "cat", "--arms", 2, "--epsilon", 1], "horizon must be given"),
        (
            ["--exec", "cat", "--arms", 2, "--horizon", 5, "--epsilon", 1, "--numerics"],
            "`numerics` works only with",
        ),
    ],
)
def test_unusable_input_is_one_line(arguments, message, run):
    done = run("audit", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow  # by day with a function, in test_cli.py
def test_the_installed_command(folder):
    done = subprocess.run(
        [SCRIPT, "audit", "--exec", f"{PYTHON} laplace.py 0.5", *map(str, QUICK)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith(f"target '{PYTHON} laplace.py 0.5'")


def test_counts_do_not_depend_on_the_workers(folder):
    from verifiable_dp.evidence.blackbox.test import Plan

    plan = Plan(500, 20_000, 140_000)  # two shards a side
    one, two = (
        audited(vdp.Exec(f"{PYTHON} laplace.py 0.5"), name="x", epsilon=1.0, plan=plan, workers=workers)
        for workers in (1, 2)
    )
    assert one["checks"] == two["checks"]
    assert one["checks"][0]["result"]["verdict"] == "refuted"


def test_a_program_declares_its_neighbours_and_its_floats_are_audited(folder):
    """Data 0 against .5 with scale 1: epsilon is .5, and the last bits tell the two apart."""
    body = (
        (folder / "laplace.py")
        .read_text("utf-8")
        .replace('"noise_factor": True', '"noise_factor": True, "neighbours": [[0.0, 0.5]]')
    )
    (folder / "laplace.py").write_text(body, "utf-8")
    target = vdp.Exec(f"{PYTHON} {folder / 'laplace.py'}")
    report = vdp.audit(target, epsilon=0.5, budget="smoke", numerics=True, own_neighbours=True)
    assert [pair["words"] for pair in report.record["pairs"]] == ["data 0. against 0.5"]
    assert [c["result"]["verdict"] for c in report.record["checks"]] == ["not_refuted", "refuted"]
    path, _ = report.save(folder / "out")
    assert vdp.verify(path, rerun=api.rerun).rerun
    formats.of_record(report.record)
