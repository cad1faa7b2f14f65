"""Live use of an algorithm: rewards as they arrive, one at a time; restored at any round."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np

from verifiable_dp.core import files, kept_session, statefile
from verifiable_dp.core.noise import Noise, Secure, Seeded, source_of
from verifiable_dp.core.plot import Plot, spending
from verifiable_dp.core.query import State
from verifiable_dp.core.rights import Counter, Right, Stamped, located
from verifiable_dp.core.turns import Moment, Played, Turns
from verifiable_dp.core.validate import InputError, JsonDict


class Session:
    """One run of an algorithm on rewards that you supply.

    Parameters
    ----------
    algorithm
        Any algorithm in the catalogue, or your own.
    seed
        A whole number for a reproducible session; None draws secure noise through OpenDP.
    noise
        A source of noise to use instead.
    path
        File that stores the session; if None, the session stays in memory until `save` names a file.
    key
        A secret of at least 16 bytes. Nobody without the key can restore the file, or change it unnoticed.
    counter
        A counter outside the file, with which we recognise and refuse older copies of the file; see
        `rights.Counter`.
    tick
        If above 0, `update` takes a whole multiple of this many seconds to return; if 0, `update` returns as
        soon as it is done.

    Raises
    ------
    InputError
        If OpenDP is needed but missing, if there is no bound on what a reward adds to a sum, if the path
        cannot be written, or if you give a file for a session with a seed.

    Notes
    -----
    **One owner.** Threads wait for each other. We refuse forked processes, copies and pickles. A session
    with a file locks this file until `close` or the end of the process; each `update` writes the new state,
    flushes it to disk and replaces the old state before anybody can see what was released.

    **Sums.** If two inputs differ in one reward, their sums of floats can differ by more than that reward,
    because each addition rounds (Casacuberta, Shoemate, Vadhan & Wagaman, CCS 2022). Therefore, unless the
    noise is seeded, we round each reward's share of a sum towards 0 to a multiple of 2^k, for the least k
    with T times the algorithm's `contribution` at most 2^(52 + k). These sums are exact in any order, and
    rounding towards 0 does not push any value beyond its bounds, so the sensitivity is the same as for real
    numbers. A session with a seed computes sums as simulations do.

    **Reports.** In the local and shuffle models, we add noise to each reward when it arrives.

    **Budget.** Unless the noise is seeded, we check each release against the claim before we show it; see
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
        self._turns = Turns(algorithm, noise or (Secure() if seed is None else Seeded(seed)))
        self._tick = _seconds(tick)
        self._key, self._right = key, Right(counter)
        self._batches, self._behind = 0, False
        self._now = self._turns.first()
        self._steps = self._step([])
        if path is not None:
            if self._turns.seeded:
                raise InputError("path: a session with a seed cannot be kept in a file; save copies of it")
            try:
                self.save(path, key=key)
            except BaseException:
                self._right.close()
                raise

    @property
    def state(self) -> State:
        """Public state: arrays with one row."""
        return self._now.state

    @property
    def finished(self) -> bool:
        """Whether the horizon is reached, or the stopping rule has halted."""
        return int(self._now.query.rounds[0]) == 0

    @property
    def rounds(self) -> int:
        """Number of rewards received so far."""
        return self._now.rounds

    @property
    def spent(self) -> float | None:
        """Largest epsilon that any reward has cost; None if costs do not add up to the claim."""
        return self._now.meter.spent if self._turns.metered else None

    def spending(self) -> list[tuple[int, float]]:
        """Number of rounds and `spent`, at each increase of `spent` since the start or restore."""
        return list(self._steps)

    def plot(self) -> Plot:
        """Plot `spending` over the rounds and the claim; show the plot only to people who may see `spent`.

        Raises
        ------
        InputError
            If nothing is metered, see `spent`.
        """
        claim = self._turns.algorithm.claim
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
        """Number of session states written to the file."""
        return self._right.generation

    def select(self) -> int:
        """Arm of the next round, from 0 to K - 1; unchanged until you call `update`.

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
                    raise InputError(
                        f"round must be {self.rounds}, the round of the next reward, got {round!r}"
                    )
                turns = self._turns
                after = turns.after(now, turns.added(now, turns.checked(reward), arm))
                drew = after.query is not now.query
                self._commit(after, at_once=drew or not self._batches)
                self._now = after
                self._steps = self._step(self._steps)
        finally:
            if self._tick:
                used = time.monotonic() - begun
                time.sleep(math.ceil(used / self._tick) * self._tick - used)

    # ------------------------------------------------------------ the file

    def _commit(self, after: Moment, *, at_once: bool) -> None:
        """Make the next state last, if the session lives in a file; nothing is shown before."""
        self._right.mine()  # a source, or a handler, may have forked in the middle of an update
        if not self._right.path:
            return
        if at_once:
            self._right.commit(lambda mark: kept_session.sealed(self._turns, after, mark, self._key))
        self._behind = not at_once

    @contextlib.contextmanager
    def batch(self) -> Iterator[Self]:
        """Write the states of several updates together: before we show a release, and at the end.

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
        """Store the session in a file that only its owner can read; each later update writes the file.

        A session with a seed is written once, as it is, in the place of what lies there: such files can be
        copied and restored at will. They are for experiments only.

        Parameters
        ----------
        path
            Of the file. Its name may be no link, and it lies on a file system with locks.
        key
            A secret of at least 16 bytes. Nobody without the key can restore the file or change it unnoticed.

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
                    f"the session is stored in {self._right.path!r}; to move it, close the session, move "
                    "the file and restore the session there"
                )
            key = self._key if key is None else key
            if self._turns.seeded:
                data = kept_session.sealed(self._turns, self._now, Stamped(0), key)
                files.check_writable(Path(place))
                return files.put(place, data, what="session", private=True)
            self._right.commit(lambda mark: kept_session.sealed(self._turns, self._now, mark, key), place)
            self._key, self._behind = key, False

    def close(self) -> None:
        """Close the session, and release its file for another session."""
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
        """Return the session stored in a file; it continues as if it had never been interrupted.

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
            if session._turns.seeded:
                right.close()
            else:
                right.took(kept_session.mark(stored))
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
        for name, value in kept_session.identity(algorithm).items():
            if stored[name] != value:
                raise InputError(f"session: {place!r} has {name} {stored[name]!r}, not {value!r}")
        source = source_of(kept_session.fields_of("noise", stored["noise"]), noise)
        if noise is None and type(source) is Seeded and not seeded:
            raise InputError(
                f"session: {place!r} has a seed, so the noise can be computed; if this session "
                "is an experiment, pass seeded=True; if not, somebody has changed the file"
            )
        session = cls(algorithm, noise=source, tick=tick)
        session._now = kept_session.resumed(session._turns, stored)
        session._steps = session._step([])
        return session


_LONGEST = 60.0  # seconds of a tick
_COPIED = (
    "the session cannot be copied or pickled, because the session and its copy would draw on the same "
    "data; save it "
    "to a file, and restore it where it should continue"
)


def _seconds(tick: float) -> float:
    if not (isinstance(tick, int | float) and 0 <= tick <= _LONGEST):
        raise InputError(f"tick must be a number of seconds from 0 to {_LONGEST:g}, got {tick!r}")
    return float(tick)
