"""No bound for code whose runs leave something behind, or read more than their input and their draws.

Broken variants: what modules keep is put back after traced runs, but nobody asks whether runs change it; a
call that is given nothing tracked passes, whatever it reads.
"""

import ast
import collections
import contextlib
import contextvars
import ctypes
import dataclasses
import datetime
import decimal
import functools
import io
import itertools
import json
import logging
import math
import os
import pathlib
import queue
import random
import re
import statistics
import string
import sys
import threading
import time
import types
import weakref
from sys import argv as arguments

import numpy as np
import pandas as pd
import pytest

from tests.user_code import begun, seeded, unshown
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.evidence.judge import calls as calls_of_judge
from verifiable_dp.evidence.judge import expressions, flow, imports, replay, values
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.evidence.symbolic import boxes, calls, outside, paths, states
from verifiable_dp.evidence.symbolic.paths import Program
from verifiable_dp.evidence.symbolic.witness import confirmed
from verifiable_dp.evidence.tracing.reach import Scopes
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.roles import GivenRole

LOG, COUNT, CELLS = [], itertools.count(), {"runs": 0}
HELD = io.StringIO("some lines\n" * 99)
OWN = np.random.default_rng()
TABLE = {}


def explore(program, n_arms):
    """With a fifth of the paths: programs of a line have few."""
    return paths.explore(program, n_arms, most=12)


class Users:
    log = []  # noqa: RUF012
    last = None
    slots = None


class Slots:
    __slots__ = ("last",)


SLOTS = Slots()


def noisy(data, rng):
    return data[0] + rng.laplace(0, 2.0)


def logs(data, rng):
    Users.log.append(data[0])
    return noisy(data, rng)


def logs_seldom(data, rng):
    if rng.random() < 0.001:
        LOG.append(1)
    return noisy(data, rng)


def counts(data, rng):
    next(COUNT)
    return noisy(data, rng)


def counts_in_a_dictionary(data, rng):
    CELLS["runs"] += 1
    return noisy(data, rng)


def by_default(data, rng, own=[]):  # noqa: B006
    own.append(0)
    return noisy(data, rng)


def of_a_class(data, rng):
    Users.last = object()
    return noisy(data, rng)


def in_slots(data, rng):
    SLOTS.last = object()
    return noisy(data, rng)


def around():
    runs = 0

    def release(data, rng):
        nonlocal runs
        runs += 1
        return noisy(data, rng)

    return release


class Numbers(list):
    """Of a type of Python, with an attribute."""


class Number(float):
    """The same."""


@functools.lru_cache
def store():
    return [0]


NAMES, SLOT, HERE = (
    types.SimpleNamespace(runs=0),
    contextvars.ContextVar("runs", default=0),
    threading.local(),
)
HERE.runs, USERS, QUEUE, CTYPE = 0, collections.UserList(), queue.SimpleQueue(), ctypes.c_double(0)
PARTIAL, MASKED, CHAIN = functools.partial(sorted, key=[]), np.ma.zeros(1), collections.ChainMap({})
LIST, FLOAT, KEYS = Numbers(), Number(1.0), weakref.WeakKeyDictionary()
KEYS[Users], LIST.runs, FLOAT.runs, DEEP = [0], 0, 0, queue.Queue()


class Pretender:
    """It says that it is one of our own classes."""

    __module__ = "verifiable_dp.core.query"
    runs = 0


class Generator(random.Random):
    """A generator with an attribute."""

    runs = 0


class Table(dict):
    """With an attribute that has the name of a key."""


NAMED = Table(runs=0)
NAMED.runs = 0
PRETENDER, GENERATOR, MODULE = Pretender(), Generator(1), types.ModuleType("math")
PRETENDER.runs = GENERATOR.runs = MODULE.runs = 0


class Schedule:
    left = 9

    def step(self):
        self.left -= 1
        return self.left


METHOD, PROXY, CELL = Schedule().step, types.MappingProxyType({"a": []}), types.CellType(1)
ERROR, CONTEXT, SEEDS, SERIES = (
    OSError(1, "x"),
    decimal.Context(),
    np.random.SeedSequence(1),
    pd.Series([1.0]),
)
VIEW, LARGE, ORDERED = {"a": []}.values(), np.zeros(1_000_001), collections.OrderedDict(a=1, b=2)
POP, ZIPPED, REGISTRY = collections.deque([1, 2]).popleft, zip([1, 2, 3]), {"__warningregistry__": [0]}
GAUSS, TEXT = random.Random(1), io.StringIO("a")


def adding(holder, name="runs"):
    return lambda: setattr(holder, name, getattr(holder, name) + 1)


def first_of(values):
    values[0] += 1


