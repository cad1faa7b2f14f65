"""One object of one process draws on a session's data: threads, forks, copies, links, backups, counters."""

import contextlib
import copy
import ctypes
import errno
import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.live import Blocks, Logged, feed, finish, fork, forked, forked_and_left, refused, small
from verifiable_dp.core import kept_session, rights, turns
from verifiable_dp.core import session as sessions
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.rights import FileCounter
from verifiable_dp.core.validate import InputError

FORKED = "InputError: the session belongs to the process that created it"
ALGORITHM = Blocks(1000)


@pytest.fixture
def path(quick):
    return quick / "session.json"


# ---------------------------------------------------------------- threads


@contextlib.contextmanager
def restless():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def raced(session, threads):
    """How many rewards a session took from threads that go on until it refuses."""
    taken, others, begin = [0] * threads, [], threading.Barrier(threads)

    def work(number):
        begin.wait()
        try:
            while True:
                session.update(0.5)
                taken[number] += 1
        except InputError as error:
            others.extend([] if "finished" in str(error) else [str(error)])

    with restless():
        workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert not others
    return sum(taken)


def stress(threads, horizon, path=None):
    noise, algorithm = Logged(), Blocks(horizon, 2)
    session = algorithm.session(noise=noise, path=path)
    taken = raced(session, threads)
    return taken, noise, session


@pytest.mark.parametrize("threads", [2, 4, 16])
def test_threads_draw_nothing_twice(threads, path):
    for place, horizon in ((None, 1200), (path, 240)):
        taken, noise, session = stress(threads, horizon, place)
        assert taken == session.rounds == horizon
        assert (noise.most, len(noise.slots)) == (1, horizon // 2)
        session.close()
    with Blocks(240, 2).restore(path, noise=noise) as back:
        assert back.state.seen.tolist() == session.state.seen.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 4, 16])
def test_threads_draw_nothing_twice_in_many_trials(threads):
    """100,000 rewards of which each second one is released."""
    for _ in range(17):
        taken, noise, _ = stress(threads, 2000)
        assert (taken, noise.most, len(noise.slots)) == (2000, 1, 1000)


class Meeting(Logged):
    """Two threads meet in the source, where two can be there."""

    def __init__(self):
        super().__init__()
        self.meeting = threading.Barrier(2)

    def __call__(self, draw):
        self.meeting.wait(600)
        return super().__call__(draw)


