"""Edges of the right to draw: counters, generations, locks, and whose file it is."""

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from verifiable_dp.core import rights
from verifiable_dp.core.rights import FileCounter, Right, SqliteCounter, Stamped
from verifiable_dp.core.validate import InputError


class Numbers:
    """A counter in memory; `late` are numbers that it is brought to when it is next asked to advance."""

    def __init__(self, at=0, *late):
        self.at, self.late, self.asked, self.told = at, list(late), 0, []

    def value(self):
        return self.at

    def advance(self, expected, new):
        self.asked += 1
        assert self.asked < 10
        if self.late:
            self.at = self.late.pop(0)
        if self.at != expected:
            return False
        self.at = new
        self.told.append(new)
        return True


class Place:
    """A folder with a file of a session; all handles of the rights that were made there are given back."""

    def __init__(self, folder):
        self.folder, self.path, self.closed, self._made = folder, str(folder / "session.json"), [], []

    def right(self, counter=None, **changes):
        made = Right(counter)
        vars(made).update(changes)
        self._made.append(made)
        return made

    def taken(self, content=b"state", counter=None):
        """A right that took the file, which is made first."""
        Path(self.path).write_bytes(content)
        os.chmod(self.path, 0o600)
        found = self.right(counter)
        assert found.take(self.path) == content
        return found

    def left(self):
        """Names of what lies in the folder."""
        return sorted(os.listdir(self.folder))

    def settle(self):
        for made in self._made:
            handles = made._file, made._next
            vars(made).update(_file=-1, _next=-1, drop=lambda: None)  # when it is forgotten, too
            for handle in set(handles) - set(self.closed):
                if handle > 2:
                    with contextlib.suppress(OSError):
                        os.close(handle)


@contextlib.contextmanager
def place():
    """A new folder, in which nobody closes the files that the process was given, or waits for long."""
    close = os.close

    def closing(handle):
        assert handle > 2
        close(handle)

    with tempfile.TemporaryDirectory() as name:
        found, mask = Place(Path(name).resolve()), os.umask(0o022)
        try:
            with mock.patch.object(os, "close", closing), mock.patch.object(rights, "_PATIENCE", 0.5):
                yield found
        finally:
            os.umask(mask)
            found.settle()


def refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def held_by(path):
    """Whether a lock lies on a file or folder that nobody may share."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


# ---------------------------------------------------------------- counters


@pytest.mark.parametrize(
    ("content", "number"),
    [(None, 0), ("0", 0), (" 7\n", 7), ("0" * 1022 + "12", 12), ("", None), ("-1", None), ("1.0", None)],
)
def test_what_a_file_counts(content, number):
    with place() as here:
        counter = FileCounter(here.path)
        if content is not None:
            Path(here.path).write_text(content)
        if number is None:
            refused(counter.value, "must contain a whole number")
        else:
            assert counter.value() == number


def test_a_file_longer_than_a_number_is_refused():
    """Its end may be what counts."""
    with place() as here:
        Path(here.path).write_text("7" + " " * 1023)
        assert FileCounter(here.path).value() == 7
        Path(here.path).write_text("0" * 1023 + "12")
        refused(FileCounter(here.path).value, "counter: .* must contain a whole number")


def test_what_counts_has_one_name_and_one_owner():
    with place() as here:
        link, name, counter = f"{here.path}.link", f"{here.path}.name", FileCounter(here.path)
        refused(FileCounter(here.folder).value, "counter: .* is not a regular file")
        assert counter.advance(0, 7)
        os.symlink(here.path, link)
        refused(FileCounter(link).value, "counter: .* is a link; give the path of the file itself")
        os.link(here.path, name)
        refused(counter.value, r"counter: .* has 2 names \(hard links\)")
        os.unlink(name)
        os.chmod(here.path, 0o622)
        refused(counter.value, "counter: others can write")
        os.chmod(here.path, 0o600)
        assert counter.value() == 7


KINDS = pytest.mark.parametrize("kind", [FileCounter, lambda path: SqliteCounter(path, "mine")])


@KINDS
def test_counters_advance_from_where_they_are_expected(kind):
    with place() as here:
        counter = kind(here.path)
        steps = ((1, 2, 0), (-1, 2, 0), (0, 1, 1), (0, 2, 1), (2, 3, 1), (1, 4, 4), (4, 1 << 128, 1 << 128))
        for expected, new, at in steps:
            assert counter.advance(expected, new) is (at == new)
            assert kind(here.path).value() == at


def test_what_a_file_counts_is_written_once_and_is_its_owners():
    with place() as here:
        counter, old = FileCounter(here.path), os.umask(0)
        try:
            assert counter.advance(0, 3)
        finally:
            os.umask(old)
        before = os.stat(here.path).st_ino
        assert not counter.advance(2, 4)
        assert (os.stat(here.path).st_ino, Path(here.path).read_text()) == (before, "3\n")
        assert here.left() == ["session.json"]
        assert stat.S_IMODE(os.stat(here.path).st_mode) == 0o600


def test_a_link_in_the_place_of_the_next_number_is_not_followed():
    with place() as here:
        os.symlink(here.folder / "other", f"{here.path}.new")
        refused(lambda: FileCounter(here.path).advance(0, 1), "counter: .* cannot be used")
        assert here.left() == ["session.json.new"]
        assert FileCounter(here.path).value() == 0


def test_a_system_that_lacks_a_flag_has_counters():
    with place() as here, mock.patch.dict(vars(os)):
        del os.O_NOFOLLOW
        assert FileCounter(here.path).advance(0, 3)
        assert FileCounter(here.path).value() == 3


def test_a_database_counts_for_each_name():
    with place() as here:
        assert SqliteCounter(here.path, "mine").advance(0, 5)
        assert [SqliteCounter(here.path, name).value() for name in ("mine", "other")] == [5, 0]
        os.chmod(here.path, 0o622)
        refused(SqliteCounter(here.path, "mine").value, "counter: others can write")
    refused(SqliteCounter("/nowhere/at/all", "mine").value, "cannot be used")
    refused(lambda: SqliteCounter("/nowhere/at/all", "mine").advance(0, 1), "cannot be used")


# ---------------------------------------------------------------- their locks


def test_a_lock_is_held_as_long_as_it_is_needed():
    with place() as here:
        copies, lock = [], rights._lock

        def locking(handle):
            copies.append(os.dup(handle))
            return lock(handle)

        with mock.patch.object(rights, "_lock", locking), rights._locked(here.path):
            assert held_by(here.folder)
        assert len(copies) == 1
        assert not held_by(here.folder)  # also where others have copies of the open folder
        os.close(copies[0])
        with pytest.raises(ValueError, match="in the middle"), rights._locked(here.path):
            raise ValueError("in the middle")
        assert not held_by(here.folder)


def test_a_lock_that_cannot_be_had_is_refused():
    refused(lambda: FileCounter("/nowhere/at/all").advance(0, 1), "counter: .* cannot be used: No such file")
    with place() as here, mock.patch.object(rights, "fcntl", None):
        refused(
            lambda: FileCounter(here.path).advance(0, 1),
            "has no locks that are released when a process ends; use Sql",
        )
    with place() as here, mock.patch.object(fcntl, "flock", side_effect=OSError(95, "Not supported")):
        refused(lambda: FileCounter(here.path).advance(0, 1), "counter: .* cannot be used: Not supported")


def test_the_lock_of_a_counter_may_have_the_number_0():
    closed, done = [], []
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(os, "open", return_value=0))
        stack.enter_context(mock.patch.object(fcntl, "flock", lambda *given: done.append(given)))
        stack.enter_context(mock.patch.object(os, "close", closed.append))
        with rights._locked("/nowhere/at/all"):
            assert (closed, done) == ([], [(0, fcntl.LOCK_EX | fcntl.LOCK_NB)])
    assert (closed, done[1:]) == ([0], [(0, fcntl.LOCK_UN)])


def test_so_long_a_lock_is_waited_for():
    with place() as here, rights._locked(here.path):
        slept, times = [], iter([100.0, 100.5, 100.75])
        clock = SimpleNamespace(monotonic=lambda: next(times), sleep=slept.append)
        with mock.patch.object(rights, "time", clock):
            words = "another process has locked the folder of .*; end that process"
            refused(lambda: FileCounter(here.path).advance(0, 1), words)
        assert slept == [0.001]


# ---------------------------------------------------------------- whose it is


def test_a_new_right_is_of_this_process_and_holds_nothing():
    with place() as here:
        right = here.right()
        assert (right.generation, right.path, right.ended) == (0, "", False)
        assert (right._at, right._own) == (0, {0})
        assert max(right._file, right._next) < 0
        with right.held(), right.held():
            pass


def test_another_process_draws_nothing():
    with place() as here:
        right = here.right()
        with mock.patch.object(os, "getpid", return_value=-7):
            for call in (right.held().__enter__, right.alone().__enter__):
                refused(call, "belongs to the process that created it")
            refused(
                lambda: right.commit(lambda mark: b"", here.path), "belongs to the process that created it"
            )
        with mock.patch.object(rights, "_born", [object(), rights._born[0]]):
            refused(right.held().__enter__, "belongs to the process that created it")
        with right.held():
            pass


def test_a_fork_drops_the_files_and_the_locks_stay():
    with (
        place() as here,
        mock.patch.object(rights, "_born", [rights._born[0]]),
        mock.patch.object(rights, "_rights", rights.weakref.WeakSet()),
    ):
        right = here.taken()
        rights._rights.add(right)
        other, handle = os.dup(right._file), right._file
        rights._forked()
        assert right._file == -1
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(handle)
        assert held_by(here.path)
        refused(right.held().__enter__, "belongs to the process that created it")
        os.close(other)


def test_within_itself_it_is_refused():
    with place() as here:
        right = here.right()
        with right.alone():
            refused(right.alone().__enter__, "being updated or saved")
        with right.alone():
            pass


def test_what_was_closed_is_free():
    with place() as here:
        right = here.taken()
        other = os.dup(right._file)
        assert held_by(here.path)
        right.close()
        assert (right.ended, right._file, right._next) == (True, -1, -1)
        assert not held_by(here.path)  # also where others have copies of the open file
        refused(right.held().__enter__, "was closed; restore it from its file")
        os.close(other)


def test_a_handle_with_the_number_0_is_given_back_like_any_other():
    closed = []
    with place() as here, mock.patch.object(os, "close", closed.append):
        here.right(_file=0).drop()
        assert closed == [0]
        free = mock.patch.object(fcntl, "flock")
        with free as flock:
            here.right(_file=0).close()
        flock.assert_called_once_with(0, fcntl.LOCK_UN)
        closed.pop()
        there = here.right(_file=0, _next=7, generation=4)
        with mock.patch.object(rights, "_same", return_value=True):
            there._adopt(here.path)
        assert (closed, there._file, there.generation) == ([0, 0], 7, 5)
        there._file, there._next = -1, 0
        with mock.patch.object(rights, "_same", return_value=True):
            there._adopt(here.path)
        assert (there._file, there._next, there.generation) == (0, -1, 6)
        there = here.right()
        with (
            mock.patch.object(rights.tempfile, "mkstemp", return_value=(0, f"{here.path}.new")),
            mock.patch.object(os, "write", side_effect=OSError(28, "No space")),
        ):
            refused(lambda: there.commit(seal, here.path), "cannot be written: No space")
        assert (closed, there._next) == ([0, 0, 0], -1)
        with (
            mock.patch.object(rights, "_opened", return_value=0),
            mock.patch.object(rights, "_check", side_effect=InputError("others can write")),
        ):
            refused(lambda: here.right().take(here.path), "others can write")
        assert closed == [0, 0, 0, 0]


# ---------------------------------------------------------------- taking a file


def test_a_file_is_taken_by_one():
    with place() as here:
        here.taken()
        refused(lambda: here.right().take(here.path), "is in use by another session")


def test_what_is_not_taken():
    with place() as here:
        refused(lambda: here.right().take(here.path), "cannot be read: No such file")
        Path(here.path).touch(0o600)
        link, name = f"{here.path}.link", f"{here.path}.name"
        os.symlink(here.path, link)
        refused(lambda: here.right().take(link), "is a link; give the path of the file itself")
        refused(
            lambda: here.right().take(str(here.folder)), f"^session: '{here.folder}' is not a regular file"
        )
        os.link(here.path, name)
        refused(lambda: here.right().take(here.path), r"has 2 names \(hard links\)")
        os.unlink(name)
        os.chmod(here.path, 0o622)
        refused(lambda: here.right().take(here.path), "others can write")
        os.chmod(here.path, 0o600)
        assert here.right().take(here.path) == b""


def test_a_file_without_locks_is_not_taken():
    with place() as here:
        Path(here.path).touch(0o600)
        with mock.patch.object(rights, "fcntl", None):
            refused(
                lambda: here.right().take(here.path), "has no locks that are released when a process ends"
            )
        with mock.patch.object(rights.fcntl, "flock", side_effect=OSError(95, "Not supported")):
            refused(lambda: here.right().take(here.path), r"the file system of .* has no locks \(Not supp")


def test_so_long_a_file_is_taken():
    with place() as here, mock.patch.object(rights, "MOST_BYTES", 4):
        here.taken(b"1234").close()
        Path(here.path).write_bytes(b"1234567")
        assert here.right().take(here.path) == b"12345"  # enough to see that it is too long


def test_a_file_that_is_replaced_meanwhile_is_opened_again():
    with place() as here:
        Path(here.path).touch(0o600)
        with mock.patch.object(rights, "_same", side_effect=[False, False, True]) as same:
            assert here.right().take(here.path) == b""
        assert same.call_count == 3
    with place() as here, mock.patch.object(rights, "_TRIES", 2):
        Path(here.path).touch(0o600)
        with mock.patch.object(rights, "_same", return_value=False):
            refused(lambda: here.right().take(here.path), "keeps being replaced; find out what replaces it")


OTHER = "does not match the counter"


@pytest.mark.parametrize(
    ("at", "mark", "words"),
    [
        (None, Stamped(7), ""),
        (None, Stamped(0), ""),
        (None, Stamped(7, 0, (5,)), ""),
        (None, Stamped(7, 1), "was saved with a counter; give that counter"),
        (9, Stamped(7, 9, (3, 6)), ""),
        (6, Stamped(7, 9, (3, 6)), ""),
        (3, Stamped(7, 9, (3, 6)), ""),
        (0, Stamped(7), ""),
        *((at, Stamped(7, 9, (3, 6)), OTHER) for at in (0, 2, 4, 7, 8, 10)),
        (1, Stamped(7), OTHER),
    ],
)
def test_which_state_goes_on(at, mark, words):
    """That of the counter or one that follows it."""
    with place() as here:
        right = here.taken(counter=None if at is None else Numbers(at))
        if words:
            refused(lambda: right.took(mark), words)
        else:
            right.took(mark)
            assert right.generation == mark.generation
            if at is not None:
                assert (right._at, right._own) == (at, {mark.stamp, *mark.follows})


def test_what_killed_processes_left_is_removed():
    with place() as here:
        kept = [".session.json.abcdefg.new", ".session.json.abcdefgh.newer", "session.json.abcdefgh.new"]
        for name in (".session.json.abcdefgh.new", *kept):
            (here.folder / name).touch()
        here.taken().took(Stamped(1))
        assert here.left() == sorted([*kept, "session.json"])


def test_a_second_name_that_a_killed_process_left_is_removed():
    with place() as here:
        Path(here.path).write_bytes(b"state")
        os.link(here.path, here.folder / ".session.json.abcdefgh.new")
        (here.folder / ".session.json.abcdefg7.new").touch()
        assert here.right().take(here.path) == b"state"
        assert here.left() == [".session.json.abcdefg7.new", "session.json"]


# ---------------------------------------------------------------- committing


def seal(mark):
    return b"%d" % mark.generation


@pytest.mark.parametrize("counter", [None, Numbers])
def test_each_commit_is_the_next_generation(counter):
    with place() as here:
        numbers = counter and counter()
        right, marks = here.right(numbers), []
        for number in (1, 2, 3):
            right.commit(lambda mark: marks.append(mark) or seal(mark), here.path)
            assert (right.generation, right.path, marks[-1].generation) == (number, here.path, number)
            assert Path(here.path).read_bytes() == b"%d" % number
            assert stat.S_IMODE(os.stat(here.path).st_mode) == 0o600
            assert here.left() == ["session.json"]
            assert held_by(here.path)
            assert right._next == -1
        if counter is None:
            assert marks == [Stamped(1), Stamped(2), Stamped(3)]
        else:
            bare, last = marks[::2], marks[1::2]  # first without its stamp, which is a digest of that
            assert [mark.stamp for mark in bare] == [0, 0, 0]
            assert [mark.stamp for mark in last] == numbers.told
            assert [mark.follows for mark in last] == [(0,), *((told,) for told in numbers.told[:2])]
            assert (right._at, right._own) == (numbers.at, {numbers.at})


def test_commits_close_what_they_replace():
    with place() as here:
        right = here.right()
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        for _ in range(3):
            right.commit(seal, here.path)
        if before:
            assert len(os.listdir("/proc/self/fd")) == before + 1


def test_what_lies_there_is_not_replaced():
    with place() as here:
        Path(here.path).write_bytes(b"other")
        refused(lambda: here.right().commit(seal, here.path), "exists; restore the session from it")
        assert (Path(here.path).read_bytes(), here.left()) == (b"other", ["session.json"])


@pytest.mark.parametrize("how", ["removed", "replaced", "linked"])
def test_a_file_that_was_touched_is_not_replaced(how):
    with place() as here:
        right = here.right()
        right.commit(seal, here.path)
        if how == "linked":
            os.link(here.path, f"{here.path}.other")
        else:
            os.unlink(here.path)
        if how == "replaced":
            Path(here.path).write_bytes(b"other")
        refused(lambda: right.commit(seal), "has been replaced or removed; find out by whom")
        assert right.generation == 1


def test_a_stamp_is_above_those_it_follows_and_of_its_state_and_of_chance():
    with place() as here:
        right = here.right(Numbers(7), generation=4, _own={7, 3, 20})
        with mock.patch.object(rights.secrets, "token_bytes", lambda size: bytes(size)):
            found = right._mark(repr_of)
        bare = Stamped(5, 0, (3, 7, 20))
        digest = hashlib.sha256(bytes(32) + repr_of(bare)).digest()[:8]
        assert found == Stamped(5, 21 + int.from_bytes(digest), bare.follows)
        assert right._mark(repr_of).stamp != right._mark(repr_of).stamp
        assert right._at == 7
        assert here.right(generation=4)._mark(repr_of) == Stamped(5)


def repr_of(mark):
    return repr(mark).encode()


@pytest.mark.parametrize(("at", "goes"), [(3, True), (5, True), (2, False), (4, False), (6, False)])
def test_where_the_counter_has_to_be(at, goes):
    """Where this session left it, or was about to bring it."""
    with place() as here:
        counter = Numbers(at)
        right = here.right(counter, _at=3, _own={3, 5})
        if goes:
            right._look(counter)
            assert right._at == at
        else:
            refused(lambda: right.commit(seal, here.path), "has changed since this session last used it")
            assert (right._at, here.left(), counter.asked) == (3, [], 0)


@pytest.mark.parametrize(
    ("late", "told", "words"),
    [
        ((), [9], ""),
        ((5,), [9], ""),  # an attempt that had failed came through late
        ((5, 7), [9], ""),
        ((9,), [], ""),  # this one, of which the counter says that it was not done
        ((5, 9), [], ""),
        ((8,), [], "another session used it too"),
        ((5, 10), [], "another session used it too"),
    ],
)
def test_the_counter_is_brought_to_the_state(late, told, words):
    with place() as here:
        counter = Numbers(3, *late)
        right = here.right(counter, _at=3, _own={3, 5, 7})
        if words:
            refused(lambda: right._tell(Stamped(1, 9)), words)
            assert right._own == {3, 5, 7, 9}
        else:
            right._tell(Stamped(1, 9))
            assert (right._at, right._own, counter.at) == (9, {9}, 9)
        assert (counter.told, counter.asked) == (told, len(late) + 1 - (not told))


def test_a_counter_that_stays_is_not_asked_again():
    with place() as here:
        counter = Numbers(3)
        right = here.right(counter, _at=3, _own={3})
        with mock.patch.object(counter, "advance", side_effect=[False, AssertionError]):
            refused(lambda: right._tell(Stamped(1, 9)), "did not advance, although it had the expected value")
        with (
            mock.patch.object(counter, "advance", side_effect=OSError("no network")),
            pytest.raises(OSError, match="no network"),
        ):
            right._tell(Stamped(1, 11))
        assert (right._at, right._own) == (3, {3, 9, 11})  # it may have come through


def test_without_a_counter_nobody_is_told():
    with place() as here:
        right = here.right()
        right._tell(Stamped(1, 9))
        assert (right._at, right._own) == (0, {0})


@pytest.mark.parametrize(("replaced", "generation"), [(True, 2), (False, 1)])
def test_after_an_interrupt_the_file_that_lies_there_goes_on(replaced, generation):
    """Between putting the next file in its place and noting it."""
    with place() as here:
        right = here.right()
        right.commit(seal, here.path)
        first = right._file
        right._next, temporary = tempfile.mkstemp(dir=here.folder)
        second = right._next
        if replaced:
            os.replace(temporary, here.path)
        right._adopt(here.path)
        assert (right.generation, right._next) == (generation, -1)
        assert right._file == (second if replaced else first)
        for handle, is_open in ((first, not replaced), (second, replaced)):
            if is_open:
                os.fstat(handle)
            else:
                with pytest.raises(OSError, match="Bad file"):
                    os.fstat(handle)
        right._adopt(here.path)
        assert right.generation == generation


@pytest.mark.parametrize("call", ["replace", "fsync", "write"])
def test_what_cannot_be_written_changes_nothing(call):
    with place() as here:
        right = here.right()
        right.commit(seal, here.path)
        for error, kind in ((OSError(28, "No space"), InputError), (KeyboardInterrupt(), KeyboardInterrupt)):
            with mock.patch.object(os, call, side_effect=error), pytest.raises(kind):
                right.commit(seal)
            assert (right.generation, right._next, here.left()) == (1, -1, ["session.json"])
            assert Path(here.path).read_bytes() == b"1"
        right.commit(seal)
        assert (right.generation, Path(here.path).read_bytes()) == (2, b"2")


def test_a_folder_that_is_gone_cannot_be_written():
    with place() as here:
        words = "cannot be written: No such file"
        refused(lambda: here.right().commit(seal, "/nowhere/at/all"), words)


def test_what_is_interrupted_after_it_lies_there_goes_on():
    """The new file is in its place: the session holds its lock, and nobody is told of it."""
    with place() as here:
        numbers = Numbers()
        right = here.right(numbers)
        right.commit(seal, here.path)
        first, told = right._file, list(numbers.told)
        interrupted = mock.patch.object(rights.files, "settle", side_effect=KeyboardInterrupt())
        with interrupted, pytest.raises(KeyboardInterrupt):
            right.commit(seal)
        assert (right.generation, right._next, numbers.told, here.left()) == (2, -1, told, ["session.json"])
        assert right._file != first
        assert held_by(here.path)
        right.commit(seal)
        assert Path(here.path).read_bytes() == b"3"


def test_all_bytes_are_written():
    write = os.write
    with place() as here:
        right = here.right()
        for data in (b"1", b"", b"12", b"123456"):
            with mock.patch.object(os, "write", lambda handle, data: write(handle, data[:2])):
                right.commit(lambda mark, data=data: data, here.path)
            assert Path(here.path).read_bytes() == data


def test_a_file_is_made_where_there_is_none():
    with place() as here:
        made = here.folder / "made"
        for content, ways, replaced in ((b"1", (), 0), (b"2", (OSError(95, "Not supported"),), 1)):
            made.write_bytes(content)
            linking = mock.patch.object(os, "link", side_effect=ways or os.link)
            with linking, mock.patch.object(os, "replace", side_effect=os.replace) as replace:
                rights._new(str(made), here.path)
            assert replace.call_count == replaced  # it would take the place of another's file
            assert (Path(here.path).read_bytes(), here.left()) == (content, ["session.json"])
        made.write_bytes(b"3")
        refused(lambda: rights._new(str(made), here.path), "exists; restore the session from it")
        assert (Path(here.path).read_bytes(), made.read_bytes()) == (b"2", b"3")


def test_another_one_that_makes_the_file_meanwhile_is_first():
    with place() as here:
        right, make = here.right(), tempfile.mkstemp

        def making(**named):
            Path(here.path).write_bytes(b"other")
            return make(**named)

        with mock.patch.object(rights.tempfile, "mkstemp", making):
            refused(lambda: right.commit(seal, here.path), "exists; restore the session from it")
        assert (Path(here.path).read_bytes(), here.left()) == (b"other", ["session.json"])
        assert (right.generation, right.path) == (0, "")


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize("names", [1, 2])
def test_a_path_names_an_open_file(names):
    with place() as here:
        right, link = here.taken(), f"{here.path}.link"
        if names == 2:
            os.link(here.path, f"{here.path}.2")
        os.symlink(here.path, link)
        for path, many, same in (
            (here.path, names, True),
            (here.path, 3 - names, False),
            (link, names, False),
            (str(here.folder), names, False),
            (f"{here.path}.none", names, False),
        ):
            assert rights._same(path, right._file, many) is same
        assert rights._same(here.path, right._file) is (names == 1)
        assert rights._same(here.path, -1, names) is False


@pytest.mark.parametrize("path", [7, None, b"a", "a\0b", "/", "", "."])
def test_what_is_no_path(path):
    refused(lambda: rights.located("counter", path), "counter must be the path of a file, got ")


def test_the_folders_of_a_path_are_resolved():
    with place() as here:
        os.symlink(here.folder, here.folder / "folder")
        os.symlink("session.json", here.folder / "own")
        assert rights.located("path", here.folder / "folder" / "session.json") == here.path
        assert rights.located("path", str(here.folder / "folder" / "own")) == str(here.folder / "own")
        assert rights.located("path", "own") == str(Path.cwd().resolve() / "own")