HOLDERS = {
    "NAMES.runs": adding(NAMES),
    "SLOT": lambda: SLOT.set(SLOT.get() + 1),
    "HERE.runs": adding(HERE),
    "USERS.data": lambda: USERS.append(1),
    "QUEUE": lambda: QUEUE.put(1),
    "CTYPE": adding(CTYPE, "value"),
    "PARTIAL": lambda: PARTIAL.keywords["key"].append(1),
    "MASKED": lambda: first_of(MASKED),
    "CHAIN.maps": lambda: CHAIN.__setitem__(len(CHAIN), 1),
    "LIST.runs": adding(LIST),
    "FLOAT.runs": adding(FLOAT),
    "NAMED": adding(NAMED),
    "PRETENDER.runs": adding(PRETENDER),
    "GENERATOR.runs": adding(GENERATOR),
    "MODULE.runs": adding(MODULE),
    "KEYS.data": lambda: first_of(KEYS[Users]),
    "DEEP.": lambda: DEEP.put(1),
    "store": lambda: first_of(store()),
    "METHOD": METHOD,
    "PROXY": lambda: PROXY["a"].append(1),
    "VIEW": lambda: next(iter(VIEW)).append(1),
    "CELL": adding(CELL, "cell_contents"),
    "ERROR": adding(ERROR, "errno"),
    "CONTEXT": adding(CONTEXT, "prec"),
    "SEEDS": lambda: SEEDS.spawn(1),
    "SERIES": lambda: SERIES.__setitem__(0, SERIES[0] + 1),
    "LARGE": lambda: first_of(LARGE),
    "ORDERED": lambda: ORDERED.move_to_end("a"),
    "POP": POP,
    "ZIPPED": lambda: next(ZIPPED),
    "REGISTRY": lambda: first_of(REGISTRY["__warningregistry__"]),
    "GAUSS.gauss_next": lambda: setattr(GAUSS, "gauss_next", 1.0),
    "TEXT": lambda: (TEXT.write("b"), TEXT.seek(0)),
    "a setting of Python": adding(decimal.getcontext(), "prec"),
}


@pytest.mark.parametrize("named", HOLDERS)
def test_state_is_seen_wherever_it_is_held(named):
    """Broken variants: only containers of Python are looked into; a class is ours by the name it gives."""
    with decimal.localcontext() as context:
        change = adding(context, "prec") if named.startswith("a setting") else HOLDERS[named]
        memory = states.KeptState({__name__: globals()})
        assert memory.changed() == ""
        change()
        assert named in memory.changed()


def test_what_nobody_can_look_into_may_have_changed(monkeypatch):
    """Control: of what has no state, nothing is said."""
    held = {"__name__": "code", "held": [threading.Lock(), re.compile("a"), np.exp, datetime.date.min, ...]}
    assert states.KeptState({"code": held}).changed() == ""
    held["held"].append(np.broadcast(np.ones(3)))
    assert states.KeptState({"code": held}).changed() == "we cannot tell whether code.held"
    monkeypatch.setattr(states, "_is_sealed", lambda value, found: False)
    assert states.KeptState({"code": held}).changed() == ""


def test_what_a_library_keeps_elsewhere_may_have_changed(monkeypatch):
    """Broken variant: a list whose type can be read counts as read. Control: what can be read to the end."""
    typed = pytest.importorskip("numba.typed")
    held = {"__name__": "code", "held": [pd.DataFrame({"a": [1.0]}), decimal.Decimal(1), logging.getLogger()]}
    assert states.KeptState({"code": held}).changed() == ""
    held["counts"] = typed.List([0])
    memory = states.KeptState({"code": held})
    held["counts"][0] += 1
    assert "code.counts" in memory.changed()
    monkeypatch.setattr(states, "_is_handle", lambda value, found: False)
    memory = states.KeptState({"code": held})
    held["counts"][0] += 1
    assert memory.changed() == ""


def test_what_is_too_much_to_compare_is_said(monkeypatch):
    monkeypatch.setattr(states, "_MOST", 3)
    many = {"__name__": "code", "lists": [[], [], []]}
    assert "of the more than 3 objects" in states.KeptState({"code": many}).changed()
    monkeypatch.setattr(states, "_MOST", 9)
    assert states.KeptState({"code": many}).changed() == ""


@pytest.mark.parametrize("kind", [collections.OrderedDict, collections.deque, list])
def test_large_containers_are_looked_into_to_the_end(kind):
    """Broken variant: what is in a container of `collections` counts as a library's, and but a few of it."""
    cells = [[0] for _ in range(states._NEAREST + 9)]
    held = kind(enumerate(cells)) if issubclass(kind, dict) else kind(cells)
    memory = states.KeptState({"code": {"__name__": "code", "held": held}})
    assert memory.changed() == ""
    cells[-1][0] = 1
    assert "held" in memory.changed()


def uses_held():
    return held  # noqa: F821


def test_more_objects_of_libraries_than_are_looked_into_are_said(monkeypatch):
    """Broken variant: the rest is dropped. Control: as many as are looked into."""
    held = {"__name__": "code", "held": [queue.Queue(), queue.Queue()], "other": [queue.Queue()]}
    held["uses"] = types.FunctionType(uses_held.__code__, held)
    held.pop("__builtins__", None)
    assert states.KeptState({"code": held}).changed() == ""
    monkeypatch.setattr(states, "_NEAREST", 2)
    assert "more than 2 library objects" in states.KeptState({"code": held}).changed()
    held["uses"] = None  # by nothing that runs
    assert states.KeptState({"code": held}).changed() == ""


