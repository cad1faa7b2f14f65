"""AboveThreshold, the sparse vector technique that halts at its first positive answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import BoolArray, FloatArray, IntArray
from verifiable_dp.noise import Noise


@dataclass(frozen=True)
class AboveThreshold:
    """Answers whether q_i + nu_i >= threshold_i + rho, until it is; only the answers are public.

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
        _validate.positive("sensitivity", self.sensitivity)
        _validate.positive("threshold_scale", self.threshold_scale)
        _validate.positive("query_scale", self.query_scale)

    def cost(self) -> float:
        """Bound on the privacy loss of all answers together."""
        return self.sensitivity / self.threshold_scale + 2 * self.sensitivity / self.query_scale

    def threshold_noise(self, noise: Noise, run: IntArray, slot: IntArray) -> FloatArray:
        """Draw rho (n,); keep it private."""
        n = len(run)
        return noise.hidden(
            np.full(n, self.threshold_scale), run, slot, np.ones(n, bool), self._threshold_shift
        )

    def _threshold_shift(self, shown: Mapping[str, FloatArray]) -> FloatArray:
        # Nothing is shown of rho itself; the array has the length of whatever is recorded, or one.
        return np.asarray(self.sensitivity)

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

        def shift(shown: Mapping[str, FloatArray]) -> FloatArray:
            return np.where(shown["output"] > 0, self.sensitivity + shown["gap"] - gap, 0.0)

        nu = noise.hidden(np.full(len(run), self.query_scale), run, slot, where, shift)
        with np.errstate(invalid="ignore"):
            above = np.where(where, (gap + nu >= threshold_noise).astype(np.float64), np.nan)
        noise.show(run, slot, where, output=above, gap=gap)
        return above
