"""Updates: those that fail change nothing and quote no reward; with a tick they return at its multiples."""

import copy
import errno
import json
import math
import os
import traceback
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.live import Blocks, Counted, feed, first_release, small
from verifiable_dp.core import session as sessions
from verifiable_dp.core import statefile
from verifiable_dp.core.noise import altered
from verifiable_dp.core.query import Batch
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry.wrapped import Wrapped


def test_an_update_that_fails_changes_nothing():
    """A source that fails leaves the reward out, and the session as it was."""

    class Failing(Counted):
        broken = True

        def __call__(self, draw):
            if self.broken:
                raise RuntimeError("no entropy")
            return super().__call__(draw)

    algorithm, noise = small("dp-se"), Failing()
    session = feed(algorithm.session(noise=noise), first_release(algorithm) - 1)
    before = session._now
    with pytest.raises(RuntimeError, match="entropy"):
        session.update(1.0)
    assert session._now is before
    noise.broken = False
    feed(session, 1)
    assert noise.draws == 2


@dataclass(frozen=True)
class Total(Batch):
    """Private: what the rewards add up to."""

    total: np.ndarray


@dataclass(frozen=True)
class Pure(Blocks):
    """Each release is the sum of all rewards so far."""

    def private(self, run):
        return Total(np.zeros((len(run), 1)))

    def release(self, state, memory, query, answer, noise):
        total = memory.total + answer
        return Total(total), super().release(state, memory, query, total, altered(noise, self.horizon))[1]


class InPlace(Pure):
    """The same, and nothing that it is given stays as it was."""

    def release(self, state, memory, query, answer, noise):
        def source(draw):
            out = noise(draw)
            for array in (draw.value, draw.scale):
                array += 1.0
            return out

        _, out = super().release(state, memory, query, answer, source)
        memory.total[:] += answer
        for array in (answer, state.seen, out):
            array += 0.0 if array is out else 1.0
        state.t[:] += 7
        return memory, out

    def decide(self, state, query, released):
        after = super().decide(state, query, released.copy())
        for array in (state.t, state.seen, released):
            array += 1
        return after


@pytest.mark.parametrize("saved", [False, True])
def test_an_algorithm_that_works_in_place_changes_nothing_of_the_session(saved, quick, monkeypatch):
    """Else a reward would count twice, once for an update that failed: in the source, or on the disk."""

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    class Failing(Counted):
        broken = False

        def __call__(self, draw):
            found = super().__call__(draw)
            if self.broken:
                raise RuntimeError("no entropy")
            return found

    both = []
    for number, kind in enumerate((Pure, InPlace)):
        noise = Failing()
        session = kind(6).session(noise=noise, path=quick / f"s{number}" if saved else None)
        both.append(session)
        while not session.finished:
            noise.broken = True
            with pytest.raises(RuntimeError, match="entropy"):
                session.update(0.5)
            noise.broken = False
            with monkeypatch.context() as patch, pytest.raises(InputError) if saved else nullcontext():
                patch.setattr(os, "fsync", full)
                session.update(0.5)
            if saved:
                session.update(0.5)
    pure, other = both
    assert pure._now.memory.total.tolist() == other._now.memory.total.tolist() == [[3.0]]
    assert pure.state.seen.tolist() == other.state.seen.tolist()
    assert pure.spent == pytest.approx(1.0)
    assert other.spending() == pure.spending()


class Spoiling(Wrapped):
    """Leaves nothing of what it is given."""

    def release(self, state, memory, query, answer, noise):
        return spoiled(self.inner.release(state, memory, query, answer, noise), state, memory, query, answer)

    def decide(self, state, query, released):
        return spoiled(self.inner.decide(state, query, released), state, query, released)


