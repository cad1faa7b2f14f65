"""Live sessions in tests: small algorithms, sources that write down what they draw, folders that are fast."""

import contextlib
import os
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp.core.algorithm import Algorithm, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries as registry


def small(name, **other):
    auditor = registry.auditor(name)
    return auditor.algorithm(**{**auditor.instance, **auditor.small, **other})


def feed(session, rounds, reward=0.5):
    """Take `rounds` more rewards."""
    for _ in range(rounds):
        session.select()
        session.update(reward)
    return session


def finish(session, reward=0.5):
    """Take rewards to the end."""
    while not session.finished:
        session.update(reward)
    return session


def first_release(algorithm):
    """Round of the first release."""
    return int(algorithm.query(algorithm.start(np.zeros(1, np.int64))).rounds[0])


class Counted:
    """Counts the values that are drawn; hidden ones do not count."""

    def __init__(self):
        self.inner, self.draws = Seeded(0), 0

    def __call__(self, draw):
        self.draws += 0 if draw.hidden else int(draw.where.sum())
        return self.inner(draw)


class Logged:
    """Draws Laplace noise, other each time, and writes down for which slots; no lock of its own."""

    def __init__(self, seed=None):
        self.slots, self._rng = [], np.random.default_rng(seed)

    def __call__(self, draw):
        self.slots += draw.slot[draw.where].tolist()  # one step in CPython
        return draw.value + draw.scale * self._rng.laplace(size=draw.value.shape)

    @property
    def most(self):
        """How often the slot that was drawn most was drawn."""
        return max(Counter(self.slots).values(), default=0)


@dataclass(frozen=True)
class Shown(State):
    """Public: all that was released; it grows."""

    seen: np.ndarray


@dataclass(frozen=True)
class Blocks(Algorithm):
    """One arm; the sum of each block is released; small and fast, not in the catalogue."""

    horizon: int
    block: int = 1
    n_arms: int = 1
    epsilon: float = 1.0
    name = "blocks"

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, observe="releases")

    def start(self, run):
        return Shown(run, np.zeros(len(run), np.int64), np.zeros((len(run), 0)))

    def query(self, state):
        left = np.minimum(self.block, self.horizon - state.t)
        return Query(state.t, left, np.ones((len(left), 1), bool), np.ones(len(left), bool))

    def release(self, state, memory, query, answer, noise):
        where, slot = np.ones(answer.shape, bool), state.t[:, None]
        return memory, Laplace(1.0, self.epsilon).release(answer, noise, state.run, slot, where)

    def decide(self, state, query, released):
        return replace(state, t=state.t + query.rounds, seen=np.column_stack([state.seen, released]))


def refused(call, match):
    """It is refused in one line that matches."""
    with pytest.raises(InputError, match=match) as error:
        call()
    assert "\n" not in str(error.value)


def fork():
    """As `os.fork`, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries, which we do not use
        return os.fork()


def forked_and_left(call):
    """Number of a child that does what it is told to, and ends; it has begun, and dropped its sessions."""
    reading, writing = os.pipe()
    child = fork()
    if not child:
        try:
            os.close(reading)
            os.write(writing, b"x")
            os.close(writing)
            call()
        finally:
            os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    return child


def forked(call):
    """What `call` returns or is refused with in a child, as text."""
    reading, writing = os.pipe()
    child = fork()
    if not child:
        try:
            try:
                said = repr(call())
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(writing, said.encode()[:4000])
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        said = file.read().decode()
    os.waitpid(child, 0)
    return said


@contextlib.contextmanager
def quick_folder():
    """A folder in memory where there is one: flushing costs little there."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Path(folder)