# Controls: what is made once, and generators, change nothing that later runs show.


def fills_a_table(data, rng):
    if "scale" not in TABLE:
        TABLE["scale"] = 2.0
    return data[0] + rng.laplace(0, TABLE["scale"])


@functools.lru_cache
def scale(n):
    return 2.0 * n


def caches(data, rng):
    return data[0] + rng.laplace(0, scale(1))


def own_generator(data, rng):
    return data[0] + OWN.laplace(0, 2.0)


@pytest.mark.parametrize(
    ("release", "named"),
    [
        (logs, "Users.log"),
        (logs_seldom, "LOG"),
        (counts, "COUNT"),
        (counts_in_a_dictionary, "CELLS.runs"),
        (by_default, "by_default"),
        (of_a_class, "Users.last"),
        (in_slots, "SLOTS.last"),
        (around(), "release"),
    ],
)
def test_what_runs_leave_behind_ends_the_bound(release, named, monkeypatch):
    program = Program(release, (1,), (0.0, 1.0))
    found = explore(program, 1)
    assert "changes from run to run" in found.failure
    assert named in found.failure
    # The broken variant: nobody asks.
    monkeypatch.setattr(paths.KeptState, "changed", lambda self: "")
    monkeypatch.setattr(paths.KeptState, "left", lambda self: {})
    assert explore(program, 1).epsilon() == pytest.approx(0.5)


@pytest.mark.parametrize("release", [noisy, fills_a_table, caches, own_generator])
def test_what_is_made_once_keeps_its_bound(release):
    assert explore(Program(release, (1,), (0.0, 1.0)), 1).epsilon() == pytest.approx(0.5)


def keeps_its_first(data, rng):
    return TABLE.setdefault("first", float(np.min(data))) + noisy(data, rng)


def keeps_its_first_output(data, rng):
    return TABLE.setdefault("released", noisy(data, rng))


def keeps_the_first_by_default(data, rng, own=[]):  # noqa: B006
    own.extend(data[:1])
    del own[1:]
    return own[0] + noisy(data, rng)


@functools.cache
def first():
    return [*LOG]


def caches_its_first(data, rng):
    LOG[:] = [data[0]]
    found = first()[0]
    LOG.clear()
    return found + noisy(data, rng)


@pytest.mark.parametrize(
    "release",
    [
        keeps_its_first,
        keeps_its_first_output,
        keeps_the_first_by_default,
        caches_its_first,
    ],
)
def test_what_only_the_first_run_leaves_ends_the_bound(release, monkeypatch):
    program = Program(release, (1,), (0.0, 1.0))
    assert "still contains what the first run stored" in explore(program, 1).failure
    # The broken variant: what is made once counts as a table.
    monkeypatch.setattr(paths.KeptState, "left", lambda self: {})
    assert explore(program, 1).epsilon() <= 0.5 + 1e-9


def test_of_what_runs_leave_two_pictures_are_equal_if_they_hold_the_same():
    holder = {"list": [], "array": np.zeros(2), "own": Users, "text": {}}
    memory = states.KeptState({"code": {"__name__": "code", "holder": holder}})

    def picture(value):
        holder["list"][:] = [value]
        return memory.left()

    assert picture([1, {"a": {2.0}}]) == picture([1, {"a": {2.0}}])
    assert picture([1, {"a": {2.0}}]) != picture([1, {"a": {2.5}}])
    assert picture([1, (2.0, np.arange(3))]) == picture([1, (2.0, np.arange(3))])
    assert picture(np.arange(3)) != picture(np.arange(3.0))
    assert picture(Users) == picture(Users)
    assert picture(boxes.Box(None, np.zeros(1), "f")) != picture(boxes.Box(None, np.zeros(1), "f"))


def test_what_stands_in_a_cell_is_put_back():
    release = around()
    with states.kept(paths.scopes_of(release)):
        noisy_of = release.__closure__[0].cell_contents
        release.__closure__[0].cell_contents = 7
    assert release.__closure__[0].cell_contents == noisy_of


# ---------------------------------------------------------------- what is read


def at_midnight(data, rng):
    return noisy(data, rng) if time.time() else data[0]


def this_year(data, rng):
    return noisy(data, rng) if datetime.datetime.now().year else data[0]


def given_a_clock(data, rng, clock=functools.partial(time.monotonic)):  # noqa: B008
    return noisy(data, rng) if clock() else data[0]


def mapped(data, rng):
    return noisy(data, rng) if [*map(os.path.exists, ["/"])] else data[0]


def numpys_clock(data, rng):
    return noisy(data, rng) if np.datetime64("now") else data[0]


def opens(data, rng):
    with open(__file__) as file:
        return noisy(data, rng) if file else data[0]


def loads(data, rng):
    return noisy(data, rng) if np.fromfile(__file__, "u1").size else data[0]


def saves(data, rng):
    np.savetxt("/dev/null", np.zeros(2))
    return noisy(data, rng)


def writes(data, rng):
    np.zeros(2).tofile("/dev/null")
    return noisy(data, rng)


def reads_on(data, rng):
    return noisy(data, rng) if HELD.readline() else data[0]


