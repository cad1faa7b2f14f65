"""Counters outside the file: which copies of it are refused, and what happens when a counter fails."""

import contextlib
import json
import os
import random
import secrets
import shutil
import sqlite3

import pytest

from tests.live import Blocks, Logged, feed, forked, forked_and_left, refused
from verifiable_dp.core import rights
from verifiable_dp.core.rights import FileCounter, SqliteCounter
from verifiable_dp.core.validate import InputError

ALGORITHM = Blocks(1000)


@pytest.fixture
def path(quick):
    return quick / "session.json"


def counters(folder):
    return {
        "file": lambda: FileCounter(folder / "counter"),
        "sqlite": lambda: SqliteCounter(folder / "counters.db", "session"),
    }


@pytest.fixture(params=["file", "sqlite"])
def counter(request, quick):
    (quick / "counters").mkdir()
    return counters(quick / "counters")[request.param]


def test_without_a_counter_an_older_copy_is_not_told_apart(path):
    """What the page on live sessions says: the value of round 2 is drawn twice."""
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path), 2)
    backup = path.read_bytes()
    feed(session, 1).close()
    path.write_bytes(backup)
    with ALGORITHM.restore(path, noise=noise) as back:
        feed(back, 1)
    assert noise.most == 2


def test_a_counter_refuses_every_older_copy(path, counter):
    noise, backups = Logged(), []
    session = ALGORITHM.session(noise=noise, path=path, counter=counter())
    for _ in range(4):
        backups.append(path.read_bytes())
        feed(session, 1)
    session.close()
    newest = path.read_bytes()
    for place in (path, path.with_name("elsewhere")):
        for backup in backups:
            place.write_bytes(backup)
            place.chmod(0o600)
            refused(
                lambda place=place: ALGORITHM.restore(place, noise=noise, counter=counter()),
                "does not match the counter: either the file is an older copy",
            )
    path.write_bytes(newest)
    with ALGORITHM.restore(path, noise=noise, counter=counter()) as back:
        feed(back, 2)
    assert (back.rounds, noise.most) == (6, 1)
    assert counter().value() == json.loads(path.read_bytes())["stamp"]


class Bare:
    """A counter of one's own."""

    def __init__(self):
        self.number, self.fail = 0, ""

    def value(self):
        if self.fail == "value":
            raise OSError("no network")
        return self.number

    def advance(self, expected, new):
        if self.fail == "before":
            raise OSError("no network")
        done = self.number == expected
        self.number = new if done else self.number
        if self.fail == "after":
            raise OSError("no network")
        return done


@pytest.mark.parametrize("kind", ["file", "sqlite", "bare"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_of_two_sessions_on_copies_of_a_file_only_the_last_one_goes_on(kind, elsewhere, path):
    """The other one finds that out before it shows what it drew."""
    bare, noise = Bare(), Logged()
    counter = {**counters(path.parent), "bare": lambda: bare}[kind]
    session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter()), 2)
    other = path.with_name("copy")
    shutil.copy(path, other)

    def goes_on():
        with ALGORITHM.restore(other, noise=Logged(), counter=counter()) as copied:
            return feed(copied, 2).rounds

    if elsewhere and kind != "bare":
        assert forked(goes_on) == "4"
    else:
        assert goes_on() == 4
    shown = session.state.seen.tolist()
    for _ in range(2):
        refused(lambda: session.update(0.5), "another session used it too")
    assert session.state.seen.tolist() == shown
    session.close()
    refused(lambda: ALGORITHM.restore(path, noise=noise, counter=counter()), "an older copy")


@pytest.mark.parametrize("fail", ["value", "before", "after"])
def test_a_counter_that_fails_shows_nothing_and_loses_nothing(fail, path):
    noise, counter = Logged(), Bare()
    session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter), 2)
    shown = session.state.seen.tolist()
    counter.fail = fail
    unseen = []
    for _ in range(3):
        with pytest.raises(OSError, match="no network"):
            session.update(0.5)
        unseen.append(path.read_bytes())
        record = json.loads(unseen[-1])
        assert counter.number in [record["stamp"], *record["follows"]]  # so that it can be restored
        assert session.state.seen.tolist() == shown
    counter.fail = ""
    feed(session, 1)
    shown = session.state.seen.tolist()
    session.close()
    now = path.read_bytes()
    for backup in unseen:  # their noise was never shown, and must not be now
        path.write_bytes(backup)
        refused(lambda: ALGORITHM.restore(path, noise=noise, counter=counter), "an older copy")
    path.write_bytes(now)
    assert ALGORITHM.restore(path, noise=noise, counter=counter).state.seen.tolist() == shown


