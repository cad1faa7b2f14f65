"""Sessions that are killed, that meet a full disk, and that fail at every step: held against a model."""

import contextlib
import copy
import errno
import functools
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import verifiable_dp
from tests.live import Blocks, Logged, feed, forked, forked_and_left, quick_folder, refused
from verifiable_dp.core import files, rights, session
from verifiable_dp.core.rights import FileCounter
from verifiable_dp.core.validate import InputError

ALGORITHM = Blocks(1 << 20, 2)

# ---------------------------------------------------------------- killed


def shows(log, session, known, rounds=True):
    """Write down what a session shows; a line that a kill cuts short is followed by a new one."""
    seen = session.state.seen[0].tolist()
    for number in range(known, len(seen)):
        os.write(log, b"\n" + json.dumps([number, seen[number]]).encode() + b"\n")
    if rounds:
        os.write(log, b"\n" + json.dumps(["rounds", session.rounds]).encode() + b"\n")
    return len(seen)


def begun(path, counter):
    begin = ALGORITHM.restore if path.exists() else lambda path, **more: ALGORITHM.session(path=path, **more)
    return begin(path, noise=Logged(), counter=FileCounter(counter) if counter else None)


def works(path, counter, log, known, filler):
    """Go on with updates, batches, saves and restarts until killed; the disk may be full or read-only."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    session, rng = None, random.Random()
    while True:
        try:
            if filler and rng.randrange(4) == 0:
                with contextlib.suppress(OSError):
                    fill(filler, rng)
            chosen = rng.randrange(4)
            if session is None:
                session = begun(path, counter)
            elif chosen == 0:
                session.save(path)
            elif chosen == 1:
                with session.batch():
                    for _ in range(rng.randrange(1, 5)):
                        session.update(rng.random())
                        known = shows(handle, session, known, rounds=False)
            elif chosen == 2:
                session.close()
                session = None
                continue
            else:
                session.update(rng.random())
        except InputError as error:
            if not (filler and "cannot be written" in str(error)):
                raise
            if session is not None:
                known = shows(handle, session, known, rounds=False)
        else:
            known = shows(handle, session, known)


def fill(filler, rng):
    """Leave a few pages of a disk, or free it."""
    filler.unlink(missing_ok=True)
    if rng.randrange(3):
        with filler.open("wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * 4096)
            file.truncate(max(0, file.tell() - 4096 * rng.randrange(8)))


class Log:
    """Values by number, as they were shown, and the most rounds that were confirmed."""

    def __init__(self, path):
        self.path, self.at, self.values, self.rounds, self.cut = path, 0, defaultdict(set), 0, 0

    def read(self):
        """What came since; only the one who was killed can have cut a line short."""
        with self.path.open("rb") as file:
            file.seek(self.at)
            lines = file.read()
            self.at = file.tell()
        cut = 0
        for line in lines.splitlines():
            try:
                what, value = json.loads(line) if line else ("rounds", 0)
            except ValueError:
                cut += 1
                continue
            if what == "rounds":
                self.rounds = max(self.rounds, value)
            else:
                self.values[what].add(value)
        assert cut <= 1
        self.cut += cut


def killed(folder, times, counted=False, small=None, least=0):
    """Kill it again and again; nothing that was shown is lost, or shown with another value.

    `small` is a folder on a disk that is full or read-only now and then. On a machine that is busy little is
    done between two kills: there are up to a hundred times as many until `least` rounds are played.
    """
    path, rng, log = (small or folder) / "s", random.Random(0), Log(folder / "log")
    counter = folder / "counter" if counted else None
    filler = small and small / "filler"
    log.path.touch()
    seen, ends, left, refused_to = [], 0, 0, set()
    for tries in range(100 * times):
        if tries >= times and ends > least:
            break
        read_only = small is not None and rng.randrange(4) == 0 and remounted(small, "ro")
        child = forked_and_left(functools.partial(works, path, counter, log.path, len(seen), filler))
        time.sleep(rng.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(ended), "it ended by itself"
        if small is not None:
            refused_to |= {"full"} if filler.exists() and not shutil.disk_usage(small).free else set()
            refused_to |= {"read-only"} if read_only else set()
            assert not read_only or remounted(small, "rw")
            filler.unlink(missing_ok=True)
        left += any(name.endswith(".new") for name in os.listdir(path.parent))
        log.read()
        if not path.exists():
            assert not log.values
            continue
        with begun(path, counter) as session:
            seen, ends = session.state.seen[0].tolist(), session.rounds
        assert ends >= log.rounds
        assert all(found == set(seen[number : number + 1]) for number, found in log.values.items())
    if ends <= least:
        pytest.fail("too little is done between two kills")
    assert log.values
    return ends, left, refused_to


def remounted(folder, how):
    done = subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], capture_output=True)
    assert done.returncode == 0, done.stderr
    return True


@pytest.mark.parametrize("counted", [False, True])
def test_what_is_killed_at_any_instant_loses_nothing_and_draws_nothing_twice(counted, quick):
    killed(quick, 40, counted, least=10)


@pytest.mark.slow
@pytest.mark.parametrize("counted", [False, True])
def test_a_thousand_kills(counted, quick):
    _, left, _ = killed(quick, 1000, counted, least=50)
    assert left > 0  # some were killed in the middle of writing


@pytest.mark.slow
@pytest.mark.parametrize("counted", [False, True])
def test_a_thousand_kills_on_a_disk_that_is_full_or_read_only_now_and_then(counted, quick, tmp_path):
    with disk(tmp_path / "disk", "1m") as small:
        *_, refused_to = killed(quick, 1000, counted, small, least=50)
    assert refused_to == {"full", "read-only"}


def test_what_shows_before_it_writes_is_found(quick, monkeypatch):
    """Negative control: the state is shown before it lasts."""
    from verifiable_dp.core.session import Session

    commit = Session._commit

    def late(session, after, *, at_once):
        session._now = after
        if random.random() < 0.7:
            commit(session, after, at_once=at_once)

    monkeypatch.setattr(Session, "_commit", late)
    with pytest.raises(AssertionError):
        killed(quick, 60, least=1 << 20)


# ---------------------------------------------------------------- disks


@contextlib.contextmanager
def disk(folder, size="64k"):
    """A small disk, where this is allowed."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True
    )
    if done.returncode:
        pytest.skip("nothing may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_shows_nothing_and_loses_nothing(tmp_path):
    with disk(tmp_path / "disk") as folder:
        noise = Logged()
        session = feed(ALGORITHM.session(noise=noise, path=folder / "s"), 5)
        filler, values = folder / "filler", session.state.seen.tolist()
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 512)
        for call in (lambda: session.update(0.5), lambda: session.save(folder / "s")):
            for _ in range(3):
                refused(call, "cannot be written: No space left on device")
        assert session.state.seen.tolist() == values
        assert sorted(os.listdir(folder)) == ["filler", "s"]
        filler.unlink()
        feed(session, 2)
        values = session.state.seen.tolist()
        session.close()
        with ALGORITHM.restore(folder / "s", noise=noise) as back:
            assert back.rounds == 7
            assert back.state.seen.tolist() == values


