"""One engine for independent tasks: this process, several (loky), or machines (Dask); same results.

A task is a picklable function of one picklable argument whose result follows from that argument alone, so
that a task whose worker died is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from verifiable_dp import _validate
from verifiable_dp._validate import InputError

Task = TypeVar("Task")
Result = TypeVar("Result")
ATTEMPTS = 5  # how often a task may lose its worker before the run is given up


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    scheduler: str | None = None,
) -> Iterator[tuple[int, Result]]:
    """Run `function` on every task; yield (number of the task, result) as they end, in any order.

    Parameters
    ----------
    function, tasks
        See the module.
    workers
        Processes on this machine; with one, tasks run here and in order.
    scheduler
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``; `workers` then counts for nothing.

    Raises
    ------
    InputError
        If Dask is not installed, the scheduler cannot be reached, or workers keep dying.
    """
    _validate.integer("workers", workers, least=1)
    if scheduler is not None:
        yield from _on_dask(function, tasks, scheduler)
    elif min(workers, len(tasks)) <= 1:
        yield from ((number, function(task)) for number, task in enumerate(tasks))
    else:
        yield from _on_processes(function, tasks, workers)


def _numbered(function: Callable[[Any], Any], number: int, task: Any) -> tuple[int, Any]:
    return number, function(task)


def _on_processes(
    function: Callable[[Any], Any], tasks: Sequence[Any], workers: int
) -> Iterator[tuple[int, Any]]:
    """Loky gives up all running tasks when a process dies: what is not done is begun again."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    left = dict(enumerate(tasks))
    for attempt in range(ATTEMPTS):
        engine = Parallel(n_jobs=min(workers, len(left)), batch_size=1, return_as="generator_unordered")
        running = engine(delayed(_numbered)(function, number, task) for number, task in list(left.items()))
        try:
            for number, result in running:
                del left[number]
                yield number, result
            return
        except BrokenProcessPool as error:
            if attempt == ATTEMPTS - 1:
                raise InputError(f"workers: a process died {ATTEMPTS} times: {error}") from None


def _on_dask(
    function: Callable[[Any], Any], tasks: Sequence[Any], scheduler: str
) -> Iterator[tuple[int, Any]]:
    """Dask moves the tasks of a worker that died to others by itself."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise InputError("scheduler needs Dask: pip install 'verifiable-dp[dask]'") from None
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"scheduler: {scheduler!r} cannot be reached: {error}") from None
    with client:
        futures = [
            client.submit(_numbered, function, number, task, pure=False, retries=ATTEMPTS)
            for number, task in enumerate(tasks)
        ]
        finished = as_completed(futures, loop=client.loop)
        for future in finished:
            result = future.result()
            future.release()
            yield result
