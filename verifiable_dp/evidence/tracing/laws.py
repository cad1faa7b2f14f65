"""Laws of the draws that a generator adds to data: what a release weighs under one input and the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from verifiable_dp.core.validate import BoolArray, FloatArray

KINDS = (
    *("laplace", "normal", "exponential", "gumbel", "logistic", "geometric", "discrete_laplace"),
    # These have a shape, which is written after them: the kind of a Gamma draw of shape 2 is "gamma 2.0".
    *("gamma", "negative_binomial", "poisson", "two_sided_gamma", "two_sided_polya"),
)
_BY_CHANCE = ("geometric", "discrete_laplace", "negative_binomial", "two_sided_polya")
WHOLE = (*_BY_CHANCE, "poisson")
# Of one-sided draws the law of the difference of two; draws of these families add up to the same family.
_TWO_SIDED = {
    "exponential": "laplace",
    "geometric": "discrete_laplace",
    "gamma": "two_sided_gamma",
    "negative_binomial": "two_sided_polya",
}
# Families with a shape of 1 under the names by which they are known.
_AT_ONE = {
    "gamma": "exponential",
    "two_sided_gamma": "laplace",
    "two_sided_polya": "discrete_laplace",
}
_SUMMED = {kind: kind for kind in ("poisson", "negative_binomial", *_AT_ONE)}
_SUMMED |= {kind: name for name, kind in _AT_ONE.items()}
_ALMOST = 1e-9  # shapes such as the sum of ten tenths


def family(kind: str) -> str:
    """A kind without its shape."""
    return kind.partition(" ")[0]


def shape_of(kind: str) -> float:
    """The shape of a kind, 1 for those that have none."""
    return float(kind.partition(" ")[2] or 1)


def is_symmetric(kind: str) -> bool:
    """Whether a draw of this kind is as likely as its negative."""
    return family(kind) in ("laplace", "normal", "logistic", *_TWO_SIDED.values())


def shaped(name: str, shape: float) -> str:
    """The kind of a family with a shape."""
    return _AT_ONE[name] if name in _AT_ONE and abs(shape - 1) < _ALMOST else f"{name} {shape!r}"


def difference(kind: str) -> str | None:
    """The law of a draw minus another one of its kind; None where it is not known."""
    two_sided = _TWO_SIDED.get(family(kind))
    return two_sided if two_sided is None or " " not in kind else shaped(two_sided, shape_of(kind))


def total(one: str, other: str) -> str | None:
    """The law of the sum of two draws of equal scale; None where it is not one of `KINDS`."""
    both = _SUMMED.get(family(one))
    if both is None or both != _SUMMED.get(family(other)) or " " not in one + other:
        return None  # of two Laplace draws one may as well be seen
    return shaped(both, shape_of(one) + shape_of(other))


@dataclass(frozen=True)
class Law:
    """The law of q + c Z, with Z a standard draw of a kind.

    Attributes
    ----------
    kind
        One of `KINDS`, with its shape if it has one. Z is the draw at scale 1; for the geometric
        and Polya ones Z is whole and `scale` is the success probability.
    scale, factor : (m,) float
        Scale (or success probability) and the factor c by which the draw was multiplied since.
    """

    kind: str
    scale: FloatArray
    factor: FloatArray

    @property
    def spread(self) -> FloatArray:
        """Scale of what is added, (m,)."""
        if family(self.kind) in _BY_CHANCE:
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
            shape = getattr(self, f"_{family(self.kind)}")(z)
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

    def _gamma(self, z: FloatArray) -> FloatArray:
        return np.where(z >= -1e-9, (shape_of(self.kind) - 1) * np.log(np.maximum(z, 1e-300)) - z, -np.inf)

    def _two_sided_gamma(self, z: FloatArray) -> FloatArray:
        order, size = shape_of(self.kind) - 0.5, np.maximum(np.abs(z), 1e-300)
        return np.asarray(order * np.log(size) + np.log(special.kve(order, size)) - size)

    def _poisson(self, z: FloatArray) -> FloatArray:
        whole = (np.abs(z - np.round(z)) < 1e-6) & (z > -0.5)
        count = np.where(whole, np.round(z), 0.0)
        known = count * np.log(shape_of(self.kind)) - special.gammaln(count + 1)
        return np.where(whole, known, -np.inf)

    def _negative_binomial(self, z: FloatArray) -> FloatArray:
        count = np.round(z / -np.log1p(-self.scale))
        whole = self._whole(z) & (count >= 0)
        count = np.where(whole, count, 0.0)
        known = special.gammaln(count + shape_of(self.kind)) - special.gammaln(count + 1) - z
        return np.where(whole, known, -np.inf)

    def _two_sided_polya(self, z: FloatArray) -> FloatArray:
        shape, left = shape_of(self.kind), (1 - self.scale) ** 2
        count = np.abs(np.round(z / -np.log1p(-self.scale)))
        known = special.gammaln(count + shape) - special.gammaln(count + 1) - np.abs(z)
        known = known + np.log(special.hyp2f1(shape, shape + count, count + 1, left))
        return np.where(self._whole(z), known, -np.inf)

    def _whole(self, z: FloatArray) -> BoolArray:
        steps = z / -np.log1p(-self.scale)
        return np.asarray(np.abs(steps - np.round(steps)) < 1e-6)

    def most(self, shift: FloatArray) -> FloatArray:
        """Bound on the loss of any release whose exact part moves by `shift`, (m,); inf if there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.where(shift == 0, 0.0, np.abs(shift) / self.spread)
            steps = np.where(shift == 0, 0.0, shift / self.factor)
        kind, shape = family(self.kind), shape_of(self.kind)
        if kind == "two_sided_polya" and shape >= 1:  # a two-sided geometric draw and more
            kind = "discrete_laplace"
        if kind == "two_sided_gamma" and shape >= 1:  # a Laplace draw and more
            kind = "laplace"
        if kind == "discrete_laplace":  # off the lattice of one input no output of the other lies
            return np.asarray(np.where(np.abs(steps - np.round(steps)) < 1e-6, moved, np.inf))
        if kind in ("laplace", "logistic"):
            return np.asarray(moved)
        return np.asarray(np.where(shift == 0, 0.0, np.inf))

    def concentrated(self, shift: FloatArray) -> FloatArray:
        """Cost in zero-concentrated differential privacy, rho, of a normal draw whose mean moves, (m,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(shift == 0, 0.0, 0.5 * (shift / self.spread) ** 2))
