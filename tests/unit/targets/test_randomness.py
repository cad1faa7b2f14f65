# ruff: noqa: NPY002
"""Sources of randomness beside the given generator: runs repeat in any order, and what is seeded stays so."""

import gc
import os
import random
import secrets
import sys
import time
from fractions import Fraction
from os import urandom
from types import ModuleType

import numpy as np
import pytest
from numba import njit
from numpy.random import laplace
from scipy import stats

from verifiable_dp.evidence.tracing import foreign
from verifiable_dp.evidence.tracing.foreign import GIVEN, sources
from verifiable_dp.targets import randomness
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import ReleaseSampler

ARMS = 3
TABLE = np.full((5, ARMS), 0.5)
OF_MODULE = np.random.default_rng(3)


class Holder:
    """A generator made when it is first asked for, and kept."""

    def __init__(self):
        self._rng = None

    @property
    def rng(self):
        if self._rng is None:
            self._rng = np.random.RandomState()
        return self._rng


HELD = Holder()


@njit
def compiled(size):
    out = np.empty(size)
    for i in range(size):
        out[i] = np.random.laplace(0, 1)
    return out


def uniforms(draw):
    return np.array([draw() for _ in range(ARMS)])


SOURCES = {
    "np.random": lambda: np.random.laplace(0, 1, ARMS),
    "from numpy.random": lambda: laplace(0, 1, ARMS),
    "a generator of the module": lambda: OF_MODULE.laplace(0, 1, ARMS),
    "a generator without a seed": lambda: np.random.default_rng().laplace(0, 1, ARMS),
    "a bit generator without a seed": lambda: np.random.Generator(np.random.PCG64()).laplace(0, 1, ARMS),
    "a RandomState without a seed": lambda: np.random.RandomState().laplace(0, 1, ARMS),
    "one made at the first call": lambda: HELD.rng.laplace(0, 1, ARMS),
    "random": lambda: uniforms(random.random),
    "random, with its memory": lambda: uniforms(lambda: random.gauss(0, 1)),
    "random.Random without a seed": lambda: uniforms(random.Random().random),
    "random.SystemRandom": lambda: uniforms(random.SystemRandom().random),
    "secrets": lambda: uniforms(lambda: secrets.randbelow(1000)),
    "os.urandom": lambda: uniforms(lambda: os.urandom(1)[0]),
    "from os": lambda: uniforms(lambda: urandom(1)[0]),
    "scipy": lambda: stats.laplace.rvs(size=ARMS),
    "numba": lambda: compiled(ARMS),
}
NUMBERS = np.arange(24)


def play_with(draw):
    return lambda rewards, rng: np.full(len(rewards), int((rewards.sum(axis=0) + draw()).argmax()))


def actions(play, numbers=NUMBERS, **options):
    return PlaySampler(play, False, ARMS, 5, seed=1, **options).actions(TABLE, (1, 2), numbers)


@pytest.mark.parametrize("source", SOURCES)
def test_runs_follow_the_generator_that_they_are_given(source):
    play = play_with(SOURCES[source])
    found = actions(play, followed=True)
    assert len(np.unique(found[:, 0])) > 1, "runs differ from each other"
    assert np.array_equal(actions(play, NUMBERS[::-1], followed=True)[::-1], found), "in any order"
    assert np.array_equal(actions(play, NUMBERS[7:], followed=True), found[7:]), "and by any worker"
    assert not np.array_equal(actions(play), actions(play)), "unless they are let alone"


def test_another_seed_gives_other_runs():
    play = play_with(SOURCES["np.random"])
    sampler = PlaySampler(play, False, ARMS, 5, seed=2, followed=True)
    assert not np.array_equal(sampler.actions(TABLE, (1, 2), NUMBERS), actions(play, followed=True))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.default_rng(0).laplace(0, 1, ARMS),
        lambda: np.random.RandomState(7).laplace(0, 1, ARMS),
        lambda: uniforms(random.Random(5).random),
    ],
)
def test_what_is_seeded_in_a_run_stays_as_it_is(draw):
    assert len(np.unique(actions(play_with(draw), followed=True))) == 1  # a leak, which must stay one