def test_after_a_crash_only_one_of_two_copies_goes_on(path):
    """Killed between file and counter: the backup and the file are both good, until one is restored."""
    for first, second in ((0, 1), (1, 0)):
        path.unlink(missing_ok=True)
        noise, counter = Logged(), Bare()
        session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter), 2)
        copies = [path.read_bytes()]
        counter.fail = "before"
        with pytest.raises(OSError, match="no network"):
            session.update(0.5)
        copies.append(path.read_bytes())
        session._right.drop()
        counter.fail = ""
        path.write_bytes(copies[first])
        ALGORITHM.restore(path, noise=noise, counter=counter).close()
        path.write_bytes(copies[second])
        refused(lambda counter=counter: ALGORITHM.restore(path, counter=counter, noise=Logged()), "older")


def test_each_session_needs_a_counter_of_its_own(path, counter):
    with ALGORITHM.session(noise=Logged(), path=path, counter=counter()) as session:
        feed(session, 3)
        other = path.with_name("other")
        refused(lambda: ALGORITHM.session(noise=Logged(), path=other, counter=counter()), "another session")
        feed(session, 1)
    refused(lambda: ALGORITHM.session(noise=Logged(), path=other, counter=counter()), "another session")
    assert not other.exists()


def test_a_database_holds_the_counters_of_many_sessions(quick):
    one, two = (SqliteCounter(quick / "db", name) for name in ("one", "two"))
    assert one.advance(0, 7)
    assert two.advance(0, 1 << 127)
    assert not one.advance(5, 9)
    assert (one.value(), two.value(), SqliteCounter(quick / "db", "three").value()) == (7, 1 << 127, 0)


def test_counters_that_cannot_be_used_are_refused(quick):
    (quick / "words").write_text("many")
    (quick / "base").write_text("no database at all, " * 100)
    (quick / "loop").symlink_to(quick / "loop")
    bad = [FileCounter(quick / "words"), FileCounter(quick), FileCounter(quick / "loop")]
    bad += [SqliteCounter(quick / "base", "x"), SqliteCounter(quick / "none" / "db", "x")]
    for counter in bad:
        refused(counter.value, "counter: ")
    refused(lambda: FileCounter(quick / "none" / "c").advance(0, 1), "counter: ")
    refused(lambda: bad[3].advance(0, 1), "counter: ")
    refused(lambda: FileCounter(7), "counter")
    good = FileCounter(quick / "c")
    assert good.value() == 0
    assert good.advance(0, 3)
    assert not good.advance(2, 5)
    assert not good.advance(0, 5)
    assert good.value() == 3
    assert (quick / "c").read_text() == "3\n"


def test_a_counter_has_one_name(quick):
    """Through a second one it would be another counter as soon as it is written."""
    counter = FileCounter(quick / "c")
    assert counter.advance(0, 7)
    (quick / "link").symlink_to("c")
    os.link(quick / "c", quick / "hard")
    for name, match in (("link", "is a link"), ("hard", "has 2 names"), ("c", "has 2 names")):
        refused(FileCounter(quick / name).value, match)
        refused(lambda name=name: FileCounter(quick / name).advance(7, 8), match)
    (quick / "hard").unlink()
    (quick / "folder").symlink_to(".")
    assert FileCounter(quick / "folder" / "c").advance(7, 8)
    assert counter.value() == 8


def test_a_counter_that_others_can_write_is_refused(quick):
    counter = FileCounter(quick / "c")
    assert counter.advance(0, 7)
    (quick / "c").chmod(0o666)
    refused(counter.value, "others can write")
    refused(lambda: counter.advance(7, 8), "others can write")


@pytest.mark.parametrize("kind", [FileCounter, lambda path: SqliteCounter(path, "s")])
def test_a_counter_stays_where_it_was_when_the_process_goes_elsewhere(kind, quick, monkeypatch):
    monkeypatch.chdir(quick)
    counter = kind("c")
    assert counter.advance(0, 7)
    (quick / "other").mkdir()
    monkeypatch.chdir(quick / "other")
    assert counter.value() == 7


