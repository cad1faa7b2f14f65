"""The engine: the same results in this process, in several, and when workers die."""

import os
import signal
from pathlib import Path

import pytest

from verifiable_dp import engine
from verifiable_dp._validate import InputError


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


def test_an_error_of_a_task_is_passed_on():
    with pytest.raises(ValueError, match="is wrong"):
        list(engine.run(fails, range(4), workers=2))


def test_a_wrong_number_of_workers_is_refused():
    with pytest.raises(InputError, match="workers"):
        list(engine.run(square, [1], workers=0))


def test_a_scheduler_that_is_not_there_is_named():
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match=r"scheduler: 'tcp://127.0.0.1:9' cannot be reached"):
        list(engine.run(square, [1], scheduler="tcp://127.0.0.1:9"))