def test_without_the_lock_threads_draw_twice(monkeypatch):
    """Negative control: what the stress test looks at."""
    for name in ("held", "alone"):
        monkeypatch.setattr(rights.Right, name, lambda right: contextlib.nullcontext())
    noise = Meeting()
    session = ALGORITHM.session(noise=noise)
    workers = [threading.Thread(target=session.update, args=(0.5,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (session.rounds, noise.most) == (1, 2)


def test_a_reward_of_another_round_is_refused(path):
    session = ALGORITHM.session(noise=Logged())
    session.update(0.5, round=0)
    refused(lambda: session.update(0.5, round=0), "round must be 1, the round of the next reward, got 0")
    assert session.rounds == 1


@pytest.mark.parametrize("place", [False, True])
def test_a_source_or_a_handler_that_calls_the_session_is_refused(place, path):
    """In the middle of an update another one would draw for the same rewards."""
    said = []

    class Calling(Logged):
        def __call__(self, draw):
            for call in (lambda: session.update(0.5), session.close, lambda: session.save(path)):
                with pytest.raises(InputError, match="being updated or saved"):
                    call()
                said.append(session.rounds)
            return super().__call__(draw)

    noise = Calling()
    session = ALGORITHM.session(noise=noise, path=path if place else None)
    feed(session, 3)
    assert said == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert (session.rounds, noise.most) == (3, 1)


def test_a_signal_in_the_middle_of_an_update_draws_nothing_twice(path):
    noise, told = Logged(), []
    session = Blocks(4000).session(noise=noise)

    def handle(number, frame):
        if session.rounds > 3000:
            return  # the last round is for `finish`, which has looked whether there is one
        try:
            session.update(0.25)
            told.append("taken")
        except InputError as error:
            told.append(str(error))
        signal.setitimer(signal.ITIMER_REAL, 2e-4)  # one after the other, however slow the machine is

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 2e-4)
    try:
        finish(session)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert any("being updated or saved" in text for text in told)
    assert (session.rounds, noise.most) == (4000, 1)


class Interrupt(BaseException):
    """What a handler of a signal raises."""


def interrupted(call, number):
    """Whether `call` was interrupted after the call of this number that sessions make: as signals do."""
    rooms = (rights, sessions, turns, kept_session, rights.files, contextlib)
    left, files = number, {room.__file__ for room in rooms}

    def after(frame, event, _):
        nonlocal left
        if event in ("c_return", "call") and frame.f_code.co_filename in files:
            left -= 1
            if not left:
                sys.setprofile(None)
                raise Interrupt

    sys.setprofile(after)
    try:
        call()
    except Interrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("act", ["update", "batch", "save", "close"])
def test_an_interrupt_after_any_call_draws_nothing_twice_and_keeps_no_lock(act, path):
    noise, counter = Logged(), FileCounter(path.with_name("c"))
    session, shown, number = ALGORITHM.session(noise=noise, path=path, counter=counter), [], 0

    def batch():
        with session.batch():
            session.update(0.5)

    def acts():
        {"update": lambda: session.update(0.5), "save": lambda: session.save(path), "batch": batch}.get(
            act, session.close
        )()

    def look():
        seen = session.state.seen[0].tolist()
        assert seen[: len(shown)] == shown
        shown[:] = seen

    while interrupted(acts, number := number + 1):
        look()
        if session._right.ended or number % 2:  # here the process is killed right afterwards
            session._right.drop()
            session = ALGORITHM.restore(path, noise=noise, counter=counter)
            look()
        session.update(0.5)
        look()
    assert number > 10
    assert set(os.listdir(path.parent)) >= {path.name, "c"}


# ---------------------------------------------------------------- processes


@pytest.mark.parametrize("saved", [False, True])
def test_a_fork_is_refused_and_the_parent_goes_on(saved, path):
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path if saved else None), 3)
    calls = [
        session.select,
        lambda: session.update(0.5),
        lambda: session.save(path.with_name("other")),
        session.close,
        session.batch().__enter__,
        session.__exit__,
    ]
    for call in calls:
        assert forked(call).startswith(FORKED)
    assert forked(lambda: (session.update(0.5), len(noise.slots))).startswith(FORKED)
    before = session.generation
    feed(session, 3)
    assert (session.rounds, noise.most, session.generation - before) == (6, 1, 3 * saved)


def test_forks_of_forks_and_while_threads_work(path):
    noise = Logged()
    session = Blocks(300, 2).session(noise=noise)
    worker = threading.Thread(target=lambda: finish(session))
    with restless():
        worker.start()
        said = {forked(lambda: forked(lambda: session.update(0.5))) for _ in range(20)}
        worker.join()
    assert all(FORKED in text for text in said)
    assert noise.most == 1


@pytest.mark.slow
def test_many_forks_draw_nothing(path):
    noise = Logged()
    session = Blocks(2000).session(noise=noise, path=path)
    for _ in range(1000):
        assert forked(lambda: session.update(0.5)).startswith(FORKED)
        session.update(0.5)
    assert noise.most == 1


def test_a_fork_that_python_does_not_know_of_is_refused():
    """Native code may call fork itself."""
    session = ALGORITHM.session(noise=Logged())
    reading, writing = os.pipe()
    child = ctypes.PyDLL(None).fork()
    if not child:
        try:
            session.update(0.5)
            os.write(writing, b"taken")
        except InputError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        assert b"belongs to the process that created it" in file.read()
    os.waitpid(child, 0)


