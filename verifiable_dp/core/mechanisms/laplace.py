"""The Laplace mechanism, and the absence of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Laplace:
    """Release q + Lap(sensitivity / epsilon).

    Parameters
    ----------
    sensitivity
        Largest change of q between neighbouring inputs, in units of q, above 0.
    epsilon
        Privacy budget of one release, above 0.

    Raises
    ------
    InputError
        If either is not finite and positive.

    Notes
    -----
    Alignment: the noise moves by q - q' to keep the release the same; the cost is |q - q'| / scale.

    Source: Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006.
    """

    sensitivity: float
    epsilon: float

    def __post_init__(self) -> None:
        validate.positive("sensitivity", self.sensitivity)
        validate.positive("epsilon", self.epsilon)

    @property
    def scale(self) -> float:
        """Scale b of the noise."""
        return self.sensitivity / self.epsilon

    def cost(self, shift: float | None = None) -> float:
        """Privacy loss when q moves by `shift` (default: by the sensitivity)."""
        return abs(self.sensitivity if shift is None else shift) / self.scale

    def release(
        self, value: FloatArray, noise: Noise, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Release `value` (n, m); NaN where `where` is False."""
        return noise(Draw(value, np.full(value.shape, self.scale), run, slot, where))


@dataclass(frozen=True)
class Exact:
    """Release q itself, as a non-private algorithm does. The cost is infinite for any change of q."""

    def cost(self, shift: float | None = None) -> float:
        """Privacy loss: 0 if q does not change, infinite otherwise."""
        return 0.0 if shift == 0 else float("inf")

    def release(
        self, value: FloatArray, noise: Noise, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Release `value` (n, m) unchanged; NaN where `where` is False."""
        return noise(Draw(value, np.zeros(value.shape), run, slot, where))
