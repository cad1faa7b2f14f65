"""What the file of a session holds: the moment that it was written at, and that moment read again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from verifiable_dp.core import statefile
from verifiable_dp.core.meter import ROWS, Meter
from verifiable_dp.core.noise import described
from verifiable_dp.core.query import NoMemory, Query
from verifiable_dp.core.rights import Stamped
from verifiable_dp.core.turns import Moment, Played, Turns
from verifiable_dp.core.validate import InputError, JsonDict, JsonValue


def sealed(turns: Turns, now: Moment, mark: Stamped, key: bytes | None) -> bytes:
    """The file of a session at a moment, with what marks its place among its states."""
    algorithm, run = turns.algorithm, np.zeros(1, np.int64)
    kept = statefile.pack("private", now.memory, algorithm.private(run))
    raw = ["block.sums"] if now.scales is None and int(now.query.rounds[0]) > 1 else []
    raw += [] if type(now.memory) is NoMemory else ["private", "meter"]
    record = {
        "format": statefile.FORMAT,
        "version": statefile.VERSION,
        "generation": mark.generation,
        "stamp": mark.stamp,
        "follows": list(mark.follows),
        **identity(algorithm),
        "noise": described(turns.noise),
        "rounds": now.rounds,
        "raw": raw,
        "public": statefile.pack("public", now.state, algorithm.start(run)),
        "private": kept,
        "block": {"done": now.done, "sums": statefile.pack_array(now.sums), **_plan(now.query)},
        "meter": _packed(now.meter, algorithm),
    }
    return statefile.seal(record, key)


def resumed(turns: Turns, stored: JsonDict) -> Moment:
    """The moment that a file holds.

    Raises
    ------
    InputError
        If what it holds does not fit the algorithm.
    """
    algorithm, fresh = turns.algorithm, turns.first()
    state = statefile.unpack("public", stored["public"], fresh.state)
    memory = statefile.unpack("private", stored["private"], fresh.memory)
    try:
        query = algorithm.query(state)
    except Exception:  # what a state that no run reaches does to an algorithm is not known
        raise InputError("session: the saved public state is not valid for this algorithm") from None
    block = fields_of("block", stored["block"])
    plan = _plan(query)
    if {key: block.get(key) for key in plan} != plan:
        raise InputError("session: the saved block does not follow from the public state")
    done = block.get("done")
    if type(done) is not int or not 0 <= done < max(int(query.rounds[0]), 1):
        raise InputError(f"session: block.done must lie within the block, got {done!r}")
    meter = _unpacked(fields_of("meter", stored["meter"]), algorithm)
    opened = turns.opened(state, memory, query, meter)
    sums = statefile.unpack("block.sums", block.get("sums"), opened.sums)
    now = replace(opened, sums=sums, done=done)
    possible = 0 <= now.rounds <= algorithm.horizon and not state.run.any()
    if not possible or stored["rounds"] != now.rounds:
        raise InputError(f"session: rounds must match the state, got {stored['rounds']!r}")
    return now


def _packed(meter: Meter, algorithm: Played) -> JsonDict:
    like = algorithm.private(np.zeros(len(meter.cost), np.int64))
    return {
        "numbers": statefile.pack_array(np.array([meter.spent, meter.base])),
        "cost": statefile.pack_array(meter.cost),
        "rows": None if meter.rows is None else statefile.pack("meter.rows", meter.rows, like),
    }


def _unpacked(stored: JsonDict, algorithm: Played) -> Meter:
    numbers = statefile.unpack("meter.numbers", stored.get("numbers"), np.zeros(2))
    cost = statefile.unpack("meter.cost", stored.get("cost"), np.zeros(0))
    if not 1 <= len(cost) <= ROWS + 1:
        raise InputError(f"session: meter.cost must contain 1 to {ROWS + 1} numbers, got {len(cost)}")
    rows, like = stored.get("rows"), algorithm.private(np.zeros(len(cost), np.int64))
    found = None if rows is None else statefile.unpack("meter.rows", rows, like)
    return Meter(float(numbers[0]), float(numbers[1]), found, cost)


def mark(stored: JsonDict) -> Stamped:
    """The place of a state among those of its session."""
    follows = stored["follows"]
    if not isinstance(follows, list):
        raise InputError(f"session: follows must be a list, got {type(follows).__name__}")
    known = tuple(_whole("follows", one) for one in follows)
    return Stamped(_whole("generation", stored["generation"]), _whole("stamp", stored["stamp"]), known)


def _whole(name: str, value: JsonValue) -> int:
    if type(value) is not int or value < 0:
        raise InputError(f"session: {name} must be a whole number, got {value!r}")
    return value


def identity(algorithm: Played) -> JsonDict:
    """Name and parameters as JSON values."""
    try:
        parameters = algorithm.parameters
    except TypeError as error:
        raise InputError(f"session: the algorithm cannot be saved: {error}") from None
    return {
        "algorithm": algorithm.name,
        "parameters": {key: statefile.plain(key, value) for key, value in parameters.items()},
    }


def _plan(query: Query) -> JsonDict:
    """What a query says of the rounds of its block, as JSON values."""
    names = ("start", "rounds", "active", "complete", "counts")
    arrays = {name: getattr(query, name) for name in names}
    return {name: None if array is None else statefile.pack_array(array) for name, array in arrays.items()}


def fields_of(name: str, stored: JsonValue) -> JsonDict:
    """An object of a file."""
    if not isinstance(stored, dict):
        raise InputError(f"session: {name} must be an object, got {type(stored).__name__}")
    return stored
