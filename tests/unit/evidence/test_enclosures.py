"""What functions of a draw are on stretches: held against the functions themselves, at points in between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from verifiable_dp.evidence.symbolic import enclosures
from verifiable_dp.evidence.symbolic.draw_sources import _QUANTILES
from verifiable_dp.evidence.symbolic.enclosures import Enclosure, Quantile, chance_of, is_like

ONES = {  # functions of one number
    **{f.__name__: f for f in (np.negative, np.square, np.abs, np.log, np.log2, np.log10, np.log1p, np.exp)},
    **{f.__name__: f for f in (np.expm1, np.sqrt, np.sin, np.cos, np.tan, np.arctanh, np.reciprocal)},
    "ndtri": special.ndtri,
    "erfinv": special.erfinv,
    "logit": special.logit,
    "half": lambda u: u**0.5,
    "one over": lambda u: u**-1,
    "clip": lambda u: np.clip(u, 0.3, 0.6),
    "laplace": Quantile(stats.laplace),
    "from above": Quantile(stats.gumbel_r, above=True),
    "sine and cosine": lambda u: np.cos(2 * np.pi * u) - 3 * np.sin(2 * np.pi * u),
    "chosen": lambda u: np.where(u < 0.4, u * u, 1 - u),
    "larger": lambda u: np.maximum(u * u, 1 - u) - np.minimum(2 * u, 0.7),
    "signed": lambda u: np.copysign(np.log1p(u), u - 0.5),
}
STEPS = {
    **{f.__name__: f for f in (np.floor, np.ceil, np.rint, np.trunc)},
    "sign": lambda u: np.sign(u - 0.25),
    "compared": lambda u: 1.0 * (u > 0.5) + 2.0 * (u <= 0.7) + (u == 0.3) - (u != 0.3),
    "logic": lambda u: 1.0 * np.logical_or(u < 0.2, np.logical_not(u < 0.9)),
    "bits": lambda u: 1.0 * ((u > 0.2) & ~(u > 0.6)),
}


def enclosed(function, low, high):
    """Enclosures on one stretch."""
    ends = (np.array([float(value)]) for value in (low, high, 1, 1))
    return Enclosure.of(function(Enclosure(*ends)))


stretches = st.tuples(st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 0.3)).map(
    lambda ends: (ends[0], min(ends[0] + ends[1], 1 - 1e-9))
)


def lies_within(function, low, high):
    """Values and slopes at points in between lie in the enclosure."""
    found = enclosed(function, low, high)
    at = np.linspace(low, high, 41)
    values = np.asarray(function(at), np.float64) * np.ones(at.shape)
    near = 1e-9 * (1 + np.abs(values))
    assert (found.low <= values + near).all()
    assert (values - near <= found.high).all()
    steps = np.diff(values) / np.diff(at)
    rounding = 64 * np.finfo(float).eps * (1 + np.abs(values).max())
    rough = 1e-6 * (1 + np.abs(steps)) + rounding / (at[1] - at[0])
    assert (found.least <= steps + rough).all()
    assert (steps - rough <= found.most).all()


@pytest.mark.parametrize("name", [*ONES, *STEPS])
@settings(max_examples=60, deadline=None)
@given(stretch=stretches)
def test_values_and_slopes_lie_within(name, stretch):
    """Broken variants: a monotone function's slope at one end; an absolute value that forgets its bend."""
    lies_within((ONES | STEPS)[name], *stretch)


@pytest.mark.parametrize("name", [*ONES, *STEPS])
def test_values_and_slopes_lie_within_some_stretches(name):
    """By day. Broken variant: what is not true is 1.05 - x."""
    for stretch in ((0.01, 0.1), (0.05, 0.95), (0.2, 0.45), (0.45, 0.55), (0.69, 0.72), (0.91, 0.99)):
        lies_within((ONES | STEPS)[name], *stretch)


TIGHT = (np.negative, np.square, np.abs, np.exp, np.expm1, np.sqrt, np.log, np.arctanh, np.reciprocal)


