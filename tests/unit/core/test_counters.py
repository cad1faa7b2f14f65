"""Counters outside the file: which copies of it are refused, and what happens when a counter fails."""

import json
import os
import random
import shutil

import pytest

from tests.live import Blocks, Logged, feed, forked, refused
from verifiable_dp.core.rights import FileCounter, SqliteCounter

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
                r"is generation \d, and the counter is at 5: an older copy",
            )
    path.write_bytes(newest)
    with ALGORITHM.restore(path, noise=noise, counter=counter()) as back:
        feed(back, 2)
    assert (back.rounds, noise.most) == (6, 1)
    assert counter().value() == back.generation


def test_a_copy_of_a_live_session_does_not_go_on_beside_it(path, counter):
    noise = Logged()
    session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter()), 2)
    other = path.with_name("copy")
    shutil.copy(path, other)
    refused(lambda: ALGORITHM.restore(other, noise=noise, counter=counter()), "another session holds")
    assert "another session holds" in forked(lambda: ALGORITHM.restore(other, noise=noise, counter=counter()))
    feed(session, 1)
    session.close()
    refused(lambda: ALGORITHM.restore(other, noise=noise, counter=counter()), "an older copy")


class Bare:
    """A counter of one's own, which cannot be held."""

    def __init__(self):
        self.number, self.fail = 0, ""

    def value(self):
        if self.fail == "value":
            raise OSError("no network")
        return self.number

    def advance(self, to):
        if self.fail == "before":
            raise OSError("no network")
        self.number = max(self.number, to)
        if self.fail == "after":
            raise OSError("no network")


def test_of_two_sessions_with_a_bare_counter_the_first_one_ends(path):
    """The one that was restored last draws; the other one finds that out before it draws for good."""
    noise, counter = Logged(), Bare()
    session = feed(ALGORITHM.session(noise=noise, path=path, counter=counter), 2)
    other = path.with_name("copy")
    shutil.copy(path, other)
    copied = ALGORITHM.restore(other, noise=noise, counter=counter)
    shown = session.state.seen.tolist()
    for _ in range(2):
        refused(lambda: session.update(0.5), "another session has used it")
    assert session.state.seen.tolist() == shown
    session.close()
    feed(copied, 2)
    refused(lambda: ALGORITHM.restore(path, noise=noise, counter=counter), "an older copy")


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
        assert json.loads(unseen[-1])["generation"] <= counter.number + 1  # so that it can be restored
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
    refused(lambda: ALGORITHM.session(noise=Logged(), path=other, counter=counter()), "another session")
    assert not other.exists()


def test_a_database_holds_the_counters_of_many_sessions(quick):
    one, two = (SqliteCounter(quick / "db", name) for name in ("one", "two"))
    one.advance(7)
    two.advance(3)
    one.advance(5)
    assert (one.value(), two.value(), SqliteCounter(quick / "db", "three").value()) == (7, 3, 0)
    held = one.hold()
    os.close(two.hold())
    refused(one.hold, "another session holds")
    os.close(held)
    os.close(one.hold())


def test_counters_that_cannot_be_used_are_refused(quick):
    (quick / "words").write_text("many")
    (quick / "base").write_text("no database at all, " * 100)
    (quick / "loop").symlink_to(quick / "loop")
    bad = [FileCounter(quick / "words"), FileCounter(quick), FileCounter(quick / "loop")]
    bad += [SqliteCounter(quick / "base", "x"), SqliteCounter(quick / "none" / "db", "x")]
    for counter in bad:
        refused(counter.value, "counter: ")
    refused(lambda: FileCounter(quick / "none" / "c").hold(), "counter: ")
    refused(lambda: FileCounter(7), "counter")
    good = FileCounter(quick / "c")
    assert good.value() == 0
    good.advance(3)
    good.advance(2)
    assert good.value() == 3
    assert (quick / "c").read_text() == "3\n"


def test_a_lost_counter_refuses_the_file(path, counter):
    with ALGORITHM.session(noise=Logged(), path=path, counter=counter()) as session:
        feed(session, 3)
    shutil.rmtree(path.parent / "counters")
    (path.parent / "counters").mkdir()
    refused(lambda: ALGORITHM.restore(path, noise=Logged(), counter=counter()), "counter is at 0")


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
