r"""The distribution of the privacy loss of a symmetric matrix that is released with Wishart noise.

For :math:`W \sim W_p(I, k)` and exact matrices that differ by :math:`D`, the log ratio of the densities is
:math:`\frac{k-p-1}{2} \log\frac{\det W}{\det(W + D)} + \frac12 \operatorname{tr} D`. Three laws are known:

- ``add`` and ``remove``, :math:`D = \pm s z z^T`, :math:`|z| = 1`: all depends on the Schur complement of the
  axis z in W, which is :math:`\chi^2_{k-p+1}` and moves by s;
- ``replace``, :math:`D = s (z z^T - y y^T)`, :math:`y \perp z`: in the axes :math:`(z \pm y)/\sqrt2` the
  complement is :math:`W_2(I, k-p+2)`, whose diagonal (a, b), independent :math:`\chi^2_{k-p+2}`, stays, and
  whose other entry :math:`\sqrt{ab}\, R` moves by s, R having density proportional to
  :math:`(1 - r^2)^{(k-p-1)/2}`.

No replacement of one item :math:`z z^T`, :math:`|z|^2 \le s`, is worse than these, in any number of releases
with independent noise. The Wishart density is log-concave from k = p + 1 on. By Prékopa's theorem :math:`\int
\min(P, e^\varepsilon P_D)`, where :math:`P_D` is P moved by D, is therefore log-concave in D, and smallest at
an extreme point of the convex hull of all D. With :math:`|z|^2 = |y|^2 = s` D has eigenvalues :math:`\pm s
\sin\theta`; it lies between 0 and that of a right angle.

The derivation is ours.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.claims import gdp_epsilon, gdp_mu
from verifiable_dp.core.mechanisms.tree import Nodes
from verifiable_dp.core.validate import FloatArray

KINDS = ("replace", "add", "remove")
FINE, COARSE = 128, 32  # cells of the grid of losses in the standard deviation of one release
_TAIL = 1e-9  # mass beyond the grid, in units of delta
_FEWEST = 64  # cells on either side of 0
_WIDEST = 64  # standard deviations on either side of 0
_LARGEST = 300.0  # finite loss
_NODES = 10  # of the quadrature over each diagonal entry


@dataclass(frozen=True)
class WishartRelease:
    """Matrices released with independent Wishart noise, whose exact values differ in the same way.

    Attributes
    ----------
    change
        s, in units of the noise's scale; infinite if there is no noise.
    freedom
        k.
    size
        p, the number of rows.
    times
        Number of matrices.
    """

    change: float
    freedom: int
    size: int
    times: int = 1

    @property
    def power(self) -> float:
        """(k - p - 1) / 2."""
        return (self.freedom - self.size - 1) / 2


# Masses, in either world, of the outputs whose loss is above each level.
_Above = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def _added(release: WishartRelease) -> _Above:
    """At x the loss is -s/2 - power log(1 - s/x): it falls with x, and is infinite up to s."""
    from scipy.special import gammainc

    s, power = release.change, release.power

    def above(level: FloatArray) -> tuple[FloatArray, FloatArray]:
        share = -np.expm1(np.minimum(-(level + s / 2) / power, 600.0))  # s / x at the level
        x = np.divide(s, share, out=np.full_like(level, np.inf), where=share > 0)
        return gammainc(power + 1, x / 2), gammainc(power + 1, np.maximum(x - s, 0.0) / 2)

    return above


def _removed(release: WishartRelease) -> _Above:
    """At x, before s is added, the loss is s/2 - power log(1 + s/x): it grows with x."""
    from scipy.special import gammaincc

    s, power = release.change, release.power

    def above(level: FloatArray) -> tuple[FloatArray, FloatArray]:
        share = np.expm1(np.minimum((s / 2 - level) / power, 600.0))
        x = np.divide(s, share, out=np.full_like(level, np.inf), where=share > 0)
        return gammaincc(power + 1, x / 2), gammaincc(power + 1, (x + s) / 2)

    return above


def _replaced(release: WishartRelease) -> _Above:
    """At c, where q^2 = a b, the loss is power log((q^2 - c^2) / (q^2 - (c - s)^2)), which falls with c."""
    from scipy.special import betainc

    s, power = release.change, release.power
    roots, weights = _diagonals(release.freedom - release.size + 2)
    q = roots[:, None]

    def share(c: FloatArray) -> FloatArray:
        inside = np.clip((1 + c / q) / 2, 0.0, 1.0)
        return np.asarray(weights @ betainc(power + 1, power + 1, inside))

    def above(level: FloatArray) -> tuple[FloatArray, FloatArray]:
        grown = np.exp(np.clip(level / (2 * power), -300.0, 300.0))
        tilt = grown - 1 / grown
        c = (grown * s**2 - tilt * q**2) / (grown * s + np.sqrt(s**2 + tilt**2 * q**2))
        c = np.where(2 * q > s, c, np.inf)  # worlds without an output in common
        return share(c), np.where(np.isinf(c).all(axis=0), 0.0, share(np.where(np.isinf(c), -q, c - s)))

    return above


@functools.cache
def _diagonals(freedom: int) -> tuple[FloatArray, FloatArray]:
    """Quadrature over sqrt(a b) of two independent chi-square values: nodes and weights."""
    from scipy.special import gammainccinv, gammaincinv, ndtr

    x, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    half, weight = freedom / 2, weight / weight.sum()
    a = 2 * np.where(x < 0, gammaincinv(half, ndtr(x)), gammainccinv(half, ndtr(-x)))
    rows, columns = np.triu_indices(_NODES)
    return np.sqrt(a[rows] * a[columns]), weight[rows] * weight[columns] * np.where(rows == columns, 1, 2)


_LAWS = {"replace": _replaced, "add": _added, "remove": _removed}


def _normal(mu: float) -> _Above:
    """Of normal noise the loss is normal."""
    from scipy.special import ndtr

    def above(level: FloatArray) -> tuple[FloatArray, FloatArray]:
        return ndtr(mu / 2 - level / mu), ndtr(-mu / 2 - level / mu)

    return above


def _deviation(release: WishartRelease, kind: str) -> float:
    """Of the loss of one release, nearly."""
    if kind == "replace":
        return release.change / math.sqrt(release.freedom - release.size + 2)
    return release.change / math.sqrt(2 * (release.freedom - release.size + 1))


def _on_grid(above: _Above, step: float, tail: float, cells: int, *, least: bool) -> tuple[FloatArray, float]:
    """Masses of losses at -n step, ..., n step, and of infinite ones.

    Mass between two levels goes to both of them, so that its total stays in either world: the curve of delta
    is then above the true one, and meets it at the levels. With `least` losses are rounded down.
    """
    n = _FEWEST
    while n < _WIDEST * cells and 2 * n * step <= _LARGEST:
        outside = above(np.array([-n * step, n * step]))[0]
        if max(1 - outside[0], outside[1]) < max(tail, 1e-15):
            break
        n *= 2
    levels: FloatArray = np.asarray(step * np.arange(-n, n + 1))
    p, q = map(np.asarray, above(levels))
    mass, other = p[:-1] - p[1:], q[:-1] - q[1:]
    found = np.zeros(len(levels))
    if least:
        found[:-1] = mass
        found[-1] += p[-1]
        return np.maximum(found, 0.0), 0.0
    mass = np.maximum(mass, 0.0)
    upper = np.clip((mass - np.exp(levels[:-1]) * other) / -math.expm1(-step), 0.0, mass)
    found[1:] = upper
    found[:-1] += mass - upper
    found[0] += 1 - p[0]
    return found, float(p[-1])


def _epsilon(
    releases: Sequence[WishartRelease], kind: str, delta: float, mu: float, *, cells: int, least: bool
) -> float:
    """Epsilon at `delta` of all releases together, the outputs of the first world being more likely."""
    largest = max(mu, *(_deviation(release, kind) for release in releases))
    step = min(largest / cells, _LARGEST / _FEWEST)
    laws = [(_LAWS[kind](release), release.times) for release in releases]
    laws += [(_normal(mu), 1)] if mu else []
    parts = [(*_on_grid(law, step, _TAIL * delta, cells, least=least), times) for law, times in laws]
    middle = sum(len(masses) // 2 * times for masses, _, times in parts)
    length = 1 << (2 * middle).bit_length()
    whole, finite = np.ones(length // 2 + 1, np.complex128), 1.0
    for masses, infinite, times in parts:
        whole *= np.fft.rfft(masses, length) ** times
        finite *= (1 - infinite) ** times
    masses = np.maximum(np.fft.irfft(whole, length)[middle : 2 * middle + 1], 0.0)
    masses, beyond = np.split(masses, [int(_LARGEST / step) + 1])
    levels = step * np.arange(len(masses))
    above = np.cumsum(masses[::-1])[::-1]
    shrunk = np.cumsum((masses * np.exp(-levels))[::-1])[::-1]
    infinite = 1 - finite + (0.0 if least else float(beyond.sum()))
    if infinite >= delta:
        return math.inf
    at = infinite + above - np.exp(levels) * shrunk
    first = int(np.argmax(at <= delta))
    if not at[first] <= delta:
        return math.inf
    if first == 0:
        return 0.0
    # Between two levels delta is linear in exp(epsilon).
    return math.log((infinite + above[first] - delta) / shrunk[first])


@functools.lru_cache(maxsize=256)
def epsilon_of(
    releases: tuple[WishartRelease, ...],
    delta: float,
    kinds: tuple[str, ...] = KINDS,
    *,
    cells: int = FINE,
    least: bool = False,
    mu: float = 0.0,
) -> float:
    """The largest epsilon at `delta` of all `releases` together, if one item is replaced.

    Parameters
    ----------
    releases
        Those that the item enters, `change` being the square of its norm.
    delta
        Above 0.
    kinds
        How the matrices change, from `KINDS`; both directions count.
    cells
        Cells of the grid on which losses are added up. Rounding makes epsilon too large, by about 1e-4 of it
        with ``FINE``.
    least
        Whether to round losses down instead, which makes epsilon too small, by about 1e-2.
    mu
        Shift of normal noise that hides the same item elsewhere, in standard deviations. Both shifts together
        are one shift of a log-concave density, so the worst is again an extreme point.

    Returns
    -------
    float
        Infinite where a release has no noise, or k is below p + 2.
    """
    moved = tuple(release for release in releases if release.change > 0 and release.times > 0)
    if any(math.isinf(release.change) or release.power <= 0 for release in moved):
        return math.inf
    if not moved:
        return gdp_epsilon(mu, delta) if mu > 0 else 0.0
    found = (_epsilon(moved, kind, delta, mu, cells=cells, least=least) for kind in kinds)
    return max(found, default=0.0)


def counted(releases: Iterable[WishartRelease]) -> tuple[WishartRelease, ...]:
    """The same releases, each once with its number."""
    times: Counter[WishartRelease] = Counter()
    for release in releases:
        times[replace(release, times=1)] += release.times
    return tuple(replace(release, times=number) for release, number in times.items())


@functools.cache
def least_freedom(epsilon: float, delta: float, change: float, size: int, times: int) -> int:
    """The least k with which `times` releases of p x p matrices promise (epsilon, delta).

    Parameters
    ----------
    epsilon, delta
        Above 0.
    change
        The largest square of an item's norm.
    size, times
        p, and the number of releases that an item enters.
    """

    def enough(freedom: int) -> bool:
        return epsilon_of((WishartRelease(change, freedom, size, times),), delta, cells=COARSE) <= epsilon

    like_normal = times * (change / gdp_mu(epsilon, delta)) ** 2  # with as much noise off the diagonal
    low, high = size + 1, max(size + 2, round(like_normal))
    while not enough(high):
        low, high = high, high + max(1, high // 8)
    while (less := high - max(1, high // 16)) > low and enough(less):
        high = less
    low = max(low, less)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class WishartTree(Nodes):
    """The tree mechanism whose nodes are symmetric matrices with noise scale * (W - k I), W ~ W_p(I, k).

    Parameters
    ----------
    leaves
        Largest number of items T, at least 1.
    size
        p, the number of rows of an item; items come as `symmetric.outer` has them.
    freedom
        k >= p.
    unit
        Scale of the noise, above 0.

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    The mean is public, so subtracting it costs nothing.
    """

    size: int
    freedom: int
    unit: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer("size", self.size, least=1)
        validate.integer("freedom", self.freedom, least=self.size)
        validate.positive("unit", self.unit)

    @property
    def scale(self) -> float:
        """Scale of the noise of each node."""
        return self.unit

    @property
    def degrees(self) -> int:
        """k."""
        return self.freedom


__all__ = [
    "COARSE",
    "FINE",
    "KINDS",
    "WishartRelease",
    "WishartTree",
    "counted",
    "epsilon_of",
    "least_freedom",
]
