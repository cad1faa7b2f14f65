"""Dist-DP-SE: elimination by sums from secure aggregation (Chowdhury & Zhou, Algorithm 1 and Theorem 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.core import validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.validate import FloatArray, IntArray, Numbers


@dataclass(frozen=True)
class DistDPSE(Elimination):
    r"""Batches of 2, 4, 8, ... users an arm; the server sees the noisy sum of each batch and nothing else.

    Batch b pulls every arm of the set :math:`\Phi` for :math:`l = 2^b` rounds. Every user adds a share of
    the noise, and secure aggregation reveals the sum, whose noise is :math:`Lap(1/\varepsilon)`. Arms whose
    mean lies more than :math:`2\beta(b)` below the largest are removed,

    .. math:: \beta(b) = \sqrt{\frac{\log(4|\Phi|b^2/p)}{2l}}
              + \frac{\sqrt{2 \log(2|\Phi|b^2/p)} + \log(2|\Phi|b^2/p)}{\varepsilon l}.

    Regret: O(sum_a log T/Delta_a + K log T/epsilon) with p = 1/T (Theorem 1). The bound is empty if T is
    shorter than the batches that it takes to remove an arm.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K.
    beta
        Failure probability p in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Rewards and noise are real numbers here. The paper's users send whole numbers modulo m, rewards in units
    of 1/g with g = ceil(epsilon sqrt l) and shares of discrete Laplace noise of scale g/epsilon; that
    encoding is not modelled, nor is what a user sends: the trust model is the central one, with secure
    aggregation in the place of a trusted server. Theorem 1 prints beta(b) as a rate; the constants are those
    of the authors' program.
    """

    n_arms: int
    epsilon: float
    horizon: int
    beta: float | None = None
    name: ClassVar[str] = "dist-dp-se"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.beta(self)

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 1; the adversary is the server, which sees every noisy sum."""
        source = Source(
            papers.CHOWDHURY, "Theorem 1", "the theorem is about the sums, with real-valued noise"
        )
        return PrivacyClaim(self.epsilon, observe="releases", source=source)

    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """l(b) (line 4)."""
        return np.asarray(2.0**epoch)

    def radius(self, size: Numbers, epoch: FloatArray) -> FloatArray:
        """beta(b)."""
        share = size * epoch**2 / float(self.beta or 1)
        tail = np.log(2 * share)
        noise = (np.sqrt(2 * tail) + tail) / (self.epsilon * 2.0**epoch)
        return np.asarray(np.sqrt(np.log(4 * share) / 2 ** (epoch + 1)) + noise)

    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """An arm leaves if its upper bound lies below the largest lower bound (line 16)."""
        return 2 * self.radius(size, epoch)

    def mechanism(self, size: IntArray, epoch: IntArray) -> Laplace:
        """One reward changes one sum by at most 1."""
        return Laplace(1.0, self.epsilon)
