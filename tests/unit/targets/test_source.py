"""The digest of an object's file, and seeds of the generators that code keeps: which are no secret."""

import importlib.util
import os
import sys
from importlib.machinery import SourceFileLoader

import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import seeds
from verifiable_dp.targets.source import CodeSource, file_digest

SOURCE = "SCALE = 1.0\n\ndef release(data, rng):\n    return data + rng.laplace(0, SCALE)\n"
OLD = 1e9  # seconds since the epoch


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A module, and how it is imported as Python does it, with its cache."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    place = tmp_path / "noisy.py"
    place.write_text(SOURCE)
    os.utime(place, (OLD, OLD))
    return place


def imported(file, monkeypatch):
    loader = SourceFileLoader("noisy", str(file))
    spec = importlib.util.spec_from_file_location("noisy", file, loader=loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "noisy", module)
    loader.exec_module(module)
    return module


def test_an_object_from_stale_bytecode_is_refused(file, monkeypatch):
    """Broken variant: the digest is that of a file that did not run, as its cache has its size and date.

    Control: the cache of the same source.
    """
    imported(file, monkeypatch)
    assert CodeSource.of(imported(file, monkeypatch).release, "x").sha256 == file_digest(file)
    file.write_text(SOURCE.replace("1.0", "0.4"))
    os.utime(file, (OLD, OLD))
    module = imported(file, monkeypatch)
    assert module.SCALE == 1
    with pytest.raises(
        InputError,
        match=r"ran bytecode of another version of .*noisy.py.* same size and date, .*; remove the folder",
    ):
        CodeSource.of(module.release, "x")


@pytest.mark.parametrize(
    ("written", "known"),
    [
        (SOURCE, True),
        (SOURCE.replace("1.0", "0.04"), False),  # what only the module has run
        (SOURCE.replace("rng.laplace", "0 * rng.laplace"), False),
        (SOURCE + "# changed\n", True),
    ],
)
def test_a_file_that_changed_since_it_was_loaded_has_no_digest(written, known, file, monkeypatch):
    """Controls: the same code."""
    release = imported(file, monkeypatch).release
    file.write_text(written)
    assert CodeSource.of(release, "x").sha256 == (file_digest(file) if known else "")


def test_without_a_cache_functions_and_methods_are_compared(file, monkeypatch):
    """Broken variant: what a class has is not looked at. Control: one that is unchanged."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file.write_text(SOURCE + "class One:\n    def play(self):\n        return 1\n")
    module = imported(file, monkeypatch)
    file.write_text(file.read_text().replace("return 1", "return 2"))
    assert CodeSource.of(module.One, "x").sha256 == CodeSource.of(module.One(), "x").sha256 == ""
    assert CodeSource.of(module.release, "x").sha256 == file_digest(file)


# ---------------------------------------------------------------- seeds that are no secret


CODE = """
import secrets
import time
import numpy as np
GEN = np.random.default_rng({seed})
def release(data, size, rng):
    return data + GEN.laplace(0, 2.0, size)
"""


def doubts(tmp_path, seed, code=CODE, source=lambda module: module.GEN.bit_generator):
    name = f"kept_{abs(hash((seed, code)))}"
    file = tmp_path / f"{name}.py"
    file.write_text(code.format(seed=seed), "utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return seeds.Origins.of(module.release).doubted(source(module))
    finally:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("time.time_ns() % 1000", "starts from one of only a few seeds"),
        ("secrets.randbits(31)", "starts from one of only a few seeds"),
        ("7", "starts from the same state in every process"),
        ("secrets.randbits(128)", ""),
        ("", ""),
    ],
)
def test_a_generator_with_one_of_few_seeds_hides_little(tmp_path, seed, said):
    """Broken variant: a seed that differs between two imports is a secret. Controls: the system's are."""
    found = doubts(tmp_path, seed)
    assert said in found
    assert bool(said) is bool(found)


SHARED = """
import time
import numpy as np
{seed}
def release(data, size):
    return data + np.random.laplace(0, 2.0, size)
"""


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("", ""),
        ("START = np.random.laplace(0, 1.0, 3000)", ""),
        ("np.random.seed(7)", "starts from the same state in every process"),
        ("np.random.seed(time.time_ns() % 1000)", "starts from one of only a few seeds"),
    ],
)
def test_who_seeds_the_generator_of_the_process_is_told(tmp_path, seed, said):
    """Broken variant: as we seed it, it has no seed of its own, and passes for one of few.

    Controls: what the system seeds, drawn from at the import, too.
    """
    found = doubts(tmp_path, seed, SHARED, lambda module: seeds.wide()["np.random"])
    assert said in found
    assert bool(said) is bool(found)
