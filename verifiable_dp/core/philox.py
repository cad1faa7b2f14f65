"""Philox4x64-10, a counter-based generator: each draw is a pure function of (key, run, slot).

The same words as `numpy.random.Philox` (a test holds them equal), but by random access: any draw of
any run can be made alone, in any order, in NumPy batches or inside a numba kernel. That is what makes
results independent of batch sizes and workers, and kernels comparable with definitions draw for draw.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from verifiable_dp.core.kernels import kernel, leading_zeros, multiply_high, njit, trailing_zeros
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray

__all__ = ["leading_zeros", "trailing_zeros"]

_M0 = np.uint64(0xD2E7470EE14C6C93)
_M1 = np.uint64(0xCA5A826395121157)
_W0 = np.uint64(0x9E3779B97F4A7C15)
_W1 = np.uint64(0xBB67AE8584CAA73B)

# The third counter word keeps the kinds of draws of one key apart.
NOISE = np.uint64(0)
REWARD = np.uint64(1)
REPORTS = np.uint64(2)
COUNTS = np.uint64(3)
FRESH = np.uint64(4)


@njit(inline="always")
def block(key0, key1, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """Four 64-bit words of counter (c0, c1, c2, c3) under key (key0, key1)."""
    for _ in range(10):
        high0 = multiply_high(_M0, c0)
        low0 = _M0 * c0
        high1 = multiply_high(_M1, c2)
        low1 = _M1 * c2
        c0 = high1 ^ c1 ^ key0
        c1 = low1
        c2 = high0 ^ c3 ^ key1
        c3 = low0
        key0 += _W0
        key1 += _W1
    return c0, c1, c2, c3


@njit(inline="always")
def word(key0, key1, run, domain, slot):  # type: ignore[no-untyped-def]
    """The 64-bit word of `slot` in `run`: word slot % 4 of block slot // 4."""
    w0, w1, w2, w3 = block(key0, key1, np.uint64(slot) >> np.uint64(2), np.uint64(run), domain, np.uint64(0))
    which = np.uint64(slot) & np.uint64(3)
    if which == 0:
        return w0
    if which == 1:
        return w1
    if which == 2:
        return w2
    return w3


@njit(inline="always")
def to_unit(bits):  # type: ignore[no-untyped-def]
    """A double in (0, 1): the middle of one of 2^53 cells."""
    return (np.float64(bits >> np.uint64(11)) + 0.5) * 1.1102230246251565e-16


@njit(inline="always")
def to_laplace(bits):  # type: ignore[no-untyped-def]
    """A standard Laplace draw: the lowest bit is the sign, the upper 53 bits the magnitude."""
    magnitude = -math.log(to_unit(bits))
    if bits & np.uint64(1):
        return magnitude
    return -magnitude


@njit
def below(chance):  # type: ignore[no-untyped-def]
    """The word up to which uniforms are below `chance`: to_unit(bits) < chance if bits < below(chance)."""
    low, high = np.uint64(0), np.uint64(1) << np.uint64(53)
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if to_unit(middle << np.uint64(11)) < chance:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low << np.uint64(11)


def _words(key: FloatArray, run: IntArray, domain: np.uint64, slot: IntArray) -> IntArray:
    """`fill_words` in NumPy."""
    at = np.asarray(slot).astype(np.uint64)
    drawn = np.asarray(run).astype(np.uint64)[:, None]
    blocks = block(key[0], key[1], at >> np.uint64(2), drawn, domain, np.uint64(0))
    return np.choose((at & np.uint64(3)).astype(np.intp), np.broadcast_arrays(*blocks))


@functools.partial(kernel, plain=_words)
def fill_words(key, run, domain, slot):  # type: ignore[no-untyped-def]
    """Words of each (run[i], slot[i, j]), uint64 of shape (n, m)."""
    out = np.empty(slot.shape, np.uint64)
    for i in range(slot.shape[0]):
        for j in range(slot.shape[1]):
            out[i, j] = word(key[0], key[1], run[i], domain, slot[i, j])
    return out


def _laplace(  # type: ignore[no-untyped-def]
    key: FloatArray, run: IntArray, slot: IntArray, scale: FloatArray, where: BoolArray
):
    """`fill_laplace` in NumPy; logarithms are those of the C library, bit for bit."""
    bits = _words(key, run, NOISE, slot)[where]
    units = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 1.1102230246251565e-16
    magnitudes = -np.fromiter(map(math.log, units.tolist()), np.float64, len(units))
    out = np.full(slot.shape, np.nan)
    out[where] = scale[where] * np.where(bits & np.uint64(1), magnitudes, -magnitudes)
    return out


