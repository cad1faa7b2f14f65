"""What is heard of the files that code opens."""

import ctypes
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from verifiable_dp.targets import opened
from verifiable_dp.targets.source import file_digest


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "site-packages").mkdir()
    for name in ("a.txt", "b.txt", ".git/c", "site-packages/d"):
        (root / name).write_text(name)
    (tmp_path / "outside").write_text("x")
    return root.resolve()


def through_os(path):
    os.close(os.open(path, os.O_RDONLY))


def as_library(path):
    with pytest.raises(OSError, match=Path(path).name):
        ctypes.CDLL(str(path))


WAYS = {
    "text": lambda path: Path(path).read_text(),
    "bytes": lambda path: open(os.fsencode(path), "rb").close(),
    "changed": lambda path: open(path, "r+").close(),
    "os": through_os,
    "sqlite": lambda path: sqlite3.connect(path).close(),
    "library": as_library,
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_read_is_heard(way, place, monkeypatch):
    """By an absolute path and one from where we are. Control: what is not opened is not in it."""
    with opened.noted(str(place)) as found:
        WAYS[way](place / "a.txt")
        monkeypatch.chdir(place)
        WAYS[way]("b.txt")
    assert found == {name: file_digest(place / name) for name in ("a.txt", "b.txt")}
    WAYS[way](place / "a.txt")
    assert len(found) == 2


def test_what_is_not_read_or_not_of_the_code_is_not_heard(place, tmp_path):
    with opened.noted(str(place)) as found, opened.noted("") as none:
        (place / "new.txt").write_text("x")
        for name in (".git/c", "site-packages/d"):
            (place / name).read_text()
        (tmp_path / "outside").read_text()
        with pytest.raises(FileNotFoundError):
            (place / "absent").read_text()
        file_digest(place / "a.txt")  # by us
        os.listdir(place)
    assert found == none == {}


def test_a_link_is_named_as_it_is(place, tmp_path):
    (place / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "way").symlink_to(place)
    with opened.noted(str(place)) as found:
        (place / "link").read_text()
        (tmp_path / "way/a.txt").read_text()
    assert set(found) == {"link", "a.txt"}


def test_a_module_that_is_imported_is_heard(place, monkeypatch):
    (place / "heard_once.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(place))
    with opened.noted(str(place)) as found:
        __import__("heard" + "_once")
    monkeypatch.delitem(sys.modules, "heard_once")
    assert found["heard_once.py"] == file_digest(place / "heard_once.py")
