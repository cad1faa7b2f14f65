"""Dask on loopback: three workers, one killed in the middle, the results of one process."""

import os
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest

from tests.commands import PATIENCE
from verifiable_dp import api
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.core import engine
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import verify
from verifiable_dp.report import Report

distributed = pytest.importorskip("distributed")
HERE = Path(__file__).parents[2]
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")


def slow_square(task):
    number, folder = task
    Path(folder, f"{number}-{os.getpid()}").touch()
    time.sleep(0.15)
    return number * number


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start(*arguments, **more):
    # The tasks of this file are imported by workers.
    environment = {**os.environ, "PYTHONPATH": str(HERE), **more}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """Address, processes of workers, and the folder that they are given for marks."""
    address, marks = f"tcp://127.0.0.1:{(port := free_port())}", tmp_path_factory.mktemp("marks")
    service = start(
        "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show"
    )
    workers = []
    yield address, workers, marks
    for process in [*workers, service]:
        process.kill()
        process.wait()


@pytest.fixture
def cluster(scheduler):
    """Three workers, some of them new if a test before has killed others."""
    address, workers, marks = scheduler
    workers[:] = [process for process in workers if process.poll() is None]
    one = ("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    while len(workers) < 3:
        workers.append(start(*one, "--local-directory", "/tmp", MARKS=str(marks)))
    with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(3, timeout=PATIENCE)
    return address, workers, marks


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    address, processes, _ = cluster
    folder = tmp_path / "tasks"
    folder.mkdir()
    tasks = [(number, str(folder)) for number in range(40)]
    found, killed = {}, None
    with engine.on(address):
        for number, result in engine.run(slow_square, tasks):
            found[number] = result
            if len(found) == 6:
                killed = processes[1].pid
                os.kill(killed, signal.SIGKILL)
    assert found == {number: number**2 for number in range(40)}
    workers = {path.name.split("-")[1] for path in folder.iterdir()}
    assert killed is not None
    assert len(workers) == 3


# Where MARKS is set, as on the workers, each call leaves a mark and takes its time.
OWN = """
import os
import time
import numpy as np
import own_scale

def release(data, size, rng):
    marks = os.environ.get("MARKS")
    if marks:
        open(os.path.join(marks, f"{os.getpid()}-{time.monotonic_ns()}"), "w").close()
        time.sleep(0.05)
    return np.asarray(data).sum() + rng.laplace(0, own_scale.SCALE, size)
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A target beside a module that it imports; neither is installed on the workers."""
    (tmp_path / "own_release.py").write_text(OWN)
    (tmp_path / "own_scale.py").write_text("SCALE = 1.0\n")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield "own_release.py:release"
    sys.path[:] = path
    for name in ("own_release", "own_scale"):
        sys.modules.pop(name, None)


def shared(record):
    """What two runs share: everything but provenance and what follows from it."""
    return verify._comparable(record)


def killer(process, marks, least):
    """Kills a worker as soon as it and the others have done something."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        names = [path.name for path in marks.iterdir()]
        busy = {name.split("-")[0] for name in names}
        if len(names) >= least and len(busy) == 3 and str(process.pid) in busy:
            os.kill(process.pid, signal.SIGKILL)
            return
        time.sleep(0.01)


@pytest.mark.slow
def test_one_process_two_and_a_cluster_that_loses_a_worker_give_one_record(cluster, own, tmp_path):
    address, processes, marks = cluster
    first = api.audit(own, epsilon=1.0, seed=5, budget="smoke", runs=400).record
    # The sizes of an audit of one's own code depend on the machine's speed: a rerun has those of its record.
    plan = {**first["plan"], "test": 10 << 17, "select": 3 << 17}
    report = Report(api.rerun({**first, "plan": plan}))
    path = report.save(tmp_path / "report")[0]
    assert shared(api.rerun(report.record, workers=2)) == shared(report.record)
    assert not list(marks.iterdir())
    thread = threading.Thread(target=killer, args=(processes[2], marks, 12))
    thread.start()
    with engine.on(address):
        again = api.rerun(report.record)
    thread.join()
    assert processes[2].wait(10) == -signal.SIGKILL
    assert shared(again) == shared(report.record)
    last = max(int(path.name.split("-")[1]) for path in marks.glob(f"{processes[2].pid}-*"))
    after = [path for path in marks.iterdir() if int(path.name.split("-")[1]) > last]
    assert len(after) > 3, "the worker was killed when all was done"
    assert verify.verify(path, rerun=lambda record: again).rerun

    # A campaign on what is left of the cluster.
    (tmp_path / "c.toml").write_text(
        "[defaults]\nbudget = 0.02\nmutants = false\nepsilon = 1.0\n"
        '[[targets]]\ntarget = "tree-sum"\n[[targets]]\ntarget = "own_release.py:release"\nbudget = 60\n'
    )
    here = campaign_file.run("c.toml", out="here")
    with engine.on(address):
        there = campaign_file.run("c.toml", out="there")
    assert there.failed == {}
    assert shared(there.reports["tree-sum"].record) == shared(here.reports["tree-sum"].record)
    assert there.reports["own_release-release"].verdict == "not_refuted"


GREEDY = """
import numpy as np
import own_scale

class Greedy:
    def __init__(self, n_arms, rng):
        self.n_arms, self.sums, self.pulls = n_arms, np.zeros(n_arms), np.zeros(n_arms)

    def select(self):
        rest = np.flatnonzero(self.pulls == 0)
        return int(rest[0]) if len(rest) else int(np.argmax(self.sums / self.pulls))

    def update(self, arm, reward):
        self.sums[arm] += reward * own_scale.SCALE
        self.pulls[arm] += 1
"""


@pytest.mark.slow
def test_regret_measured_on_a_cluster_is_that_of_one_process(cluster, own, tmp_path):
    address, *_ = cluster
    (tmp_path / "own_greedy.py").write_text(GREEDY)
    command = ["regret", "own_greedy.py:Greedy", "--bound", "150", "--runs", "24"]
    command += ["--arms", "2", "--horizon", "200", "--seed", "4"]
    records = []
    for name, more in (("here.json", []), ("there.json", ["--scheduler", address])):
        done = subprocess.run(
            [SCRIPT, *command, *more, "--json", name],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode in (0, 1, 3), done.stderr
        records.append(shared(verify.verify(tmp_path / name).record))
    assert records[0] == records[1]


@pytest.mark.slow
def test_a_worker_with_other_code_is_refused(cluster, monkeypatch):
    address, *_ = cluster
    monkeypatch.setattr(engine, "installation", lambda: "Python 3.0, code 0")
    with engine.on(address), pytest.raises(InputError, match="have different installations"):
        list(engine.run(abs, [1, 2]))


@pytest.mark.slow
def test_nothing_goes_to_the_cluster_within_here(cluster):
    address, *_ = cluster
    with engine.on(address):
        assert engine.remote()
        with engine.here():
            assert not engine.remote()
            assert set(engine.ordered(process_of, range(2))) == {os.getpid()}
        assert os.getpid() not in engine.ordered(process_of, range(2))
    assert not engine.remote()


def process_of(task):
    return os.getpid()


@pytest.mark.slow
def test_a_scheduler_that_ends_is_one_line():
    address = f"tcp://127.0.0.1:{(port := free_port())}"
    service = start(
        "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show"
    )
    worker = start("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    try:
        with engine.on(address):
            running = engine.run(time.sleep, [0.1] * 300)
            next(running)
            service.kill()
            with pytest.raises(InputError, match="scheduler: the connection was lost"):
                list(running)
    finally:
        for process in (worker, service):
            process.kill()
            process.wait()