def test_what_a_killed_process_left_of_a_counter_is_used_up(quick):
    counter = FileCounter(quick / "c")
    (quick / "c.new").write_text("999999999999\n")
    assert counter.advance(0, 7)
    assert sorted(os.listdir(quick)) == ["c"]
    assert (quick / "c").read_text() == "7\n"


def test_a_lost_counter_refuses_the_file(path, counter):
    with ALGORITHM.session(noise=Logged(), path=path, counter=counter()) as session:
        feed(session, 3)
    shutil.rmtree(path.parent / "counters")
    (path.parent / "counters").mkdir()
    refused(
        lambda: ALGORITHM.restore(path, noise=Logged(), counter=counter()),
        "does not match the counter",
    )


@pytest.mark.slow
def test_backups_are_refused_in_many_trials(path, counter):
    """At random instants a backup is taken, and each is tried later."""
    noise, backups, rng = Logged(), [], random.Random(0)
    session = Blocks(3000).session(noise=noise, path=path, counter=counter())
    for _ in range(400):
        feed(session, rng.randrange(1, 4))
        backups.append(path.read_bytes())
        feed(session, 1)
        session.close()
        now = path.read_bytes()
        path.write_bytes(rng.choice(backups))
        refused(lambda: Blocks(3000).restore(path, noise=noise, counter=counter()), "an older copy")
        path.write_bytes(now)
        session = Blocks(3000).restore(path, noise=noise, counter=counter())
    assert noise.most == 1


# ---------------------------------------------------------------- at the same moment


class Waiting:
    """A counter that others use between its look and its step."""

    def __init__(self, inner, meanwhile):
        self.inner, self.meanwhile = inner, meanwhile

    def value(self):
        return self.inner.value()

    def advance(self, expected, new):
        call, self.meanwhile = self.meanwhile, None
        if call:
            call()
        return self.inner.advance(expected, new)


class Early(Waiting):
    """A counter that others use right after a look at it."""

    def value(self):
        found, call, self.meanwhile = self.inner.value(), self.meanwhile, None
        if call:
            call()
        return found

    def advance(self, expected, new):
        return self.inner.advance(expected, new)


class Hasty(Waiting):
    """Broken variant: the number is compared, and written a moment later."""

    def advance(self, expected, new):
        if self.value() != expected:
            return False
        super().advance(expected, new)
        return self.inner.advance(self.value(), new)


def race(counter, processes, most):
    """How many processes brought it from each number to the next, as far as each of them knows."""
    ends, gate = [], os.pipe()

    def work(writing):
        os.read(gate[0], 1)
        own, won = counter(), []
        while (now := own.value()) < most:
            if own.advance(now, now + 1):
                won.append(now)
        os.write(writing, json.dumps(won).encode())

    for _ in range(processes):
        reading, writing = os.pipe()
        ends.append((forked_and_left(lambda writing=writing: work(writing)), reading))
        os.close(writing)
    os.write(gate[1], b"x" * processes)
    won = []
    for child, reading in ends:
        with open(reading, "rb") as file:
            won += json.loads(file.read())
        os.waitpid(child, 0)
    os.close(gate[0])
    os.close(gate[1])
    return sorted(won)


def test_of_processes_that_advance_a_counter_together_one_wins_each_time(counter):
    assert race(counter, 4, 60) == list(range(60))


def overtaken(path, counter, kind, rounds):
    """Whether an update was refused during which another process restored a copy and went on; both values."""
    noise, other = Logged(), path.with_name("copy")
    session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter()), 2)
    shutil.copy(path, other)
    shown = session.state.seen.tolist()

    def overtake():
        with ALGORITHM.restore(other, noise=Logged(), counter=counter()) as back:
            feed(back, rounds)

    session._right._counter = kind(counter(), lambda: forked(overtake))
    try:
        session.update(0.5)
    except InputError as error:
        said = str(error)
        assert "another session used it too" in said
        assert session.state.seen.tolist() == shown
    return session, json.loads(other.read_bytes())["public"]["seen"]["values"]