@pytest.mark.parametrize("function", [*TIGHT, np.floor, np.ceil, np.rint, np.trunc, np.sign])
@pytest.mark.parametrize("ends", [(-2.2, -0.5), (-0.9, 0.4), (-0.75, -0.25), (0.25, 0.75), (0.6, 2.2)])
def test_one_function_is_enclosed_to_its_range(function, ends):
    """On both sides of its bend and around it. Broken variant: an absolute value that starts at 0."""
    found = enclosed(function, *ends)
    at = np.unique([*np.linspace(*ends, 9), *(x for x in (-1.0, 0.0, 1.0) if ends[0] < x < ends[1])])
    with np.errstate(all="ignore"):
        values = function(at)
    if not np.isfinite(values).all():
        assert not np.isfinite([found.low, found.high]).all()
        return
    assert found.low == pytest.approx(values.min(), abs=1e-9)
    assert found.high == pytest.approx(values.max(), abs=1e-9)
    steps = np.diff(values) / np.diff(at)
    assert function not in TIGHT or (found.least <= steps + 1e-9).all()
    assert function not in TIGHT or (steps - 1e-9 <= found.most).all()


def test_what_is_not_known_is_not_enclosed():
    unknown = [np.sinh, special.gammaln, lambda u: u**3, lambda u: float(u), lambda u: u if u > 0.5 else 1]
    for function in unknown:
        with pytest.raises((enclosures.Unenclosed, TypeError)):
            enclosed(function, 0.1, 0.2)
        assert not is_like(function, lambda u: u, 1.0)
        assert np.isnan(chance_of(function, 1.0))


@pytest.mark.parametrize("kind", list(_QUANTILES))
def test_laws_are_like_themselves_and_like_no_other(kind):
    law = _QUANTILES[kind]
    assert is_like(lambda u: 3 - 2 * law(1 - u), lambda u: -law(1 - u), 2.0)
    assert not is_like(lambda u: 3 - 2 * law(1 - u), lambda u: -law(1 - u), 2.02)
    for other, another in _QUANTILES.items():
        assert is_like(another, law, 1.0) == (other == kind)


def flat(u, width, at=0.40015):
    """1, but 0 within a stretch."""
    return np.minimum(1.0, np.maximum(0.0, np.abs(u - at) - width) * 1e15)


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-8, 1e-11])
def test_a_narrow_stretch_is_seen(width):
    """Broken variant: what stays open is not counted."""
    law = _QUANTILES["logistic"]
    assert not is_like(lambda u: law(u) * flat(u, width), law, 1.0)
    assert not is_like(lambda u: law(u) + 0.1 * width * np.tanh((u - 0.3) / width), law, 1.0)
    assert chance_of(lambda u: np.sign(u - 0.5) * flat(u, width), -1.0) != pytest.approx(0.5, abs=width / 2)


def test_chances_of_values():
    assert chance_of(lambda u: np.sign(u - 0.25), 1.0) == pytest.approx(0.75, abs=1e-11)
    assert chance_of(lambda u: np.where(u < 0.125, 3.0, -2.0), 3.0) == pytest.approx(0.125, abs=1e-11)
    assert chance_of(lambda u: 0 * u + 2.0, 2.0) == pytest.approx(1.0, abs=1e-11)
    assert chance_of(lambda u: u, 0.5) == pytest.approx(0.0, abs=1e-11)


def test_functions_that_are_made_alike_have_one_structure():
    def scaled(by):
        return lambda u: by * np.log(u)

    assert enclosures.structure(scaled(2.0)) == enclosures.structure(scaled(2.0))
    assert enclosures.structure(scaled(2.0)) != enclosures.structure(scaled(3.0))
    assert enclosures.structure(scaled(2)) != enclosures.structure(scaled(2.0))
    assert enclosures.structure(scaled([1])) is None
    assert enclosures.structure([].append) is None
