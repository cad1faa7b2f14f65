"""Laws of the controls' outputs on the two inputs of their pairs, from which truth and best event follow.

Discrete outputs have one atom each. Continuous ones are cut into cells: outputs with the same ratio of
densities, the far tails above all, share one cell, so that the largest ratio is exact; between them the cells
are so fine that the best event's bound moves by less than 5e-4 of itself when they are halved.
Integrals are Gauss-Legendre rules between the kinks, sums of positive terms in log space throughout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.exact import limits
from verifiable_dp.evidence.exact.race import log_interval

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_TAIL = 80.0  # scales beyond the last kink that are integrated over
CELLS = 4000  # of a continuous part
STEP = 0.02  # width of the cells of the sparse vector's values
_LOG2 = math.log(2.0)


@dataclass(frozen=True, eq=False)
class Laws:
    """Log-probabilities of the same outputs on either input.

    Attributes
    ----------
    log_p, log_q : (m,) float
        On the first and on the second input; -inf where an output cannot occur.
    supremum
        Largest abs(log ratio) of the densities, where no cell attains it.
    """

    log_p: FloatArray
    log_q: FloatArray
    supremum: float = 0.0
    _known: dict[tuple[int, float], float] = field(default_factory=dict, repr=False)

    @property
    def epsilon(self) -> float:
        """Largest abs(log ratio): the pair's true epsilon; inf if an output occurs on one input only."""
        return max(self.supremum, limits.max_divergence(self.log_p, self.log_q))

    @property
    def mass_apart(self) -> float:
        """Larger probability, of the two inputs', of outputs that the other cannot give."""
        sides = ((self.log_p, self.log_q), (self.log_q, self.log_p))
        return max(math.fsum(np.exp(a[b == -np.inf]).tolist()) for a, b in sides)

    def best_bound(self, runs: int, level: float) -> float:
        """Lower bound on epsilon that the best event gives, see `limits.best_event`."""
        if (runs, level) not in self._known:
            self._known[runs, level] = limits.best_event(self.log_p, self.log_q, runs, level).bound
        return self._known[runs, level]


class NoiseLaw(Protocol):
    """A continuous law; scipy's frozen ones are such."""

    def logpdf(self, x: FloatArray, /) -> FloatArray:
        """Log density."""
        ...

    def logcdf(self, x: FloatArray, /) -> FloatArray:
        """Log distribution function."""
        ...


@dataclass(frozen=True)
class LaplaceLaw:
    """Density e^(-abs(x) / scale) / (2 scale)."""

    scale: float

    def logpdf(self, x: FloatArray, /) -> FloatArray:
        """Log density."""
        return -np.abs(x) / self.scale - math.log(2 * self.scale)

    def logcdf(self, x: FloatArray, /) -> FloatArray:
        """Log distribution function."""
        return log_interval(-np.inf, x / self.scale)


@dataclass(frozen=True)
class Exponential:
    """Density e^(-x / scale) / scale for x >= 0."""

    scale: float

    def logpdf(self, x: FloatArray, /) -> FloatArray:
        """Log density."""
        return np.where(x >= 0, -x / self.scale - math.log(self.scale), -np.inf)

    def logcdf(self, x: FloatArray, /) -> FloatArray:
        """Log distribution function."""
        return _log1mexp(np.maximum(x, 0) / self.scale)


def _log1mexp(x: FloatArray) -> FloatArray:
    """log(1 - e^-x) for x >= 0."""
    with np.errstate(divide="ignore"):
        return np.where(x < _LOG2, np.log(-np.expm1(-x)), np.log1p(-np.exp(-x)))


def _log_sum(terms: FloatArray) -> FloatArray:
    """Log of the sum of exponentials over the last axis."""
    return np.asarray(np.logaddexp.reduce(terms, axis=-1))


def _points(kinks: Sequence[float], scale: float) -> tuple[FloatArray, FloatArray]:
    """Points of a quadrature over the line, (m,), and the logs of their weights."""
    low, high = min(kinks) - _TAIL * scale, max(kinks) + _TAIL * scale
    return _nodes(np.union1d(np.arange(low, high, scale / 4), kinks))


def _nodes(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + _NODES)).ravel(), np.log(half * _WEIGHTS).ravel()


# ---------------------------------------------------------------- additive noise


def laplace(distance: float, scale: float, *, cells: int = CELLS) -> Laws:
    """0 or `distance` plus Laplace noise.

    The ratio is constant on either side of both values: one cell each.
    """
    edges = np.concatenate([[-np.inf], np.linspace(0, distance, cells + 1), [np.inf]])
    p, q = (
        log_interval(*((edges[i : len(edges) - 1 + i] - at) / scale for i in (0, 1))) for at in (0, distance)
    )
    return Laws(p, q)


