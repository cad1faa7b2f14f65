"""NAS: the stopping rule without privacy (Domingo et al. 2002; Sajed & Sheffet 2019, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._stopping import QUERY_SLOT, Stopping
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, Numbers


def radius_of_mean(t: Numbers, check: Numbers, radius: float, beta: float) -> Numbers:
    """h_t = R sqrt((2/t) log(4 k^2 / beta)), k being the number of the check."""
    return radius * np.sqrt(2 / t * np.log(4 * check**2 / beta))


@dataclass(frozen=True)
class NAS(Stopping):
    r"""Halt at the first t with :math:`|\bar X_t| \ge h_t (1 + 1/\alpha)`.

    :math:`h_t = R \sqrt{(2/t) \log(4 t^2/\beta)}` is a Hoeffding radius at confidence
    :math:`1 - \beta/(2t^2)`, so the released mean is within a factor 1 ± alpha of the true one with
    probability 1 - beta. It makes no privacy promise.

    The number of samples is O(R^2/(alpha mu)^2 log(R/(beta alpha |mu|))); at mu = 0 it should not halt.

    Parameters
    ----------
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

    alpha: float
    beta: float
    horizon: int
    radius: float = 1.0
    name: ClassVar[str] = "nas"

    def __post_init__(self) -> None:
        self._validate()

    def threshold(self, t: Numbers, check: Numbers) -> Numbers:
        """t h_t (1 + 1/alpha)."""
        return t * radius_of_mean(t, check, self.radius, self.beta) * (1 + 1 / self.alpha)

    def draw_threshold(self, noise: Noise, run: IntArray) -> FloatArray:
        """There is none."""
        return np.zeros(len(run))

    def compare(
        self,
        gap: FloatArray,
        hidden: FloatArray,
        noise: Noise,
        run: IntArray,
        check: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """The raw comparison, shown as it is."""
        answer = (gap >= 0).astype(np.float64)[:, None]
        slot = (check + QUERY_SLOT - 1)[:, None]
        return np.asarray(noise(Draw(answer, np.zeros(answer.shape), run, slot, where[:, None]))[:, 0])
