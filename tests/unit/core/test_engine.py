"""The engine: the same results in this process, in several, and when workers die."""

import os
import signal
from pathlib import Path

import pytest

from verifiable_dp.core import engine
from verifiable_dp.core.validate import InputError


def square(number):
    return number * number


def dies_once(task):
    """Kills its worker the first time that it is run."""
    number, folder = task
    mark = Path(folder) / str(number)
    if number in (3, 7) and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_dies(task):
    os.kill(os.getpid(), signal.SIGKILL)


def dies_if_odd(number):
    """Kills its worker whenever it is run, as a crash in native code does."""
    if number % 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def fails(number):
    raise ValueError(f"task {number} is wrong")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers):
    found = dict(engine.run(square, range(20), workers=workers))
    assert found == {i: i * i for i in range(20)}


def test_one_worker_runs_in_order():
    assert [number for number, _ in engine.run(square, range(5))] == list(range(5))


def test_no_tasks_give_no_results():
    assert list(engine.run(square, [], workers=2)) == []


def test_tasks_whose_worker_was_killed_are_run_again(tmp_path):
    tasks = [(number, str(tmp_path)) for number in range(12)]
    found = dict(engine.run(dies_once, tasks, workers=2))
    assert found == {i: i * i for i in range(12)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3", "7"]


def test_workers_that_keep_dying_end_in_one_clear_line():
    with pytest.raises(InputError, match=r"workers: a process died 5 times"):
        list(engine.run(always_dies, range(4), workers=2))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_task_that_kills_its_workers_is_lost_and_no_other(workers):
    found = dict(engine.run(dies_if_odd, range(4), workers=workers, apart=True, lost=lambda task: -task))
    assert [found[1], found[3]] == [-1, -3]
    assert [found[0][0], found[2][0]] == [0, 2]
    assert os.getpid() not in {found[0][1], found[2][1]}


def test_a_task_apart_is_not_run_here():
    ((_, (_, process)),) = engine.run(dies_if_odd, [0], apart=True)
    assert process != os.getpid()
    ((_, (_, process)),) = engine.run(dies_if_odd, [0])
    assert process == os.getpid()


def test_results_in_order_and_calls():
    assert engine.ordered(square, range(9), workers=2) == [i * i for i in range(9)]
    assert engine.called((pow, (2, 3), {"mod": 5})) == 3


def test_time_left_is_said_between_the_ends(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(engine.time, "monotonic", lambda: now[0])
    clock = engine.Countdown(8)
    assert clock.after(0) == ""
    now[0] += 30
    assert clock.after(2) == ", about 90 s left"
    assert clock.after(8) == ""
    # What was expected keeps a slow start from being taken for the whole.
    clock = engine.Countdown(100, pace=0.5)
    now[0] += 30
    assert clock.after(1) == ", about 315 s left"


def test_the_digest_of_the_code_covers_the_catalogue(monkeypatch):
    engine.code_digest.cache_clear()
    before = engine.code_digest()
    seen = set()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: seen.add(self) or read(self))
    engine.code_digest.cache_clear()
    assert engine.code_digest() == before
    names = {"/".join(path.parts[-2:]) for path in seen}
    assert {
        "api/audits.py",
        "algorithms/dp_se.py",
        "auditors/dp_se.py",
        "auditors/dp_se.toml",
        "studies/s1.py",
    } <= names
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self) + b"#")
    engine.code_digest.cache_clear()
    assert engine.code_digest() != before
    engine.code_digest.cache_clear()


def test_an_error_of_a_task_is_passed_on():
    with pytest.raises(ValueError, match="is wrong"):
        list(engine.run(fails, range(4), workers=2))


def test_a_wrong_number_of_workers_is_refused():
    with pytest.raises(InputError, match="workers"):
        list(engine.run(square, [1], workers=0))


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "_PATIENCE", 1)
    with (
        pytest.raises(InputError, match=r"scheduler: 'tcp://127.0.0.1:9' cannot be reached"),
        engine.on("tcp://127.0.0.1:9"),
    ):
        pytest.fail("it begins without a scheduler")


def test_a_scheduler_without_workers_is_named(monkeypatch):
    """Broken variant: it is enough that none is there."""
    distributed = pytest.importorskip("distributed")

    class Empty:
        def __init__(self, *_, **__):
            self.there = 0

        def wait_for_workers(self, least, timeout):
            if self.there < least:
                raise TimeoutError

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.there = -1

    monkeypatch.setattr(distributed, "Client", Empty)
    with pytest.raises(InputError, match="scheduler"), engine.on("tcp://127.0.0.1:9"):
        pytest.fail("it begins without workers")
