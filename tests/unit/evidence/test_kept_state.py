"""What a program keeps between runs is as it was once its bound was computed.

In a file of its own: all that the file of a program holds is put back.
"""

import collections
import contextlib
import functools
import importlib
import itertools

import numpy as np
import pytest

from verifiable_dp.auditing import traced
from verifiable_dp.evidence.judge import imports
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.evidence.symbolic import numpy_mirror, randoms
from verifiable_dp.evidence.symbolic.paths import Program, explore
from verifiable_dp.evidence.symbolic.world import nothing_known
from verifiable_dp.evidence.tracing.foreign import bits_of
from verifiable_dp.targets.load import adapted

ORDERS = {"left": 0, "order": None}
TOTALS = [0.0, 0.0]
ARRAY = np.zeros(2)
LAST = collections.deque([1.0], maxlen=2)


class Memory:
    """Keeps what it was given last, for all of its kind."""

    last = None
    every: list = []  # noqa: RUF012


MEMORY = Memory()


@functools.lru_cache
def cached(rng):
    return rng.permutation(2)


def kept_order(rewards, rng):
    if not ORDERS["left"]:
        ORDERS["left"], ORDERS["order"] = 50, rng.permutation(2)
    ORDERS["left"] -= 1
    return np.resize(ORDERS["order"], len(rewards))


def kept_sums(rewards, rng):
    TOTALS[0] += rewards[0, 0]
    LAST.append(rewards[0, 1])
    ARRAY[1] += 1.0
    return [0] * len(rewards)


def kept_by_classes(rewards, rng, own={}):  # noqa: B006
    Memory.last, MEMORY.one = rewards[0, 0], rewards[1, 0]
    Memory.every.append(rewards)
    own["rewards"] = rewards
    kept_by_classes.called = rewards
    return [int(arm) for arm in np.resize(cached(rng), len(rewards))]


def kept_anew(rewards, rng):
    global MADE
    MADE = rewards[0, 0]
    return [0] * len(rewards)


def state():
    own = kept_by_classes.__defaults__[0], vars(kept_by_classes)
    held = ORDERS, TOTALS, [*LAST], ARRAY.tolist(), Memory.last, Memory.every, vars(MEMORY), *own
    return repr((held, "MADE" in globals(), cached.cache_info().currsize))


@pytest.mark.parametrize("play", [kept_order, kept_sums, kept_by_classes, kept_anew])
def test_what_is_kept_is_put_back(play):
    cached.cache_clear()
    before = state()
    explore(Program(play, (6, 2), (0.0, 1.0)), 2, most=4)
    assert state() == before
    assert len(play(np.zeros((6, 2)), np.random.default_rng(0))) == 6


# Generators in attributes and entries that code keeps: their draws hide data as those of globals do.


HEAD = """import random
import numpy as np
class Service:
    def __init__(self, rng):
        self.rng = rng
    def total(self, data):
        return np.sum(data) + self.rng.laplace(0, 2.0)
"""
NUMBERS = itertools.count()
BY_SYSTEM = "return sum(data) + 2 * (g.expovariate(1.0) - g.expovariate(1.0))"
# What is kept, and what a release does.
RIGHT = {
    "an attribute": ("s = Service(np.random.default_rng())", "return s.total(data)"),
    "an old one": ("s = Service(np.random.RandomState())", "return s.total(data)"),
    "one of two objects": (
        "one = np.random.default_rng()\na, b = Service(one), Service(one)",
        "return (a.total(data) + b.total(data)) / 2",
    ),
    "an entry of a list": ("s = [np.random.default_rng()]", "return data[0] + s[0].laplace(0, 2.0)"),
    "an entry by a number": ("s = {0: np.random.default_rng()}", "return data[0] + s[0].laplace(0, 2.0)"),
    "inside other objects": (
        "RNG = np.random.default_rng()\n"
        "class Outer:\n    def __init__(self):\n        self.parts = {'s': [Service(RNG)]}\n"
        "outer = Outer()",
        "return outer.parts['s'][0].total(data)",
    ),
    "the system's": ("s = Service(random.SystemRandom())", f"g = s.rng\n    {BY_SYSTEM}"),
}


