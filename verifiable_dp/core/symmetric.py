"""Symmetric matrices as vectors of the entries on and above the diagonal, and Wishart draws in that form."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from verifiable_dp.core.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.interpolate import BSpline


@functools.cache
def _upper(size: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows and columns of the entries, and what they are multiplied by."""
    rows, columns = np.triu_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, 2**0.5)


def outer(vector: FloatArray) -> FloatArray:
    """z z' of vectors (n, k) as (n, k (k + 1) / 2) of the same norm: off the diagonal times sqrt 2.

    Independent noise of one standard deviation on these entries is the symmetric noise of matrices whose law
    does not depend on the axes.
    """
    rows, columns, factor = _upper(vector.shape[1])
    return np.asarray(vector[:, rows] * vector[:, columns] * factor)


def matrix(entries: FloatArray, size: int) -> FloatArray:
    """Symmetric matrices (n, k, k) from their entries as `outer` has them; k = `size`."""
    rows, columns, factor = _upper(size)
    made = np.empty((len(entries), size, size))
    made[:, rows, columns] = made[:, columns, rows] = entries / factor
    return made


def rows_of(entries: int) -> int:
    """k of vectors of k (k + 1) / 2 entries."""
    return (math.isqrt(8 * entries + 1) - 1) // 2


def normal_of(laplace: FloatArray) -> FloatArray:
    """Standard normal values at the quantiles of standard Laplace ones; far tails keep their digits."""
    from scipy.special import ndtri

    return np.asarray(-np.sign(laplace) * ndtri(np.exp(-np.abs(laplace)) / 2))


@functools.cache
def _chi(freedom: int) -> BSpline:
    """Roots of chi-square values at the quantiles of standard normal ones, to 14 digits.

    SciPy's inverse is dearer. No Laplace value that is made from 53 bits is as far out as the ends.
    """
    from scipy.interpolate import make_interp_spline
    from scipy.special import gammainccinv, gammaincinv, ndtr

    normal = np.linspace(-9.0, 9.0, 1 << 11)
    tail = ndtr(-np.abs(normal))
    square = np.where(normal < 0, gammaincinv(freedom / 2, tail), gammainccinv(freedom / 2, tail))
    return make_interp_spline(normal, np.sqrt(2 * square), k=7)


def wishart(laplace: FloatArray, freedom: int) -> FloatArray:
    """Wishart matrices less their mean, W - k I for W ~ W_p(I, k), as `outer` has them.

    Bartlett's decomposition: W = T T', T lower triangular, its entries normal below the diagonal, and on it
    roots of chi-square values with k, k - 1, ... degrees of freedom.

    Parameters
    ----------
    laplace : (n, p (p + 1) / 2) float
        Independent standard Laplace values, from which the others are made quantile by quantile.
    freedom
        k >= p.
    """
    size = rows_of(laplace.shape[1])
    rows, columns, factor = _upper(size)
    normal = normal_of(laplace)
    root = np.zeros((len(laplace), size, size))
    root[:, columns, rows] = normal
    for at, number in enumerate(np.flatnonzero(rows == columns)):
        root[:, at, at] = _chi(freedom - at)(normal[:, number])
    found = root @ root.transpose(0, 2, 1) - freedom * np.eye(size)
    return np.asarray(found[:, rows, columns] * factor)


def likelihood(
    output: FloatArray, here: FloatArray, there: FloatArray, scale: FloatArray, freedom: int
) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood ratios of released matrices with Wishart noise, and how the exact ones differ.

    Parameters
    ----------
    output, here, there : (n, m) float
        What was released, and the exact matrices of either world, as `outer` has them.
    scale : (n,) float
        Of the noise, above 0.
    freedom
        k.

    Returns
    -------
    loss : (n,) float
        Log of the density in the first world over that in the second; infinite where the second has none.
    change : (n, p, p) float
        First matrix less the second, in units of the scale.
    """
    size = rows_of(output.shape[1])
    mean = freedom * np.eye(size)
    first, second = (matrix((output - exact) / scale[:, None], size) + mean for exact in (here, there))
    change = matrix((here - there) / scale[:, None], size)
    inside = np.linalg.eigvalsh(second)[:, 0] > 0
    safe = np.where(inside[:, None, None], second, np.eye(size))
    grown = np.linalg.slogdet(first)[1] - np.linalg.slogdet(safe)[1]
    loss = (freedom - size - 1) / 2 * grown + np.trace(change, axis1=1, axis2=2) / 2
    return np.where(inside, loss, np.inf), change
