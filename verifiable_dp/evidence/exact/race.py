r"""The law of one comparison of noisy numbers: which arms survive a margin, by quadrature in log space.

Arm a is released as :math:`r_a = v_a + s_a Z_a`, Z standard Laplace, and removed if
:math:`\max_b r_b - r_a > L`. The winner's release x is integrated out,

.. math:: P(S) = \sum_{w \in S} \int f_w(x) \prod_{a \notin S} F_a(x - L)
          \prod_{a \in S, a \ne w} [F_a(x) - F_a(x - L)] \, dx,

where all terms are positive, so that nothing cancels: logarithms are right to about 1e-12 however small the
probability. Between the kinks v_a and v_a + L every integrand is a sum of exponentials, and Gauss-Legendre
rules on pieces that grow with the distance from the kinks are exact to rounding. `survivors` covers
independent noise, with the gradient; `survivors_in_general` covers noise that is missing or shared.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, IntArray

MOST_ARMS = 6
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_LOG_WEIGHTS = np.log(_WEIGHTS)
_TAIL = 60.0  # largest scales beyond the last kink: what is left out is e^-60 of the rest
_LOG2 = np.log(2.0)

# ---------------------------------------------------------------- the standard Laplace law


def _log_cdf(u: FloatArray) -> FloatArray:
    """log F(u)."""
    return np.where(u < 0, u - _LOG2, np.log1p(-0.5 * np.exp(-np.abs(u))))


def _log1mexp(x: FloatArray) -> FloatArray:
    """log(1 - e^-x) for x >= 0."""
    with np.errstate(divide="ignore"):
        return np.where(x < _LOG2, np.log(-np.expm1(-x)), np.log1p(-np.exp(-x)))


def log_interval(low: npt.ArrayLike, high: npt.ArrayLike) -> FloatArray:
    """log(F(high) - F(low)) of the standard Laplace law, -inf where high <= low; exact in both tails."""
    low, high = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    out = np.full(low.shape, -np.inf)
    some = low < high
    tail = some & ((high <= 0) | (low >= 0))
    nearest = np.where(high <= 0, high, -low)  # of the two ends, as a distance from 0 below
    out[tail] = nearest[tail] - _LOG2 + _log1mexp(high[tail] - low[tail])
    across = some & ~tail
    with np.errstate(divide="ignore"):
        out[across] = np.log(-np.expm1(low[across]) - np.expm1(-high[across])) - _LOG2
    return out


# ---------------------------------------------------------------- where to evaluate


def _graded(start: float, end: float, step: float, both: bool) -> list[float]:
    """Ends of pieces from `start` to `end` that double with the distance from `start`, or from both."""
    length = end - start
    distances, size, at = [0.0], step, step
    while at < (length / 2 if both else length):
        distances.append(at)
        size = max(at, step)
        at += size
    if not both:
        return [*(start + d for d in distances), end]
    return [*(start + d for d in distances), *(end - d for d in reversed(distances))]


def _grid(kinks: FloatArray, least: float, largest: float) -> tuple[FloatArray, FloatArray]:
    """Points (J,) and the logarithms of their weights, for scales between `least` and `largest`."""
    kinks = np.unique(kinks)
    tail = _TAIL * largest
    ends = [kinks[0] - d for d in reversed(_graded(0.0, tail, least, False))]
    for low, high in itertools.pairwise(kinks.tolist()):
        ends += _graded(low, high, least, True)
    ends += _graded(float(kinks[-1]), float(kinks[-1]) + tail, least, False)
    edges = np.unique(np.array(ends))
    half = np.diff(edges)[:, None] / 2
    points = edges[:-1, None] + half * (1 + _NODES)
    return points.ravel(), (np.log(half) + _LOG_WEIGHTS).ravel()


def _log_sum(terms: FloatArray, axis: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """logsumexp over `axis`, and each term's share of its sum."""
    top = terms.max(axis=axis, keepdims=True)
    shares = np.exp(terms - np.where(np.isfinite(top), top, 0.0))
    total = shares.sum(axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.squeeze(top + np.log(total), axis=axis)
    return logs, shares / np.where(total > 0, total, 1.0)


def kept_sets(n_arms: int) -> BoolArray:
    """All subsets of the arms, (2^m, m), row by row as bit sets."""
    return np.asarray((np.arange(1 << n_arms)[:, None] >> np.arange(n_arms)) & 1, dtype=bool)


def _checked(values: FloatArray, scales: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
    v, s = np.asarray(values, dtype=np.float64), np.asarray(scales, dtype=np.float64)
    if v.ndim != 1 or v.shape != s.shape or not 1 <= len(v) <= MOST_ARMS:
        raise InputError(
            f"values and scales must be vectors of one length in [1, {MOST_ARMS}], got {v.shape}, {s.shape}"
        )
    if not (np.isfinite(v).all() and np.isfinite(s).all() and (s >= 0).all()):
        raise InputError("values must be finite, and scales finite and at least 0")
    if not (np.isfinite(margin) and margin >= 0):
        raise InputError(f"margin must be finite and at least 0, got {margin!r}")
    return v - v.max(), s  # the law does not depend on where 0 is


# ---------------------------------------------------------------- independent noise


def survivors(values: FloatArray, scales: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
    """Law of the set of survivors, and its gradient.

    Parameters
    ----------
    values, scales : (m,) float
        What is compared without noise, and the scales of independent Laplace noise, above 0; m <= 6.
    margin
        L > 0.

    Returns
    -------
    log_p : (2^m,) float
        Log-probability by survivors as a bit set; -inf for the empty set.
    gradient : (2^m, m) float
        Of `log_p` with respect to the values; 0 for the empty set.

    Raises
    ------
    InputError
        If a shape or a number is out of range.
    """
    v, s = _checked(values, scales, margin)
    if not ((s > 0).all() and margin > 0):
        raise InputError("scales and margin must be greater than 0; see survivors_in_general")
    x, log_w = _grid(np.concatenate([v, v + margin]), float(s.min()), float(s.max()))
    wide = (margin / s)[:, None]
    u = (x - v[:, None]) / s[:, None]  # (m, J)
    far, near = u - wide, np.exp(-np.abs(u))
    removed = _log_cdf(far)
    inside = (u > 0) & (far < 0)
    # Both ends on one side: e^-distance of the nearer one, times 1 - e^-width.
    mass = np.where(inside, -np.expm1(-np.abs(u)) - np.expm1(-np.abs(far)), 1.0)
    tail = np.where(u <= 0, u, -far) + _log1mexp(wide)
    kept = np.where(inside, np.log(mass), tail) - _LOG2
    density = -np.abs(u) - _LOG2 - np.log(s)[:, None]

    sets = kept_sets(len(v))[1:]
    member = sets.astype(np.float64)
    base = member @ kept + (1 - member) @ removed + log_w  # (sets, J)
    terms = np.where(sets[:, :, None], base[:, None, :] + (density - kept), -np.inf)  # (sets, winner, J)
    log_p, shares = _log_sum(terms, (1, 2))

    by_removed = np.where(far < 0, 1.0, 0.5 * np.exp(-np.abs(far) - removed))
    by_kept = np.where(inside, (near - np.exp(-np.abs(far))) / mass, np.where(u <= 0, 1.0, -1.0))
    slope = [-by_removed / s[:, None], -by_kept / s[:, None], np.sign(u) / s[:, None]]
    anyone = shares.sum(axis=1)  # (sets, J)
    gradient = (1 - member) * (anyone @ slope[0].T) + member * (anyone @ slope[1].T)
    gradient += np.einsum("saj,aj->sa", shares, slope[2] - slope[1])
    return np.concatenate([[-np.inf], log_p]), np.concatenate([np.zeros((1, len(v))), gradient])


# ---------------------------------------------------------------- noise that is missing or shared


def survivors_in_general(
    values: FloatArray, scales: FloatArray, margin: float, slots: IntArray | None = None
) -> FloatArray:
    """Law of the set of survivors where arms may have no noise (scale 0) or share a draw (equal slots).

    Parameters
    ----------
    values, scales : (m,) float
        As in `survivors`; scales at least 0.
    margin
        L >= 0.
    slots : (m,) int
        Which draw each arm uses; all different if None.

    Returns
    -------
    (2^m,) float
        Log-probability by survivors as a bit set.
    """
    v, s = _checked(values, scales, margin)
    slots = np.arange(len(v)) if slots is None else np.asarray(slots)
    groups = [np.flatnonzero((slots == slot) & (s > 0)) for slot in np.unique(slots[s > 0])]
    fixed = np.flatnonzero(s == 0)
    race = _Race(v, s, margin, groups, fixed)
    points = np.zeros(0)
    log_w = np.zeros(0)
    if groups:
        noisy = s[s > 0]
        points, log_w = _grid(_kinks(v, s, margin, groups), float(noisy.min()), float(noisy.max()))
    out = np.full(1 << len(v), -np.inf)
    for number, kept in enumerate(kept_sets(len(v))):
        terms = [log_w + race.winner(points, w, kept) for w in np.flatnonzero(kept & (s > 0)).tolist()]
        terms += [
            race.others(v[[w]], w, kept)
            for w in fixed.tolist()
            if kept[w] and not any(v[b] > v[w] or (v[b] == v[w] and b < w) for b in fixed.tolist())
        ]
        if terms:
            out[number] = np.logaddexp.reduce(np.concatenate(terms))
    return out


def _kinks(v: FloatArray, s: FloatArray, margin: float, groups: Sequence[IntArray]) -> FloatArray:
    """Where an integrand may bend: at the values, and where arms that share a draw change places."""
    found = v.tolist()
    for group in groups:
        for a, b in itertools.permutations(group.tolist(), 2):
            if s[a] != s[b]:
                for shift in (-margin, 0.0, margin):
                    found.append(v[a] + s[a] * (v[b] - v[a] + shift) / (s[a] - s[b]))
    return np.array([x + shift for x in found for shift in (0.0, margin)])


@dataclass(frozen=True)
class _Race:
    """Values and scales of the arms, by how they are drawn: `groups` share a draw, `fixed` arms have none."""

    values: FloatArray
    scales: FloatArray
    margin: float
    groups: Sequence[IntArray]
    fixed: IntArray

    def others(self, x: FloatArray, winner: int, kept: BoolArray) -> FloatArray:
        """Log-probability (J,) that all draws but the winner's agree with `kept`, the largest being x."""
        v, s, margin = self.values, self.scales, self.margin
        total = np.zeros(len(x))
        for a in self.fixed.tolist():
            if a != winner:
                right = (x - margin <= v[a]) & (v[a] <= x) if kept[a] else v[a] < x - margin
                total = np.where(right, total, -np.inf)
        for group in self.groups:
            if winner in group:
                continue
            below = (x[:, None] - v[group]) / s[group]  # no release above x
            far = (x[:, None] - margin - v[group]) / s[group]
            low = far[:, kept[group]].max(axis=1, initial=-np.inf)
            high = np.minimum(below.min(axis=1), far[:, ~kept[group]].min(axis=1, initial=np.inf))
            total = total + log_interval(low, high)
        return total

    def winner(self, x: FloatArray, w: int, kept: BoolArray) -> FloatArray:
        """Log-density (J,) of arm w being the largest, at x, with the survivors `kept`."""
        v, s, margin = self.values, self.scales, self.margin
        u = (x - v[w]) / s[w]
        total = -np.abs(u) - _LOG2 - np.log(s[w]) + self.others(x, w, kept)
        mine = next(group for group in self.groups if w in group)
        for b in mine.tolist():
            if b != w:
                above = (v[b] - v[w]) + (s[b] - s[w]) * u  # of b's release over x
                lower = (above < 0) | ((above == 0) & (b > w))
                right = lower & (above >= -margin) if kept[b] else above < -margin
                total = np.where(right, total, -np.inf)
        return np.asarray(total)
