"""Where modules are looked for: what is found beside targets comes last, until their code runs."""

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from verifiable_dp.core import paths


@pytest.fixture
def looked(tmp_path, monkeypatch):
    """A path of three folders, of which the current one and one of PYTHONPATH are the targets'."""
    here, named, others = (tmp_path / name for name in ("here", "named", "others"))
    for folder in (here, named, others):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(named), str(tmp_path / "absent")]))
    monkeypatch.setattr(sys, "path", ["", str(named), str(others)])
    monkeypatch.setattr(paths, "_FIRST", [])
    return "", str(named), str(others)


def test_the_folders_of_targets_come_last(looked):
    """Broken variants: they stay first; other folders go last, too; one of both kinds is dropped."""
    here, named, others = looked
    paths.put_last()
    assert sys.path == [others, here, named]


def test_the_path_of_targets_is_the_one_that_was_given(looked):
    assert paths.of_targets() == [*looked]
    paths.put_last()
    assert paths.of_targets() == [*looked]
    sys.path.insert(0, "late")
    assert paths.of_targets() == ["", looked[1], "late", looked[2]]


def test_it_is_given_back_where_their_code_runs_and_can_be_put_last_again(looked):
    """A command may start another: put last twice is put last once."""
    for _ in range(2):
        paths.put_last()
        paths.put_last()
        assert sys.path == [looked[2], *looked[:2]]
        paths.restore()
        assert sys.path == [*looked]


def test_without_a_folder_of_targets_the_path_stays(looked, monkeypatch):
    """Control; an empty PYTHONPATH names the current folder alone."""
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.setattr(sys, "path", [*looked[1:]])
    paths.put_last()
    assert sys.path == [*looked[1:]]


def test_what_is_installed_comes_before_what_lies_beside_a_target(tmp_path, monkeypatch):
    """Also where code of targets runs, whose folder is the first. Control: outside of the block it is."""
    (tmp_path / "numba.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = [*sys.path]

    def place():
        return Path(PathFinder.find_spec("numba").origin).parent

    assert place() == tmp_path
    with paths.elsewhere():
        assert place().name == "numba"
    assert sys.path == before