def test_a_counter_on_a_full_disk_shows_nothing_and_loses_nothing(quick, tmp_path):
    with disk(tmp_path / "disk", "16k") as folder:
        counter, noise = FileCounter(folder / "c"), Logged()
        session = feed(ALGORITHM.session(noise=noise, path=quick / "s", counter=counter), 3)
        filler, shown, at = folder / "filler", session.state.seen.tolist(), counter.value()
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 512)
        for _ in range(3):
            refused(lambda: session.update(0.5), "counter: .* cannot be used: No space left on device")
        assert (session.state.seen.tolist(), counter.value()) == (shown, at)
        filler.unlink()
        feed(session, 1).close()
        with ALGORITHM.restore(quick / "s", noise=noise, counter=counter) as back:
            assert (back.rounds, back.state.seen.shape) == (4, (1, 2))


def test_a_read_only_folder_shows_nothing_and_loses_nothing(quick):
    """As another user than root, whom nothing is read-only for."""

    def work():
        if not os.geteuid():
            os.chown(quick, 65534, 65534)
            os.setuid(65534)
        session = feed(ALGORITHM.session(noise=Logged(), path=quick / "s"), 5)
        values = session.state.seen.tolist()
        quick.chmod(0o500)
        for call in (lambda: session.update(0.5), lambda: session.save(quick / "s")):
            refused(call, "cannot be written: Permission denied")
        assert session.state.seen.tolist() == values
        quick.chmod(0o700)
        feed(session, 1).close()
        return ALGORITHM.restore(quick / "s", noise=Logged()).rounds

    assert forked(work) == "6"


