"""The Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Gaussian:
    """Release q plus normal noise of standard deviation sensitivity/sqrt(2 rho): rho-zCDP.

    Parameters
    ----------
    sensitivity
        Largest change of q between neighbouring inputs, in units of q, above 0.
    rho
        Privacy budget of one release, above 0.

    Raises
    ------
    InputError
        If either is not finite and positive.

    Notes
    -----
    Source: Bun & Steinke, "Concentrated differential privacy: simplifications, extensions, and lower bounds",
    TCC 2016, Proposition 1.6.
    """

    sensitivity: float
    rho: float

    def __post_init__(self) -> None:
        validate.positive("sensitivity", self.sensitivity)
        validate.positive("rho", self.rho)

    @property
    def scale(self) -> float:
        """Standard deviation of the noise."""
        return self.sensitivity / math.sqrt(2 * self.rho)

    @property
    def mu(self) -> float:
        """mu of one release, in Gaussian differential privacy."""
        return self.sensitivity / self.scale

    def release(
        self, value: FloatArray, noise: Noise, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Release `value` (n, m); NaN where `where` is False."""
        return noise(Draw(value, np.full(value.shape, self.scale), run, slot, where, normal=True))