def laplace_many(count: int, distance: float, scale: float, *, cells: int = 256) -> Laws:
    """`count` independent values, each 0 or `distance`, plus Laplace noise: the law of their total loss.

    The loss is a sufficient statistic. That of one value is cut into `cells` equal steps between its ends,
    which are atoms; those of several add up step by step.
    """
    single = laplace(distance, scale, cells=cells)
    p, q = np.exp(single.log_p), np.exp(single.log_q)
    # The two ends lie half a step beyond the first and the last cell: steps of two, and atoms at either end.
    loss = np.concatenate([[0], 2 * np.arange(cells) + 1, [2 * cells]])
    one = [np.bincount(loss, law, 2 * cells + 1) for law in (p, q)]
    total = one
    for _ in range(count - 1):
        total = [np.convolve(a, b) for a, b in zip(total, one, strict=True)]
    seen = (total[0] > 0) | (total[1] > 0)
    with np.errstate(divide="ignore"):
        return Laws(np.log(total[0][seen]), np.log(total[1][seen]))


def geometric(epsilon: float, most: int, left: int, right: int) -> Laws:
    """A count in 0 .. `most` plus two-sided geometric noise of ratio e^-epsilon, clipped to 0 .. `most`."""
    k = np.arange(most + 1)

    def law(count: int) -> FloatArray:
        ends = (k == 0) | (k == most)
        mass = np.where(ends, 0.0, math.log(-math.expm1(-epsilon)))
        return np.asarray(mass - epsilon * np.abs(k - count) - math.log1p(math.exp(-epsilon)))

    return Laws(law(left), law(right))


def response(keep: float) -> Laws:
    """A bit that is told as it is with probability `keep`."""
    p = np.log([keep, 1 - keep])
    return Laws(p, p[::-1])


# ---------------------------------------------------------------- the noisy maximum


def noisy_max(left: Sequence[float], right: Sequence[float], noise: NoiseLaw, scale: float) -> Laws:
    """Index of the largest noisy answer, by quadrature over the winner's.

    Parameters
    ----------
    left, right
        Answers, (k,) each.
    noise
        Its law.
    scale
        Of the noise, for the steps of the quadrature.
    """

    def law(answers: Sequence[float]) -> FloatArray:
        x, weight = _points(answers, scale)
        below = np.stack([noise.logcdf(x - a) for a in answers])
        with np.errstate(invalid="ignore"):
            others = [sum(np.delete(below, i, axis=0)) for i in range(len(answers))]
        return np.array(
            [_log_sum(weight + noise.logpdf(x - a) + o) for a, o in zip(answers, others, strict=True)]
        )

    return Laws(law(left), law(right))


def largest(
    left: Sequence[float], right: Sequence[float], noise: NoiseLaw, scale: float, *, cells: int = CELLS
) -> Laws:
    """The largest noisy answer itself, in cells; all answers below the smallest are one cell."""
    low, high = min(*left, *right), max(*left, *right)
    start = max(min(left), min(right)) if isinstance(noise, Exponential) else low
    edges = np.union1d(np.linspace(start, high + 12 * scale, cells), [*left, *right])
    edges = np.concatenate([[-np.inf], edges, [np.inf]])

    def law(answers: Sequence[float]) -> FloatArray:
        log_cdf = np.zeros(len(edges))
        for a in answers:
            log_cdf += np.where(edges == np.inf, 0.0, noise.logcdf(edges - a))
        upper, lower = log_cdf[1:], log_cdf[:-1]
        with np.errstate(invalid="ignore"):
            mass = upper + _log1mexp(upper - lower)
        return np.where(upper == -np.inf, -np.inf, mass)

    return Laws(law(left), law(right))


# ---------------------------------------------------------------- the sparse vector technique


def first_above(
    left: Sequence[float], right: Sequence[float], threshold: float, rho: float, nu: float
) -> Laws:
    """Place of the first answer whose noisy value reaches the noisy threshold, or none: k + 1 atoms.

    One quadrature over the threshold's noise; `rho` and `nu` are the scales of Laplace noise of threshold
    and answers.
    """

    def law(answers: Sequence[float]) -> FloatArray:
        x, weight = _points([0.0, *(a - threshold for a in answers)], min(rho, nu))
        weight = weight + LaplaceLaw(rho).logpdf(x)
        gap = (threshold + x - np.array(answers)[:, None]) / nu
        below, above = log_interval(-np.inf, gap), log_interval(gap, np.inf)
        before = np.vstack([np.zeros(len(x)), np.cumsum(below, axis=0)])
        return np.append(_log_sum(weight + before[:-1] + above), _log_sum(weight + before[-1]))

    return Laws(law(left), law(right))


