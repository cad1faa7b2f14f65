"""Laws of the draws that a generator adds to data: what a release weighs under one input and the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verifiable_dp.core.validate import FloatArray

KINDS = ("laplace", "normal", "exponential", "gumbel", "logistic", "geometric", "discrete_laplace")


@dataclass(frozen=True)
class Law:
    """The law of q + c Z, with Z a standard draw of a kind.

    Attributes
    ----------
    kind
        One of `KINDS`. Z is the draw at scale 1; for the geometric ones Z is whole and `scale` is the
        success probability.
    scale, factor : (m,) float
        Scale (or success probability) and the factor c by which the draw was multiplied since.
    """

    kind: str
    scale: FloatArray
    factor: FloatArray

    @property
    def spread(self) -> FloatArray:
        """Scale of what is added, (m,)."""
        if self.kind in ("geometric", "discrete_laplace"):
            with np.errstate(divide="ignore"):
                return np.asarray(np.abs(self.factor) / -np.log1p(-self.scale))
        return np.asarray(np.abs(self.factor) * self.scale)

    def log_density(self, noise: FloatArray) -> FloatArray:
        """Logarithm of the density (or probability) of noise c Z = `noise`, (m,)."""
        spread = self.spread
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.where(
                spread > 0, noise / (np.sign(self.factor) * spread), np.where(noise == 0, 0.0, np.inf)
            )
            shape = getattr(self, f"_{self.kind}")(z)
            exact = np.where(noise == 0, 0.0, -np.inf)
            return np.asarray(np.where(spread > 0, shape - np.log(spread), exact))

    def _laplace(self, z: FloatArray) -> FloatArray:
        return -np.abs(z)

    def _normal(self, z: FloatArray) -> FloatArray:
        return -0.5 * z**2

    def _exponential(self, z: FloatArray) -> FloatArray:
        # A draw and the sum it is added to round: a noise of -1e-12 is one of 0.
        return np.where(z >= -1e-9, -z, -np.inf)

    def _gumbel(self, z: FloatArray) -> FloatArray:
        return np.asarray(-z - np.exp(-z))

    def _logistic(self, z: FloatArray) -> FloatArray:
        return np.asarray(-np.abs(z) - 2 * np.log1p(np.exp(-np.abs(z))))

    def _geometric(self, z: FloatArray) -> FloatArray:
        whole = self._whole(z) & (z * -np.log1p(-self.scale) >= 0)
        return np.where(whole, -z, -np.inf)

    def _discrete_laplace(self, z: FloatArray) -> FloatArray:
        return np.where(self._whole(z), -np.abs(z), -np.inf)

    def _whole(self, z: FloatArray) -> Any:
        steps = z / -np.log1p(-self.scale)
        return np.abs(steps - np.round(steps)) < 1e-6

    def most(self, shift: FloatArray) -> FloatArray:
        """Bound on the loss of any release whose exact part moves by `shift`, (m,); inf if there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.where(shift == 0, 0.0, np.abs(shift) / self.spread)
            steps = np.where(shift == 0, 0.0, shift / self.factor)
        if self.kind == "discrete_laplace":  # off the lattice of one input no output of the other lies
            return np.asarray(np.where(np.abs(steps - np.round(steps)) < 1e-6, moved, np.inf))
        if self.kind in ("laplace", "logistic"):
            return np.asarray(moved)
        return np.asarray(np.where(shift == 0, 0.0, np.inf))

    def concentrated(self, shift: FloatArray) -> FloatArray:
        """Cost in zero-concentrated differential privacy, rho, of a normal draw whose mean moves, (m,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(shift == 0, 0.0, 0.5 * (shift / self.spread) ** 2))
