"""Edges of the right to draw: counters, generations, locks, and whose file it is."""

import contextlib
import fcntl
import os
import stat
import tempfile
from pathlib import Path
from unittest import mock

import pytest

from verifiable_dp.core import rights
from verifiable_dp.core.rights import FileCounter, Right, SqliteCounter
from verifiable_dp.core.validate import InputError


class Numbers:
    """A counter in memory; `hold` is asked once."""

    def __init__(self, at=0):
        self.at, self.held, self.told = at, 0, []

    def value(self):
        return self.at

    def advance(self, to):
        self.at = to
        self.told.append(to)


class Held(Numbers):
    """One that gives a file as its lock; number 0 is a file, too."""

    lock = 0

    def hold(self):
        self.held += 1
        return self.lock


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
            handles = made._file, made._next, made._holds
            vars(made).update(_file=-1, _next=-1, _holds=-1, drop=lambda: None)  # when it is forgotten, too
            for handle in set(handles) - set(self.closed):
                if handle > 2:
                    with contextlib.suppress(OSError):
                        os.close(handle)


@contextlib.contextmanager
def place():
    """A new folder, in which nobody closes the files that the process was given."""
    close = os.close

    def closing(handle):
        assert handle > 2
        close(handle)

    with tempfile.TemporaryDirectory() as name:
        found = Place(Path(name).resolve())
        try:
            with mock.patch.object(os, "close", closing):
                yield found
        finally:
            found.settle()


def refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def held_by(path):
    """Whether a lock lies on a file that nobody may share."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
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
            refused(counter.value, "must hold a whole number")
        else:
            assert counter.value() == number


def test_a_file_that_is_too_long_for_a_number_is_refused():
    with place() as here:
        Path(here.path).write_text("0" * 1025)
        refused(FileCounter(here.path).value, "is larger than 1 KiB")


@pytest.mark.parametrize("kind", [FileCounter, lambda path: SqliteCounter(path, "mine")])
def test_counters_only_grow(kind):
    with place() as here:
        counter = kind(here.path)
        for to, at in ((1, 1), (3, 3), (2, 2 + 1), (3, 3), (4, 4)):
            counter.advance(to)
            assert counter.value() == at


def test_what_a_file_counts_is_not_written_again():
    with place() as here:
        counter = FileCounter(here.path)
        counter.advance(3)
        before = os.stat(here.path).st_ino, Path(here.path).read_text()
        counter.advance(3)
        assert (os.stat(here.path).st_ino, Path(here.path).read_text()) == before == (before[0], "3\n")


def test_a_database_counts_for_each_name():
    with place() as here:
        SqliteCounter(here.path, "mine").advance(5)
        assert [SqliteCounter(here.path, name).value() for name in ("mine", "other")] == [5, 0]
    refused(SqliteCounter("/nowhere/at/all", "mine").value, "cannot be used")


@pytest.mark.parametrize(
    ("kind", "lock"),
    [
        (FileCounter, "session.json.lock"),
        (lambda path: SqliteCounter(path, "mine"), "session.json.3fd30542fe3f61b1.lock"),
    ],
)
def test_a_counter_is_held_by_one(kind, lock):
    with place() as here:
        first = kind(here.path).hold()
        assert here.left() == [lock]
        assert stat.S_IMODE(os.stat(here.folder / lock).st_mode) == 0o600
        refused(kind(here.path).hold, "another session holds .*; each session needs its own counter")
        os.close(first)
        os.close(kind(here.path).hold())


def test_a_lock_that_cannot_be_made_is_refused():
    refused(FileCounter("/nowhere/at/all").hold, "counter: .* cannot be used")
    with place() as here:
        os.symlink(here.folder / "other", f"{here.path}.lock")
        refused(FileCounter(here.path).hold, "counter: .* cannot be used")


# ---------------------------------------------------------------- whose it is


def test_a_new_right_is_of_this_process_and_holds_nothing():
    with place() as here:
        right = here.right()
        assert (right.generation, right._known, right.path, right.ended) == (0, 0, "", False)
        assert max(right._file, right._next, right._holds) < 0
        with right.held(), right.held():
            pass


def test_another_process_draws_nothing():
    with place() as here:
        right = here.right()
        with mock.patch.object(os, "getpid", return_value=-7):
            for call in (right.held().__enter__, right.alone().__enter__):
                refused(call, "it belongs to the process that made it")
            refused(
                lambda: right.commit(lambda number: b"", here.path), "it belongs to the process that made it"
            )
        with mock.patch.object(rights, "_born", [object(), rights._born[0]]):
            refused(right.held().__enter__, "it belongs to the process that made it")
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
        refused(right.held().__enter__, "it belongs to the process that made it")
        os.close(other)


def test_within_itself_it_is_refused():
    with place() as here:
        right = here.right()
        with right.alone():
            refused(right.alone().__enter__, "in the middle of an update")
        with right.alone():
            pass


def test_what_was_closed_is_free():
    with place() as here:
        right = here.taken(counter=Held())
        held = FileCounter(here.folder / "counter").hold()
        other = os.dup(right._file)
        right._holds = held
        assert held_by(here.path)
        right.close()
        assert (right.ended, right._file, right._next, right._holds) == (True, -1, -1, -1)
        assert not held_by(here.path)  # also where others have copies of the open file
        assert not held_by(here.folder / "counter.lock")
        refused(right.held().__enter__, "it was closed; restore it from its file")
        os.close(other)


def test_a_handle_with_the_number_0_is_given_back_like_any_other():
    closed = []
    with place() as here, mock.patch.object(os, "close", closed.append):
        here.right(_file=0).drop()
        assert closed == [0]
        there = here.right(_file=0, _next=7, generation=4)
        with mock.patch.object(rights, "_same", return_value=True):
            there._adopt(here.path)
        assert (closed, there._file, there.generation) == ([0, 0], 7, 5)
        there._file, there._next = -1, 0
        with mock.patch.object(rights, "_same", return_value=True):
            there._adopt(here.path)
        assert (there._file, there._next, there.generation) == (0, -1, 6)
        with (
            mock.patch.object(rights.tempfile, "mkstemp", return_value=(0, here.path)),
            mock.patch.object(os, "write", side_effect=OSError(28, "No space")),
        ):
            refused(lambda: rights._written(here.path, b"1"), "cannot be written: No space")
        assert closed == [0, 0, 0]


# ---------------------------------------------------------------- taking a file


def test_a_file_is_taken_by_one():
    with place() as here:
        here.taken()
        refused(lambda: here.right().take(here.path), "is open in another session")


def test_what_is_not_taken():
    with place() as here:
        refused(lambda: here.right().take(here.path), "cannot be read: No such file")
        Path(here.path).touch(0o600)
        link, name = f"{here.path}.link", f"{here.path}.name"
        os.symlink(here.path, link)
        refused(lambda: here.right().take(link), "is a link; give the path of the file itself")
        refused(lambda: here.right().take(str(here.folder)), "is not a regular file")
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
            refused(lambda: here.right().take(here.path), "has no locks that end with a process")
        with mock.patch.object(rights.fcntl, "flock", side_effect=OSError(95, "Not supported")):
            refused(lambda: here.right().take(here.path), r"the file system of .* has no locks \(Not supp")


def test_so_long_a_file_is_taken():
    with place() as here, mock.patch.object(rights, "MOST_BYTES", 4):
        here.taken(b"1234").close()
        refused(lambda: here.taken(b"12345"), "at most 4 bytes, .* has 5")
        with mock.patch.object(rights, "_check"):  # it has grown since
            here.right().take(here.path)
            Path(here.path).unlink()
            Path(here.path).write_bytes(b"1234567")
            assert here.right().take(here.path) == b"12345"


def test_a_file_that_is_replaced_meanwhile_is_opened_again():
    with place() as here:
        Path(here.path).touch(0o600)
        with mock.patch.object(rights, "_same", side_effect=[False, False, True]) as same:
            assert here.right().take(here.path) == b""
        assert same.call_count == 3


@pytest.mark.parametrize(
    ("known", "generation", "least"),
    [(None, 7, 7), (7, 7, 9), (6, 7, 8), (5, 7, None), (8, 7, None), (0, 0, 2)],
)
def test_which_generation_goes_on(known, generation, least):
    """That of the counter or the one after it: the file is written before the counter is told."""
    with place() as here:
        right = here.taken(counter=None if known is None else Numbers(known))
        if least is None:
            refused(
                lambda: right.took(generation), f"is generation {generation}, and the counter is at {known}"
            )
        else:
            assert (right.took(generation), right.generation) == (least, generation)


def test_what_killed_processes_left_is_removed():
    with place() as here:
        kept = [".session.json.abcdefg.new", ".session.json.abcdefgh.newer", "session.json.abcdefgh.new"]
        for name in (".session.json.abcdefgh.new", *kept):
            (here.folder / name).touch()
        here.taken().took(1)
        assert here.left() == sorted([*kept, "session.json"])


def test_a_counter_is_held_once():
    with place() as here:
        counter = Held()
        right = here.taken(counter=counter)
        right.took(0)
        right._hold()
        assert (counter.held, right._holds) == (1, 0)
        bare = here.right(Numbers())
        bare._hold()
        assert bare._holds == -1


# ---------------------------------------------------------------- committing


def seal(number):
    return b"%d" % number


def test_each_commit_is_the_next_generation():
    with place() as here:
        counter = Numbers()
        right = here.right(counter)
        for number in (1, 2, 3):
            right.commit(seal, here.path)
            assert (right.generation, right.path, counter.told[-1]) == (number, here.path, number)
            assert Path(here.path).read_bytes() == seal(number)
            assert stat.S_IMODE(os.stat(here.path).st_mode) == 0o600
            assert here.left() == ["session.json"]
            assert held_by(here.path)
            assert right._next == -1
        assert counter.told == [1, 2, 3]


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
        refused(lambda: here.right().commit(seal, here.path), "exists; restore the session in it")
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
        refused(lambda: right.commit(seal), "was replaced or removed since; find out by whom")
        assert right.generation == 1


@pytest.mark.parametrize(
    ("known", "found", "generation", "told"),
    [
        (3, 3, 3, []),
        (2, 2, 3, [3]),  # a crash came between the file and the counter
        (2, 3, 3, []),
        (2, 4, 3, None),
        (3, 2, 3, None),
        (3, 4, 3, None),
    ],
)
def test_where_the_counter_has_to_be(known, found, generation, told):
    with place() as here:
        counter = Numbers(found)
        right = here.right(counter, _known=known, generation=generation)
        if told is None:
            refused(
                right._reach, f"the counter is at {found} and was at {known}: another session has used it"
            )
        else:
            right._reach()
            assert counter.told == told


def test_without_a_counter_nobody_is_told():
    with place() as here:
        here.right()._reach()
        here.right()._tell()
        counter = Numbers(2)
        right = here.right(counter, generation=3)
        right._tell()
        assert (counter.told, right._known) == ([3], 3)


@pytest.mark.parametrize(("replaced", "generation"), [(True, 2), (False, 1)])
def test_after_an_interrupt_the_file_that_lies_there_goes_on(replaced, generation):
    """Between putting the next file in its place and noting it."""
    with place() as here:
        right = here.right()
        right.commit(seal, here.path)
        first = right._file
        temporary, right._next = rights._written(here.path, b"next")
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
            assert (right.generation, here.left()) == (1, ["session.json"])
            assert Path(here.path).read_bytes() == b"1"
        right.commit(seal)
        assert (right.generation, Path(here.path).read_bytes()) == (2, b"2")


def test_a_folder_that_is_gone_cannot_be_written():
    refused(lambda: rights._written("/nowhere/at/all", b""), "cannot be written: No such file")


def test_all_bytes_are_written():
    write = os.write
    with place() as here:
        for data in (b"", b"1", b"12", b"123456"):
            with mock.patch.object(os, "write", lambda handle, data: write(handle, data[:2])):
                temporary, handle = rights._written(here.path, data)
            assert Path(temporary).read_bytes() == data
            assert held_by(temporary)
            os.close(handle)


# ---------------------------------------------------------------- paths


def test_what_may_lie_at_a_path():
    with place() as here:
        rights.regular(here.path)
        Path(here.path).touch(0o600)
        rights.regular(here.path)
        os.link(here.path, f"{here.path}.2")
        refused(lambda: rights.regular(here.path), r"has 2 names \(hard links\)")
        refused(lambda: rights.regular(str(here.folder)), "is not a regular file")
        os.symlink("nowhere", here.folder / "link")
        refused(lambda: rights.regular(str(here.folder / "link")), "is a link")


@pytest.mark.parametrize("path", [7, None, "", "a\0b", "/"])
def test_what_is_no_path(path):
    refused(lambda: rights.located(path), "path must be the path of a session file, got ")


def test_the_folders_of_a_path_are_resolved():
    with place() as here:
        os.symlink(here.folder, here.folder / "folder")
        os.symlink("session.json", here.folder / "own")
        assert rights.located(here.folder / "folder" / "session.json") == here.path
        assert rights.located(str(here.folder / "folder" / "own")) == str(here.folder / "own")
        assert rights.located(os.fsencode(here.path)) == here.path
