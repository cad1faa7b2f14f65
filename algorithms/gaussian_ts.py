"""Thompson sampling from normal posteriors, whose own draws are all its noise (after Ou et al. 2025)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Buffers, Turns
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Gaussian
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, InputError, IntArray


@dataclass(frozen=True)
class GaussianTS(Turns):
    r"""Play the arm with the largest draw from its normal posterior, drawn again in every round.

    With n_a the pulls and S_a the sum of the rewards of arm a, the draws are

    .. math:: \theta_a \sim N\left(\frac{S_a}{n_a + 1}, \frac{c}{n_a + 1}\right).

    The first b K rounds pull every arm b times, in turn. The releases are the draws of all arms.

    Privacy: one reward moves one mean by at most 1/(n_a + 1), so a draw costs mu^2 = 1/(c (n_a + 1)). All
    later draws see the same reward: the costs add up over the rounds, to (T - b K)/(c (b + 1)) where the arm
    is never pulled again. No reward is ever forgotten, so mu grows like sqrt T. An observer of the actions
    alone can learn less; see `docs/thompson-sampling.md`.

    Regret: with c = 1 that of Thompson sampling, of order sum_a log T/Delta_a for fixed gaps. The explicit
    constants of its proofs are far above what is measured.

    Parameters
    ----------
    n_arms
        K >= 2.
    horizon
        T > b K; decisions do not depend on it.
    variance
        c, above 0; 1 is plain Thompson sampling.
    first
        b >= 1.
    delta
        The delta at which the epsilon of the promise is stated, in (0, 1).

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract and public notes on it: the paper has the plain algorithm,
    more first pulls and a larger variance. We did not have the text of its theorems; the costs above are
    derived here. Live sessions with secure noise refuse it, because that noise is Laplace noise.
    """

    n_arms: int
    horizon: int
    variance: float = 1.0
    first: int = 1
    delta: float = 1e-6
    name: ClassVar[str] = "gaussian-ts"
    most_simulated: ClassVar[int | None] = 10**7

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("variance", self.variance)
        validate.integer("first", self.first, least=1)
        validate.probability("delta", self.delta)
        if self.horizon < self.least_horizon:
            raise InputError(
                f"horizon must exceed first * n_arms = {self.first * self.n_arms}, got {self.horizon!r}"
            )

    @property
    def least_horizon(self) -> int:
        """The first round after those that pull all arms in turn."""
        return self.first * self.n_arms + 1

    @property
    def mechanism(self) -> Gaussian:  # type: ignore[override]
        """The costliest draw: that of an arm with b pulls."""
        pulls = self.first + 1
        return Gaussian(1 / pulls, 1 / (2 * self.variance * pulls))

    @property
    def mu(self) -> float:
        """mu of all draws together, in the run in which the arm is never pulled again."""
        return self.mechanism.mu * math.sqrt(self.horizon - self.first * self.n_arms)

    @property
    def claim(self) -> PrivacyClaim:
        """Adaptive composition of normal mechanisms, each of which costs at most its largest mu."""
        note = "we do not know the paper's theorems; the sum over rounds of 1/(c (n_a + 1)) is ours"
        source = Source(papers.OU, "composition over T rounds", note, Basis.UNREAD)
        return PrivacyClaim.gdp(self.mu, self.delta, observe="releases", source=source)

    def private(self, run: IntArray) -> Memory:
        """No rewards."""
        return Buffers(np.zeros((len(run), self.n_arms)))

    def mean(self, sums: FloatArray, pulls: IntArray) -> FloatArray:
        """Of the posteriors, (n, K)."""
        return np.asarray(sums / (pulls + 1))

    def deviation(self, pulls: IntArray) -> FloatArray:
        """Of the posteriors, (n, K)."""
        return np.asarray(np.sqrt(self.variance / (pulls + 1)))

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """A draw from every posterior, for the next round."""
        sums, pulls, after = memory.sums + answer, state.pulls + query.pulls(), state.t + query.rounds
        wanted = (after >= self.first * self.n_arms) & (after < self.horizon)
        draw = Draw(
            self.mean(sums, pulls),
            self.deviation(pulls),
            state.run,
            state.t[:, None] * self.n_arms + np.arange(self.n_arms),
            np.broadcast_to(wanted[:, None], sums.shape),
            normal=True,
        )
        return Buffers(sums), noise(draw)

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """The draws."""
        return np.where(np.isnan(released), state.estimate, released)

    def index(self, state: Own) -> FloatArray:
        """The draws."""
        return np.asarray(state.estimate)

    def choice(self, state: Own, released: FloatArray) -> IntArray:
        """The arm with the largest draw."""
        best = self.index(state).argmax(axis=1)
        return np.asarray(np.where(state.t < self.first * self.n_arms, state.t % self.n_arms, best))
