"""Live use of an algorithm: rewards as they arrive, one at a time; restored at any round."""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from verifiable_dp.core import files, statefile
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.meter import ROWS, Meter, farthest, metered
from verifiable_dp.core.noise import Draw, Noise, Secure, Seeded, described, source_of
from verifiable_dp.core.plot import Plot, spending
from verifiable_dp.core.query import Memory, NoMemory, Own, Query, State
from verifiable_dp.core.rights import Counter, Right, Stamped, located
from verifiable_dp.core.units import TrustModel
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, JsonDict, JsonValue


class Played(Protocol):
    """What a session needs of an algorithm; see `verifiable_dp.core.algorithm.Algorithm`."""

    @property
    def name(self) -> str:
        """Name in the catalogue."""

    @property
    def n_arms(self) -> int:
        """K."""

    @property
    def horizon(self) -> int:
        """T."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""

    @property
    def contribution(self) -> float:
        """Largest absolute value that one reward adds to a sum of a complete block."""

    @property
    def claim(self) -> PrivacyClaim | None:
        """The privacy promise."""

    @property
    def parameters(self) -> JsonDict:
        """Constructor arguments."""

    def start(self, run: IntArray) -> State:
        """Public state of fresh runs."""

    def private(self, run: IntArray) -> Memory:
        """Private memory of fresh runs."""

    def query(self, state: Own) -> Query:
        """Next block of each run."""

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Pass the answers through the mechanism."""

    def decide(self, state: Own, query: Query, released: FloatArray) -> State:
        """Next public state."""