def first_value_above(
    left: Sequence[float],
    right: Sequence[float],
    threshold: float,
    rho: float,
    nu: float,
    *,
    step: float = STEP,
) -> Laws:
    """As `first_above`, but that answer's noisy value is seen as well: k rows of cells, an atom for none.

    The value v and the noisy threshold u <= v are cut at the same edges: P(place k, v in cell i) is the
    mass of thresholds in the cells below i times that of the cell, and a quadrature within cell i.
    """
    answers = sorted({*left, *right})
    fine = np.arange(answers[0], answers[-1] + 4 * nu, step)
    outer = np.arange(0.5, _TAIL * max(rho, nu), 0.5)
    kinks = [*answers, threshold]
    edges = np.unique(np.concatenate([kinks, fine, answers[0] - outer, fine[-1] + outer]))
    lowest = int(np.searchsorted(edges, answers[0]))  # cells below all answers
    u, weight = (x.reshape(-1, len(_NODES)) for x in _nodes(edges))

    def law(data: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Cells, and log densities at the upper edges."""
        before = weight + LaplaceLaw(rho).logpdf(u - threshold)
        cells, densities = [], []
        for answer in data:
            at, from_u = (edges - answer) / nu, (u - answer) / nu
            up_to = np.logaddexp.accumulate(_log_sum(before))
            below = np.append(-np.inf, up_to[:-1]) + log_interval(at[:-1], at[1:])
            row = np.logaddexp(below, _log_sum(before + log_interval(from_u, at[1:, None])))
            # Below all answers the ratio of the densities is constant: one cell.
            cells.append(np.append(_log_sum(row[:lowest]), row[lowest:]))
            densities.append(up_to + LaplaceLaw(nu).logpdf(edges[1:] - answer))
            before = before + log_interval(-np.inf, from_u)
        return np.append(np.concatenate(cells), _log_sum(before.ravel())), np.concatenate(densities)

    (p, at_p), (q, at_q) = law(left), law(right)
    return Laws(p, q, float(np.abs(at_p - at_q).max()))


def all_above(left: Sequence[float], right: Sequence[float], threshold: float, rho: float, nu: float) -> Laws:
    """Which answers' noisy values reach the noisy threshold, no limit on their number: all outputs.

    Answers that agree on both inputs are exchangeable: outputs with as many positives in each group of
    such are one atom. `nu` may be 0: no noise is added to the answers.
    """
    if nu == 0:
        return _steps(left, right, threshold, rho)
    groups = sorted(set(zip(left, right, strict=True)))
    sizes = [list(zip(left, right, strict=True)).count(group) for group in groups]

    def law(side: int) -> FloatArray:
        answers = np.array([group[side] for group in groups])
        x, weight = _points([0.0, *(answers - threshold).tolist()], min(rho, nu))
        weight = weight + LaplaceLaw(rho).logpdf(x)
        gap = (threshold + x - answers[:, None]) / nu
        below, above = log_interval(-np.inf, gap), log_interval(gap, np.inf)
        atoms = []
        for hits in itertools.product(*(range(size + 1) for size in sizes)):
            terms, ways = weight, 0.0
            for g, (hit, size) in enumerate(zip(hits, sizes, strict=True)):
                terms = terms + hit * above[g] + (size - hit) * below[g]
                ways += float(gammaln(size + 1) - gammaln(hit + 1) - gammaln(size - hit + 1))
            atoms.append(float(_log_sum(terms)) + ways)
        return np.array(atoms)

    return Laws(law(0), law(1))


def _steps(left: Sequence[float], right: Sequence[float], threshold: float, rho: float) -> Laws:
    """`all_above` without noise on the answers: a step function of the threshold."""

    def law(answers: Sequence[float]) -> dict[tuple[bool, ...], float]:
        edges = [-np.inf, *sorted(set(answers)), np.inf]
        found = {}
        for low, high in itertools.pairwise(edges):
            output = tuple(answer >= high for answer in answers)
            found[output] = float(log_interval((low - threshold) / rho, (high - threshold) / rho))
        return found

    p, q = law(left), law(right)
    outputs = sorted(p.keys() | q.keys())
    log_p, log_q = (np.array([side.get(o, -np.inf) for o in outputs]) for side in (p, q))
    return Laws(log_p, log_q)
