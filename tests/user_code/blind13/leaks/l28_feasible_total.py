"""Feasible stock total: Laplace noise that respects the physical range.

release(data, size, rng): data is a vector of five floats in [0, 1], neighbours differ in one entry.  The
total has sensitivity 1 and gets Laplace(1/epsilon) noise; draws outside [0, 5] cannot be stock levels and
are drawn again.  Returns (size,).  Claims epsilon = 0.5.
"""
import numpy as np

EPSILON = 0.5


def laplace_inverse(u, centre, scale):
    v = u - 0.5
    return centre - scale * np.sign(v) * np.log1p(-2.0 * np.abs(v))


def release(data, size, rng):
    data = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    total, top = data.sum(), float(data.size)
    out = np.full(size, np.nan)
    pending = np.arange(size)
    while pending.size:
        draw = laplace_inverse(rng.random(pending.size), total, 1.0 / EPSILON)
        good = (draw >= 0.0) & (draw <= top)
        out[pending[good]] = draw[good]
        pending = pending[~good]
    return out
