"""AboveThreshold, the sparse vector technique that halts at its first positive answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.noise import Draw, Hidden, Noise, rounding
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class AboveThreshold:
    """Answers whether q_i + nu_i >= threshold_i + rho, until the first yes; only the answers are public.

    Parameters
    ----------
    sensitivity
        Largest change of any query between neighbouring inputs, above 0.
    threshold_scale
        Scale of rho, drawn once.
    query_scale
        Scale of each nu_i.

    Raises
    ------
    InputError
        If a number is not finite and positive.

    Notes
    -----
    Alignment: rho moves up by the sensitivity; the nu of the positive answer moves by the sensitivity
    plus q - q'; all other noise stays. The negative answers stay negative and the positive one stays
    positive, at a cost of at most sensitivity / threshold_scale + 2 sensitivity / query_scale.

    Source: Dwork, Naor, Reingold, Rothblum, Vadhan, STOC 2009; Lyu, Su, Li, "Understanding the sparse
    vector technique for differential privacy", PVLDB 2017.
    """

    sensitivity: float
    threshold_scale: float
    query_scale: float

    def __post_init__(self) -> None:
        validate.positive("sensitivity", self.sensitivity)
        validate.positive("threshold_scale", self.threshold_scale)
        validate.positive("query_scale", self.query_scale)

    def cost(self) -> float:
        """Bound on the privacy loss of all answers together."""
        return self.sensitivity / self.threshold_scale + 2 * self.sensitivity / self.query_scale

    def threshold_noise(self, noise: Noise, run: IntArray, slot: IntArray) -> FloatArray:
        """Draw rho (n,); keep it private."""
        zero = np.zeros((len(run), 1))
        alignment = Hidden(lambda shown: self.sensitivity)
        return self._asked(noise, zero, self.threshold_scale, run, slot, zero == 0, alignment)[:, 0]

    def answer(
        self,
        gap: FloatArray,
        threshold_noise: FloatArray,
        noise: Noise,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """Tell whether gap + nu >= rho, as 1.0 or 0.0 (n,); NaN where not asked.

        `gap` (n,) is query minus threshold, `threshold_noise` (n,) is rho.
        """
        gap, rho = gap[:, None], threshold_noise[:, None]

        def outcome(noisy: FloatArray) -> Mapping[str, FloatArray]:
            with np.errstate(invalid="ignore"):
                above = np.where(where[:, None], (noisy >= rho).astype(np.float64), np.nan)
            return {"output": above, "gap": gap}

        def shift(shown: Mapping[str, FloatArray]) -> FloatArray:
            return np.where(shown["output"] > 0, self.sensitivity + shown["gap"] - gap, 0.0)

        alignment = Hidden(shift, outcome)
        noisy = self._asked(noise, gap, self.query_scale, run, slot, where[:, None], alignment)
        return outcome(noisy)["output"][:, 0]

    def _asked(
        self,
        noise: Noise,
        value: FloatArray,
        scale: float,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
        alignment: Hidden,
    ) -> FloatArray:
        """One draw (n, 1) of each run."""
        scales = np.full(value.shape, scale)
        excess = rounding(self.threshold_scale, self.query_scale) / self.sensitivity
        return noise(Draw(value, scales, run, slot[:, None], where, hidden=alignment, excess=excess))
