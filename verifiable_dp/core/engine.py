"""One engine for independent tasks: this process, several (loky), or machines (Dask); same results.

A task is a picklable function of one picklable argument whose result follows from that argument alone, so
that a task whose worker died is simply run again.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import pickle
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from joblib import Parallel, delayed

from verifiable_dp.core import paths, pinned_source, validate
from verifiable_dp.core.validate import Function, InputError

if TYPE_CHECKING:
    from distributed import Client

Task = TypeVar("Task")
Result = TypeVar("Result")
Passed = Any  # type: ignore[explicit-any]  # what comes from a file or another process, its type lost on the way
ATTEMPTS = 5  # how often a task may lose its worker before the run is given up
_SUSPICIOUS = 2  # deaths after which it is looked for the task that causes them
_PATIENCE = 30  # seconds that a scheduler may take to answer and to have a worker
_CLIENT: ContextVar[Client | None] = ContextVar("client", default=None)
_FOLDERS: set[Path] = set()  # of a user's code, which is not installed where Dask's workers run


@contextmanager
def on(scheduler: str | None) -> Iterator[None]:
    """Run the tasks of this block on a Dask cluster; None changes nothing.

    A single task still runs here, and so do tasks of tasks, where their worker is.

    Parameters
    ----------
    scheduler
        Address, such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    InputError
        If Dask is not installed, the scheduler cannot be reached, or it has no workers.
    """
    if scheduler is None:
        yield
        return
    with _client(scheduler) as client:
        token = _CLIENT.set(client)
        try:
            yield
        finally:
            _CLIENT.reset(token)


@contextmanager
def here() -> Iterator[None]:
    """Run the tasks of this block on this machine, whatever `on` says."""
    token = _CLIENT.set(None)
    try:
        yield
    finally:
        _CLIENT.reset(token)


def remote() -> bool:
    """Whether tasks go to other machines."""
    return _CLIENT.get() is not None


def ship(folder: Path) -> None:
    """Send modules of this folder along with tasks that go to other machines."""
    _FOLDERS.add(folder.resolve())


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    apart: bool = False,
    lost: Callable[[Task], Result] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Run `function` on every task; yield (number of the task, result) as they end, in any order.

    Parameters
    ----------
    function, tasks
        See the module.
    workers
        Processes on this machine; with one, tasks run here and in order. Within `on` it counts for nothing.
    apart
        Whether even one worker is a process of its own, which a task may crash.
    lost
        What stands for the result of a task that kills its workers again and again; without it, such a task
        ends the run.

    Raises
    ------
    InputError
        If workers keep dying, or the connection to the scheduler of `on` is lost.
    """
    workers = validate.workers(workers)
    if remote() and (len(tasks) > 1 or apart):
        yield from _on_dask(function, tasks, _CLIENT.get(), lost)
    elif min(workers, len(tasks)) <= 1 and not (apart and tasks):
        yield from ((number, function(task)) for number, task in enumerate(tasks))
    else:
        yield from _on_processes(function, tasks, workers, apart, lost)


def ordered(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    step: str = "",
    asked: tuple[object, ...] = (),
    ended: Callable[[int, int, Result], None] = lambda number, done, result: None,
) -> list[Result]:
    """Results of all tasks, in their order.

    Parameters
    ----------
    function, tasks, workers
        See `run`.
    step, asked
        Each task is a step of this name, see `kept`; without a name none is kept.
    ended
        Called with the number of a task that has run, how many of those that had to run have, and the result.
    """
    keeper, said = _KEEPER.get() if step else None, repr(asked)
    unknown: tuple[str, bool, Passed] = ("", False, None)
    steps = [keeper.recalled(step, said) if keeper else unknown for _ in tasks]
    found: dict[int, Result] = {number: value for number, (_, known, value) in enumerate(steps) if known}
    left = [number for number in range(len(tasks)) if number not in found]
    with kept_by(None):  # what runs within a task is the task's own business
        ran = run(function, [tasks[number] for number in left], workers=workers)
        for done, (index, value) in enumerate(ran, start=1):
            number = left[index]
            found[number] = value
            if keeper:
                keeper.keep(steps[number][0], said, value)
            ended(number, done, value)
    return [found[number] for number in range(len(tasks))]


def called(task: tuple[Function[Result], tuple[object, ...], dict[str, object]]) -> Result:
    """A task that is a call: function, arguments, keyword arguments (what joblib's `delayed` gives)."""
    function, arguments, keywords = task
    return function(*arguments, **keywords)


def _numbered(function: Callable[[Task], Result], number: int, task: Task) -> tuple[int, Result]:
    return number, function(task)


