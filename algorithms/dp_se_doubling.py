"""DP-SE for an unknown horizon: guess and double (Sajed & Sheffet 2019, proof of Theorem 4.3)."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import EliminationState
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class DoublingState(EliminationState):
    """Public state; `epoch` keeps counting across restarts, because it numbers the noise.

    Attributes
    ----------
    phase : (n,) int
        Number of the current guess, from 0.
    first_epoch : (n,) int
        Value of `epoch` at the last restart.
    """

    phase: IntArray
    first_epoch: IntArray


@dataclass(frozen=True)
class DPSEDoubling(DPSE):
    """DP-SE that does not know T: it restarts with twice the guess whenever half the guess is over.

    Guess g_i = first_guess 2^i is in force up to round g_i / 2, with beta = 1 / g_i; every restart
    forgets all rewards, so each reward enters one release and epsilon is not split.

    Regret: at most the sum over phases of Theorem 4.3's bound at the phase's guess. It grows like log^2 T,
    and does not keep the rate of the theorem as the paper says (erratum ``guess-and-double``): each of about
    log2(T) phases pays its own logarithm. Squaring the guess instead of doubling it would keep the rate.

    The bound is empty before the first phase that is longer than its bound: until then the regret can be T
    times the largest gap.

    Parameters
    ----------
    n_arms, epsilon
        See `DPSE`.
    horizon
        The round at which the run ends; decisions do not depend on it.
    first_guess
        First guess of T, at least 2 K.

    Raises
    ------
    InputError
        If a parameter is out of range. `beta` cannot be set: it follows from the guesses.
    """

    first_guess: int = 1024
    name: ClassVar[str] = "dp-se-doubling"

    def __post_init__(self) -> None:
        validate.integer(
            "first_guess", self.first_guess, least=2 * validate.integer("n_arms", self.n_arms, least=2)
        )
        if self.beta is not None and self.beta != 1.0 / self.first_guess:
            raise validate.InputError(f"beta must be None (it follows from the guesses), got {self.beta!r}")
        object.__setattr__(self, "beta", 1.0 / self.first_guess)
        super().__post_init__()

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 4.1 in each phase; phases use disjoint rewards."""
        note = "by parallel composition over restarts, which the theorem does not cover"
        source = Source(papers.S1, "Theorem 4.1 and proof of Theorem 4.3", note, Basis.OURS)
        return PrivacyClaim(self.epsilon, observe="releases", source=source)

    @functools.cached_property
    def phases(self) -> tuple[DPSE, ...]:
        """What is played in each phase."""
        last = (-(-2 * self.horizon // self.first_guess) - 1).bit_length()  # half its guess is no less than T
        return tuple(DPSE(self.n_arms, self.epsilon, self.first_guess << phase) for phase in range(last + 1))

    def plan(self, state: DoublingState) -> tuple[IntArray, FloatArray]:
        """Plan like DP-SE with the phase's guess."""
        pulls, gap = np.zeros(len(state.run), np.int64), np.zeros(len(state.run))
        for phase in np.unique(state.phase):
            at = state.phase == phase
            part = replace(state.take(at), epoch=(state.epoch - state.first_epoch)[at])
            pulls[at], gap[at] = self.phases[phase].plan(part)
        return pulls, gap

    def start(self, run: IntArray) -> DoublingState:
        """All arms are active, with the first guess."""
        base = super().start(run)
        zero = np.zeros(len(run), np.int64)
        return DoublingState(base.run, base.t, base.epoch, base.active, zero, zero)

    def stop(self, state: DoublingState) -> IntArray:
        """End of the phase, half the guess, or the horizon."""
        return np.asarray(np.minimum((self.first_guess << state.phase) // 2, self.horizon), dtype=np.int64)

    def decide(self, state: DoublingState, query: Query, released: FloatArray) -> DoublingState:
        """Decide like DP-SE; at the end of a phase, all arms come back."""
        after = super().decide(state, query, released)
        assert isinstance(after, DoublingState)
        over = after.t >= self.stop(after)
        epoch = np.where(over, after.epoch + 1, after.epoch)
        return replace(
            after,
            epoch=epoch,
            active=after.active | (over & (after.t < self.horizon))[:, None],
            phase=after.phase + (over & (after.t < self.horizon)),
            first_epoch=np.where(over, epoch - 1, after.first_epoch),
        )
