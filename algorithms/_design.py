"""Where a linear bandit explores: G-optimal designs of finite action sets, and nets of given sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.validate import FloatArray, InputError

_RANK = 1e-9  # directions shorter than this, in units of the longest one, do not count
_DIGITS = 9  # designs are compared after rounding, so that the last bits of a solver decide nothing


def core_limit(dimension: int) -> float:
    """4 d log log d + 16: the size that a core set need not exceed (log log d is 0 for d < 3)."""
    return 4 * dimension * math.log(max(math.log(dimension), 1.0)) + 16 if dimension > 1 else 16.0


def coordinates(actions: FloatArray) -> FloatArray:
    """The actions (n, d) in a basis of their span in which their second moments are the identity, (n, m).

    Norms in V(pi)^-1 do not depend on the basis, and this one keeps V well conditioned.
    """
    rows, lengths, _ = np.linalg.svd(actions, full_matrices=False)
    return np.asarray(rows[:, lengths > _RANK * max(float(lengths[0]), _RANK)])


def spread(points: FloatArray, weights: FloatArray) -> FloatArray:
    r""":math:`\|a\|^2_{V(\pi)^{-1}}` of each of the `coordinates` (n, m), (n,); V(pi) = sum pi(a) a a'."""
    matrix = points.T @ (weights[:, None] * points)
    return np.asarray(np.einsum("ni,in->n", points, np.linalg.solve(matrix, points.T)))


def _independent(points: FloatArray) -> list[int]:
    """Rows that span R^m, each the farthest from the span of those before it."""
    rest, chosen = points.copy(), []
    for _ in range(points.shape[1]):
        lengths = np.linalg.norm(rest, axis=1)
        row = int(np.argmax(np.round(lengths / lengths.max(), _DIGITS)))
        chosen.append(row)
        axis = rest[row] / lengths[row]
        rest = rest - np.outer(rest @ axis, axis)
    return chosen


def design(actions: FloatArray, *, core: bool = True) -> FloatArray:
    r"""Weights pi (n,) with :math:`\max_a \|a\|^2_{V(\pi)^{-1}} \le 2m`, m the dimension of the span.

    Frank-Wolfe's method with exact line search (eq. 5 of Hanna et al. 2022): weight moves to the action with
    the largest norm until it is at most 2m. It begins with m actions, each far from the span of those before,
    so the core set (weights above 0) stays small. A step adds at most one action.

    Parameters
    ----------
    actions
        Finite, (n, d); they may span only a subspace.
    core
        Whether to begin with few actions; if False, all begin with equal weights, and each keeps some weight.

    Source: Hanna et al. 2022, Lemma 2; Lattimore & Szepesvári, Bandit Algorithms, ch. 21.
    """
    points = coordinates(np.asarray(actions, dtype=np.float64))
    n, m = points.shape
    start = (_independent(points) or [0]) if core else range(n)  # [0]: nothing but zero vectors
    weights = np.bincount(start, minlength=n) / len(start)
    while m:
        norms = spread(points, weights)
        worst = int(np.argmax(np.round(norms, _DIGITS)))
        norm = float(norms[worst])
        if norm <= 2 * m:
            break
        step = min((norm / m - 1) / (norm - 1), 1.0 if core else 0.5)
        weights *= 1 - step
        weights[worst] += step
    return weights


def net(points: Iterable[npt.ArrayLike], zeta: float) -> Iterator[int]:
    """Numbers of some of the points, which span the same space as all, with one within `zeta` of each point.

    A point is kept if no kept point lies within zeta of it. That is decided when the point arrives, so any
    iterable will do, and memory holds only the net. Points farther than zeta apart number at most (1 +
    2/zeta)^d in the unit ball; up to d more follow at the end where those kept span less.

    Parameters
    ----------
    points
        Points of the unit ball of R^d, (d,) each: a finite set, or one enumerated as finely as you
        want.
    zeta
        In (0, 1].

    Raises
    ------
    InputError
        If `zeta` is out of range.

    Source: Hanna et al. 2022, Lemma 1, which shows that (3/zeta)^d + d points are enough.
    """
    if not 0 < zeta <= 1:
        raise InputError(f"zeta must lie in (0, 1], got {zeta!r}")
    # Cells of side zeta in the first three coordinates: what lies within zeta is in a cell or beside it.
    cells: dict[tuple[int, ...], list[FloatArray]] = {}
    kept: list[FloatArray] = []  # independent ones
    spare: list[tuple[int, FloatArray]] = []  # near others, beyond their span
    for number, given in enumerate(points):
        point = np.asarray(given, dtype=np.float64)
        cell = tuple(np.floor(point[:3] / zeta).astype(np.int64).tolist())
        beside = itertools.product(*((x - 1, x, x + 1) for x in cell))
        near = [other for place in beside for other in cells.get(place, ())]
        if not near or float(np.min(np.linalg.norm(np.array(near) - point, axis=1))) > zeta:
            cells.setdefault(cell, []).append(point)
            if _rank([*kept, point]) > len(kept):
                kept.append(point)
            yield number
        elif _rank([*kept, *(p for _, p in spare), point]) > len(kept) + len(spare):
            spare.append((number, point))
    for number, point in spare:
        if _rank([*kept, point]) > len(kept):
            kept.append(point)
            yield number


def _rank(points: list[FloatArray]) -> int:
    """Dimension of the span of independent points and one more."""
    return int(np.linalg.matrix_rank(np.array(points))) if len(points) <= len(points[0]) else len(points) - 1


def ball_net(dimension: int, zeta: float) -> FloatArray:
    """Points (n, d) of the unit ball of R^d, one of them within `zeta` of every point of the ball.

    These are the points of a grid of step 2 zeta / sqrt(d), projected into the ball: a projection onto a
    convex set moves a point no farther from any point of that set.

    Raises
    ------
    InputError
        If `zeta` is not in (0, 1), or if more than ten million grid points would have to be examined. The
        1/T-net of line 2 of the listings has about (3T)^d points, more than fit in memory.

    Source: Hanna et al. 2022, Lemma 1, which shows that (3/zeta)^d + d points are enough.
    """
    d = validate.integer("dimension", dimension, least=1)
    radius = validate.probability("zeta", zeta)
    step = 2 * radius / math.sqrt(d)
    half = math.ceil((1 + radius) / step)
    if (2 * half + 1) ** d > 10_000_000:
        raise InputError(f"zeta must be larger for dimension {d}: {(2 * half + 1) ** d} grid points")
    axis = step * np.arange(-half, half + 1)
    grid = np.array(list(itertools.product(axis, repeat=d)))
    length = np.linalg.norm(grid, axis=1)
    near = length <= 1 + radius
    drawn = grid[near] / np.maximum(length[near], 1.0)[:, None]
    return np.asarray(np.unique(np.round(drawn, 12), axis=0))
