"""LDP-UCB: UCB on rewards that every user reports with Laplace noise (Ren et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Turns
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray


@dataclass(frozen=True)
class LDPUCB(Turns):
    r"""Every user reports the reward with :math:`Lap(1/\varepsilon)`; the index is for such reports.

    In round t an arm with at most :math:`4 \log(t + 1)` pulls is played, the first one, else the arm of the
    largest :math:`\hat\mu_a + \sqrt{2 \log t/n_a} + \sqrt{32 \log t/(\varepsilon^2 n_a)}`, where
    :math:`\hat\mu_a` is the mean of the arm's reports.

    Regret: O(sum_a log T/(epsilon^2 Delta_a)) for small epsilon. For short T all arms are played alike.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of one report.
    horizon
        T >= K; decisions do not depend on it.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    This is the variant with Laplace noise, as the authors' published program has it; the paper's own listing
    and the constants of its theorems are not at hand. The variant with Bernoulli reports is not covered.
    """

    n_arms: int
    epsilon: float
    horizon: int
    name: ClassVar[str] = "ldp-ucb"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """Of one report; the adversary sees every report."""
        source = Source(papers.REN, "LDP-UCB-L", "the Laplace mechanism on one reward")
        return PrivacyClaim(self.epsilon, observe="reports", source=source, trust_model="local")

    @property
    def mechanism(self) -> Laplace:
        """Of one reward in [0, 1]."""
        return Laplace(1.0, self.epsilon)

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """Mean of the arm's reports."""
        step = (released - state.estimate) / (state.pulls + 1)
        return np.asarray(np.where(np.isnan(released), state.estimate, state.estimate + step))

    def index(self, state: Own) -> FloatArray:
        """Upper confidence bounds; infinite for arms with few pulls."""
        few = state.pulls <= 4 * np.log(state.t + 2.0)[:, None]
        return np.asarray(np.where(few, np.inf, state.estimate + self.width(state)))

    def width(self, state: Own) -> FloatArray:
        """How far a mean of reports may lie below its arm's, (n, K)."""
        log = np.log(state.t + 1.0)[:, None]
        reports = np.sqrt(32 * log / (self.epsilon**2 * state.pulls))
        return np.asarray(np.sqrt(2 * log / state.pulls) + reports)