def test_seeding_the_process_in_a_run_stays_a_constant():
    def draw():
        np.random.seed(4)
        return np.random.laplace(0, 1, ARMS)

    assert len(np.unique(actions(play_with(draw), followed=True))) == 1


def test_a_source_that_few_runs_draw_from_is_found():
    rare = random.Random(1)

    def play(rewards, rng):
        if rng.random() < 0.2:
            return np.array([rare.randrange(ARMS) for _ in rewards])
        return np.zeros(len(rewards), int)

    numbers = np.arange(64)
    found = actions(play, numbers, followed=True)
    assert np.array_equal(actions(play, numbers[::-1], followed=True)[::-1], found)
    assert len(np.unique(found)) > 1


def test_states_are_put_back():
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate(), OF_MODULE.bit_generator.state
    for source in ("np.random", "random", "a generator of the module"):
        actions(play_with(SOURCES[source]), followed=True)
    assert (np.random.get_state()[1].tolist(), random.getstate(), OF_MODULE.bit_generator.state) == before
    assert random.Random.seed.__module__ == "random"
    assert os.urandom.__module__ == "posix"


def test_a_crash_puts_them_back_too():
    def play(rewards, rng):
        random.random()
        raise ValueError("no")

    with pytest.raises(Exception, match="no"):
        actions(play, followed=True)
    assert os.urandom.__module__ == "posix"


def test_mechanisms_follow_too():
    def release(data, size, rng):
        return data + np.random.laplace(0, 1, size)

    sampler = ReleaseSampler(release, seed=3, followed=True)
    first = sampler.values(0.0, (1,), NUMBERS)
    assert np.array_equal(first, sampler.values(0.0, (1,), NUMBERS))
    assert len(np.unique(first)) == len(NUMBERS)


def test_torch_is_seeded_where_it_is_loaded(monkeypatch):
    torch, seeds = ModuleType("torch"), []
    torch.manual_seed = seeds.append
    monkeypatch.setitem(sys.modules, "torch", torch)
    actions(play_with(SOURCES["random"]), NUMBERS[:4], followed=True)
    first, seeds[:] = seeds[-4:], []
    actions(play_with(SOURCES["random"]), NUMBERS[:4], followed=True)
    assert seeds[-4:] == first
    assert len(set(first)) == 4


@pytest.mark.parametrize(
    ("reads", "found"), [(lambda: 0.0, (GIVEN,)), (time.perf_counter, ("time.perf_counter", GIVEN))]
)
def test_a_collection_of_garbage_is_not_taken_for_the_run(reads, found):
    """Test tools time collections by a callback. Control: a run that reads the clock itself is told of."""

    def run(rng):
        reads()
        [[] for _ in range(5000)]
        return rng.random()

    def timed(*_):
        time.perf_counter()

    gc.callbacks.append(timed)
    thresholds = gc.get_threshold()
    gc.set_threshold(10)
    try:
        assert sources(run, np.random.PCG64(0)) == found
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(timed)
    assert gc.isenabled()


def test_a_state_is_noted_by_its_value():
    """Every part counts, and equal states of two objects are one."""
    for kind in (np.random.MT19937, np.random.Philox, np.random.PCG64, np.random.SFC64):
        one, other = kind(1), kind(1)
        assert foreign.noted(one.state) == foreign.noted(other.state)
        np.random.Generator(other).random()
        assert foreign.noted(one.state) != foreign.noted(other.state)
    two, three = ({"state": {"key": np.zeros(size)}} for size in (2, 3))
    assert foreign.noted(two) != foreign.noted(three)
    assert foreign.noted({"last": Fraction(1, 2)}) == foreign.noted({"last": Fraction(2, 4)})


def test_generators_that_are_spawned_later_are_others():
    rng = randomness.generator(np.array([1, 2], np.uint64), 0)
    assert len({one.random() for _ in range(3) for one in rng.spawn(2)}) == 6
