"""Bins that a search learns: quantiles, values that recur, and ends where many values lie."""

import math

import numpy as np
import pytest

from verifiable_dp.evidence.blackbox import learning

NEXT = [math.nextafter(x, 9) for x in range(6)]


@pytest.mark.parametrize(
    ("values", "low", "high", "edges"),
    [
        ([0, 1, 2], 0, 2, []),
        ([0, 0, 2], 0, 2, [NEXT[0]]),
        ([0, 2, 2], 0, 2, [2]),
        ([0, 0, 2, 2], 0, 2, [NEXT[0], 2]),
    ],
)
def test_ends_where_many_values_lie(values, low, high, edges):
    assert learning._outer(np.array(values, float), low, high).tolist() == edges


@pytest.mark.parametrize(
    ("values", "bins", "edges"),
    [
        ([0, 1, 2, 3, 4], 4, [1, 2, 3]),
        ([4, 3, 2, 1, 0], 2, [2]),
        ([0, 1, 2, 3, 4, math.nan, math.inf, -math.inf], 4, [1, 2, 3]),
        ([0, 1, 1, 1, 2, 3], 5, [1, NEXT[1], 2]),  # a value that recurs has a bin to itself
        ([0, 0, 1, 2, 3], 2, [NEXT[0], 1]),
        ([math.nan], 4, []),
        ([], 4, []),
    ],
)
def test_edges_of_bins(values, bins, edges):
    assert learning._edges(np.array(values, float), bins).tolist() == edges