def by_path(data, rng):
    return noisy(data, rng) if pathlib.Path("/").exists() else data[0]


def entry(data, rng):
    return noisy(data, rng) if os.environ["PATH"] else data[0]


def getenv(data, rng):
    return noisy(data, rng) if os.getenv("PATH") else data[0]


def member(data, rng):
    return data[0] if "RAW" in os.environ else noisy(data, rng)


def process(data, rng):
    return noisy(data, rng) if os.getpid() else data[0]


def seldom(data, rng):
    if rng.random() < 0.001:
        return noisy(data, rng) + 0 * os.getpid()
    return noisy(data, rng)


def stamped(data, rng):
    return noisy(data, rng) if logging.makeLogRecord({}).created else data[0]


def in_a_zone(data, rng):
    return noisy(data, rng) if datetime.datetime.fromtimestamp(0).hour == 0 else data[0]


def of_a_naive_time(data, rng):
    return noisy(data, rng) if datetime.datetime(2000, 1, 1).timestamp() > 0 else data[0]


def of_a_setting(data, rng):
    return noisy(data, rng) if np.geterr()["divide"] == "warn" else data[0]


def of_another_setting(data, rng):
    return noisy(data, rng) if np.get_printoptions()["precision"] == 8 else data[0]


@pytest.mark.parametrize(
    ("release", "what"),
    [
        (stamped, "the result of makeLogRecord from Python's standard library"),
        *((one, "the clock") for one in (at_midnight, this_year, given_a_clock, numpys_clock)),
        *((one, "files") for one in (mapped, opens, loads, saves, writes, reads_on, by_path)),
        *((one, "the environment") for one in (entry, getenv, member)),
        *((one, "the state of the system") for one in (process, seldom)),
        *((one, "the state of the system") for one in (in_a_zone, of_a_naive_time)),
        *((one, "the state of the system") for one in (of_a_setting, of_another_setting)),
    ],
)
def test_what_reads_more_than_its_input_has_no_bound(release, what):
    found = explore(Program(release, (1,), (0.0, 1.0)), 1)
    assert found.failure == outside._SAID.format(what)
    assert found.at.file == __file__


class Shown:
    pass


def by_repr(data, rng):
    return data[0] if "__main__" in repr(Shown) else noisy(data, rng)


def by_format(data, rng):
    return data[0] if "__main__" in "{}".format(Shown) else noisy(data, rng)  # noqa: UP032


def by_f_string(data, rng):
    return data[0] if "__main__" in f"{Shown}" else noisy(data, rng)


def by_percent(data, rng):
    return data[0] if "<function" not in "%s" % noisy else noisy(data, rng)  # noqa: UP031


def optimised(data, rng):
    return noisy(data, rng) if __debug__ else data[0]


def documented_itself(data, rng):
    return noisy(data, rng) if documented_itself.__doc__ is None else data[0]


def documented(data, rng):
    return noisy(data, rng) if __doc__ else data[0]


@pytest.mark.parametrize(
    "release", [by_repr, by_format, by_f_string, by_percent, optimised, documented, documented_itself]
)
def test_what_is_called_or_started_otherwise_has_no_bound(release):
    """Another name of the module, or python -O: of the branch that is not taken here nothing is known."""
    assert "may be different in production" in str(explore(Program(release, (1,), (0.0, 1.0)), 1).failure)


def a_number_as_text(data, rng):
    return noisy(data, rng) if f"{len(data):d}" + str(2) + "%d" % 3 + "{}".format(4) else data[0]  # noqa


def test_numbers_may_be_shown():
    """Control of the test above."""
    assert not explore(Program(a_number_as_text, (1,), (0.0, 1.0)), 1).failure


@dataclasses.dataclass
class Stamped:
    made: datetime.datetime = dataclasses.field(default_factory=datetime.datetime.now)


def of_a_field(data, rng):
    return noisy(data, rng) if Stamped().made.year else data[0]


def in_a_record(data, rng):
    return noisy(data, rng) if logging.LogRecord("", 1, "", 1, "", (), None).created else data[0]


@pytest.mark.parametrize(
    ("release", "what"), [(of_a_field, "the clock"), (in_a_record, "the state of the system")]
)
def test_what_a_class_reads_for_the_code_ends_the_bound(release, what):
    assert explore(Program(release, (1,), (0.0, 1.0)), 1).failure == outside._SAID.format(what)


def test_what_a_generated_constructor_calls_is_asked(monkeypatch):
    """Control: lists, and functions of the code."""
    coin = Program(begun.hidden_coin, (1,), (0.0, 1.0))
    assert "uuid4 is called, although no code" in explore(coin, 1).failure
    found = explore(Program(begun.by_fields, (1,), (0.0, 1.0)), 1)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(0.5))
    monkeypatch.setattr(calls, "_called_by_generated", lambda kind: ())
    monkeypatch.setattr(
        imports.Settled, "_is", lambda self, node, called=False: True
    )  # which tells of it, too
    assert explore(coin, 1).epsilon() < 1.0


