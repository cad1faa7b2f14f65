"""Runs that are split again, on another path of modules: what is drawn from a key, and what comes first."""

import random
import sys

import numpy as np
import pytest

from verifiable_dp.core import paths
from verifiable_dp.evidence.blackbox.events import EventSetting
from verifiable_dp.targets.load import ReleaseSampler, ToldPair
from verifiable_dp.targets.resplit import Pool

CLAIM = {"delta": 0.0}


def chance(*of):
    return random.Random(repr(of))


def pool(leak, parts=2, size=2000):
    """Runs of two questions: in the second one the input is told by whole numbers."""
    rng, found = np.random.default_rng(7), Pool({}, {}, EventSetting(10, offered=None))
    for asked in (0, 1):
        for world in (0, 1):
            for at in range(0, parts * size, size):
                rows = rng.laplace(0, 1, (size, 1))
                if leak and asked and world:
                    rows = np.round(rows)
                part = ("sample", (world, 1 + asked, 0, np.arange(at, at + size)))
                found.keep(asked, part, [rows], (parts * size, parts * size), chance)
    return found


def counted(found):
    sampler = ReleaseSampler(len, 0)
    return list(found.counts(lambda rows: sampler.seen(ToldPair(""), rows), CLAIM, chance))


@pytest.mark.parametrize("leak", [True, False])
def test_a_leak_of_some_questions_is_counted(leak):
    """Half of the runs of one input are whole numbers, which none of the other are; control: no leak.

    Level: without a leak a hit rate that is 1.5 times the other has probability below 1e-7.
    """
    [numbers] = counted(pool(leak))
    one, zero = numbers["k1"] / numbers["n1"], numbers["k0"] / numbers["n0"]
    assert (one > 1.5 * zero) == leak
    assert counted(pool(leak)) == [numbers]  # by the key


def test_few_runs_are_not_split():
    assert counted(pool(True, parts=1, size=20)) == []


def test_folders_of_targets_come_last(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(tmp_path), "libraries"])
    monkeypatch.setattr(paths, "_FIRST", [])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    paths.put_last()
    paths.put_last()  # once is enough
    assert sys.path == ["libraries", str(tmp_path)]
    assert paths.of_targets() == [str(tmp_path), "libraries"]
    paths.restore()
    assert sys.path == [str(tmp_path), "libraries"] == paths.of_targets()