def spoiled(found, *given):
    """A copy of what was found, before all arrays that were given are overwritten."""
    found, given = copy.deepcopy(found), list(given)
    while given:
        one = given.pop()
        if is_dataclass(one):
            given += [getattr(one, field.name) for field in fields(one)]
        elif isinstance(one, np.ndarray) and one.flags.writeable:
            one[...] = 0
    return found


@pytest.mark.parametrize("name", ["dp-se", "dp-ucb", "tree-sum", "lazy-dp-ts", "ldp-ucb", "ldp-linear"])
def test_an_algorithm_may_overwrite_what_it_is_given(name):
    """With a memory and without; reports of a block ask for their noise at its start."""
    ends = []
    for algorithm in (small(name), Spoiling(small(name))):
        session = algorithm.session(noise=Counted())
        while not session.finished and session.rounds < 400:
            session.update(0.5)
        ends.append(json.dumps(statefile.pack("x", session.state, session.state)))
    assert ends[0] == ends[1]


class Loud(float):
    def __format__(self, spec):
        return "0.7654321"

    __str__ = __repr__ = lambda self: "0.7654321"


SECRETS = [
    *(1.7654321, np.float64(-0.7654321), Loud(7.0), "0.7654321", [0.7654321], 10**400, -(10**400), None),
    *(np.array([0.7654321]), np.complex128(0.7654321 + 1j), complex(0.7654321), Fraction(7654321, 10**7)),
    *(Decimal("0.7654321"), float("inf"), float("nan"), np.str_("0.7654321"), b"0.7654321"),
]


@pytest.mark.parametrize("reward", SECRETS, ids=lambda reward: type(reward).__name__)
@pytest.mark.parametrize("name", ["dp-se", "ldp-ucb", "dp-robust-se"])
def test_a_refused_reward_is_not_quoted(name, reward):
    session = small(name).session(noise=Counted())
    if session._turns.algorithm.bounds[1] == math.inf and isinstance(reward, float) and math.isfinite(reward):
        return  # every number is within the bounds
    with pytest.raises(InputError, match="reward must be finite and lie within") as error:
        session.update(reward)
    said = "".join(traceback.format_exception(error.value))
    assert "7654321" not in said
    assert "e+400" not in said
    assert "0" * 100 not in said
    assert error.value.__cause__ is None
    assert session.rounds == 0


def test_a_reward_that_adds_too_much_is_not_quoted():
    class Lying(Blocks):
        contribution = 0.25

    session = Lying(4).session(noise=Counted())
    with pytest.raises(InputError, match=r"more to a sum than the 0\.25") as error:
        session.update(0.7654321)
    assert "7654321" not in str(error.value)


# ---------------------------------------------------------------- ticks


class Clock:
    """A clock of its own: each look takes some time, and sleeping takes no time of ours."""

    def __init__(self, look):
        self.now, self.look = 0.0, look

    def monotonic(self):
        self.now += self.look
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += seconds


@pytest.mark.parametrize("look", [0.0, 0.003, 0.0499, 0.05, 0.07, 0.3])
def test_an_update_returns_at_ticks(look, monkeypatch):
    """At whole multiples of the tick after its call, also when it is refused."""
    clock = Clock(look)
    monkeypatch.setattr(sessions, "time", clock)
    session = Blocks(20, 2).session(noise=Counted(), tick=0.05)
    for reward in (0.5, 0.5, 7.0, 0.5, "no", 0.5):
        begun = clock.now + look  # the first look
        try:
            session.update(reward)
        except InputError:
            assert reward in (7.0, "no")
        took = clock.now - begun
        assert took == pytest.approx(0.05 * round(took / 0.05), abs=1e-9)
        assert took >= look - 1e-9
    assert session.rounds == 4


@pytest.mark.parametrize("tick", [-1, float("nan"), float("inf"), 61, "1", None])
def test_a_tick_is_some_seconds(tick):
    with pytest.raises(InputError, match="tick must be seconds from 0 to 60"):
        Blocks(4).session(noise=Counted(), tick=tick)