def test_a_folder_is_mounted_under_two_names(tmp_path):
    """The lock is that of the file, whatever it is called."""
    with disk(tmp_path / "disk") as folder:
        other = tmp_path / "other"
        other.mkdir()
        subprocess.run(["mount", "--bind", str(folder), str(other)], check=True)
        try:
            session = feed(ALGORITHM.session(noise=Logged(), path=folder / "s"), 2)
            refused(lambda: ALGORITHM.restore(other / "s", noise=Logged()), "is in use by another session")
            feed(session, 2).close()
            with ALGORITHM.restore(other / "s", noise=Logged()) as back:
                assert back.rounds == 4
        finally:
            subprocess.run(["umount", "-l", str(other)], check=True)


# ---------------------------------------------------------------- a model


class Crash(BaseException):
    """The process ends here."""


STEPS = [
    "",
    "mkstemp",
    "write",
    "fsync",
    "flock",
    "replace",
    "after replace",
    "settle",
    "advance",
    "advanced",
    "late",
]


class Sessions(RuleBasedStateMachine):
    """A session with a counter, its backups, and what was shown of it, by number.

    Whatever file is accepted holds all that was shown; the file in its place always is.
    """

    def __init__(self):
        super().__init__()
        self.stack = contextlib.ExitStack()
        folder = self.stack.enter_context(quick_folder())
        self.path, self.counter, self.noise = folder / "s", folder / "c", Logged()
        self.shown, self.rounds, self.backups, self.fail = [], 0, [], ("", None)
        self.late = None
        self.session = ALGORITHM.session(noise=self.noise, path=self.path, counter=self)

    def teardown(self):
        if self.session is not None:
            self.session._right.drop()
        self.stack.close()

    # The session's counter is this object, which may fail.
    def value(self):
        return FileCounter(self.counter).value()

    def advance(self, expected, new):
        step, error = self.fail
        self.fail = ("", None) if step in ("advance", "advanced", "late") else self.fail
        if step == "late":  # it is done after the next attempt began
            self.late = expected, new
        if step in ("advance", "late"):
            raise error
        if self.late:
            FileCounter(self.counter).advance(*self.late)
            self.late = None
        done = FileCounter(self.counter).advance(expected, new)
        if step == "advanced":
            raise error
        return done

    @contextlib.contextmanager
    def failing(self, step, error):
        with pytest.MonkeyPatch.context() as patch:
            where = {"mkstemp": rights.tempfile, "settle": rights.files, "flock": rights.fcntl}

            def fail(*arguments, **named):
                if step == "after replace":
                    rename(*arguments)
                raise error

            rename = os.replace
            if step in ("advance", "advanced", "late"):
                self.fail = step, error
            elif step:
                patch.setattr(where.get(step, rights.os), step.removeprefix("after "), fail)
            try:
                yield
            finally:
                self.fail = "", None

    def attempt(self, call, step, crash):
        """What was shown may only grow, and only if the call returns; after a crash the object is gone."""
        error = Crash() if crash else OSError(errno.EIO, "Input/output error")
        before = self.session.state.seen[0].tolist()
        try:
            with self.failing(step, error):
                call()
        except (InputError, OSError):
            assert step
            assert self.session.state.seen[0].tolist() == before
            self.look(lasts=False)
        except Crash:
            self.session._right.drop()
            self.session = None
        else:
            self.look()

    def look(self, lasts=True):
        seen = self.session.state.seen[0].tolist()
        assert seen[: len(self.shown)] == self.shown, "something was drawn twice, or lost"
        self.shown = seen
        self.rounds = self.session.rounds if lasts else min(self.session.rounds, self.written("rounds"))

    def written(self, what):
        return json.loads(self.path.read_bytes())[what]

    open = precondition(lambda self: self.session is not None)
    shut = precondition(lambda self: self.session is None)

    @open
    @rule(step=st.sampled_from(STEPS), crash=st.booleans())
    def update(self, step, crash):
        self.attempt(lambda: self.session.update(0.5), step, crash)

    @open
    @rule(step=st.sampled_from(STEPS), crash=st.booleans(), number=st.integers(1, 4))
    def batch(self, step, crash, number):
        def call():
            with self.session.batch():
                for _ in range(number):
                    before = self.session.state.seen.shape[1]
                    self.session.update(0.5)
                    if self.session.state.seen.shape[1] > before:
                        self.look(lasts=False)

        error = Crash() if crash else OSError(errno.EIO, "Input/output error")
        try:
            with self.failing(step, error):
                call()
        except (InputError, OSError):
            assert step
            self.look(lasts=False)
        except Crash:
            self.session._right.drop()
            self.session = None
            self.rounds = 2 * len(self.shown)  # rewards since the last release may be lost
        else:
            self.look()

    @open
    @rule(step=st.sampled_from(STEPS), crash=st.booleans())
    def save(self, step, crash):
        self.attempt(lambda: self.session.save(self.path), step, crash)

    @open
    @rule()
    def close(self):
        self.session.close()
        self.session = None

    @open
    @rule()
    def vanish(self):
        self.session._right.drop()
        self.session = None

    @open
    @rule()
    def fork(self):
        assert "was forked from that" in forked(lambda: self.session.update(0.5))

    @rule()
    def backup(self):
        self.backups.append(self.path.read_bytes())

    def restore_from(self, step, crash):
        error = Crash() if crash else OSError(errno.EIO, "Input/output error")
        with self.failing(step, error):
            self.session = ALGORITHM.restore(self.path, noise=self.noise, counter=self)

    @shut
    @rule()
    def restore(self):
        self.restore_from("", False)
        assert self.session.rounds >= self.rounds
        self.look()

    @shut
    @rule(step=st.sampled_from(STEPS), crash=st.booleans())
    def restore_and_fail(self, step, crash):
        with contextlib.suppress(InputError, OSError, Crash):
            self.restore_from(step, crash)
            self.look()

    @shut
    @precondition(lambda self: self.backups)
    @rule(data=st.data(), step=st.sampled_from(STEPS), crash=st.booleans())
    def restore_backup(self, data, step, crash):
        newest = self.path.read_bytes()
        self.path.write_bytes(data.draw(st.sampled_from(self.backups)))
        try:
            self.restore_from(step, crash)
        except (InputError, OSError, Crash):
            if self.accepted(newest):
                self.backups.append(self.path.read_bytes())
                self.path.write_bytes(newest)
            assert self.accepted(self.path.read_bytes())
            self.rounds = 2 * len(self.shown)
            return
        self.backups.append(newest)
        self.look()

    def accepted(self, content):
        """Whether a file is restored, also once an attempt that failed comes through."""
        record, at = json.loads(content), FileCounter(self.counter).value()
        late = [new for expected, new in [self.late or (None, 0)] if expected == at]
        return {at, *late} <= {record["stamp"], *record["follows"]}

    @invariant()
    def the_file_is_whole(self):
        assert json.loads(self.path.read_bytes())["format"]


