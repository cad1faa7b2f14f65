"""The noise of nodes that a tree has yet to draw: how far it lowers the prefix sums of the next 2^a items.

Item n completes a node. If 2^a divides n, the prefix sums of items n + 1, ..., n + 2^a - 1 are that of item n
plus fresh nodes, which no later sum holds. In units of a node's scale, let Q_a(y) be the chance that the
noise of one of these 2^a sums, the n-th included, lies y or more below that of the n-th: 1 for y <= 0; Q_0(y)
= 0 for y > 0; and, because the second half is like the first except for the node in the middle, with noise X,

    Q_{a+1}(y) = Q_a(y) + (1 - Q_a(y)) E Q_a(y + X).

So whether a block of items keeps its noise above a limit is one draw. If it does not, it can be halved: the
chances of the halves and of the node between them, given that one of them falls, follow from Q_a.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from verifiable_dp.core import philox
from verifiable_dp.core.kernels import njit
from verifiable_dp.core.validate import FloatArray

PER_UNIT = 64  # places of the table; between them log Q_a is off by less than 5e-9
MOST = 112.0  # a fall this deep has a chance below 2e-18 in a block of 2^40 items, and is left out
LIKELY = 0.25  # a block is tried if its noise falls too far with at most this chance


@lru_cache(maxsize=4)
def tables(levels: int) -> tuple[FloatArray, FloatArray]:
    """Table of log Q_a, (levels + 1, places), and by a the least y at which Q_a(y) is at most `LIKELY`."""
    from scipy.interpolate import CubicSpline

    y = np.arange(0, MOST + 0.5 / PER_UNIT, 1 / PER_UNIT)
    found = np.zeros((levels + 1, len(y)))
    up, down = np.exp(y), np.exp(-y)
    if levels:
        found[1] = down / 2
    for a in range(1, levels):  # E Q_a(y + X), X below -y, between -y and 0, and above
        below = CubicSpline(y, up * found[a]).antiderivative()(y)
        above = CubicSpline(-y[::-1], (down * found[a])[::-1]).antiderivative()(-y[::-1])[::-1]
        found[a + 1] = found[a] + (1 - found[a]) * (down * (1 + below) + up * above) / 2
    enough = np.array([0.0, *(y[np.argmax(row <= LIKELY)] for row in found[1:])])
    found[0] = 1.0  # not asked for; its logarithm is finite
    return np.log(found), enough


@njit(inline="always")
def _around(table, level, y):  # type: ignore[no-untyped-def]
    """Four neighbours of y in a row of the table, and how far y is past the second."""
    at = y * PER_UNIT
    i = max(int(at), 1)
    return table[level, i - 1], table[level, i], table[level, i + 1], table[level, i + 2], at - i


@njit
def fall(table, level, y):  # type: ignore[no-untyped-def]
    """Q_level(y), by cubic interpolation of its logarithm."""
    if y <= 0:
        return 1.0
    if level == 0 or y * PER_UNIT >= table.shape[1] - 2:
        return 0.0
    a, b, c, d, x = _around(table, level, y)
    value = b + x * (c - a / 3 - b / 2 - d / 6 + x * ((a + c) / 2 - b + x * ((b - c) / 2 + (d - a) / 6)))
    return math.exp(value)


@njit
def slope(table, level, y):  # type: ignore[no-untyped-def]
    """Derivative of log Q_level at y > 0, from -1 to 0, for levels above 0."""
    a, b, c, d, x = _around(table, level, y)
    rise = c - a / 3 - b / 2 - d / 6 + x * (a + c - 2 * b + 3 * x * ((b - c) / 2 + (d - a) / 6))
    return min(0.0, max(-1.0, rise * PER_UNIT))


@njit
def middle(table, level, y, key, number, run):  # type: ignore[no-untyped-def]
    """Draw y + X, the fall that is left, given that the second half falls by y after a node with noise X.

    The density is like exp(-|z - y|) Q_level(z). log Q_level is concave, so its tangent at y is an
    envelope. Words are those of attempts 1, 2, ...
    """
    q = fall(table, level, y)
    bend = slope(table, level, y) if q > 0 else 0.0
    up, down = 1 + bend, 1 - bend
    share = -math.expm1(-up * y)
    under, between, over = math.exp(-y), q * (share / up if up > 1e-9 else y), q / down
    attempt = np.uint64(0)
    while True:
        attempt += np.uint64(1)
        w0, w1, w2, _ = philox.block(key[0], key[1], number, run, philox.FRESH, attempt)
        u, v = philox.to_unit(w0) * (under + between + over), philox.to_unit(w1)
        if u < under:
            return math.log(v)
        if u >= under + between:
            z = y - math.log(v) / down
        elif up > 1e-9:
            z = y + math.log1p(-v * share) / up
        else:
            z = v * y
        if philox.to_unit(w2) * q * math.exp(bend * (z - y)) < fall(table, level, z):
            return z


@njit
def falls(table, level, room, key, number, run):  # type: ignore[no-untyped-def]
    """Draw whether the noise of the next 2^level items falls by `room` or more."""
    bits = philox.word(key[0], key[1], run, philox.FRESH, number << np.uint64(2))
    return philox.to_unit(bits) < fall(table, level, room)


@njit
def halve(table, level, room, more, key, number, run):  # type: ignore[no-untyped-def]
    """What to do with the next 2^level items, whose noise is known to fall by `room`, if only `more` matters.

    Returns the level of what to play now, or -1; the noise of the node that its last item completes, or NaN
    if nothing is known of it; and of what comes next the level and the fall that are known, 0 if none are.
    """
    w0, w1, _, _ = philox.block(key[0], key[1], number, run, philox.FRESH, np.uint64(0))
    less = fall(table, level, more)
    if philox.to_unit(w0) * fall(table, level, room) >= less:  # it does not fall by more
        return level, math.nan, 0, 0.0
    half = level - 1
    if philox.to_unit(w1) * less < fall(table, half, more):  # the first half does
        return -1, math.nan, half, more
    left = middle(table, half, more, key, number, run)
    return half, left - more, half if left > 0 else 0, left