class Session:
    """One run of an algorithm, driven from outside.

    Parameters
    ----------
    algorithm
        Any algorithm of the catalogue, or your own.
    seed
        A whole number for a reproducible session; None draws secure noise through OpenDP.
    noise
        A source to use instead.
    path
        Where the session lives; None: in memory, until `save` gives it a place.
    key
        A secret of at least 16 bytes; without it nobody can change the file unnoticed, or restore it.
    counter
        Outside the file, see `rights.Counter`: with it an older copy of the file is refused.
    tick
        Seconds: `update` returns at whole multiples of it after its call. 0: as soon as it is done.

    Raises
    ------
    InputError
        If OpenDP is needed and missing, what a reward adds to a sum is not bounded, the path cannot be
        written, or a session with a seed is to live in a file.

    Notes
    -----
    **One session draws on its data.** Threads wait for each other. A process that was forked since, a copy
    and a pickle are refused. A session that lives in a file holds a lock on it until `close` or the end
    of the process; each `update` writes the new state, makes it last and puts it in the place of the
    old one before anybody can see what was released.

    **Sums.** Neighbouring sums of floats can differ by more than the one reward that differs, since each
    addition rounds (Casacuberta, Shoemate, Vadhan & Wagaman, CCS 2022). Unless the noise is seeded,
    what a reward adds to a sum is therefore rounded towards 0 to a multiple of the least 2^k of which T
    times the algorithm's `contribution` is at most 2^52 multiples. Such sums are exact in any order,
    and rounding towards 0 leaves no value beyond its bounds, so that the sensitivity is that of real
    numbers. A session with a seed sums as simulations do.

    **Reports.** Where the promise is of the local or the shuffle model, a reward gets its noise when it
    arrives.

    **Budget.** Unless the noise is seeded, each release is held against its claim before it is shown, see
    `meter`.

    Examples
    --------
    >>> session = algorithm.session(seed=7)  # doctest: +SKIP
    >>> arm = session.select()  # doctest: +SKIP
    >>> session.update(0.5)  # doctest: +SKIP
    """

    def __init__(
        self,
        algorithm: Played,
        *,
        seed: int | None = None,
        noise: Noise | None = None,
        path: str | PathLike[str] | None = None,
        key: bytes | None = None,
        counter: Counter | None = None,
        tick: float = 0.0,
    ) -> None:
        self._algorithm = algorithm
        self._noise: Noise = noise or (Secure() if seed is None else Seeded(seed))
        self._metered = not self._seeded and metered(algorithm.claim)
        self._unit = 0.0 if self._seeded else _unit(algorithm)
        self._tick = _seconds(tick)
        self._key, self._right = key, Right(counter)
        self._batches, self._behind = 0, False
        run = np.zeros(1, np.int64)
        state = algorithm.start(run)
        self._now = self._opened(state, algorithm.private(run), algorithm.query(state), Meter())
        self._steps = self._step([])
        if path is not None:
            if self._seeded:
                raise InputError("path: a session with a seed does not live in a file; save copies of it")
            try:
                self.save(path, key=key)
            except BaseException:
                self._right.close()
                raise

    @property
    def _seeded(self) -> bool:
        return type(self._noise) is Seeded

    def _opened(self, state: State, memory: Memory, query: Query, meter: Meter) -> _Moment:
        """The beginning of a block."""
        asked = (query.ask.size,) if query.ask is not None and query.ask.size > 1 else ()
        sums = np.zeros((1, self._algorithm.n_arms, *asked))
        return _Moment(state, memory, query, sums, 0, meter, self._reports(state, memory, query, sums))

    def _reports(self, state: State, memory: Memory, query: Query, sums: FloatArray) -> FloatArray | None:
        """Scales of the noise of single reports, (1, K); None where the sums are released and not reports.

        Where the block ends in no release they are infinite: nothing of its rewards is kept.
        """
        claim = self._algorithm.claim
        if self._seeded or claim is None or claim.trust_model == TrustModel.CENTRAL:
            return None
        if not query.complete[0]:
            return np.full(sums.shape, np.inf)
        asked: list[Draw] = []

        def ask(draw: Draw) -> FloatArray:
            asked.append(draw)
            return np.where(draw.where, draw.value, np.nan)

        self._algorithm.release(*copy.deepcopy((state, memory, query, sums)), ask)
        if int(query.rounds[0]) <= 1 and not any(draw.count is not None for draw in asked):
            return None  # a block is one report, and released at once
        single = len(asked) == 1 and asked[0].count is not None and asked[0].hidden is None
        if not single or asked[0].value.shape != sums.shape:
            raise InputError(
                f"session: {self._algorithm.name} promises the {claim.trust_model} model: it must release "
                "one sum of reports a block (Draw.count), so that each can get its noise when it arrives"
            )
        return asked[0].scale

    def _asked(self, reward: float, arm: int) -> FloatArray:
        """What the reward adds to the sums of its arm, on the grid."""
        query = self._now.query
        ask, found = query.ask, np.asarray(reward)
        if ask is not None:
            found = np.asarray(ask.values(found[None], np.zeros(1, np.int64), np.array([arm]))[0])
        if not self._unit:
            return found
        most = self._algorithm.contribution
        if query.complete[0] and (np.abs(found) > most).any():
            raise InputError(
                f"algorithm: a reward adds more to a sum than the {most:g} that its `contribution` states; "
                "override that property"
            )
        found = found - np.fmod(found, self._unit)
        if ask is None:  # where 0 is out of bounds, towards 0 can be out of bounds
            low, high = (bound / self._unit for bound in self._algorithm.bounds)
            found = np.clip(found, np.ceil(low) * self._unit, np.floor(high) * self._unit)
        return np.asarray(found)

    def _draw(self, draw: Draw) -> FloatArray:
        """The noise of the session; where it is to be secure, a promise needs some."""
        promised = self._algorithm.claim if type(self._noise) is Secure else None
        if promised is not None and (draw.where & (draw.scale == 0)).any():
            raise InputError(
                f"noise: {self._algorithm.name} promises epsilon {promised.epsilon:g} and asks "
                "for noise of scale 0, which would release an exact value; give it a positive scale"
            )
        return self._noise(draw)

    @property
    def state(self) -> State:
        """Public state, arrays with one row."""
        return self._now.state

    @property
    def finished(self) -> bool:
        """Whether the horizon is reached, or the rule has halted."""
        return int(self._now.query.rounds[0]) == 0

    @property
    def rounds(self) -> int:
        """Rewards received so far."""
        return int(self._now.query.start[0]) + self._now.done

    @property
    def spent(self) -> float | None:
        """The most of epsilon that any reward has cost; None where costs do not add up to the claim."""
        return self._now.meter.spent if self._metered else None

    def spending(self) -> list[tuple[int, float]]:
        """Rounds and `spent`, each time that it grew since the session was made or restored."""
        return list(self._steps)

    def plot(self) -> Plot:
        """`spending` over the rounds, below the claim; show it to nobody who must not see `spent`.

        Raises
        ------
        InputError
            If nothing is metered, see `spent`.
        """
        claim = self._algorithm.claim
        if self.spent is None or claim is None:
            raise InputError(
                "plot: this session is not metered, so there is no spending to draw; see `Session.spent`"
            )
        return spending(self._steps, self.rounds, claim.epsilon)

    def _step(self, steps: list[tuple[int, float]]) -> list[tuple[int, float]]:
        grew = self.spent is not None and (not steps or self.spent > steps[-1][1])
        return [*steps, (self.rounds, float(self.spent or 0))] if grew else steps

    @property
    def generation(self) -> int:
        """How many states of the session were written to its file."""
        return self._right.generation

    def select(self) -> int:
        """Arm of the next round, from 0 to K - 1; the same until `update` is called.

        Raises
        ------
        InputError
            If the session is finished or closed, or this process was forked from that of the session.
        """
        with self._right.held():
            if self.finished:
                raise InputError(
                    f"session: finished after {self.rounds} rounds; no further arm can be selected"
                )
            return int(self._now.query.arm(np.array([self._now.done]))[0])

    def update(self, reward: float, *, round: int | None = None) -> None:
        """Take the reward of the selected arm, within the algorithm's bounds.

        Parameters
        ----------
        reward
            In units of reward.
        round
            `rounds` at the time of `select`, so that a reward of another round is refused where several ask.

        Raises
        ------
        InputError
            If the session is finished or closed, the reward is no number within the bounds, it is that of
            another round, it adds more to a sum than the algorithm states, or the new state cannot be
            written.
            The session is as it was then, and nobody has seen what was drawn.
        BudgetError
            If a release would cost more than is promised; likewise.
        """
        begun = time.monotonic()
        try:
            with self._right.alone():
                arm, now = self.select(), self._now
                if round is not None and round != self.rounds:
                    raise InputError(f"round: the next reward is that of round {self.rounds}, not of another")
                after = self._after(now, self._added(now, self._checked(reward), arm))
                drew = after.query is not now.query
                self._commit(after, at_once=drew or not self._batches)
                self._now = after
                self._steps = self._step(self._steps)
        finally:
            if self._tick:
                used = time.monotonic() - begun
                time.sleep(math.ceil(used / self._tick) * self._tick - used)

    def _checked(self, reward: float) -> float:
        low, high = self._algorithm.bounds
        number = isinstance(reward, int | float | np.integer | np.floating)
        try:
            value = float(reward) if number else math.nan
        except OverflowError:
            value = math.inf
        if not (math.isfinite(value) and low <= value <= high):
            what = "a number that is not" if number else f"a {type(reward).__name__}"
            # What was given is somebody's data and stays out of logs.
            raise InputError(
                f"reward must be finite and lie within the declared bounds [{low:g}, {high:g}], got {what}"
            )
        return value

    def _added(self, now: _Moment, reward: float, arm: int) -> _Moment:
        """With the reward in its sum; a report gets its noise."""
        found, sums, meter = self._asked(reward, arm), now.sums.copy(), now.meter
        if now.scales is None:
            sums[0, arm] += found
            return replace(now, sums=sums)
        scale = float(np.max(now.scales[0, arm]))
        if math.isinf(scale):
            return now
        claim, name = self._algorithm.claim, self._algorithm.name
        if claim is not None and metered(claim):
            far = float(farthest(self._algorithm, now.query)[arm])
            meter = meter.reported(far / scale if scale else math.inf, claim, name)
        value = np.reshape(found, (1, -1)).astype(np.float64)
        nowhere = np.zeros(value.shape, np.int64)
        draw = Draw(
            value, np.full(value.shape, scale), np.zeros(1, np.int64), nowhere, np.ones(value.shape, bool)
        )
        sums[0, arm] += self._draw(draw).reshape(found.shape)
        return replace(now, sums=sums, meter=meter)

    def _after(self, now: _Moment, added: _Moment) -> _Moment:
        """The next round, or the next block after a release."""
        if now.done + 1 < int(now.query.rounds[0]):
            return replace(added, done=now.done + 1)
        algorithm, drawn = self._algorithm, list[tuple[Draw, FloatArray]]()

        def noise(draw: Draw) -> FloatArray:
            if now.scales is not None:
                return _noised(draw, now, algorithm.name)
            out = self._draw(draw)
            drawn.append(copy.deepcopy((draw, out)))
            return out

        # Copies: an algorithm may work in place, and this session stays as it was if anything fails.
        given = copy.deepcopy((now.state, now.memory, now.query, added.sums))
        memory, released = algorithm.release(*given, noise)
        meter = added.meter
        if now.scales is None and self._metered:
            meter = meter.charged(algorithm, now.state, memory, now.query, added.sums, drawn, released)
        state = algorithm.decide(*copy.deepcopy((now.state, now.query)), released)
        return self._opened(state, memory, algorithm.query(state), meter)

    # ------------------------------------------------------------ the file

    def _commit(self, after: _Moment, *, at_once: bool) -> None:
        """Make the next state last, if the session lives in a file; nothing is shown before."""
        self._right.mine()  # a source, or a handler, may have forked in the middle of an update
        if not self._right.path:
            return
        if at_once:
            self._right.commit(lambda mark: self._sealed(after, mark))
        self._behind = not at_once

    @contextlib.contextmanager
    def batch(self) -> Iterator[Self]:
        """Write the states of several updates together: once at the end, and before each release is shown.

        Threads wait for its end. Tasks of one thread do not: what they update meanwhile is part of it.

        Raises
        ------
        InputError
            If the state cannot be written; rewards since the last release are then in memory only.
        """
        with self._right.held():
            self._batches += 1
            try:
                yield self
            finally:
                self._batches -= 1
                if self._behind and not self._batches:
                    with self._right.alone():  # a signal handler would put a newer state under this one
                        self._commit(self._now, at_once=True)

    def save(self, path: str | PathLike[str], *, key: bytes | None = None) -> None:
        """Let the session live in a file, readable by its owner only: from then on each update writes it.

        A session with a seed is written once, as it is, in the place of what lies there: such files can be
        copied and restored at will. They are for experiments only.

        Parameters
        ----------
        path
            Of the file. Its name may be no link, and it lies on a file system with locks.
        key
            A secret of at least 16 bytes; without it nobody can change the file unnoticed, or restore it.

        Raises
        ------
        InputError
            If it cannot be written, something else lies there, this one lives elsewhere, or the algorithm's
            parameters or states are not plain values and arrays.
        """
        place = located("path", path)
        with self._right.alone():
            if self._right.path and self._right.path != place:
                raise InputError(
                    f"session: it lives in {self._right.path!r}; close it, move the file and restore it there"
                )
            key = self._key if key is None else key
            if self._seeded:
                data = self._sealed(self._now, Stamped(0), key)
                files.check_writable(Path(place))
                return files.put(place, data, what="session", private=True)
            self._right.commit(lambda mark: self._sealed(self._now, mark, key), place)
            self._key, self._behind = key, False

    def close(self) -> None:
        """Give the file free for another session; this one takes nothing any more."""
        with self._right.alone():
            if self._behind:
                self._commit(self._now, at_once=True)
            self._right.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._right.ended:
            self.close()

    def __reduce_ex__(self, protocol: object) -> str:  # of which `copy` makes copies, too
        raise InputError(_COPIED)

    def _sealed(self, now: _Moment, mark: Stamped, key: bytes | None = None) -> bytes:
        algorithm, run = self._algorithm, np.zeros(1, np.int64)
        kept = statefile.pack("private", now.memory, algorithm.private(run))
        raw = ["block.sums"] if now.scales is None and int(now.query.rounds[0]) > 1 else []
        raw += [] if type(now.memory) is NoMemory else ["private", "meter"]
        record = {
            "format": statefile.FORMAT,
            "version": statefile.VERSION,
            "generation": mark.generation,
            "stamp": mark.stamp,
            "follows": list(mark.follows),
            **_identity(algorithm),
            "noise": described(self._noise),
            "rounds": int(now.query.start[0]) + now.done,
            "raw": raw,
            "public": statefile.pack("public", now.state, algorithm.start(run)),
            "private": kept,
            "block": {"done": now.done, "sums": statefile.pack_array(now.sums), **_plan(now.query)},
            "meter": _packed(now.meter, algorithm),
        }
        return statefile.seal(record, self._key if key is None else key)

    @classmethod
    def restore(
        cls,
        algorithm: Played,
        path: str | PathLike[str],
        *,
        noise: Noise | None = None,
        seeded: bool = False,
        key: bytes | None = None,
        counter: Counter | None = None,
        tick: float = 0.0,
    ) -> Self:
        """The session that lives in a file; it goes on as if it had never been interrupted.

        Parameters
        ----------
        algorithm
            The algorithm of the saved session, with the same parameters.
        path
            As given to `save`.
        noise
            The source, if one was given to the saved session.
        seeded
            Accept that the file has a seed, from which all noise follows: for experiments only.
        key
            The one that it was saved with.
        counter, tick
            As of the class.

        Raises
        ------
        InputError
            If the file is missing, a link, damaged, open in another session, older than the counter, can be
            written by others, was saved with a seed or a key that is not expected here, is of another
            version, of another algorithm or of other parameters, or what it holds does not fit the algorithm.
        """
        place, right = located("path", path), Right(counter)
        try:
            stored = statefile.read(place, right.take(place), key)
            session = cls._of(algorithm, place, stored, noise, seeded, tick)
            if session._seeded:
                right.close()
            else:
                right.took(_mark(stored))
                session._right, session._key = right, key
                if counter is not None:  # so that no copy of the file goes on
                    session._commit(session._now, at_once=True)
            return session
        except BaseException:
            right.close()
            raise

    @classmethod
    def _of(
        cls, algorithm: Played, place: str, stored: JsonDict, noise: Noise | None, seeded: bool, tick: float
    ) -> Self:
        """The session of what a file holds."""
        for name, value in _identity(algorithm).items():
            if stored[name] != value:
                raise InputError(f"session: {place!r} has {name} {stored[name]!r}, not {value!r}")
        source = source_of(_object("noise", stored["noise"]), noise)
        if noise is None and type(source) is Seeded and not seeded:
            raise InputError(
                f"session: {place!r} has a seed, from which all its noise can be computed; pass seeded=True "
                "if it is an experiment, else somebody has changed the file"
            )
        session = cls(algorithm, noise=source, tick=tick)
        session._resume(stored)
        return session

    def _resume(self, stored: JsonDict) -> None:
        """Take over a stored state."""
        fresh = self._now
        state = statefile.unpack("public", stored["public"], fresh.state)
        memory = statefile.unpack("private", stored["private"], fresh.memory)
        try:
            query = self._algorithm.query(state)
        except Exception:  # what a state that no run reaches does to an algorithm is not known
            raise InputError("session: the saved public state is not valid for this algorithm") from None
        block = _object("block", stored["block"])
        plan = _plan(query)
        if {key: block.get(key) for key in plan} != plan:
            raise InputError("session: the saved block is not the one that follows from the public state")
        done = block.get("done")
        if type(done) is not int or not 0 <= done < max(int(query.rounds[0]), 1):
            raise InputError(f"session: block.done must lie within the block, got {done!r}")
        meter = _unpacked(_object("meter", stored["meter"]), self._algorithm)
        opened = self._opened(state, memory, query, meter)
        sums = statefile.unpack("block.sums", block.get("sums"), opened.sums)
        self._now = replace(opened, sums=sums, done=done)
        self._steps = self._step([])
        possible = 0 <= self.rounds <= self._algorithm.horizon and not state.run.any()
        if not possible or stored["rounds"] != self.rounds:
            raise InputError(f"session: rounds must be those of the state, got {stored['rounds']!r}")