@pytest.mark.parametrize("release", [begun.by_thread, begun.by_context])
def test_what_a_thread_or_a_context_keeps_is_not_that_of_others(release, monkeypatch):
    """Broken variant: all runs are made in the thread that has imported the code."""
    program = Program(release, (1,), (0.0, 1.0))
    found = explore(program, 1)
    assert found.epsilon() == pytest.approx(0.5)
    assert (
        "a replay on plain code: a run returns a different result"
        in confirmed(program, 1, found, 0.0).failure
    )
    monkeypatch.setattr(replay, "_elsewhere", lambda run: run())
    assert not confirmed(program, 1, found, 0.0).failure


def test_the_first_run_of_a_process_counts(monkeypatch):
    """Broken variant: it makes ready what later runs use, and nobody looks at what it returns."""
    program = Program(begun.by_the_first_run, (1,), (0.0, 1.0))
    begun.READY["yes"] = False
    assert "the first run in a process gives different results" in explore(program, 1).failure
    begun.READY["yes"] = False
    monkeypatch.setattr(paths, "alike", lambda one, other: True)
    assert explore(program, 1).epsilon() == pytest.approx(0.5)


SCALES = {}


def scaled_by_size(data, rng):
    if len(data) not in SCALES:
        SCALES[len(data)] = 2.0 if len(SCALES) < 50 else 0.0
    return data[0] + rng.laplace() * SCALES[len(data)]


def scaled_by_call(data, size, rng):
    if size not in SCALES:
        SCALES[size] = 2.0 if len(SCALES) < 50 else 0.0
    return data[0] + rng.laplace(size=size) * SCALES[size]


def caches_by_size(data, rng):
    return data[0] + rng.laplace(0, scale(len(data)))


@pytest.mark.parametrize("release", [scaled_by_size, traced.OneDraw(scaled_by_call, scalar=False)])
def test_what_is_kept_for_each_size_ends_the_bound(release, monkeypatch):
    """Control: a cache, which tells nobody for how many sizes it holds something."""
    program = Program(release, (1,), (0.0, 1.0))
    assert "SCALES changes with the size" in explore(program, 1).failure
    SCALES.clear()
    monkeypatch.setattr(paths, "_sized", lambda program, scopes: "")  # the broken variant: one size is run
    assert explore(program, 1).epsilon() == pytest.approx(0.5)


def test_a_cache_may_hold_something_for_each_size():
    """Broken variant: what a cache holds counts as what other runs may see."""
    assert explore(Program(caches_by_size, (1,), (0.0, 1.0)), 1).epsilon() == pytest.approx(0.5)


GIVES_BACK = [0.0]


def lends(data, rng):
    GIVES_BACK.append(rng.laplace(0, 2.0))
    total = data[0]
    return total + GIVES_BACK.pop()


class Buffer:
    noise = 0.0


BUFFER, HELD_BACK = Buffer(), None


def lends_an_attribute(data, rng):
    BUFFER.noise = rng.laplace(0, 2.0)
    total = data[0] + BUFFER.noise
    BUFFER.noise = 0.0
    return total


def lends_a_name(data, rng):
    global HELD_BACK
    HELD_BACK = rng.laplace(0, 2.0)
    total = data[0] + HELD_BACK
    HELD_BACK = None
    return total


def lends_its_own(data, rng):
    buffer = Buffer()
    buffer.noise = rng.laplace(0, 2.0)
    return data[0] + buffer.noise


def with_a_seed(data, rng=0):
    return noisy(data, np.random.default_rng(rng))


def with_a_seed_for_none(data, rng=None):
    return noisy(data, rng or np.random.default_rng(42))


def with_a_generator_of_all(data, rng=np.random.default_rng(1)):  # noqa: B008
    return noisy(data, rng)


USUAL = np.random.default_rng(3)


def with_a_kept_one_for_none(data, rng=None):
    return noisy(data, USUAL if rng is None else rng)


def with_none(data, rng=None):
    return noisy(data, np.random.default_rng(rng))


@pytest.mark.parametrize(
    ("release", "stated"),
    [
        (lends, "ONE_AT_A_TIME"),
        (lends_an_attribute, "ONE_AT_A_TIME"),
        (lends_a_name, "ONE_AT_A_TIME"),
        (own_generator, "NEVER_FORKED"),
        (with_a_seed, "GENERATOR_GIVEN"),
        (with_a_seed_for_none, "GENERATOR_GIVEN"),
        (with_a_generator_of_all, "GENERATOR_GIVEN"),
        (with_a_kept_one_for_none, "GENERATOR_GIVEN"),
        (noisy, ""),
        (lends_its_own, ""),
        (with_none, ""),
    ],
)
def test_a_bound_says_how_code_must_be_called(release, stated):
    """Broken variants: what a run puts back counts as untouched; kept generators, and defaults, as secret.

    One that is kept gives other numbers in each run of a process, and the same in each process.
    """
    program = Program(release, (1,), (0.0, 1.0), known=traced._known(release))
    found = traced._searched(program, 1, math.inf, 0.0)
    premises = {premise.id for premise in found.bound().premises}
    asked = {Taken.ONE_AT_A_TIME, Taken.NEVER_FORKED, Taken.GENERATOR_GIVEN}
    # This module keeps a generator.
    assert premises & asked == {Taken.NEVER_FORKED} | ({Taken[stated]} if stated else set())


