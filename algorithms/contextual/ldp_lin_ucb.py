"""Locally private LinUCB with contexts: every user sends a noisy outer product (after Zheng et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual._regression import NoisyRegression, Regressed
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source, gdp_mu
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray


@dataclass(frozen=True)
class LDPLinUCB(NoisyRegression):
    r"""LinUCB whose users each send :math:`[x; r][x; r]^T` with symmetric normal noise of their own.

    The context is clipped to `norm`. Another user's matrix is at most :math:`\sqrt2 \tilde L^2` away in the
    Frobenius norm, :math:`\tilde L^2 = L^2 + 1`, so a standard deviation of

    .. math:: \sigma = \sqrt2\, \tilde L^2 / \mu

    on the diagonal, and :math:`\sigma/\sqrt2` off it, makes each report mu-GDP by itself, whatever becomes of
    it; mu is the largest that implies (epsilon, delta). Shift and radius are those of `DPLinUCB` with a
    deviation of :math:`\sigma\sqrt T` for the noise of a sum: nobody needs to be trusted, and the price is a
    noise that grows like the square root of the rounds.

    That users send noisy x x' and r x is what is known about the paper, whose text we did not have. All
    constants are ours; we do not know those of the paper.

    Parameters
    ----------
    n_arms
        K >= 2.
    dimension
        d >= 1, of the context of an arm.
    epsilon
        Privacy budget of each user's report, above 0.
    horizon
        T >= K.
    delta
        In (0, 1).
    norm
        L > 0; longer contexts are clipped.
    alpha
        Failure probability of the confidence bounds, in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    n_arms: int
    dimension: int
    epsilon: float
    horizon: int
    delta: float = 1e-6
    norm: float = 1.0
    alpha: float | None = None
    name: ClassVar[str] = "ldp-lin-ucb"

    def __post_init__(self) -> None:
        self.check()

    @property
    def claim(self) -> PrivacyClaim:
        """Privacy of each report, which is also joint privacy: others see nothing else of a user."""
        source = Source(
            papers.ZHENG, "privacy of a report", "we did not have the paper; constants are ours", Basis.UNREAD
        )
        return PrivacyClaim.of_users(
            self.epsilon,
            self.delta,
            model="joint",
            protects="context",
            observe="releases",
            source=source,
            trust_model="local",
        )

    @property
    def scale(self) -> float:
        """Sigma."""
        return math.sqrt(2) * self.item_norm / gdp_mu(self.epsilon, self.delta)

    @property
    def deviation(self) -> float:
        """The noise of all T reports."""
        return self.scale * math.sqrt(self.horizon)

    def release(
        self, state: Regressed, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The report of the user."""
        slot = (np.arange(answer.shape[1], dtype=np.int64) << SLOT_BITS) | (state.t[:, None] + 1)
        every, scales = np.ones(answer.shape, bool), np.full(answer.shape, self.scale)
        return memory, noise(Draw(answer, scales, state.run, slot, every, normal=True))
