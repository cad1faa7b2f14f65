"""Dask on loopback: three workers, one killed in the middle, the results of one process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verifiable_dp import engine

pytest.importorskip("distributed")
HERE = Path(__file__).parents[2]


def slow_square(task):
    number, folder = task
    Path(folder, f"{number}-{os.getpid()}").touch()
    time.sleep(0.15)
    return number * number


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(HERE)}  # the tasks of this file are imported by workers
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def cluster():
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    processes = [
        start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")
    ]
    one = ("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    processes += [start(*one, "--local-directory", "/tmp") for _ in range(3)]
    yield address, processes
    for process in processes:
        process.kill()
        process.wait()


def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    address, processes = cluster
    tasks = [(number, str(tmp_path)) for number in range(40)]
    found, killed = {}, None
    for number, result in engine.run(slow_square, tasks, scheduler=address):
        found[number] = result
        if len(found) == 6:
            killed = processes[1].pid
            os.kill(killed, signal.SIGKILL)
    assert found == {number: number**2 for number in range(40)}
    workers = {path.name.split("-")[1] for path in tmp_path.iterdir()}
    assert killed is not None
    assert len(workers) == 3