def test_a_seed_that_a_caller_hands_over_has_to_be_secret():
    """Broken variants: it counts as one that the code draws, of which there are few; nothing is said."""
    play = taken(seeded.Committing, GivenRole(1.0))[1]
    made, why, _ = traced.bound(play, "Committing", Inputs(2, 24), 0.0)
    assert why is None
    assert Taken.GENERATOR_GIVEN in {premise.id for premise in made.premises}


def committed(rewards, epsilon, rng):
    arm = int(np.argmax(rewards[:2].sum(axis=0) + rng.laplace(0, 1 / epsilon, rewards.shape[1])))
    return [arm] * len(rewards)


def test_code_that_is_called_by_an_adapter_is_asked_for_its_defaults():
    """Broken variant: all that an adapter notes are names of the function that it is noted for."""
    made, why, _ = traced.bound(taken(committed, GivenRole(1.0))[1], "committed", Inputs(2, 24), 0.0)
    assert why is None
    assert Taken.GENERATOR_GIVEN not in {premise.id for premise in made.premises}


def test_what_is_too_much_to_be_watched_may_be_lent(monkeypatch):
    scopes = Scopes({__file__: {"__name__": "code", "held": [0] * 9}})

    def line():
        return 1

    with states.lending(scopes, [uses_held.__code__]) as found:
        line()
    assert not found
    monkeypatch.setattr(states, "_LOOKS", 9)
    with states.lending(scopes, [uses_held.__code__]) as found:
        line()
    assert found


def test_code_without_a_generator_may_be_forked():
    program = Program(unshown.pick, (2,), (0.0, 1.0), known=traced._known(unshown.pick))
    found = traced._searched(program, 1, math.inf, 0.0)
    assert Taken.NEVER_FORKED not in {premise.id for premise in found.bound().premises}


def scales_in_place(data, rng):
    data *= 2
    data -= 1
    return (np.sum(data) + rng.laplace(0, 2)) / 2


def scales_a_view_seldom(data, rng):
    if rng.random() < 1e-9:
        data[:1] *= 2
    return noisy(data, rng)


def scales_a_copy(data, rng):
    data = np.array(data)
    data *= 2
    return data[0] / 2 + rng.laplace(0, 1.0)


def doubles_a_number(data, size, rng):
    data *= 2
    return np.array([data + rng.laplace(0, 2.0) for _ in range(size)])


@pytest.mark.parametrize("release", [scales_in_place, scales_a_view_seldom])
def test_data_that_a_run_changes_are_others_in_the_next(release):
    """Broken variant: each run is given a copy, and nobody asks what becomes of it. Control: a copy."""
    program = Program(release, (1,), (0.0, 1.0))
    assert explore(program, 1).failure == paths.CHANGES_DATA
    found = explore(Program(scales_a_copy, (1,), (0.0, 1.0)), 1)
    assert found.epsilon() == pytest.approx(1.0)
    sides = replay.Sides(
        np.full(1, 0.3), np.full(1, 0.3), 1, {}, lambda make: contextlib.nullcontext(), np.zeros(())
    )
    plain = replay.replayed(lambda data, rng: release(data, rng) * 0, sides, lambda loss, squared: True)
    assert plain.wrong == ("" if release is scales_a_view_seldom else replay.CHANGES_DATA)


def test_a_number_that_code_is_given_stays_what_it_was():
    """Broken variant: what stands for it is the entry of a table, which `data *= 2` changes."""
    program = Program(traced.OneDraw(doubles_a_number, scalar=True), (1,), (0.0, 1.0))
    assert explore(program, 1).epsilon() == pytest.approx(1.0)


def test_a_lock_that_a_run_leaves_locked_is_released():
    """Broken variant: a traced run that ends early leaves it, and the next one waits for good."""
    lock, other = threading.Lock(), threading.RLock()
    with states.kept({"code": {"__name__": "code", "lock": lock, "other": other, "out": sys.stderr}}):
        lock.acquire()
        other.acquire()
    assert lock.acquire(blocking=False)
    assert "unlocked" in repr(other)
    assert states.KeptState({"code": {"__name__": "code", "out": sys.stderr}}).changed() == ""


def by_name(data, rng):
    return data[0] if __name__ == "__main__" else noisy(data, rng)


def by_argument(data, rng):
    return noisy(data, rng) if len(sys.argv) < 500 else data[0]


def by_start(data, rng):
    return noisy(data, rng) if logging._startTime < 9e18 else data[0]


def by_imported_name(data, rng):
    return data[0] if len(arguments) > 500 else noisy(data, rng)


def by_text(data, rng):
    return noisy(data, rng) * float(np.is_busday("today") >= 0)


def by_this_year(data, rng):
    return noisy(data, rng) if pd.Period.now("Y").year < 9000 else data[0]


def by_ten_today(data, rng):
    return noisy(data, rng) if pd.Timestamp("10:00").year < 9000 else data[0]