def test_a_fork_with_the_number_of_its_parent_is_refused():
    """Numbers of processes are used again; in containers every main process is 1."""
    session, number = ALGORITHM.session(noise=Logged()), os.getpid()

    def child():
        os.getpid = lambda: number
        session.update(0.5)

    assert forked(child).startswith(FORKED)


@pytest.mark.parametrize("saved", [False, True])
def test_who_forks_in_the_middle_of_an_update_shows_nothing_in_the_child(saved, path):
    """A source of noise, or a handler of a signal, may."""
    reading, writing = os.pipe()

    class Forking(Logged):
        child = None

        def __call__(self, draw):
            self.child = fork()
            return super().__call__(draw)

    noise = Forking()
    session = ALGORITHM.session(noise=noise, path=path if saved else None)
    try:
        session.update(0.5)
        said = f"shown {session.state.seen.tolist()}"
    except InputError as error:
        said = f"InputError: {error}"
    if noise.child == 0:
        os.write(writing, said.encode())
        os._exit(0)
    os.waitpid(noise.child, 0)
    os.close(writing)
    with open(reading) as file:
        assert file.read().startswith(FORKED)
    assert said.startswith("shown")
    assert session.rounds == 1


def test_a_fork_within_a_batch_writes_nothing(path):
    session = Blocks(100, 50).session(noise=Logged(), path=path)
    batch = session.batch()
    batch.__enter__()
    feed(session, 3)
    before = path.read_bytes()
    assert forked(lambda: batch.__exit__(None, None, None)).startswith(FORKED)
    assert path.read_bytes() == before
    batch.__exit__(None, None, None)
    session.close()
    assert Blocks(100, 50).restore(path, noise=Logged()).rounds == 3


def test_a_child_that_outlives_its_parent_does_not_keep_the_lock(path):
    """The parent holds a session, forks a child that goes on, and is killed."""
    reading, writing = os.pipe()

    def parent():
        session = ALGORITHM.session(noise=Logged(), path=path)
        said = forked_and_left(lambda: time.sleep(60))
        os.write(writing, str(said).encode())
        assert session.rounds == 0
        os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(forked_and_left(parent), 0)
    child = int(os.read(reading, 100))
    try:
        ALGORITHM.restore(path, noise=Logged()).close()
        os.kill(child, 0)  # it is still there
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(reading)
        os.close(writing)


def test_a_child_of_a_fork_in_the_middle_of_writing_does_not_keep_the_lock(path, monkeypatch):
    """Another thread forks while the next file is written; then the parent is killed."""
    session, flush, children = ALGORITHM.session(noise=Logged(), path=path), os.fsync, []

    def forking(handle):
        flush(handle)
        if not children:
            children.append(forked_and_left(lambda: time.sleep(600)))

    monkeypatch.setattr(os, "fsync", forking)
    session.update(0.5)
    session._right.drop()
    try:
        assert ALGORITHM.restore(path, noise=Logged()).rounds == 1
        os.kill(children[0], 0)  # it is still there
    finally:
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes_get_no_session(method):
    session = ALGORITHM.session(noise=Logged())
    if method == "fork":
        assert forked(lambda: session.update(0.5)).startswith(FORKED)
        return
    process = multiprocessing.get_context(method).Process(target=session.update, args=(0.5,))
    refused(process.start, "cannot be copied or pickled")
    assert session.rounds == 0


@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, pickle.dumps, lambda session: copy.deepcopy([session])]
)
def test_copies_and_pickles_are_refused(way, path):
    for place in (None, path):
        session = feed(ALGORITHM.session(noise=Logged(), path=place), 2)
        refused(lambda session=session: way(session), "cannot be copied or pickled.*restore it")
        assert session.rounds == 2


# ---------------------------------------------------------------- one file


