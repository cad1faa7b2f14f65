"""Live use of an algorithm: rewards as they arrive, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verifiable_dp._validate import InputError
from verifiable_dp.noise import Noise, Secure, Seeded

if TYPE_CHECKING:
    from verifiable_dp.algorithm import Algorithm, State


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
        If OpenDP is needed and missing.

    Examples
    --------
    >>> session = algorithm.session(seed=7)  # doctest: +SKIP
    >>> arm = session.select()  # doctest: +SKIP
    >>> session.update(0.5)  # doctest: +SKIP
    """

    def __init__(self, algorithm: Algorithm, *, seed: int | None = None, noise: Noise | None = None) -> None:
        self._algorithm = algorithm
        self._noise: Noise = noise or (Secure() if seed is None else Seeded(seed))
        run = np.zeros(1, np.int64)
        self._state = algorithm.start(run)
        self._memory = algorithm.private(run)
        self._open_block()

    def _open_block(self) -> None:
        self._query = self._algorithm.query(self._state)
        self._done = 0
        asked = (self._query.ask.size,) if self._query.ask is not None and self._query.ask.size > 1 else ()
        self._sums = np.zeros((1, self._algorithm.n_arms, *asked))

    def _asked(self, reward: float, arm: int) -> Any:
        ask = self._query.ask
        if ask is None:
            return reward
        return ask.values(np.array([reward]), np.zeros(1, np.int64), np.array([arm]))[0]

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
            If the session is finished, or the reward is NaN or out of bounds; nothing is changed then.
        """
        arm = self.select()
        low, high = self._algorithm.bounds
        number = isinstance(reward, int | float | np.number) and np.isfinite(reward)
        if not (number and low <= float(reward) <= high):
            raise InputError(
                f"reward must be finite and lie within the declared bounds [{low:g}, {high:g}], "
                f"got {reward!r}"
            )
        self._sums[0, arm] += self._asked(float(reward), arm)
        self._done += 1
        if self._done == int(self._query.rounds[0]):
            self._memory, released = self._algorithm.release(
                self._state, self._memory, self._query, self._sums, self._noise
            )
            self._state = self._algorithm.decide(self._state, self._query, released)
            self._open_block()