def test_a_session_and_its_model():
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=60,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_a_session_and_its_model_at_length():
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=1000, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


# Everybody who could draw a second time tries to: threads, forks, copies, links, restored backups, mixed.


ALGORITHM_OF_SESSIONS = Blocks(1 << 20)
LONGEST = 120  # values of one session, all of which stand in its file
KINDS = {
    "threads": 3,
    "fork": 3,
    "copy": 2,
    "link": 2,
    "hard link": 2,
    "second": 2,
    "backup": 3,
    "taken over": 2,
    "save": 2,
    "keep": 2,
}


class Walk:
    """A session, and all that was ever shown of it.

    Parameters
    ----------
    folder
        For its file.
    seed
        Of the order in which things are tried.
    """

    def __init__(self, folder, seed):
        self.folder, self.rng, self.tried, self.number = folder, random.Random(seed), Counter(), 0
        self.begin()

    def begin(self):
        """Another session, in memory at first."""
        for left in os.listdir(self.folder):
            (self.folder / left).unlink()
        self.number += 1
        self.place, self.counter = (
            self.folder / f"s{self.number}",
            FileCounter(self.folder / f"c{self.number}"),
        )
        self.shown, self.backups = [], []
        self.session = ALGORITHM_OF_SESSIONS.session(noise=Logged(), counter=self.counter)

    @property
    def saved(self):
        return bool(self.session._right.path)

    def look(self, seen):
        """No value is shown as another one than before."""
        both = min(len(seen), len(self.shown))
        assert seen[:both] == self.shown[:both], "a value was drawn twice"
        self.shown += seen[both:]

    def open(self, place):
        return ALGORITHM_OF_SESSIONS.restore(place, noise=Logged(), counter=self.counter)

    def update(self, of=None):
        of = of or self.session
        try:
            of.update(self.rng.random())
        finally:
            self.look(of.state.seen[0].tolist())  # also of what was refused

    def step(self):
        """Try one thing."""
        kind = self.rng.choices(list(KINDS), list(KINDS.values()))[0]
        if self.saved or kind in ("threads", "fork", "copy", "save"):
            self.tried[kind] += getattr(self, kind.replace(" ", "_"))()
        self.update()
        if len(self.shown) > LONGEST:
            self.session.close()
            self.begin()

    def threads(self):
        number = self.rng.choice([2, 4, 16])
        each, begin, seen, said = 32 // number, threading.Barrier(number), [], []
        before, drawn = self.session.rounds, Counter(self.session._turns.noise.slots)

        def work():
            begin.wait()
            try:
                for _ in range(each):
                    self.session.update(0.5)
                    seen.append(self.session.state.seen[0].tolist())
            except Exception as error:
                said.append(str(error))

        workers = [threading.Thread(target=work) for _ in range(number)]
        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            sys.setswitchinterval(switch)
        for values in sorted(seen, key=len):
            self.look(values)
        assert not said
        assert self.session.rounds == before + each * number
        assert set((Counter(self.session._turns.noise.slots) - drawn).values()) == {1}
        return each * number

    def fork(self):
        def child():
            self.session.update(0.5)

        said = forked(child if self.rng.randrange(4) else lambda: forked(child))
        assert "belongs to the process that created it" in said
        return 1

    def copy(self):
        way = self.rng.choice([copy.copy, copy.deepcopy, pickle.dumps])
        refused(lambda: way(self.session), "cannot be copied or pickled")
        return 1

    def link(self):
        other = self.folder / "link"
        other.symlink_to(self.place)
        with self.closed_now_and_then():
            refused(lambda: self.open(other), "is a link")
        other.unlink()
        return 1

    def hard_link(self):
        other = self.folder / "link"
        os.link(self.place, other)
        refused(self.update, "has been replaced or removed")
        self.session.close()
        for place in (self.place, other):
            refused(lambda place=place: self.open(place), "has 2 names")
        other.unlink()
        self.session = self.open(self.place)
        return 3

    def second(self):
        """Another session on the file, in this process or in another one."""
        if self.rng.randrange(3):
            refused(lambda: self.open(self.place), "is in use by another session")
        else:
            assert "is in use by another session" in forked(lambda: self.open(self.place))
        return 1

    @contextlib.contextmanager
    def closed_now_and_then(self):
        closed = self.rng.randrange(2)
        if closed:
            self.session.close()
        yield
        if closed:
            self.session = self.open(self.place)
            self.look(self.session.state.seen[0].tolist())

    def backup(self):
        """Every backup is put back; what is taken must contain all that was shown."""
        self.session.close()
        newest = self.place.read_bytes()
        for backup in self.rng.sample(self.backups, min(3, len(self.backups))):
            self.place.write_bytes(backup)
            refused(lambda: self.open(self.place), "an older copy")
        self.place.write_bytes(newest)
        self.session = self.open(self.place)
        self.look(self.session.state.seen[0].tolist())
        return min(3, len(self.backups))

    def keep(self):
        self.backups.append(self.place.read_bytes())
        self.update()  # else it is the newest, which may be restored
        return 0

    def taken_over(self):
        """A copy of the file is restored beside it; from then on the first one shows nothing."""
        other = self.folder / f"t{self.rng.randrange(1 << 60)}"
        shutil.copy(self.place, other)
        copied = self.open(other)
        for _ in range(2):
            with contextlib.suppress(InputError):
                self.update()
            self.update(copied)
        self.session.close()
        self.place.unlink()
        self.place, self.session = other, copied
        return 4

    def save(self):
        self.session.save(self.place)
        return 0