@dataclass(frozen=True)
class _Moment:
    """All that changes in a session.

    Attributes
    ----------
    state, memory, query
        Of the algorithm, arrays with one row.
    sums, done
        Of the open block: what its rewards add up to, with noise if they are reports, and their number.
    meter
        What was spent.
    scales
        Of reports, see `Session._reports`.
    """

    state: State
    memory: Memory
    query: Query
    sums: FloatArray
    done: int
    meter: Meter
    scales: FloatArray | None


_LONGEST = 60.0  # seconds of a tick
_COPIED = (
    "session: it cannot be copied or pickled, since both would draw on the same data; let it live in a file "
    "(save) and restore it where it is to go on"
)


def _seconds(tick: float) -> float:
    if not (isinstance(tick, int | float) and 0 <= tick <= _LONGEST):
        raise InputError(f"tick must be seconds from 0 to {_LONGEST:g}, got {tick!r}")
    return float(tick)


def _noised(draw: Draw, now: _Moment, name: str) -> FloatArray:
    """A sum of reports that have their noise already."""
    pulls, scales = now.query.pulls(), now.scales
    pulls = pulls.reshape(*pulls.shape, *([1] * (draw.value.ndim - pulls.ndim)))
    same = scales is not None and draw.count is not None and draw.value.shape == now.sums.shape
    apart = (draw.scale != scales) | (draw.count != pulls) if same else draw.where
    if not same or (draw.where & apart).any():
        raise InputError(
            f"session: {name} asks for other noise at the end of a block than at its beginning, so that its "
            "reports cannot get it when they arrive"
        )
    return np.where(draw.where, draw.value, np.nan)


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
        raise InputError(f"session: meter.cost must hold 1 to {ROWS + 1} numbers, got {len(cost)}")
    rows, like = stored.get("rows"), algorithm.private(np.zeros(len(cost), np.int64))
    found = None if rows is None else statefile.unpack("meter.rows", rows, like)
    return Meter(float(numbers[0]), float(numbers[1]), found, cost)


