"""DP-IMED: the arm of least empirical divergence, on noisy sums that add up (after Azize et al. 2025)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms.dp_klucb import DPKLUCB, divergence
from verifiable_dp.core.claims import Source
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, InputError


@dataclass(frozen=True)
class DPIMED(DPKLUCB):
    r"""DP-KLUCB with the index of IMED, which needs no confidence level.

    Phases and noisy means are those of DP-KLUCB. Of the clipped means :math:`\tilde\mu_a` let
    :math:`\tilde\mu^*` be the largest; the next arm is the one of the least

    .. math:: \max(0, n_a\, d_\varepsilon(\tilde\mu_a, \tilde\mu^*) - c\, m_a) + \log n_a,

    with :math:`m_a = 1 + \log n_a/\log growth`, about how many noisy sums the mean has, and c the charge. The
    plain rule has c = 0. Its index treats the noise of m sums as if it were that of one, whose tail is
    thinner. At epsilon = .1, one run in a few hundred then keeps to a wrong arm until T. Chernoff's bound at
    lambda = epsilon/sqrt 2 has a factor 2 for each sum, which c = log 2 makes up for.

    Regret: O(sum_a Delta_a log T/d_epsilon(mu_a, mu*)) for Bernoulli rewards, like DP-KLUCB.

    Parameters
    ----------
    n_arms, epsilon, horizon, growth
        See `DPKLUCB`.
    charge
        c, at least 0.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract and public notes on it, like `DPKLUCB`. The charge is ours;
    we do not know whether the paper has one.
    """

    charge: float = math.log(2)
    name: ClassVar[str] = "dp-imed"
    statement: ClassVar[Source] = replace(DPKLUCB.statement, statement="DP-IMED")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.charge) and self.charge >= 0):
            raise InputError(f"charge must be finite and at least 0, got {self.charge!r}")

    def index(self, state: Own) -> FloatArray:
        """Minus the divergence from the best mean and the logarithm of the pulls."""
        mean, pulls = np.clip(state.estimate, 0.0, 1.0), np.maximum(state.pulls, 1)
        far = divergence(mean, mean.max(axis=1, keepdims=True), self.epsilon)
        sums = 1 + np.log(pulls) / math.log(self.growth)
        return np.asarray(-(np.maximum(pulls * far - self.charge * sums, 0.0) + np.log(pulls)))
