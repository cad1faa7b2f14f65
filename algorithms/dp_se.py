"""DP-SE: private successive elimination (Sajed & Sheffet 2019, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.core import validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class DPSE(Elimination):
    r"""Private successive elimination with epochs of doubling precision.

    Epoch e, with :math:`\Delta_e = 2^{-e}`, pulls every arm of S for :math:`\lceil R_e \rceil` rounds,

    .. math:: R_e = \max\left(\frac{32 \log(8|S|e^2/\beta)}{\Delta_e^2},
              \frac{8 \log(4|S|e^2/\beta)}{\varepsilon \Delta_e}\right) + 1,

    releases the means of this epoch alone, each with :math:`Lap(1/(\varepsilon \lceil R_e \rceil))`,
    and removes every arm whose noisy mean lies more than :math:`2h_e + 2c_e` below the largest.

    Regret: with beta = 1/T at most 1 + sum_a 3072 log T / Delta_a + 288 log T / epsilon per arm (Thm 4.3,
    constants derived from Lemma 4.2), and O(sqrt(TK log T) + K log T / epsilon) in the worst case (Thm 4.4).

    The bound does not apply if T is shorter than the first epoch, 128 K log(8K/beta) rounds or
    more: then all arms are played alike. With tied best arms "until |S| = 1" need not end; it stops at T.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K.
    beta
        Failure probability in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    n_arms: int
    epsilon: float
    horizon: int
    beta: float | None = None
    name: ClassVar[str] = "dp-se"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.beta(self)

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 4.1; the proof covers every noisy mean."""
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.S1, "Theorem 4.1"))

    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """R_e (line 8)."""
        gap, epsilon, beta = 2.0**-epoch, self.epsilon, float(self.beta or 1)
        sampling = 32 * np.log(8 * size * epoch**2 / beta) / gap**2
        privacy = 8 * np.log(4 * size * epoch**2 / beta) / (epsilon * gap)
        return np.asarray(np.maximum(sampling, privacy) + 1)

    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """2 h_e + 2 c_e (lines 15, 16 and 20)."""
        pulls, epsilon, beta = self.pulls(size, epoch), self.epsilon, float(self.beta or 1)
        h = np.sqrt(np.log(8 * size * epoch**2 / beta) / (2 * pulls))
        c = np.log(4 * size * epoch**2 / beta) / (pulls * epsilon)
        return np.asarray(2 * h + 2 * c)

    def mechanism(self, size: IntArray, epoch: IntArray) -> Laplace:
        """One reward changes one sum by at most 1, so means get Lap(1/(epsilon R_e))."""
        return Laplace(1.0, self.epsilon)
