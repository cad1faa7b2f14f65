"""Sessions that are killed, that meet a full disk, and that fail at every step: held against a model."""

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import time
from collections import defaultdict

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

from tests.live import Blocks, Logged, feed, forked, forked_and_left, quick_folder, refused
from verifiable_dp.core import rights
from verifiable_dp.core.rights import FileCounter
from verifiable_dp.core.validate import InputError

ALGORITHM = Blocks(1 << 20, 2)

# ---------------------------------------------------------------- killed


def shows(log, session, known):
    """Write down what a session shows, at once and whole."""
    seen = session.state.seen[0].tolist()
    for number in range(known, len(seen)):
        os.write(log, json.dumps([number, seen[number]]).encode() + b"\n")
    os.write(log, json.dumps(["rounds", session.rounds]).encode() + b"\n")
    return len(seen)


def works(path, counter, log):
    """Restore and go on with updates, batches and saves until killed; at times from the beginning."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    counted = FileCounter(counter) if counter else None
    given = {"noise": Logged(), "counter": counted}
    begin = ALGORITHM.restore if path.exists() else lambda path, **more: ALGORITHM.session(path=path, **more)
    session, rng = begin(path, **given), random.Random()
    known = shows(handle, session, 0)
    while True:
        chosen = rng.randrange(4)
        if chosen == 0:
            session.save(path)
        elif chosen == 1:
            with session.batch():
                for _ in range(rng.randrange(1, 5)):
                    session.update(rng.random())
                    seen = session.state.seen[0].tolist()
                    for number in range(known, len(seen)):
                        os.write(handle, json.dumps([number, seen[number]]).encode() + b"\n")
                    known = len(seen)
        elif chosen == 2:
            session.close()
            session = ALGORITHM.restore(path, **given)
        else:
            session.update(rng.random())
        known = shows(handle, session, known)


def shown(log):
    """Values by number, as they were shown, and the most rounds that were confirmed."""
    values, rounds = defaultdict(set), 0
    for line in log.read_text().splitlines():
        what, value = json.loads(line)
        if what == "rounds":
            rounds = max(rounds, value)
        else:
            values[what].add(value)
    return values, rounds


def killed(folder, times, counted=False):
    """Kill it again and again; nothing that was shown is lost, or shown with another value."""
    path, log, rng = folder / "s", folder / "log", random.Random(0)
    counter = folder / "counter" if counted else None
    log.touch()
    ends, left = 0, 0
    for _ in range(times):
        child = forked_and_left(lambda: works(path, counter, log))
        time.sleep(rng.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(ended), "it ended by itself"
        left += any(name.endswith(".new") for name in os.listdir(folder))
        if not path.exists():
            assert not shown(log)[0]
            continue
        with ALGORITHM.restore(path, noise=Logged(), counter=counter and FileCounter(counter)) as session:
            values, rounds = shown(log)
            seen = session.state.seen[0].tolist()
            assert session.rounds >= rounds
            assert all(found == {seen[number]} for number, found in values.items())
            ends = session.rounds
    return ends, left


@pytest.mark.parametrize("counted", [False, True])
def test_what_is_killed_at_any_instant_loses_nothing_and_draws_nothing_twice(counted, quick):
    rounds, _ = killed(quick, 40, counted)
    assert rounds > 0


@pytest.mark.slow
@pytest.mark.parametrize("counted", [False, True])
def test_a_thousand_kills(counted, quick):
    rounds, left = killed(quick, 1000, counted)
    assert rounds > 50  # on a machine that is busy, few are done between two kills
    assert left > 0  # some were killed in the middle of writing


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
        killed(quick, 60)


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
            refused(lambda: ALGORITHM.restore(other / "s", noise=Logged()), "is open in another session")
            feed(session, 2).close()
            with ALGORITHM.restore(other / "s", noise=Logged()) as back:
                assert back.rounds == 4
        finally:
            subprocess.run(["umount", "-l", str(other)], check=True)


@pytest.mark.slow
def test_kills_on_a_full_disk(tmp_path):
    """A disk that has room for one state and a half, and is killed again and again."""
    with disk(tmp_path / "disk", "16k") as folder:
        session = feed(ALGORITHM.session(noise=Logged(), path=folder / "s"), 200)
        values = session.state.seen.tolist()
        session.close()
        (folder / "filler").write_bytes(b"x" * 1024)

        def work():
            session = ALGORITHM.restore(folder / "s", noise=Logged())
            while True:
                with contextlib.suppress(InputError):
                    session.update(0.5)

        for number in range(200):
            child = forked_and_left(work)
            time.sleep(random.Random(number).random() * 0.02)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with ALGORITHM.restore(folder / "s", noise=Logged()) as back:
                seen = back.state.seen[0].tolist()
                assert seen[: len(values[0])] == values[0]
                values = [seen]


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
        self.session = ALGORITHM.session(noise=self.noise, path=self.path, counter=self)

    def teardown(self):
        if self.session is not None:
            self.session._right.drop()
        self.stack.close()

    # The session's counter is this object, which may fail.
    def value(self):
        return FileCounter(self.counter).value()

    def advance(self, to):
        step, error = self.fail
        self.fail = ("", None) if step in ("advance", "advanced") else self.fail
        if step == "advance":
            raise error
        FileCounter(self.counter).advance(to)
        if step == "advanced":
            raise error

    @contextlib.contextmanager
    def failing(self, step, error):
        with pytest.MonkeyPatch.context() as patch:
            where = {"mkstemp": rights.tempfile, "settle": rights.files, "flock": rights.fcntl}

            def fail(*arguments, **named):
                if step == "after replace":
                    rename(*arguments)
                raise error

            rename = os.replace
            if step in ("advance", "advanced"):
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
        known, generation = FileCounter(self.counter).value(), json.loads(content)["generation"]
        return known <= generation <= known + 1

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