def _mark(stored: JsonDict) -> Stamped:
    follows = stored["follows"]
    if not isinstance(follows, list):
        raise InputError(f"session: follows must be a list, got {type(follows).__name__}")
    known = tuple(_whole("follows", one) for one in follows)
    return Stamped(_whole("generation", stored["generation"]), _whole("stamp", stored["stamp"]), known)


def _whole(name: str, value: JsonValue) -> int:
    if type(value) is not int or value < 0:
        raise InputError(f"session: {name} must be a whole number, got {value!r}")
    return value


def _unit(algorithm: Played) -> float:
    """The grid of what is summed: T values of it have a sum of at most 2^52 units; 0 without a promise."""
    if algorithm.claim is None:
        return 0.0
    total = algorithm.horizon * algorithm.contribution
    if not math.isfinite(total):
        raise InputError(
            f"session: {algorithm.name} does not bound what a reward adds to a sum, so that no noise hides "
            "it; give it finite `bounds`, or override `contribution`"
        )
    return 2.0 ** (math.frexp(total)[1] - 52)


def _identity(algorithm: Played) -> JsonDict:
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


def _object(name: str, stored: JsonValue) -> JsonDict:
    if not isinstance(stored, dict):
        raise InputError(f"session: {name} must be an object, got {type(stored).__name__}")
    return stored