@pytest.mark.parametrize("kind", [Waiting, Early])
@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_who_is_overtaken_in_the_middle_of_an_update_shows_nothing(kind, rounds, path, counter):
    """Another process restores a copy and shows a value before or after this one has written its own."""
    session, values = overtaken(path, counter, kind, rounds)
    assert (session.rounds, len(values)) == (2, 2 + rounds)
    session.close()
    refused(lambda: ALGORITHM.restore(path, noise=Logged(), counter=counter()), "an older copy")
    assert ALGORITHM.restore(path.with_name("copy"), noise=Logged(), counter=counter()).rounds == 2 + rounds


def test_of_a_machine_that_was_resumed_twice_only_one_goes_on(path, counter, monkeypatch):
    """Both may draw the same random numbers: then the same stamp for different states would let both pass."""
    monkeypatch.setattr(secrets, "randbits", lambda bits: 7)
    monkeypatch.setattr(secrets, "token_bytes", lambda size: bytes(size))
    with contextlib.suppress(InputError):
        session, _ = overtaken(path, counter, Waiting, 0)
        assert session.rounds == 2, "shown, though another session has used the counter"


def test_a_stamp_says_nothing_of_the_state(path):
    """Who reads the counter could else try which rewards give the digest that it holds."""
    stamps = set()
    for number in range(3):
        counter = FileCounter(path.with_name(f"c{number}"))
        feed(ALGORITHM.session(noise=Logged(0), path=path, counter=counter), 1)
        stamps.add(counter.value())
        path.unlink()
    assert len(stamps) == 3


def test_a_database_that_others_can_write_is_refused(quick):
    counter = SqliteCounter(quick / "db", "s")
    assert counter.advance(0, 7)
    (quick / "db").chmod(0o666)
    refused(counter.value, "others can write")
    refused(lambda: counter.advance(7, 8), "others can write")


def test_a_database_flushes_what_it_confirms(quick, monkeypatch):
    said, connect = [], sqlite3.connect

    def traced(*arguments, **named):
        base = connect(*arguments, **named)
        base.set_trace_callback(said.append)
        return base

    monkeypatch.setattr(rights.sqlite3, "connect", traced)
    assert SqliteCounter(quick / "db", "s").advance(0, 7)
    (change,) = (i for i, text in enumerate(said) if text.startswith("update"))
    assert said.index("pragma synchronous = extra") < change < said.index("COMMIT", change)


def test_with_a_counter_that_compares_and_sets_in_two_steps_a_value_is_shown_twice(path, counter):
    """Negative control."""
    session, values = overtaken(path, counter, Hasty, 1)
    assert session.rounds == len(values) == 3
    assert session.state.seen[0, 2] != float.fromhex(values[2])


def test_sessions_that_begin_together_on_one_counter(path, counter):
    """Also where the file of the one that loses was written already."""
    other = path.with_name("other")

    def overtake():
        return feed(ALGORITHM.session(noise=Logged(), path=other, counter=counter()), 1).rounds

    def begin():
        waiting = Waiting(counter(), lambda: forked(overtake))
        return ALGORITHM.session(noise=Logged(), path=path, counter=waiting)

    refused(begin, "another session used it too")
    refused(lambda: ALGORITHM.restore(path, noise=Logged(), counter=counter()), "an older copy")
    assert ALGORITHM.restore(other, noise=Logged(), counter=counter()).rounds == 1


def go_on_together(folder, counter, copies):
    """What each process showed that restored a copy of a file and went on, by number of the value."""
    path, values = folder / "session", {}
    log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    feed(ALGORITHM.session(noise=Logged(), path=path, counter=counter()), 2).close()
    children = []
    for number in range(copies):
        place = folder / f"copy{number}"
        shutil.copy(path, place)

        def work(place=place):
            with contextlib.suppress(InputError):
                session = ALGORITHM.restore(place, noise=Logged(), counter=counter())
                while session.rounds < 12:
                    session.update(0.5)
                    os.write(log, json.dumps(session.state.seen[0].tolist()).encode() + b"\n")

        children.append(forked_and_left(work))
    for child in children:
        os.waitpid(child, 0)
    os.close(log)
    for line in (folder / "log").read_text().splitlines():
        for number, value in enumerate(json.loads(line)):
            values.setdefault(number, set()).add(value)
    (folder / "log").unlink()
    path.unlink()
    return max(map(len, values.values()), default=0), len(values)


def test_of_processes_that_restore_copies_together_none_shows_a_value_twice(quick, counter):
    most, shown = go_on_together(quick, counter, 4)
    assert most <= 1
    assert shown in (0, *range(3, 13))  # each can be overtaken by another one before it shows anything