def test_a_file_is_open_in_one_session(path):
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path), 2)
    refused(lambda: ALGORITHM.restore(path, noise=noise), "is in use by another session")
    assert "is in use by another session" in forked(lambda: ALGORITHM.restore(path, noise=noise))
    session.close()
    for call in (session.select, lambda: session.update(0.5), session.close):
        refused(call, "was closed; restore it from its file")
    back = ALGORITHM.restore(path, noise=noise)
    refused(lambda: ALGORITHM.restore(path, noise=noise), "is in use by another session")
    assert (back.rounds, noise.most) == (2, 1)


def test_a_session_that_nobody_holds_gives_its_file_free(path):
    session = ALGORITHM.session(noise=Logged(), path=path)
    del session
    ALGORITHM.restore(path, noise=Logged()).close()


def test_who_copied_the_open_file_does_not_keep_the_lock(path):
    session = ALGORITHM.session(noise=Logged(), path=path)
    copied = os.dup(session._right._file)
    session.close()
    ALGORITHM.restore(path, noise=Logged()).close()
    os.close(copied)


def test_links_are_refused(path):
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path), 1)
    link, none = path.with_name("link"), path.with_name("none")
    link.symlink_to(path)
    none.symlink_to(path.with_name("nowhere"))
    for saved in (session, None):
        refused(lambda: ALGORITHM.restore(link, noise=noise), "is a link; give the path of the file itself")
        for place in (link, none):
            refused(lambda place=place: ALGORITHM.session(noise=noise, path=place), "exists|is a link")
        if saved:
            session.close()
    assert link.is_symlink()
    assert not path.with_name("nowhere").exists()


def test_folders_may_be_links(path):
    noise = Logged()
    (path.parent / "real").mkdir()
    (path.parent / "folder").symlink_to("real")
    session = feed(ALGORITHM.session(noise=noise, path=path.parent / "folder" / "s"), 2)
    refused(lambda: ALGORITHM.restore(path.parent / "real" / "s", noise=noise), "is in use by another")
    (path.parent / "folder").unlink()
    (path.parent / "folder").symlink_to(".")  # the session stays where it was
    feed(session, 2).close()
    assert ALGORITHM.restore(path.parent / "real" / "s", noise=noise).rounds == 4


def test_hard_links_are_refused(path):
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path), 1)
    os.link(path, path.with_name("second"))
    refused(lambda: session.update(0.5), "has been replaced or removed")
    session.close()
    for name in (path, path.with_name("second")):
        refused(lambda name=name: ALGORITHM.restore(name, noise=noise), "has 2 names")
    path.with_name("second").unlink()
    assert ALGORITHM.restore(path, noise=noise).rounds == 1


@pytest.mark.parametrize("how", ["replaced", "removed", "folder renamed", "folder copied"])
def test_a_file_that_was_touched_ends_its_session_and_nothing_is_shown(how, path):
    folder = path.parent / "folder"
    folder.mkdir()
    place, noise = folder / "s", Logged()
    session = feed(ALGORITHM.session(noise=noise, path=place), 2)
    if how == "replaced":
        shutil.copy(place, folder / "c")
        os.replace(folder / "c", place)
    elif how == "removed":
        place.unlink()
    else:
        folder.rename(path.parent / "moved")
        if how == "folder copied":
            shutil.copytree(path.parent / "moved", folder)
    shown = session.state.seen.tolist()
    for _ in range(2):
        refused(lambda: session.update(0.5), "has been replaced or removed")
    assert session.state.seen.tolist() == shown
    if how == "folder renamed":
        (path.parent / "moved").rename(folder)
        feed(session, 1)
        assert session.rounds == 3


def test_of_two_sessions_that_are_made_at_one_place_together_one_is_refused(path, monkeypatch):
    """Both see that nothing lies there; the second one does not write over the first one."""
    make, first = tempfile.mkstemp, []

    def meanwhile(**named):
        if not first:
            first.append(None)
            first[0] = feed(ALGORITHM.session(noise=Logged(), path=path), 2)
        return make(**named)

    monkeypatch.setattr(tempfile, "mkstemp", meanwhile)
    refused(lambda: ALGORITHM.session(noise=Logged(), path=path), "exists; restore the session from it")
    assert os.listdir(path.parent) == [path.name]
    feed(first[0], 1).close()
    assert ALGORITHM.restore(path, noise=Logged()).rounds == 3


