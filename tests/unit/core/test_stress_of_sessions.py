"""Everybody who could draw a second time tries to: threads, forks, copies, links, restored backups, mixed."""

import contextlib
import copy
import os
import pickle
import random
import shutil
import sys
import threading
from collections import Counter

import pytest

from tests.live import Blocks, Logged, forked, refused
from verifiable_dp.core import rights, session
from verifiable_dp.core.rights import FileCounter
from verifiable_dp.core.validate import InputError

ALGORITHM = Blocks(1 << 20)
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
        self.session = ALGORITHM.session(noise=Logged(), counter=self.counter)

    @property
    def saved(self):
        return bool(self.session._right.path)

    def look(self, seen):
        """No value is shown as another one than before."""
        both = min(len(seen), len(self.shown))
        assert seen[:both] == self.shown[:both], "a value was drawn twice"
        self.shown += seen[both:]

    def open(self, place):
        return ALGORITHM.restore(place, noise=Logged(), counter=self.counter)

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
        assert "belongs to the process that made it" in said
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
        refused(self.update, "was replaced or removed")
        self.session.close()
        for place in (self.place, other):
            refused(lambda place=place: self.open(place), "has 2 names")
        other.unlink()
        self.session = self.open(self.place)
        return 3

    def second(self):
        """Another session on the file, in this process or in another one."""
        if self.rng.randrange(3):
            refused(lambda: self.open(self.place), "is open in another session")
        else:
            assert "is open in another session" in forked(lambda: self.open(self.place))
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
        """Every backup is put back; what is taken must hold all that was shown."""
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
