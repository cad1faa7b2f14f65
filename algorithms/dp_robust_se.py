"""DP Robust SE: successive elimination of heavy-tailed arms, central model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._robust import RobustElimination, factor_of
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.validate import FloatArray


@dataclass(frozen=True)
class DPRobustSE(RobustElimination):
    r"""Successive elimination on truncated rewards with Laplace noise on every mean.

    Epoch tau, with :math:`D_\tau = 2^{-\tau}` and :math:`l = \log(4|S|\tau^2/\beta)`, pulls every arm of S

    .. math:: R_\tau = \lceil u^{1/v} (24/D_\tau)^{(1+v)/v} l/\varepsilon + 1 \rceil

    times, truncates rewards at :math:`B_\tau = (u R_\tau \varepsilon/l)^{1/(1+v)}`, releases the mean of
    each arm with :math:`Lap(2B_\tau/(R_\tau\varepsilon))` and removes arms more than
    :math:`12 u^{1/(1+v)} (l/(R_\tau\varepsilon))^{v/(1+v)}` below the largest.

    The accuracy claims hold for epsilon <= 1: above it the sampling error outgrows the threshold.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K.
    v, u
        E|X|^(1+v) <= u, v in (0, 1].
    beta
        Failure probability in (0, 1); 1/T if None.
    constants
        ``proof``, or a factor on the constants 24 and 12 that keeps their ratio.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Tao et al. 2022, Algorithm 3.
    """

    n_arms: int
    epsilon: float
    horizon: int
    v: float
    u: float
    beta: float | None = None
    constants: str | float = "proof"
    name: ClassVar[str] = "dp-robust-se"

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 3; the proof covers every noisy mean."""
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.TAO, "Theorem 3"))

    def _log(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        return np.asarray(np.log(4 * size * epoch**2 / float(self.beta or 1)))

    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """R_tau."""
        precision, power = 24 * factor_of(self.constants) * 2.0**epoch, (1 + self.v) / self.v
        log = self._log(size, epoch)
        return np.asarray(np.ceil(self.u ** (1 / self.v) * precision**power * log / self.epsilon + 1))

    def limit(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """B_tau."""
        pulls, log = self.pulls(size, epoch), self._log(size, epoch)
        return np.asarray((self.u * pulls * self.epsilon / log) ** (1 / (1 + self.v)))

    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """12 err_tau."""
        pulls, log = self.pulls(size, epoch), self._log(size, epoch)
        power = 1 / ((1 + self.v) / self.v)
        error = self.u ** (1 / (1 + self.v)) * (log / (pulls * self.epsilon)) ** power
        return np.asarray(12 * factor_of(self.constants) * error)