def walked(folder, trials, seed=0):
    """What was tried, by kind."""
    walk = Walk(folder, seed)
    while sum(walk.tried.values()) < trials:
        walk.step()
    walk.session.close()
    return walk.tried


def test_nothing_is_drawn_twice(quick):
    tried = walked(quick, 800)
    assert min(tried[kind] for kind in KINDS if kind not in ("save", "keep")) > 0


@pytest.mark.slow
def test_nothing_is_drawn_twice_in_a_hundred_thousand_trials(quick):
    tried = walked(quick, 100_000)
    print(dict(tried))
    assert min(tried[kind] for kind in KINDS if kind not in ("save", "keep")) > 1000


def nothing(*_):
    return contextlib.nullcontext()


def followed(path, handle, names=1):
    """As `rights._same`, but through links."""
    return os.path.exists(path) and os.path.samefile(path, handle) and os.fstat(handle).st_nlink == names


BROKEN = {
    "no lock of threads": [(rights.Right, "held", nothing), (rights.Right, "alone", nothing)],
    "no look at the process": [(rights.Right, "mine", nothing)],
    "no lock of the file": [(rights, "_own", nothing)],
    "links are followed": [(rights, "_READ", os.O_RDONLY), (rights, "_same", followed)],
    "more names are taken": [(rights, "_same", lambda *_, **__: True), (rights, "_check", nothing)],
    "the counter is not asked": [
        (rights.Right, "took", lambda right, _: setattr(right, "_own", {right._counter.value()}))
    ],
    "the counter is not told": [(rights.Right, "_tell", nothing), (rights.Right, "_look", nothing)],
    "copies": [(session.Session, "__reduce_ex__", object.__reduce_ex__)],
    "shown before it lasts": [
        (
            session.Session,
            "_commit",
            lambda one, after, *, at_once, real=session.Session._commit: (
                setattr(one, "_now", after),
                real(one, after, at_once=at_once),
            ),
        )
    ],
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_variants_draw_twice(name, quick, monkeypatch):
    """Negative controls."""
    for place, what, instead in BROKEN[name]:
        monkeypatch.setattr(place, what, instead)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        walked(quick, 6000)


# Where files can be written, and which names the package has.


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (".", "is a folder"),
        ("missing/it.json", "cannot be written: there is no folder '.*missing'"),
    ],
)
def test_places_that_cannot_be_written(tmp_path, place, words):
    with pytest.raises(InputError, match=f"path: .* {words}"):
        files.check_writable(tmp_path / place)


def test_a_place_that_can_be_written_is_left_as_it_is(tmp_path):
    files.check_writable(tmp_path / "it.json")
    assert list(tmp_path.iterdir()) == []


def test_names_of_the_package():
    assert "audit" in dir(verifiable_dp)
    with pytest.raises(AttributeError, match="module 'verifiable_dp' has no attribute 'nothing_of_it'"):
        _ = verifiable_dp.nothing_of_it
    assert not hasattr(verifiable_dp, "nothing_of_it")
