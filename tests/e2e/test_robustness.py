"""Killed at any moment, two audits in one folder, hostile code: nothing is damaged, or run unasked."""

import json
import random
import re
import signal
import subprocess
import sys
import sysconfig
import textwrap
import time
from pathlib import Path

import pytest

from tests.commands import PATIENCE
from verifiable_dp.record.sealing import digest

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
RECORD = Path(__file__).parents[2] / "reports" / "tree-sum" / "record.json"


def run(folder, *arguments, timeout=PATIENCE):
    return subprocess.run(
        [SCRIPT, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=timeout
    )


# ---------------------------------------------------------------- killed

CAMPAIGN = """
[defaults]
budget = 0.02
mutants = false
"""
for number in range(3):
    CAMPAIGN += f'[[targets]]\nname = "tree-{number}"\ntarget = "tree-sum"\nseed = {number}\n'

# One process imports everything and runs a campaign in children, each of which it kills after a random time.
KILLS = """
import json, os, random, shutil, signal, sys, time
from pathlib import Path
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.core import engine
from verifiable_dp.record.verify import verify

file, out, kills = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
engine.code_digest()

def kept(record):
    free = ("provenance", "digest")
    return {key: value for key, value in record.items() if key not in free}

def records():
    return {path.parent.name: kept(verify(path).record) for path in sorted(out.glob("*/record.json"))}

def child():
    found = os.fork()
    if found == 0:
        try:
            campaign_file.run(file, out=out, resume=True)
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(9)
    return found

began = time.monotonic()
campaign_file.run(file, out=out)
whole, truth = time.monotonic() - began, records()
shutil.rmtree(out)
rng, killed, finished, partial = random.Random(7), 0, 0, 0
while killed < kills:
    process = child()
    deadline = time.monotonic() + rng.uniform(0, 0.8 * whole)
    status = None
    while time.monotonic() < deadline and status is None:
        done, code = os.waitpid(process, os.WNOHANG)
        status = code if done else None
        time.sleep(0.002)
    if status is None:
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        killed += 1
        found = records()  # raises if one is damaged
        assert all(truth[name] == record for name, record in found.items()), "other numbers"
        partial += 0 < len(found) < len(truth)
    else:
        assert os.WEXITSTATUS(status) == 0, status
        assert records() == truth, "the resumed campaign has other numbers"
        assert (out / "index.html").read_text("utf-8").rstrip().endswith("</html>")
        finished += 1
        shutil.rmtree(out)
campaign_file.run(file, out=out, resume=True)
assert records() == truth
print(json.dumps({"killed": killed, "finished": finished, "partial": partial}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kills", [6, 100])
def test_a_killed_campaign_loses_nothing(kills, tmp_path):
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    (tmp_path / "kills.py").write_text(KILLS)
    done = subprocess.run(
        [sys.executable, "kills.py", "c.toml", "out", str(kills)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["killed"] == kills
    if kills == 100:
        assert counts["finished"] >= 5
        assert counts["partial"] >= 20


MECHANISM = """
import numpy as np

def release(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, 1, size)
"""


def killed(folder, arguments, steps, rng):
    """Start a command and kill it some time after its checkpoint has grown; whether that was before its end.

    What was in the checkpoint stays in it until the result is saved.
    """
    before = steps.read_bytes() if steps.exists() else b""
    before = before[: before.rfind(b"\n") + 1]
    process = subprocess.Popen(
        [SCRIPT, *map(str, arguments)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    while process.poll() is None and not (steps.exists() and steps.stat().st_size > len(before)):
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 0.3))
    process.kill()
    _, errors = process.communicate()
    assert process.returncode in (0, 1, -signal.SIGKILL), errors
    assert not steps.exists() or steps.read_bytes().startswith(before)
    return steps.exists()


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_killed_audit_goes_on_after_its_last_step(kills, tmp_path):
    """The same command, killed again and again: its record is that of one run of its sizes."""
    (tmp_path / "mine.py").write_text(MECHANISM)
    rng, steps, ended = random.Random(5), tmp_path / "c", 0
    command = [
        "audit", "mine.py:release", "--epsilon", 1, "--budget", "smoke", "--curve", "--seed", 3,
        "--json", "r.json", "--checkpoint", "c",
    ]  # fmt: skip
    for _ in range(kills):
        if not killed(tmp_path, command, steps, rng):
            ended += 1
            assert run(tmp_path, "verify", "r.json").returncode == 0
            (tmp_path / "r.json").unlink()
    last = run(tmp_path, *command)
    assert last.returncode == 0, last.stderr
    assert not steps.exists()
    again = run(tmp_path, "verify", "r.json", "--rerun")
    assert again.returncode == 0, again.stderr
    if kills == 20:
        assert ended >= 1  # attempts add up, although each was killed before its end


@pytest.mark.slow
def test_an_interrupted_report_goes_on_within_an_audit(tmp_path):
    folder = tmp_path / "out" / "tree-sum"
    command = ["report", "--only", "tree-sum", "--out", "out", "--workers", 1]
    assert killed(tmp_path, command, folder / "audit.checkpoint", random.Random(1))
    killed(tmp_path, [*command, "--resume"], folder / "audit.checkpoint", random.Random(1))
    done = run(tmp_path, *command, "--resume")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["record.html", "record.json"]
    assert run(tmp_path, "verify", folder / "record.json", "--rerun").returncode == 0


@pytest.mark.slow
def test_an_interrupted_kill_table_goes_on(tmp_path):
    command = ["mutants", "--only", "tree-sum", "--workers", 1, "--json", "m.json", "--checkpoint", "c"]
    assert killed(tmp_path, command, tmp_path / "c", random.Random(2))
    assert killed(tmp_path, command, tmp_path / "c", random.Random(3))
    assert run(tmp_path, *command).returncode == 0
    assert run(tmp_path, "verify", "m.json", "--rerun").returncode == 0
    assert not (tmp_path / "c").exists()


WRITER = """
import sys
from verifiable_dp.record.sealing import digest
from verifiable_dp.report import Report
report = Report.load(sys.argv[1])
record = dict(report.record)
record["provenance"] = {**record["provenance"], "command": sys.argv[2]}
record["digest"] = digest(record)
for _ in range(int(sys.argv[3])):
    Report(record).save("shared")
"""


@pytest.mark.slow
def test_two_audits_in_one_folder_leave_one_whole_record_and_its_page(tmp_path):
    (tmp_path / "writer.py").write_text(WRITER)
    writers = [
        subprocess.Popen([sys.executable, "writer.py", RECORD, name, "6"], cwd=tmp_path)
        for name in ("first", "second")
    ]
    assert [process.wait(timeout=PATIENCE) for process in writers] == [0, 0]
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == ["record.html", "record.json"]
    record = json.loads((tmp_path / "shared" / "record.json").read_text("utf-8"))
    assert record["digest"] == digest(record)
    assert record["digest"] in (tmp_path / "shared" / "record.html").read_text("utf-8")


# ---------------------------------------------------------------- hostile code

HOSTILE = r'''
import ctypes
import os
import sys
import numpy as np

def release(data, size, rng):
    """Correct, and rude: it writes to every stream, and to the descriptors beneath."""
    print("\x1b[2J\x1b]0;title\x07" + "x" * 1000)
    sys.stdout.buffer.write(b"\xff\xfe\x1b[31m")
    os.write(1, b"straight to one\n")
    ctypes.CDLL(None).puts(b"from C")
    sys.setrecursionlimit(5000)
    return np.asarray(data).sum() + rng.laplace(0, 1, size)
'''


@pytest.mark.slow
def test_rude_output_spoils_neither_results_nor_the_terminal(tmp_path):
    (tmp_path / "rude.py").write_text(HOSTILE)
    done = run(tmp_path, "audit", "rude.py:release", "--epsilon", 1, "--runs", 1200, "--json", "r.json")
    assert done.returncode in (0, 3), done.stderr
    assert done.stdout.startswith("target rude.py:release")
    assert "straight" not in done.stdout
    assert "from C" not in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert r"\x1b[2J" in done.stderr
    assert "straight to one" in done.stderr
    assert len(done.stderr) < 200_000
    assert run(tmp_path, "verify", "r.json").returncode == 0


# ---------------------------------------------------------------- what verify runs


READ = """
import sys
from click.testing import CliRunner
from verifiable_dp.cli import main
for line in ("verify r.json", "render r.json --to markdown", "render r.json --to sarif", "diff r.json r.json",
             "portfolio ."):
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 0, (line, done.output)
assert "mine" not in sys.modules
"""


@pytest.mark.slow
def test_only_a_rerun_runs_the_target_and_says_so_before(tmp_path):
    (tmp_path / "mine.py").write_text(
        textwrap.dedent("""
        import sys
        print("imported now", file=sys.stderr)
        open("mark", "w").close()
        def release(data, size, rng):
            return data.sum() + rng.laplace(0, 1, size)
        """)
    )
    mark = tmp_path / "mark"
    audited = run(tmp_path, "audit", "mine.py:release", "--epsilon", 1, "--runs", 400, "--json", "r.json")
    assert audited.returncode in (0, 3), audited.stderr
    mark.unlink()
    read = subprocess.run([sys.executable, "-c", READ], cwd=tmp_path, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    assert not mark.exists()
    again = run(tmp_path, "verify", "r.json", "--rerun")
    assert again.returncode == 0, again.stderr
    assert mark.exists()
    lines = again.stderr.splitlines()
    assert re.fullmatch(r"imports and runs mine\.py:release, SHA-256 [0-9a-f]{12}", lines[0])
    assert lines.index("target | imported now") > 0
    mark.unlink()
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# changed\n")
    other = run(tmp_path, "verify", "r.json", "--rerun")
    assert other.returncode == 2
    assert "has changed since the audit" in other.stderr
    assert "imported now" not in other.stderr
    assert not mark.exists()


def test_no_code_of_ours_reads_pickles():
    """Pickled are tasks between our own processes only; records, cells and states are JSON and arrays."""
    root = Path(__file__).parents[2] / "verifiable_dp"
    pattern = re.compile(
        r"\bpickle\.load|\bmarshal\.|\bshelve\b|read_pickle|joblib\.load|allow_pickle=True|\beval\(|\bexec\("
    )
    folders = [root, root / "algorithms", root / "auditors"]
    paths = {path for folder in folders for path in folder.rglob("*.py")}
    found = [f"{path.name}: {line}" for path in paths for line in path.read_text("utf-8").splitlines()]
    sent = re.compile(r"(engine|child)\.py: .*pickle\.load(s\(content|\(pipe)\)")  # see below
    found = [line for line in found if pattern.search(line) and "load_module" not in line]
    found = [line for line in found if not sent.search(line)]
    assert not found
    uses = [path.name for path in paths if re.search(r"pickle\.loads?\(", path.read_text("utf-8"))]
    # What a scheduler that the user named hands to its workers, and a process to one that it starts.
    assert sorted(uses) == ["child.py", "engine.py"]