@functools.partial(kernel, plain=_laplace)
def fill_laplace(  # type: ignore[no-untyped-def]
    key: FloatArray, run: IntArray, slot: IntArray, scale: FloatArray, where: BoolArray
):
    """Laplace noise of each (run[i], slot[i, j]) with scale[i, j]; NaN where `where` is False."""
    n, m = slot.shape
    out = np.empty((n, m), np.float64)
    for i in range(n):
        held = np.uint64(0xFFFFFFFFFFFFFFFF)
        w0 = w1 = w2 = w3 = np.uint64(0)
        for j in range(m):
            if not where[i, j]:
                out[i, j] = np.nan
                continue
            at = np.uint64(slot[i, j])
            number = at >> np.uint64(2)
            if number != held:
                held = number
                w0, w1, w2, w3 = block(key[0], key[1], number, np.uint64(run[i]), NOISE, np.uint64(0))
            which = at & np.uint64(3)
            if which == 0:
                bits = w0
            elif which == 1:
                bits = w1
            elif which == 2:
                bits = w2
            else:
                bits = w3
            out[i, j] = scale[i, j] * to_laplace(bits)
    return out


@njit
def to_gamma(key0, key1, run, number, shape):  # type: ignore[no-untyped-def]
    """A Gamma draw of scale 1 and `shape` at least 1; its words are those of attempts 0, 1, ...

    Source: Marsaglia & Tsang, "A simple method for generating gamma variables", TOMS 2000.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    attempt = np.uint64(0)
    while True:
        w0, w1, w2, w3 = block(key0, key1, number, run, REPORTS, attempt)
        attempt += np.uint64(1)
        radius, angle = math.sqrt(-2.0 * math.log(to_unit(w0))), 2.0 * np.pi * to_unit(w1)
        for x, bits in ((radius * math.cos(angle), w2), (radius * math.sin(angle), w3)):
            side = 1.0 + c * x
            v = side * side * side  # a power is rounded otherwise where it is not compiled
            if v > 0 and math.log(to_unit(bits)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v


@njit
def _stirling(n):  # type: ignore[no-untyped-def]
    """log n! less (n + 1/2) log(n + 1) - (n + 1) + log(2 pi)/2."""
    if n >= 10:
        square = (n + 1.0) * (n + 1.0)
        return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (n + 1.0)
    value = (n + 1.0) - (n + 0.5) * math.log(n + 1.0) - 0.9189385332046727
    for j in range(2, n + 1):
        value += math.log(float(j))
    return value


@njit
def to_binomial(key0, key1, run, number, count, chance):  # type: ignore[no-untyped-def]
    """How many of `count` draws succeed with `chance` each; its words are those of attempts 0, 1, ...

    Source: Hoermann, "The generation of binomial random variates", JSCS 1993 (BTRS); waiting times where
    fewer than ten are expected.
    """
    if chance > 0.5:
        return count - _rarer(key0, key1, run, number, count, 1.0 - chance)
    return _rarer(key0, key1, run, number, count, chance)


@njit
def _rarer(key0, key1, run, number, count, chance):  # type: ignore[no-untyped-def]
    """`to_binomial` for chances of at most 1/2."""
    attempt = np.uint64(0)
    if chance <= 0:
        return 0
    if count * chance < 10:
        tries, place, rate = -1, 0.0, math.log1p(-chance)
        while True:
            for bits in block(key0, key1, number, run, COUNTS, attempt):
                tries += 1
                place += np.floor(math.log(to_unit(bits)) / rate) + 1
                if place > count:
                    return tries
            attempt += np.uint64(1)
    spread = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    alpha = (2.83 + 5.1 / b) * spread
    mode = np.int64(np.floor((count + 1) * chance))
    rest = count - mode
    slope = math.log((rest + 1.0) / (mode + 1.0) * chance / (1 - chance))
    while True:
        w0, w1, w2, w3 = block(key0, key1, number, run, COUNTS, attempt)
        attempt += np.uint64(1)
        for left, right in ((w0, w1), (w2, w3)):
            u, v = to_unit(left) - 0.5, to_unit(right)
            edge = 0.5 - abs(u)
            hits = np.int64(np.floor((2 * a / edge + b) * u + count * chance + 0.5))
            if edge >= 0.07 and v <= 0.92 - 4.2 / b:
                return hits
            if hits < 0 or hits > count:
                continue
            # log of P[hits]/P[mode], written so that nothing as large as `count` cancels
            off = float(hits - mode)
            ratio = (
                off * slope + _stirling(mode) - _stirling(hits) + _stirling(rest) - _stirling(count - hits)
            )
            ratio -= (hits + 0.5) * math.log1p(off / (mode + 1.0))
            ratio -= (count - hits + 0.5) * math.log1p(-off / (rest + 1.0))
            if math.log(v * alpha / (a / (edge * edge) + b)) <= ratio:
                return hits


@kernel
def fill_reports(key, run, slot, count, scale, where):  # type: ignore[no-untyped-def]
    """Sums of `count` Laplace draws of `scale` each, (n, m); NaN where `where` is False.

    Such a sum is the difference of two Gamma draws of shape `count`.
    """
    out = np.zeros(slot.shape)
    for i in range(slot.shape[0]):
        for j in range(slot.shape[1]):
            if not where[i, j]:
                out[i, j] = np.nan
            elif count[i, j] > 0:
                first = np.uint64(2 * slot[i, j])
                shape = np.float64(count[i, j])
                above = to_gamma(key[0], key[1], np.uint64(run[i]), first, shape)
                below = to_gamma(key[0], key[1], np.uint64(run[i]), first + np.uint64(1), shape)
                out[i, j] = scale[i, j] * (above - below)
    return out
