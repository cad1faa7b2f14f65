"""AdaC-UCB: AdaP-UCB with normal noise, for zero-concentrated privacy (after Azize & Basu 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Episodes
from verifiable_dp.core import validate
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Gaussian
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, InputError


@dataclass(frozen=True)
class AdaCUCB(Episodes):
    r"""Play the arm with the largest index until its pulls have doubled; forget what came before.

    With n_a the length of the arm's last episode and t the first round of the next one, the index is

    .. math:: \tilde\mu_a + \sqrt{\beta \log t \left(\frac{1}{2 n_a} + \frac{1}{\rho n_a^2}\right)},

    where :math:`\tilde\mu_a` is the mean of that episode alone with normal noise of variance
    :math:`1/(2 \rho n_a^2)`. A mean of n rewards with that noise is sub-Gaussian with variance
    :math:`1/(4n) + 1/(2 \rho n^2)`, so the index fails with probability at most t^-beta.

    Regret: O(sum_a (log T/Delta_a + sqrt(log T/rho))), by that inequality and doubling. The bound is empty if
    T times the gap is smaller.

    Parameters
    ----------
    n_arms
        K >= 2.
    rho
        Privacy budget of the whole run in zCDP, event level.
    horizon
        T >= K; decisions do not depend on it.
    delta
        The delta at which the epsilon of the promise is stated, in (0, 1).
    beta
        Above 3.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract and public notes on it, for finitely many arms. We do not
    know the constants of the paper's index; these are derived here. Live sessions with secure noise refuse
    it, because that noise is Laplace noise.
    """

    n_arms: int
    rho: float
    horizon: int
    delta: float = 1e-5
    beta: float = 3.1
    name: ClassVar[str] = "adac-ucb"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("rho", self.rho)
        validate.probability("delta", self.delta)
        if not validate.positive("beta", self.beta) > 3:
            raise InputError(f"beta must be greater than 3, got {self.beta!r}")

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters the mean of one episode; the proof covers every noisy mean."""
        note = (
            "theorem's number unknown; each reward is in one release with normal noise, so mu is sqrt(2 rho)"
        )
        source = Source(papers.AZIZE_ZCDP, "AdaC-UCB", note, Basis.UNREAD)
        return PrivacyClaim.normal(self.rho, self.delta, observe="releases", source=source)

    @property
    def mechanism(self) -> Gaussian:  # type: ignore[override]
        """One reward changes one sum by at most 1."""
        return Gaussian(1.0, self.rho)

    def index(self, state: Own) -> FloatArray:
        """Upper confidence bounds."""
        return np.asarray(state.estimate + self.width(state))

    def width(self, state: Own) -> FloatArray:
        """How far a noisy mean may lie below its arm's, (n, K)."""
        n, log = self.last(state), np.log(state.t + 1.0)[:, None]
        return np.asarray(np.sqrt(self.beta * log * (1 / (2 * n) + 1 / (self.rho * n**2))))