def by_a_context(data, rng):
    return noisy(data, rng) if decimal.getcontext().prec < 500 else data[0]


UNTIL = pd.DataFrame({"end": np.array([0], "M8[D]")})


def by_a_query(data, rng):
    return noisy(data, rng) if not len(UNTIL.query("end >= 'today'")) else data[0]


@pytest.mark.parametrize(
    ("release", "what"),
    [
        (by_this_year, "the clock (through dates of pandas)"),
        (by_ten_today, "the clock (through dates of pandas)"),
        (by_a_query, "the clock (through a method"),
        (by_a_context, "what getcontext gives without an argument"),
        (by_name, "__name__"),
        (by_argument, "argv"),
        (by_imported_name, "arguments"),
        (by_start, "_startTime"),
        (by_text, "the clock (through the text"),
    ],
)
def test_what_may_be_different_in_production_ends_the_bound(release, what, monkeypatch):
    program = Program(release, (1,), (0.0, 1.0))
    assert f"reads {what}" in explore(program, 1).failure
    monkeypatch.setattr(expressions, "_OF_MODULES", ())
    monkeypatch.setattr(values, "NOW", ())
    monkeypatch.setattr(values, "is_state", lambda value: False)
    monkeypatch.setattr(expressions.values, "dates", lambda value: False)
    monkeypatch.setattr(expressions.values, "DATED_METHODS", frozenset())
    for place in (expressions.values, flow):
        monkeypatch.setattr(place, "is_of_system", lambda module, name: False)
    assert "reads" not in str(explore(program, 1).failure)


IMPORTED, LATE = time.time(), time.time() > 9e18
HOME, VERSION = os.environ.get("HOME"), np.__version__
SETTINGS = json.loads(pathlib.Path(__file__).read_text()[:0] or '{"scale": 1}')
PLAIN = {"scale": math.sqrt(4.0) * SETTINGS["scale"] / 2}


def now():
    return time.time()


CALLED = now()


class Begun:
    at = time.time()


def by_a_name_of_the_import(data, rng):
    return data[0] if IMPORTED > 9e18 else noisy(data, rng)


def by_what_followed_from_one(data, rng):
    return data[0] if LATE else noisy(data, rng)


def by_a_variable(data, rng):
    return data[0] if HOME == "/production" else noisy(data, rng)


def by_a_version(data, rng):
    return data[0] if np.__version__ > "99" else noisy(data, rng)


def by_a_version_that_was_kept(data, rng):
    return data[0] if VERSION > "99" else noisy(data, rng)


def by_a_function_of_the_file(data, rng):
    return data[0] if CALLED > 9e18 else noisy(data, rng)


def by_an_attribute(data, rng):
    return data[0] if Begun.at > 9e18 else noisy(data, rng)


def by_a_default(data, rng, at=time.time()):  # noqa: B008
    return data[0] if at > 9e18 else noisy(data, rng)


def by_its_generator(data, rng):
    return data[0] if isinstance(rng, np.random.RandomState) else noisy(data, rng)


def by_settings(data, rng):
    return noisy(data, rng) * PLAIN["scale"] if PLAIN["scale"] > 0 and math.pi > 3 else data[0]


@pytest.mark.parametrize(
    ("release", "what"),
    [
        (by_a_name_of_the_import, "IMPORTED"),
        (by_what_followed_from_one, "LATE"),
        (by_a_variable, "HOME"),
        (by_a_version, "__version__"),
        (by_a_version_that_was_kept, "VERSION"),
        (by_a_function_of_the_file, "CALLED"),
        (by_an_attribute, "at"),
        (by_a_default, "at"),
        (by_its_generator, "the type of its generator"),
    ],
)
def test_what_an_import_took_from_the_machine_ends_the_bound(release, what, monkeypatch):
    """Broken variant: what a module reads at its import is the same wherever it runs. Control: files."""
    assert f"reads {what}" in explore(Program(release, (1,), (0.0, 1.0)), 1).failure
    assert explore(Program(by_settings, (1,), (0.0, 1.0)), 1).epsilon() == pytest.approx(0.5)
    monkeypatch.setattr(imports.Settled, "_is", lambda self, node, called=False: True)
    monkeypatch.setattr(calls_of_judge, "GENERATOR", ("no", None))
    for place in (expressions.values, flow, imports.values):
        monkeypatch.setattr(place, "is_of_system", lambda module, name: False)
    assert "reads" not in str(explore(Program(release, (1,), (0.0, 1.0)), 1).failure)


@pytest.mark.parametrize("name", [name for name in vars(begun) if name.startswith("AT_")])
def test_an_import_takes_from_the_machine_by_whatever_it_calls(name):
    """Broken variants: functions are told by their names, only what is called by its name is looked at, and a
    function is looked at once. Controls: names that only a script sets, and a parameter's default."""
    tree, names = ast.parse(pathlib.Path(begun.__file__).read_text("utf-8")), vars(begun)
    settled = imports.Settled(tree, names)
    assert name in settled.names
    assert not {"data", "rng", "scale_of_script", "PLAIN", "SETTINGS", "NODES"} & settled.names
    assert {parameter for _, parameter in settled.defaults} >= {"at"}
    assert "at" in settled.attributes
    assert not {"sums", "scales"} & settled.attributes
    found = explore(Program(begun.kept_by_a_main_block, (1,), (0.0, 1.0)), 1)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(0.5))


