"""Commands are code like any other: they run in a child and its cage, and are started again to compare."""

import os
import shlex
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.commands import run
from tests.e2e.test_cage import needs_namespaces
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here
from tests.unit.campaign.test_origin import git
from verifiable_dp.auditing import identity
from verifiable_dp.auditing.resume import CheckpointError
from verifiable_dp.campaign import file
from verifiable_dp.campaign.baseline import Baseline
from verifiable_dp.evidence import origins
from verifiable_dp.record.provenance import TREE
from verifiable_dp.targets import loaded
from verifiable_dp.targets.heard import Sample

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a cage is one of Linux")
PYTHON = shlex.quote(sys.executable)
ASKED = ("--epsilon", 1, "--runs", 400, "--detect", 4, "--json", "r.json")
PROGRAM = """
import json, os, random, socket, sys
{begin}
data, ready = 0.0, dict({ready})
for line in sys.stdin:
    request = json.loads(line)
    if "protocol" in request:
        answer = {{"ready": True, "kind": "release", **ready}}
    else:
        data = request.get("data", data)
        total = sum(data) if isinstance(data, list) else data
        {coins}
        noise = [coins.expovariate(1) - coins.expovariate(1) for _ in range(request["runs"])]
        answer = {{"id": request["id"], "outputs": {outputs}}}
    print(json.dumps(answer), flush=True)
"""
RIGHT = {
    "begin": "",
    "ready": "noise_factor=False",
    "coins": 'coins = random.Random(int(request["seed"]))',
    "outputs": "[total + z for z in noise]",
}
OF_SYSTEM = {"coins": "coins = random.SystemRandom()"}
OWN = {"ready": "own_randomness=True"}
FIXED = {"begin": "coins = random.Random(42)", "coins": ""}
KEPT = {"begin": "axis = None", "coins": RIGHT["coins"] + "; axis = total if axis is None else axis"}
CASES = {
    "right": (RIGHT, []),
    "fixed seed": (FIXED, [origins.PUBLIC, origins.ELSEWHERE]),
    "fixed seed of each request": ({"coins": "coins = random.Random(42)"}, [origins.PUBLIC]),
    "fixed seed that is declared": (FIXED | OWN, [origins.PUBLIC]),
    "first data": (KEPT | {"outputs": "[[axis, total + z] for z in noise]"}, [origins.ELSEWHERE]),
    "noise of the system": (OF_SYSTEM, [origins.ELSEWHERE]),
    "noise of the system that is declared": (OF_SYSTEM | OWN, []),
}


def audited(folder, parts, *more):
    (folder / "mech.py").write_text(textwrap.dedent(PROGRAM.format(**{**RIGHT, **parts})), "utf-8")
    done = run(folder, "audit", "--exec", f"{PYTHON} mech.py", *ASKED, *more)
    assert done.exit_code in (0, 3), done.stderr
    record = vdp.verify(folder / "r.json").record
    doubts = [one for check in record["checks"] for one in check["statistics"].get("doubts", ())]
    return record, doubts


@pytest.mark.parametrize("name", CASES)
def test_runs_of_a_command_are_repeated_in_fresh_starts(name, tmp_path):
    """Broken variants: a command runs in no child (no doubts); other seeds are not tried (the fixed ones).

    Also if what a program declares is not believed: then declared noise of the system is no evidence.
    """
    parts, expected = CASES[name]
    record, doubts = audited(tmp_path, parts)
    assert doubts == expected
    assert record["verdict"] == ("inconclusive" if expected else "not_refuted")
    declared = "ready" in parts and parts is not RIGHT
    assert ("own_randomness" in record["target"]["note"]) == declared
    assert (record["provenance"]["counted"]["asked_again"] == 0) == declared


@pytest.mark.parametrize(("rare", "tells"), [(0, False), (3, False), (5, True), (128, True)])
def test_equal_runs_tell_only_where_other_noise_would_show(rare, tells):
    """Of 256 runs with 3 rare ones, 2.8 million orders are as likely. Broken variant: all equal runs tell."""
    rows = np.zeros((256, 2))
    rows[:rare, 1] = 1
    sampler = SimpleNamespace(function=None, followed=False, raw=lambda *given: rows)
    one, other = Sample(sampler, None, 0, (1, 0), np.arange(7, 9)).with_other_seeds()
    assert not {*one.sample.runs} & {*other.sample.runs}
    assert bool(one.again()) == tells
    assert one.again() == other.again()


ESCAPES = """
done = []
for place in ("written.txt", os.path.join(os.environ["TMPDIR"], "own")):
    try:
        open(place, "w").close()
        done.append(place)
    except OSError:
        pass
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.connect(("192.0.2.1", 9))
        done.append("network")
except OSError:
    pass
assert [os.path.basename(place) for place in done] == ["own"], done
assert os.getpid() < 100, "it sees its own processes only"
"""


@needs_namespaces
def test_a_command_runs_in_a_cage(tmp_path):
    """With its own temporary files, no network and no other processes, and in the fresh starts, too.

    Broken variant: it is started by the process that asks, and writes beside its code.
    """
    record, doubts = audited(tmp_path, {"begin": ESCAPES}, "--cage", "required")
    assert not doubts
    assert {"user-namespace", "no-network", "own-processes"} <= {*record["provenance"]["cage"]}
    assert "in_process" not in record["provenance"]
    assert sorted(os.listdir(tmp_path)) == ["mech.py", "r.json"]


DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    with open(f"{os.getpid()}.daemon", "w"):
        pass
    for end in range(3):
        os.close(end)
    import time
    time.sleep(3600)
"""


def test_what_a_command_leaves_does_not_outlive_the_audit(tmp_path):
    """Broken variant: nobody adopts its daemons."""
    audited(tmp_path, {"begin": DAEMON})
    left = [int(name.partition(".")[0]) for name in os.listdir(tmp_path) if name.endswith(".daemon")]
    assert left
    for process in left:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_nothing_is_known_or_kept_of_what_a_command_reads(tmp_path, monkeypatch):
    """Although all that git tracks is the same: it may read other files.

    Broken variants: its record is kept by --resume, its steps in a checkpoint, or a baseline excuses it.
    """
    repository = tmp_path / "code"
    repository.mkdir()
    (repository / "mech.py").write_text(PROGRAM.format(**RIGHT | OF_SYSTEM), "utf-8")
    entry = f"[[targets]]\nname = 'mech'\nexec = '{PYTHON} mech.py'\nepsilon = 1.0\nbudget = 'smoke'\n"
    (repository / "night.toml").write_text(entry, "utf-8")
    monkeypatch.chdir(repository)
    monkeypatch.setattr(loaded, "ran_before", lambda: "")  # as in a process of its own
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    done = file.run("night.toml", out=tmp_path / "out")
    report = done.reports["mech"]
    assert TREE in report.parsed.provenance.request.target.files
    assert report.verdict == "inconclusive"
    made = Baseline(tmp_path / "known.json")
    assert made.write([("mech", report)]) == 0
    assert made.new("mech", report)
    lines = []
    monkeypatch.setattr(file, "_audited", lambda task: report)
    file.run("night.toml", out=tmp_path / "out", resume=True, progress=lines.append)
    assert lines[0] == "0 of 1 targets were already finished"
    with pytest.raises(CheckpointError, match="whose code we cannot identify"):
        identity.of(vdp.Exec(f"{PYTHON} mech.py"), "mech")