@pytest.fixture
def bound(tmp_path, monkeypatch):
    """What the bound of a program is whose file is written anew, and why there is none."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def of(kept, done):
        name = f"keeps_{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(f"{HEAD}{kept}\ndef release(data):\n    {done}\n")
        importlib.invalidate_caches()
        function = adapted(importlib.import_module(name).release)[1]
        found, why, _ = traced.bound_of_release(function, "release", [(1,)], traced.Entries(0.0, 1.0), 0.0)
        return found, str(why)

    return of


@pytest.mark.parametrize("name", RIGHT)
def test_noise_of_kept_generators_hides_data(name, bound, monkeypatch):
    """Broken variant: nothing stands in for what attributes and entries hold."""
    found, why = bound(*RIGHT[name])
    assert found is not None, why
    assert found.epsilon == pytest.approx(0.5 if name != "one of two objects" else 1.0)
    forked = Taken.NEVER_FORKED in {premise.id for premise in found.premises}
    assert forked == (name != "the system's")
    monkeypatch.setattr(numpy_mirror, "in_place", lambda scopes, instead: contextlib.nullcontext())
    assert "raw data are returned" in bound(*RIGHT[name])[1]


def trusts_seeds(monkeypatch):
    monkeypatch.setattr(traced, "_known", lambda function: nothing_known)


def follows_own_classes(monkeypatch):
    real = randoms.Sources.instead_of

    def instead_of(self, value):
        return self._of_bits(bits_of(value)) if isinstance(value, np.random.Generator) else real(self, value)

    monkeypatch.setattr(randoms.Sources, "instead_of", instead_of)


def leaves_others(monkeypatch):
    monkeypatch.setattr(randoms.Sources, "apart", lambda self, source: "")


TOTAL = "return s.total(data)"
RESETS = "out = s.total(data)\n    {}.state = START\n    return out"
KEPT = "s = Service(np.random.default_rng())"
START = f"{KEPT}\nSTART = s.rng.bit_generator.state"
WHY = "this generator where we cannot follow it"
# What is kept, what a release does, why it has no bound, and the variant that would give one.
LEAKS = {
    "a known seed": (
        "s = Service(np.random.default_rng(5))",
        TOTAL,
        "starts from the same state",
        trusts_seeds,
    ),
    "one seed for two": (
        "seed = np.random.SeedSequence().entropy\n"
        "a, b = Service(np.random.default_rng(seed)), Service(np.random.default_rng(seed))",
        "return a.total(data), b.rng.laplace(0, 2.0)",
        "start from the same seed",
        trusts_seeds,
    ),
    "a class of the code's": (
        "class Mine(np.random.Generator):\n    def laplace(self, *given):\n        return 0.0\n"
        "s = Service(Mine(np.random.PCG64()))",
        TOTAL,
        "one of its own generator classes",
        follows_own_classes,
    ),
    "reset through a tuple": (
        f"{START}\nagain = (s.rng,)",
        RESETS.format("again[0].bit_generator"),
        WHY,
        leaves_others,
    ),
    "reset through its bits": (
        "bits = np.random.PCG64()\ns = Service(np.random.Generator(bits))\nSTART = bits.state",
        RESETS.format("bits"),
        WHY,
        leaves_others,
    ),
    "reset through a slot": (
        f"class Slot:\n    __slots__ = ('one',)\n{START}\nslot = Slot()\nslot.one = s.rng",
        RESETS.format("slot.one.bit_generator"),
        WHY,
        leaves_others,
    ),
    "reset through a class": (
        f"{START}\nclass Keeps:\n    one = s.rng",
        RESETS.format("Keeps.one.bit_generator"),
        WHY,
        leaves_others,
    ),
    "reset through a closure": (
        f"{START}\ndef made(one):\n    def reset():\n        one.bit_generator.state = START\n"
        "    return reset\nreset = made(s.rng)",
        "out = s.total(data)\n    reset()\n    return out",
        WHY,
        leaves_others,
    ),
    "another one in production": (
        f"{KEPT}\nreal = (s.rng,)",
        "return data[0] if s.rng is real[0] else s.total(data)",
        WHY,
        leaves_others,
    ),
    "another one of the system's in production": (
        "s = Service(random.SystemRandom())\nreal = (s.rng,)",
        f"g = s.rng\n    if g is real[0]:\n        return data[0]\n    {BY_SYSTEM}",
        WHY,
        leaves_others,
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_else_may_know_or_change_a_kept_generator_ends_the_bound(name, bound, monkeypatch):
    """Each had a bound in its broken variant. Control: the same programs without it, above."""
    kept, done, reason, broken = LEAKS[name]
    found, why = bound(kept, done)
    assert found is None
    assert reason in why
    broken(monkeypatch)
    # What the import reads of a generator's state ends some of them, too.
    monkeypatch.setattr(imports.Settled, "_again", lambda self: False)
    found, why = bound(kept, done)
    assert found is not None, why


# Kept where nothing is put: what is drawn there hides nothing.
APART = {
    "in a slot": (
        "class Slot:\n    __slots__ = ('one',)\ns = Slot()\ns.one = np.random.default_rng()",
        "return data[0] + s.one.laplace(0, 2.0)",
    ),
    "in a tuple": ("s = (np.random.default_rng(),)", "return data[0] + s[0].laplace(0, 2.0)"),
    "in a class": (
        "class Keeps:\n    one = np.random.default_rng()",
        "return data[0] + Keeps.one.laplace(0, 2.0)",
    ),
}


@pytest.mark.parametrize("name", APART)
def test_generators_for_which_nothing_stands_in_hide_nothing(name, bound):
    assert "raw data are returned" in bound(*APART[name])[1]


def test_what_a_run_puts_in_the_place_of_a_generator_is_seen(bound, monkeypatch):
    """Broken variant: after each run the place holds the generator again, whatever the run put there."""
    kept = f"class Zero:\n    def laplace(self, *given):\n        return 0.0\n{KEPT}"
    done = "out = s.total(data)\n    s.rng = Zero()\n    return out"
    assert "raw data are returned" in bound(kept, done)[1]
    real = randoms.in_place

    @contextlib.contextmanager
    def always(scopes, instead):
        before = [(holder, name, value) for holder, name, value in randoms.held_in(scopes)]
        with real(scopes, instead):
            yield
        for holder, name, value in before:
            holder[name] = value

    monkeypatch.setattr(randoms, "in_place", always)
    monkeypatch.setattr(numpy_mirror, "in_place", always)
    assert "raw data are returned" not in bound(kept, done)[1]
