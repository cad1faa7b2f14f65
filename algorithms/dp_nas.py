"""DP-NAS: the private stopping rule (Sajed & Sheffet 2019, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._stopping import Stopping
from verifiable_dp.core import validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.validate import Numbers


@dataclass(frozen=True)
class DPNAS(Stopping):
    r"""NAS through the sparse vector technique, and its mean through the Laplace mechanism.

    With :math:`\sigma_1 = \sigma_2 = 12R/\varepsilon`, :math:`\sigma_3 = 4R/\varepsilon` it halts at the
    first t with

    .. math:: |\bar X_t| \ge h_t (1 + 1/\alpha) + (c_t + B + A_t)/t,

    :math:`h_t = R\sqrt{(2/t)\log(16t^2/\beta)}`, :math:`c_t = \sigma_1\log(4/\beta) +
    \sigma_2\log(8t^2/\beta) + (\sigma_3/\alpha)\log(4/\beta)`, and releases :math:`\bar X_t + L/t`.

    The estimate is within a factor 1 ± alpha of mu with probability 1 - beta (Thm 3.1). That says nothing if
    the horizon ends before the rule halts; at mu = 0 it halts with probability at most beta.

    Parameters
    ----------
    epsilon
        Privacy budget of halting time and estimate together, event level.
    alpha, beta
        Relative accuracy and failure probability, both in (0, 1).
    horizon
        Most samples to take.
    radius
        R: samples lie in [-R, R].

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    epsilon: float
    alpha: float
    beta: float
    horizon: int
    radius: float = 1.0
    name: ClassVar[str] = "dp-nas"

    def __post_init__(self) -> None:
        validate.positive("epsilon", self.epsilon)
        self._validate()

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 3.1: halting time and estimate; the noise of the comparisons stays hidden."""
        return PrivacyClaim(self.epsilon, source=Source(papers.S1, "Theorem 3.1"))

    def scales(self) -> tuple[float, float, float]:
        """12R/epsilon twice, 4R/epsilon: half the budget each for the comparisons and the estimate."""
        return (
            12 * self.radius / self.epsilon,
            12 * self.radius / self.epsilon,
            4 * self.radius / self.epsilon,
        )

    def threshold(self, t: Numbers, check: Numbers) -> Numbers:
        """t h_t (1 + 1/alpha) + c_t."""
        sigma1, sigma2, sigma3 = self.scales()
        h = self.radius * np.sqrt(2 / t * np.log(16 * check**2 / self.beta))
        c = (
            sigma1 * np.log(4 / self.beta)
            + sigma2 * np.log(8 * check**2 / self.beta)
            + sigma3 / self.alpha * np.log(4 / self.beta)
        )
        return t * h * (1 + 1 / self.alpha) + c
