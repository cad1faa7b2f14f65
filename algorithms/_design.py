"""Where a linear bandit looks: G-optimal designs of finite action sets, and nets of the unit ball."""

from __future__ import annotations

import itertools
import math

import numpy as np

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
    the largest norm until it is at most 2m. It begins with m actions, each far from the span of those
    before, so that the core set (weights above 0) stays small; a step adds one action at most.

    Parameters
    ----------
    actions
        Finite, (n, d); they may span a subspace only.
    core
        False: begin with equal weights, so that every action keeps some weight.

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


def net(dimension: int, zeta: float) -> FloatArray:
    """Points (n, d) of the unit ball of R^d, one of them within `zeta` of every point of the ball.

    Points of a grid of step 2 zeta / sqrt(d), drawn into the ball: a step towards a convex set brings a
    point no farther from any point of that set.

    Raises
    ------
    InputError
        If `zeta` is not in (0, 1), or more than ten million grid points would have to be looked at.

    Source: Hanna et al. 2022, Lemma 1, which bounds the size that is needed by (3/zeta)^d + d.
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