@pytest.mark.parametrize("step", ["link", "unlink"])
def test_who_is_killed_when_the_file_is_made_leaves_none_or_one_that_is_restored(step, path):
    def work():
        def killed(*_):
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, step, killed)
        ALGORITHM.session(noise=Logged(), path=path)

    os.waitpid(forked_and_left(work), 0)
    assert path.exists() == (step == "unlink")
    begin = (
        ALGORITHM.restore if path.exists() else lambda place, **more: ALGORITHM.session(path=place, **more)
    )
    feed(begin(path, noise=Logged()), 1).close()
    assert ALGORITHM.restore(path, noise=Logged()).rounds == 1
    assert os.listdir(path.parent) == [path.name]


def test_a_file_system_without_hard_links_has_sessions(path, monkeypatch):
    def none(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    feed(ALGORITHM.session(noise=Logged(), path=path), 1).close()
    refused(lambda: ALGORITHM.session(noise=Logged(), path=path), "exists; restore the session from it")
    assert ALGORITHM.restore(path, noise=Logged()).rounds == 1


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_system_without_locks_has_no_sessions(number, path, monkeypatch):
    def none(*_):
        raise OSError(number, os.strerror(number))

    ALGORITHM.session(noise=Logged(), path=path).close()
    with monkeypatch.context() as patch:
        patch.setattr(rights.fcntl, "flock", none)
        refused(
            lambda: ALGORITHM.restore(path, noise=Logged()), "has no locks .*; keep the file on a local one"
        )
        other = path.with_name("other")
        refused(
            lambda: ALGORITHM.session(noise=Logged(), path=other), "has no locks .*; keep the file on a local"
        )
        refused(lambda: FileCounter(path.with_name("c")).advance(0, 1), "cannot be used")
    assert os.listdir(path.parent) == [path.name]
    assert ALGORITHM.restore(path, noise=Logged()).rounds == 0


def test_what_a_killed_process_left_is_removed_and_nothing_else(path):
    ALGORITHM.session(noise=Logged(), path=path).close()
    name = path.name
    left = path.with_name(f".{name}.ab_1z9xy.new")
    others = [f".{name}.swp", f".{name}.backup01", f".{name}.1.ab_1z9xy.new", f"x.{name}.ab_1z9xy.new"]
    for place in (left, *map(path.with_name, others)):
        place.write_text("")
    ALGORITHM.restore(path, noise=Logged()).close()
    assert sorted(os.listdir(path.parent)) == sorted([name, *others])


# ---------------------------------------------------------------- another process


SECOND = """
import sys
from tests.live import Blocks, Logged
from verifiable_dp.core.validate import InputError
try:
    Blocks(1000).restore(sys.argv[1], noise=Logged()).update(0.5)
    print("taken")
except InputError as error:
    print(error)
"""


def test_another_process_is_refused_until_the_first_one_ends(path):
    session = ALGORITHM.session(noise=Logged(), path=path)

    def second():
        root = Path(__file__).parents[3]
        command = [sys.executable, "-c", SECOND, str(path)]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout

    assert "is in use by another session" in second()
    session.close()
    assert second() == "taken\n"
    assert json.loads(path.read_bytes())["rounds"] == 1


def test_seeded_files_are_no_sessions_of_their_own(path):
    algorithm = small("dp-ucb")
    session = feed(algorithm.session(seed=1), 2)
    session.save(path)
    one, two = (algorithm.restore(path, seeded=True) for _ in range(2))
    assert finish(one).state.estimate.tolist() == finish(two).state.estimate.tolist()
    assert isinstance(one._turns.noise, Seeded)
