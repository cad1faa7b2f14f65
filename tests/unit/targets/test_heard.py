"""Runs that are kept of a target's process: they are asked for again, and split anew."""

import numpy as np
import pytest

from verifiable_dp.evidence.blackbox.test import PROBE, SELECT, TEST
from verifiable_dp.targets.far import Far, FarFunction
from verifiable_dp.targets.heard import UNLIKE, Heard
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

PAIR = DataPair(0.0, 1.0)
OWN = FarFunction(Far(None), 0, {})
DRAFT = {"checks": [], "claim": {"epsilon": 0.5, "delta": 0.0}}


def release(data, size, rng):
    return data + rng.laplace(0, 1, size)


def heard(leak=False, size=2000, parts=2, function=OWN, seed=0, stages=(SELECT, TEST), **more):
    """Runs of two stages; with a leak, in the second one an input is told by whole numbers."""
    rng, found = np.random.default_rng(7), Heard([0], "key")
    sampler = ReleaseSampler(function, seed, **more)
    for stage in stages:
        for world in (0, 1):
            for at in range(0, parts * size, size):
                rows = rng.laplace(0, 1, (size, 1))
                if leak and stage == TEST and world:
                    rows = np.round(rows)
                rows = np.column_stack((rows, np.zeros(size)))  # all of one type and shape
                part = ("sample", (world, stage, 0, np.arange(at, at + size)))
                found(sampler, PAIR, (stage, 0), (parts * size, parts * size), part, rows)
    return found


@pytest.mark.parametrize("leak", [True, False])
def test_a_leak_of_some_questions_is_doubted(leak):
    """Half of the runs of one input are whole numbers, which none of the other are; control: no leak.

    Level: right code is doubted with probability 4e-7, here and in an audit.
    """
    assert heard(leak).doubts(DRAFT) == [UNLIKE] * leak
    refuted = {**DRAFT, "checks": [{"result": {"verdict": "refuted"}}]}
    assert heard(leak).doubts(refuted) == []  # what is refuted has no doubt to be told of


@pytest.mark.parametrize(
    "other",
    [{"size": 20, "parts": 1}, {"seed": 1}, {"factor": 0.5}, {"function": FarFunction(Far(None), 3, {})}],
)
def test_few_runs_and_those_of_others_are_not_split(other):
    """Such as those of variants with more loss, and of looks that only lead."""
    assert heard(True, **other).doubts(DRAFT) == []


def test_runs_of_one_stage_are_not_split():
    """They choose an event and count it; nothing tells them apart."""
    assert heard(True, stages=(TEST,)).doubts(DRAFT) == []


def test_some_parts_of_each_stage_are_asked_for_again():
    """By the key; a part that came late is as likely as one that came first."""
    found = heard(size=40, parts=50, stages=(PROBE, SELECT, TEST))
    kept = [(one.path[0], one.world, int(one.runs[0])) for one in found.samples()]
    assert sorted(stage for stage, *_ in kept) == [PROBE] * 2 + [SELECT] * 2 + [TEST] * 6
    again = heard(size=40, parts=50, stages=(PROBE, SELECT, TEST)).samples()
    assert kept == [(one.path[0], one.world, int(one.runs[0])) for one in again]
    assert any(first >= 1000 for _, _, first in kept)
    assert found.noted(found.samples()) == {"asked_again": 400, "key": "key"}


def test_of_runs_that_are_calls_of_their_own_a_few_are_asked_for():
    (one, *_) = heard(size=100, parts=1, stages=(TEST,), rows=1).samples()
    assert len(one.runs) == 16


def test_a_sample_comes_out_again_where_the_code_is():
    """Control: of another seed it does not."""
    here, found = ReleaseSampler(release, 0), Heard([0, 1], "key")
    for seed in (0, 1):
        sampler = ReleaseSampler(OWN, seed)
        rows = here.raw(PAIR, 1, TEST, 0, np.arange(30))
        found(sampler, PAIR, (TEST, 0), (30, 30), ("sample", (1, TEST, 0, np.arange(30))), rows)
    samples = found.samples()
    assert {one.sampler.seed for one in samples} == {0, 1}
    for one in samples:
        sampler = ReleaseSampler(release, one.sampler.seed)
        again = type(one)(sampler, one.pair, one.world, one.path, one.runs).again()
        assert (again == one.digest) == (one.sampler.seed == 0)


def test_each_audit_has_a_key_of_its_own():
    assert Heard([0]).key != Heard([0]).key