@pytest.mark.slow
def test_of_processes_that_restore_copies_together_none_shows_a_value_twice_in_many_trials(quick):
    shown = 0
    for number in range(300):
        folder = quick / str(number)
        folder.mkdir()
        make = counters(folder)["file" if number % 2 else "sqlite"]
        most, found = go_on_together(folder, make, 2 + number % 5)
        assert most <= 1
        shown += found
        shutil.rmtree(folder)
    assert shown > 300


# ---------------------------------------------------------------- counters that are forgotten, or come later


def test_a_session_with_a_counter_is_not_restored_without_it(path, counter):
    """Else an older copy would be taken by whoever forgets it."""
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter()), 1)
    backup = path.read_bytes()
    feed(session, 1).close()
    newest = path.read_bytes()
    for content in (backup, newest):
        path.write_bytes(content)
        refused(lambda: ALGORITHM.restore(path, noise=noise), "was saved with a counter; give that counter")
    assert ALGORITHM.restore(path, noise=noise, counter=counter()).rounds == 2


def test_a_session_without_a_counter_can_be_given_one_later(path, counter):
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path), 1)
    session.close()
    backup = path.read_bytes()
    feed(ALGORITHM.restore(path, noise=noise, counter=counter()), 1).close()
    path.write_bytes(backup)
    refused(lambda: ALGORITHM.restore(path, noise=noise, counter=counter()), "an older copy")


def test_the_counter_of_another_session_is_refused(quick):
    """Also one that is as many states on."""
    one, two = (counters(quick)["file"](), FileCounter(quick / "two"))
    for counter, name in ((one, "s1"), (two, "s2")):
        feed(ALGORITHM.session(noise=Logged(), path=quick / name, counter=counter), 3).close()
    refused(
        lambda: ALGORITHM.restore(quick / "s1", noise=Logged(), counter=two), "belongs to another session"
    )
    assert ALGORITHM.restore(quick / "s1", noise=Logged(), counter=one).rounds == 3


def test_a_counter_that_answers_no_and_stays_is_not_asked_for_ever(path):
    class Broken(Bare):
        def advance(self, expected, new):
            return False

    refused(lambda: ALGORITHM.session(noise=Logged(), path=path, counter=Broken()), "did not advance")


@pytest.mark.parametrize("said", ["no", object(), 1, None])
def test_only_true_is_taken_for_a_yes(said, path):
    """A coroutine that nobody awaits does nothing; what was done all the same is found out by a look."""

    class Odd(Bare):
        works = True

        def advance(self, expected, new):
            if self.works:
                super().advance(expected, new)
            return said

    counter = Odd()
    session = feed(ALGORITHM.session(noise=Logged(), path=path, counter=counter), 2)
    shown, counter.works = session.state.seen.tolist(), False
    refused(lambda: session.update(0.5), "did not advance")
    assert session.state.seen.tolist() == shown


def test_an_attempt_that_comes_through_late_is_taken_for_one_of_its_own(path):
    """A request that timed out is done when the next one has been sent already; so it is after a restart."""

    class Late(Bare):
        late = None

        def advance(self, expected, new):
            if self.fail == "late":
                self.late = expected, new
                raise OSError("no network")
            if self.late:
                late, self.late = self.late, None
                super().advance(*late)
            return super().advance(expected, new)

    for restarted in (False, True):
        path.unlink(missing_ok=True)
        noise, counter = Logged(), Late()
        session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter), 2)
        shown = session.state.seen.tolist()
        counter.fail = "late"
        with pytest.raises(OSError, match="no network"):
            session.update(0.5)
        assert session.state.seen.tolist() == shown
        counter.fail = ""
        if restarted:
            session._right.drop()
            session = ALGORITHM.restore(path, noise=noise, counter=counter)
        feed(session, 2).close()
        with ALGORITHM.restore(path, noise=noise, counter=counter) as back:
            assert back.rounds == session.rounds == (5 if restarted else 4)


def test_a_lock_of_a_counter_that_is_held_for_long_is_said(quick, monkeypatch):
    counter = FileCounter(quick / "c")
    with rights._locked(str(quick / "c")):
        monkeypatch.setattr(rights, "_PATIENCE", 0.0)
        refused(lambda: counter.advance(0, 1), "another process has locked the folder")
    assert counter.advance(0, 1)
