"""Zeros by Brent's method are those of SciPy, to the last bit."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from verifiable_dp.core.roots import brentq

_SHAPES = {
    "line": lambda x, zero: x - zero,
    "cube": lambda x, zero: (x - zero) ** 3,
    "flat": lambda x, zero: math.expm1(20 * (x - zero)),
    "steep": lambda x, zero: math.atan(1e4 * (x - zero)),
    "tiny": lambda x, zero: 1e-200 * math.sinh(x - zero),
    "step": lambda x, zero: 1.0 if x > zero else -1.0,
}


@pytest.mark.parametrize("shape", _SHAPES)
@given(
    zero=st.floats(-5, 5),
    low=st.floats(1e-6, 9),
    high=st.floats(1e-6, 9),
    tolerances=st.sampled_from([{}, {"xtol": 1e-13, "rtol": 1e-12}, {"xtol": 1e-3}]),
)
def test_they_are_those_of_scipy(shape, zero, low, high, tolerances):
    calls = []
    for solve in (brentq, optimize.brentq):
        seen = []

        def function(x, seen=seen):
            seen.append(x)
            return _SHAPES[shape](x, zero)

        try:
            found = solve(function, zero - low, zero + high, **tolerances)
        except RuntimeError:
            found = None
        calls.append((found, seen))
    assert calls[0] == calls[1]


def test_ends_of_one_sign_are_refused():
    with pytest.raises(ValueError, match=r"must have different signs, got 1\.0 and 4\.0"):
        brentq(lambda x: x * x, 1, 2)
    assert brentq(lambda x: x, 0, 1) == brentq(lambda x: x, -1, 0) == 0
