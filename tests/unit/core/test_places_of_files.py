"""Where files can be written, and which names the package has."""

import pytest

import verifiable_dp
from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (".", "is a folder"),
        ("missing/it.json", "cannot be written: no folder '.*missing'"),
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