class Countdown:
    """Says how long a run will take yet, from the share of it that is done.

    Parameters
    ----------
    whole
        Size of the run, in whatever unit.
    pace
        Seconds that a unit is expected to take, which weighs as much as a tenth of the run; 0: not known.
    """

    def __init__(self, whole: float, pace: float = 0.0) -> None:
        self._whole, self._began = whole, time.monotonic()
        self._known, self._pace = whole / 10 if pace else 0.0, pace

    def after(self, done: float) -> str:
        """``, about 30 s left`` for a line of progress; empty at the ends, where there is nothing to say."""
        if not 0 < done < self._whole:
            return ""
        spent = time.monotonic() - self._began + self._known * self._pace
        left = spent * (self._whole - done) / (done + self._known)
        return f", about {left:.0f} s left"


class Stages:
    """Progress that knows its stage, so that what runs within it can say how far that is.

    Parameters
    ----------
    say
        Called with each line of text.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._stage = say, ""
        self._steps = list[Countdown]()  # of the stage: each counts its own tasks from none to all

    def __call__(self, stage: str) -> None:
        """Begin a stage."""
        self._stage, self._steps = stage, []
        self._say(stage)

    @contextmanager
    def heard(self) -> Iterator[None]:
        """What `within_stage` gives in this block is said here."""
        token = _STAGES.set(self)
        try:
            yield
        finally:
            _STAGES.reset(token)

    def part(self, done: int, whole: int, clock: Countdown) -> None:
        """Say that so many tasks of a step of the stage are done; steps after the first say their number."""
        left = clock.after(done)
        if left:
            self._steps += [] if clock in self._steps else [clock]
            number = self._steps.index(clock) + 1
            step = f", step {number}" if number > 1 else ""
            self._say(f"{self._stage}{step}: {100 * done // whole} %{left}")


_STAGES: ContextVar[Stages | None] = ContextVar("stages", default=None)


def within_stage(whole: int) -> Callable[[int], None]:
    """What to call with the number of tasks that are done, of `whole`, in the stage that is under way."""
    stages, clock = _STAGES.get(), Countdown(whole)
    return lambda done: stages.part(done, whole, clock) if stages else None


# ---------------------------------------------------------------- steps that are kept


class Keeper(Protocol):
    """Keeps what the steps of a long run gave, so that an interrupted one goes on after them.

    A run is a deterministic function of its steps' results, so a step is known by its place: the steps around
    it, its name, and how many of that name came before it there.
    """

    def recalled(self, name: str, asked: str) -> tuple[str, bool, Passed]:
        """Place of the step that comes next, whether its result is known, and the result."""

    def keep(self, place: str, asked: str, result: object) -> None:
        """Keep the result of a step."""

    def within(self, place: str) -> AbstractContextManager[None]:
        """Steps of this block lie within the one at `place`."""


_KEEPER: ContextVar[Keeper | None] = ContextVar("keeper", default=None)


@contextmanager
def kept_by(keeper: Keeper | None) -> Iterator[None]:
    """Steps of this block are kept by `keeper`; by nobody if it is None."""
    token = _KEEPER.set(keeper)
    try:
        yield
    finally:
        _KEEPER.reset(token)


def kept(name: str, compute: Callable[[], Result], *asked: object) -> Result:
    """What `compute` gives, or gave before the run was interrupted.

    Parameters
    ----------
    name
        Of the step.
    compute
        Gives the result; steps within it are kept too.
    asked
        What the result depends on, where a few words say it: a step that was asked for something else is made
        again.
    """
    keeper, said = _KEEPER.get(), repr(asked)
    if keeper is None:
        return compute()
    place, known, value = keeper.recalled(name, said)
    if not known:
        with keeper.within(place):
            value = compute()
        keeper.keep(place, said, value)
    result: Result = value
    return result


# ---------------------------------------------------------------- processes


def _on_processes(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: int,
    apart: bool,
    lost: Callable[[Task], Result] | None,
) -> Iterator[tuple[int, Result]]:
    """Loky gives up all running tasks when a process dies: what is not done is begun again."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    left = dict(enumerate(tasks))
    died = 0
    while left:
        try:
            for number, result in _in_pool(function, left, workers, apart):
                del left[number]
                yield number, result
        except BrokenProcessPool as error:
            died += 1
            if died == ATTEMPTS and lost is None:
                raise InputError(f"workers: a process died {ATTEMPTS} times: {error}") from None
            if died % _SUSPICIOUS == 0 and lost is not None:
                # Those that ran go one at a time, so that it is known which of them kills its worker.
                for number in list(left)[:workers]:
                    task = left.pop(number)
                    try:
                        yield from _in_pool(function, {number: task}, 1, True)
                    except BrokenProcessPool:
                        yield number, lost(task)


def _in_pool(
    function: Callable[[Task], Result], left: dict[int, Task], workers: int, apart: bool
) -> Iterator[tuple[int, Result]]:
    """By joblib: in processes if `apart`, else as `parallel_config` says: threads serve commands."""
    size = min(workers, len(left))
    # joblib runs here what has one worker: of two, one stays idle.
    how: dict[str, object] = {"n_jobs": size}
    if apart:
        how = {"n_jobs": max(2, size), "pre_dispatch": size, "backend": "loky"}
    pool = Parallel(batch_size=1, return_as="generator_unordered", **how)
    with paths.safe_starts():
        yield from pool(
            delayed(_opened)(_Sent(function, number, task)) for number, task in list(left.items())
        )