COLUMNS = frozenset(("age", "sex", "zip", "pay"))
SIZES = frozenset((1, 2, 3))


def first_column(data, rng):
    return data[0] if next(iter(COLUMNS)) == "none" else noisy(data, rng)


def scale_by_column(data, rng):
    return noisy(data, rng) * dict(zip(COLUMNS, (1.0, 1.0, 1.0, 1.0), strict=True))["age"]


def turns_of_columns(data, rng):
    found = 0.0
    for column in COLUMNS:
        found += len(column)
    return noisy(data, rng) + found


def joined_columns(data, rng):
    return noisy(data, rng) + len(",".join(COLUMNS))


def longest_column(data, rng):
    return noisy(data, rng) + len(max(COLUMNS, key=len))


def common_keys(data, rng):
    return noisy(data, rng) + len([*({"a": 1, "b": 2}.keys() & {"a": 3}.keys())])


def popped(data, rng):
    names = set(["a", "b", "c"])  # noqa: C405
    return noisy(data, rng) + len(names.pop())


def in_order(data, rng):
    found = sorted(COLUMNS)[0] + max(COLUMNS)
    whole = sum([*SIZES])
    return noisy(data, rng) + 0 * (len(found) + whole + len(COLUMNS) + ("age" in COLUMNS))


@pytest.mark.parametrize(
    "release",
    [first_column, scale_by_column, turns_of_columns, joined_columns, longest_column, common_keys, popped],
)
def test_the_order_of_a_set_of_texts_ends_the_bound(release, monkeypatch):
    """Another process has another one. Controls: sets of numbers, and what the order does not matter to."""
    assert "the order of a set" in explore(Program(release, (1,), (0.0, 1.0)), 1).failure
    assert explore(Program(in_order, (1,), (0.0, 1.0)), 1).epsilon() == pytest.approx(0.5)
    monkeypatch.setattr(flow.Value, "unordered", False)
    assert "the order of a set" not in str(explore(Program(release, (1,), (0.0, 1.0)), 1).failure)


def of_constants(data, rng):
    return noisy(data, rng) * math.pi / math.pi + 0 * min(sys.maxsize, len(string.digits))


def sleeps(data, rng):
    time.sleep(0)
    return noisy(data, rng)


def of_a_date(data, rng):
    return noisy(data, rng) + 0 * datetime.date(2026, 1, 1).year


def of_statistics(data, rng):
    return noisy(data, rng) + 0 * statistics.fmean([1.0, 2.0])


def joins(data, rng):
    return noisy(data, rng) + 0 * len(json.dumps({"scale": 2.0}))


@pytest.mark.parametrize("release", [sleeps, of_a_date, of_statistics, joins, of_constants])
def test_what_reads_nothing_keeps_its_bound(release):
    assert explore(Program(release, (1,), (0.0, 1.0)), 1).epsilon() == pytest.approx(0.5)


def test_the_environment_is_what_it_was():
    kinds = type(os.environ), type(os.environb)
    explore(Program(entry, (1,), (0.0, 1.0)), 1)
    assert (type(os.environ), type(os.environb)) == kinds
    assert os.environ["PATH"]


def test_randomness_of_the_system_is_no_reading():
    assert not outside.read_by(os.urandom)
    assert not outside.read_by(random.random)


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (unshown.by_its_own_generator, "one of its own generator classes"),
        (unshown.by_its_own_system, "one of its own generator classes"),
        (unshown.by_its_own_number, "a number of one of the code's own classes"),
        (unshown.by_what_was_never_set, "not finite"),
        (unshown.shows_what_was_never_set, "different values"),
        (unshown.by_a_hash, "__hash__"),
    ],
)
def test_what_a_traced_run_does_not_show_ends_the_bound(release, why):
    """Each had a bound on every path: stand-ins took the place of own classes, memory was fresh.

    Control: the same without its fault.
    """
    assert why in explore(Program(release, (1,), (0.0, 1.0)), 1).failure
    assert explore(Program(unshown.rightly, (1,), (0.0, 1.0)), 1).epsilon() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (unshown.in_an_assert, "raw rewards are returned"),
        (unshown.in_an_assert_of_an_iterator, "raw rewards are returned"),
        (unshown.in_an_assert_of_a_property, "raw rewards are returned"),
        (unshown.in_an_assert_that_is_seldom_met, "raw rewards are returned"),
        (unshown.in_an_assert_that_adds_more, "its bound is different"),
    ],
)
def test_what_an_assert_does_is_left_out(release, why, monkeypatch):
    """Broken variant: asserts run wherever the code does."""
    program = Program(release, (1,), (0.0, 1.0))
    found = explore(program, 1).failure
    assert (
        found
        == f"the code behaves differently without its assert statements, which python -O removes ({why})"
    )
    monkeypatch.setattr(paths, "asserts", lambda code: False)
    assert explore(program, 1).epsilon() == pytest.approx(0.5)
