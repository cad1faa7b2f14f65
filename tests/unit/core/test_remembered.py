"""What this machine remembers of files: nothing that comes with code can say it instead."""

import subprocess

import pytest

from verifiable_dp.core import remembered
from verifiable_dp.core.validate import InputError


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_file_is_remembered_by_its_path(state, tmp_path):
    one, other = tmp_path / "a", tmp_path / "b"
    remembered.remember(one, b"x")
    (tmp_path / "link").symlink_to(tmp_path)
    assert remembered.recall(tmp_path / "link" / "a") == b"x"
    assert remembered.recall(other) == b""
    remembered.forget(one)
    remembered.forget(one)
    assert remembered.recall(one) == b""


def test_without_a_folder_of_that_name_it_is_in_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert remembered._place_of(tmp_path / "a").parent == tmp_path / ".local/state/verifiable-dp"


@pytest.mark.parametrize("way", ["repository", "readable", "link", "file"])
def test_a_folder_that_others_may_have_filled_is_refused(way, state, tmp_path):
    """Broken variant: whatever is there is used. Control: a private folder outside of the code."""
    path = tmp_path / "a"
    remembered.remember(path, b"x")
    folder = state / "verifiable-dp"
    said = {"readable": "chmod 700", "repository": "is in the repository"}.get(way, "STATE_HOME|no folder")
    if way == "readable":
        folder.chmod(0o755)
    elif way == "repository":
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    else:
        folder.rename(tmp_path / "other")
        folder.symlink_to(tmp_path / "other") if way == "link" else folder.write_text("")
    assert remembered.recall(path) == b""
    with pytest.raises(InputError, match=said):
        remembered.remember(path, b"y")
    remembered.forget(path)