class _Sent:
    """A task on its way to a process, which takes along the modules that are held in memory, and paths."""

    def __init__(self, *task: Passed) -> None:
        self.task = task

    def __reduce__(self) -> tuple[object, ...]:
        from joblib.externals.loky.backend.reduction import dumps

        return _received, (paths.given(), pinned_source.all_held(), dumps(self.task))


def _received(found: paths.Given, modules: dict[str, tuple[str, bytes]], content: bytes) -> _Sent:
    paths.take_over(found)
    pinned_source.take_over(modules)
    return _Sent(*pickle.loads(content))


def _opened(sent: _Sent) -> tuple[int, Passed]:
    return _numbered(*sent.task)


# ---------------------------------------------------------------- Dask


@contextmanager
def _client(scheduler: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError("scheduler needs Dask: pip install 'verifiable-dp[dask]'") from None
    with ExitStack() as stack:
        # We report a lost connection ourselves; its attempts to get it back need no lines.
        log = logging.getLogger("distributed.client")
        stack.callback(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL + 1)
        try:
            client = Client(scheduler, timeout=min(10, _PATIENCE), set_as_default=False)
            stack.enter_context(client)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(f"scheduler: {scheduler!r} cannot be reached: {error}") from None
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise InputError(
                f"scheduler: {scheduler!r} has had no worker for {_PATIENCE} seconds; "
                f"start one: dask worker {scheduler}"
            ) from None
        yield client


def _on_dask(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    client: Client,
    lost: Callable[[Task], Result] | None,
) -> Iterator[tuple[int, Result]]:
    """Dask moves the tasks of a worker that died to others by itself."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    same = installation()
    futures = {
        client.submit(_unpacked, same, _packed(function, number, task), pure=False, retries=ATTEMPTS): number
        for number, task in enumerate(tasks)
    }
    try:
        finished = as_completed(futures, loop=client.loop)
        for future in finished:
            try:
                result = future.result()
            except (CancelledError, CommClosedError):
                raise InputError("scheduler: the connection was lost") from None
            except KilledWorker as error:
                if lost is None:
                    raise InputError(f"scheduler: workers keep dying: {error}") from None
                result = futures[future], lost(tasks[futures[future]])
            future.release()
            yield result
    finally:
        for future in futures:
            if not future.done():
                future.cancel()


def _packed(function: Callable[[Task], Result], number: int, task: Task) -> bytes:
    """A task as bytes, a user's modules by their code: they are not installed where it runs."""
    import cloudpickle

    modules = _users_modules()
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        content: bytes = cloudpickle.dumps((function, number, task))
        return content
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


_PACKAGE = __name__.partition(".")[0]


def _users_modules() -> list[ModuleType]:
    """Loaded modules that lie in a folder of a user's code, installed ones excepted."""
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if not path or name in ("__main__", _PACKAGE) or name.startswith(f"{_PACKAGE}."):
            continue
        theirs = _FOLDERS.intersection(Path(path).parents) and not paths.installed(path)
        if theirs and getattr(module, "__name__", "") == name:
            found.append(module)
    return found


def _unpacked(same: str, content: bytes) -> tuple[int, Passed]:
    """Run a packed task, if this machine's installation is that of the sender."""
    own = installation()
    if own != same:
        raise InputError(
            f"scheduler: a worker and this machine have different installations ({own} and {same}); counts "
            f"could differ"
        )
    import cloudpickle

    function, number, task = cloudpickle.loads(content)
    return _numbered(function, number, task)


# ---------------------------------------------------------------- what runs


@functools.cache
def code_digest() -> str:
    """SHA-256 over the code of this package, and the tables that it reads."""
    whole, root = hashlib.sha256(), Path(__file__).parents[1]
    # The catalogue's folders are links, which rglob does not follow.
    folders = [root, *(path for path in sorted(root.iterdir()) if path.is_dir())]
    paths = {
        path
        for folder in folders
        for path in (folder.glob("*") if folder == root else folder.rglob("*"))
        if path.suffix in (".py", ".toml")
    }
    for path in sorted(paths):
        whole.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return whole.hexdigest()


@functools.cache
def installation() -> str:
    """What has to be equal on all machines: Python and this package."""
    major, minor, _ = platform.python_version_tuple()
    return f"Python {major}.{minor}, code {code_digest()[:12]}"


def close() -> None:
    """End idle worker processes of joblib; others are started when they are needed."""
    from joblib.externals.loky import reusable_executor

    if reusable_executor._executor is not None:
        reusable_executor._executor.shutdown(wait=True)
