"""Live use of an algorithm: rewards as they arrive, one at a time; saved and restored at any round."""

from __future__ import annotations

import math
from os import PathLike
from typing import Protocol, Self

import numpy as np

from verifiable_dp.core import statefile
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Draw, Noise, Secure, Seeded, described, source_of
from verifiable_dp.core.query import Memory, Own, Query, State
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
        Any algorithm of the catalogue, or one's own.
    seed
        A whole number for a reproducible session; None draws secure noise through OpenDP.
    noise
        A source to use instead.

    Raises
    ------
    InputError
        If OpenDP is needed and missing, or what a reward adds to a sum is not bounded.

    Notes
    -----
    Neighbouring sums of floats can differ by more than the one reward that differs, since each addition
    rounds (Casacuberta, Shoemate, Vadhan & Wagaman, CCS 2022). Unless the noise is seeded, what a reward adds
    to a sum is therefore rounded towards 0 to a multiple of the least 2^k of which T times the algorithm's
    `contribution` is at most 2^52 multiples. Such sums are exact in any order, and rounding towards 0 leaves
    no value beyond its bounds, so that the sensitivity is that of real numbers. A session with a seed sums as
    simulations do.

    Examples
    --------
    >>> session = algorithm.session(seed=7)  # doctest: +SKIP
    >>> arm = session.select()  # doctest: +SKIP
    >>> session.update(0.5)  # doctest: +SKIP
    >>> session.save("session.json")  # doctest: +SKIP
    >>> session = algorithm.restore("session.json")  # doctest: +SKIP
    """

    def __init__(self, algorithm: Played, *, seed: int | None = None, noise: Noise | None = None) -> None:
        self._algorithm = algorithm
        self._noise: Noise = noise or (Secure() if seed is None else Seeded(seed))
        self._unit = 0.0 if type(self._noise) is Seeded else _unit(algorithm)
        # The saved state, path and beginning, from which nobody has drawn noise: it is the right to draw.
        self._saved: tuple[str, bytes] | None = None
        run = np.zeros(1, np.int64)
        self._memory = algorithm.private(run)
        state = algorithm.start(run)
        self._open_block(state, algorithm.query(state))

    def _open_block(self, state: State, query: Query) -> None:
        asked = (query.ask.size,) if query.ask is not None and query.ask.size > 1 else ()
        self._sums = np.zeros((1, self._algorithm.n_arms, *asked))
        self._state, self._query, self._done = state, query, 0

    def _asked(self, reward: float, arm: int) -> FloatArray:
        """What the reward adds to the sums of its arm, on the grid."""
        ask, found = self._query.ask, np.asarray(reward)
        if ask is not None:
            found = np.asarray(ask.values(found[None], np.zeros(1, np.int64), np.array([arm]))[0])
        if not self._unit:
            return found
        most = self._algorithm.contribution
        if self._query.complete[0] and (np.abs(found) > most).any():
            raise InputError(
                f"algorithm: a reward adds {float(np.abs(found).max()):g} to a sum, more than the {most:g} "
                "that its `contribution` states; override that property"
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
        return self._state

    @property
    def finished(self) -> bool:
        """Whether the horizon is reached, or the rule has halted."""
        return int(self._query.rounds[0]) == 0

    @property
    def rounds(self) -> int:
        """Rewards received so far."""
        return int(self._query.start[0]) + self._done

    def select(self) -> int:
        """Arm of the next round, from 0 to K - 1; the same until `update` is called.

        Raises
        ------
        InputError
            If the session is finished.
        """
        if self.finished:
            raise InputError(f"session: finished after {self.rounds} rounds; no further arm can be selected")
        return int(self._query.arm(np.array([self._done]))[0])

    def update(self, reward: float) -> None:
        """Take the reward of the selected arm, within the algorithm's bounds.

        Raises
        ------
        InputError
            If the session is finished, the reward is NaN or out of bounds, it adds more to a sum than the
            algorithm states, an exact value is to be released against the algorithm's promise, or noise is to
            be drawn and the saved state was used by another session; nothing is changed then.
        """
        arm = self.select()
        low, high = self._algorithm.bounds
        number = isinstance(reward, int | float | np.number) and np.isfinite(reward)
        if not (number and low <= float(reward) <= high):
            raise InputError(
                f"reward must be finite and lie within the declared bounds [{low:g}, {high:g}], "
                f"got {reward!r}"
            )
        sums = self._sums.copy()
        sums[0, arm] += self._asked(float(reward), arm)
        if self._done + 1 < int(self._query.rounds[0]):
            self._sums, self._done = sums, self._done + 1
            return
        self._retire()
        memory, released = self._algorithm.release(self._state, self._memory, self._query, sums, self._draw)
        state = self._algorithm.decide(self._state, self._query, released)
        query = self._algorithm.query(state)
        self._memory = memory
        self._open_block(state, query)

    # ------------------------------------------------------------ saved state

    def _retire(self) -> None:
        """Use up the saved state before noise is drawn: restored afterwards it would draw once more."""
        if self._saved is not None:
            statefile.retire(*self._saved)
            self._saved = None

    def save(self, path: str | PathLike[str], *, key: bytes | None = None) -> None:
        """Write the session to `path`, whole or not at all, readable by its owner only.

        The file holds the private memory: exact sums of rewards, and the seed if there is one. Unless the
        noise is seeded, it is good until a session that knows it draws noise, which renames it to
        ``path + ".used"``.

        Parameters
        ----------
        path
            Of the file.
        key
            A secret of at least 16 bytes; without it nobody can change the file unnoticed, or restore it.

        Raises
        ------
        InputError
            If `path` cannot be written, the algorithm's parameters or states are not plain values and
            arrays, or another session has gone on from the last saved state.
        """
        place = statefile.place(path)
        if place.endswith(statefile.USED):
            raise InputError(f"path must not end with {statefile.USED}, got {place!r}")
        data, head = statefile.seal(self._record(), key)
        with statefile.replacing(place, data):
            if self._saved is not None:
                statefile.check_held(*self._saved)
                if self._saved[0] != place:
                    self._retire()
        self._saved = None if type(self._noise) is Seeded else (place, head)

    def _record(self) -> JsonDict:
        algorithm, run = self._algorithm, np.zeros(1, np.int64)
        return {
            "format": statefile.FORMAT,
            "version": statefile.VERSION,
            **_identity(algorithm),
            "noise": described(self._noise),
            "rounds": self.rounds,
            "public": statefile.pack("public", self._state, algorithm.start(run)),
            "private": statefile.pack("private", self._memory, algorithm.private(run)),
            "block": {"done": self._done, "sums": statefile.pack_array(self._sums), **_plan(self._query)},
        }

    @classmethod
    def restore(
        cls,
        algorithm: Played,
        path: str | PathLike[str],
        *,
        noise: Noise | None = None,
        again: bool = False,
        seeded: bool = False,
        key: bytes | None = None,
    ) -> Self:
        """The session that was saved to `path`; it goes on as if it had never been interrupted.

        Parameters
        ----------
        algorithm
            The algorithm of the saved session, with the same parameters.
        path
            As given to `save`.
        noise
            The source, if one was given to the saved session.
        again
            Restore a used file too. Each value that was released after it was saved is released once more
            with fresh noise, and costs its epsilon once more.
        seeded
            Accept that the file has a seed, from which all noise follows: for experiments only.
        key
            The one that it was saved with.

        Raises
        ------
        InputError
            If the file is missing, damaged, used, can be written by others, was saved with a seed or a key
            that is not expected here, is of another version, of another algorithm or of other parameters, or
            what it holds does not fit the algorithm.
        """
        place = statefile.find(statefile.place(path), again)
        stored, head = statefile.read(place, key)
        for name, value in _identity(algorithm).items():
            if stored[name] != value:
                raise InputError(f"session: {place!r} has {name} {stored[name]!r}, not {value!r}")
        source = source_of(_object("noise", stored["noise"]), noise)
        if noise is None and type(source) is Seeded and not seeded:
            raise InputError(
                f"session: {place!r} has a seed, from which all its noise can be computed; pass seeded=True "
                "if it is an experiment, else somebody has changed the file"
            )
        session = cls(algorithm, noise=source)
        session._resume(stored)
        if type(session._noise) is not Seeded and not again:
            session._saved = (place, head)
        return session

    def _resume(self, stored: JsonDict) -> None:
        """Take over a stored state."""
        state = statefile.unpack("public", stored["public"], self._state)
        memory = statefile.unpack("private", stored["private"], self._memory)
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
        self._memory = memory
        self._open_block(state, query)
        self._sums, self._done = statefile.unpack("block.sums", block.get("sums"), self._sums), done
        possible = 0 <= self.rounds <= self._algorithm.horizon and not state.run.any()
        if not possible or stored["rounds"] != self.rounds:
            raise InputError(f"session: rounds must be those of the state, got {stored['rounds']!r}")


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
