"""The law of one comparison: closed forms for two arms, brute force for three, symmetries, the gradient."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from verifiable_dp import InputError
from verifiable_dp.evidence.exact.race import (
    MOST_ARMS,
    kept_sets,
    log_interval,
    survivors,
    survivors_in_general,
)


def log_tail(x):
    """log P(Z - Z' > x) of standard Laplace draws: e^-x (2 + x)/4 above 0."""
    return math.log(2 + x) - x - math.log(4) if x >= 0 else math.log1p(-math.exp(x) * (2 - x) / 4)


def log_tail_of(x, s, r):
    """log P(s Z - r Z' > x), x >= 0, by the density's partial fractions; s != r."""
    big, small = max(s, r), min(s, r)
    ratio = (small / big) ** 2 * math.exp(-x / small + x / big)
    return -x / big + math.log1p(-ratio) - math.log(2) - math.log1p(-((small / big) ** 2))


@pytest.mark.parametrize("gap", [0.0, 1.0, 30.0, -20.0, 100.0])
@pytest.mark.parametrize("margin", [1e-3, 1.0, 40.0, 500.0, 600.0])
def test_two_arms_with_equal_noise_follow_the_closed_form(gap, margin):
    log_p, _ = survivors(np.array([gap, 0.0]), np.ones(2), margin)
    # Logarithms to 1e-12: probabilities to 1e-12 of themselves, down to e^-600.
    assert log_p[0b01] == pytest.approx(log_tail(margin - gap), abs=1e-12, rel=1e-13)
    assert log_p[0b10] == pytest.approx(log_tail(margin + gap), abs=1e-12, rel=1e-13)


@pytest.mark.parametrize("x", [0.5, 20.0, 500.0, 690.0])
@pytest.mark.parametrize("scales", [(1.0, 2.0), (3.0, 0.1), (1.0, 1.01)])
def test_two_arms_with_unequal_noise_follow_the_closed_form(x, scales):
    log_p, _ = survivors(np.zeros(2), np.array(scales), x)
    assert log_p[0b01] == pytest.approx(log_tail_of(x, *scales), rel=1e-11, abs=1e-11)
    assert log_p[0b01] == pytest.approx(log_p[0b10], rel=1e-12)


def brute_force(values, scales, margin):
    """Probabilities of three arms by adaptive quadrature of the densities themselves."""
    laws = [stats.laplace(v, s) for v, s in zip(values, scales, strict=True)]
    out = np.zeros(8)
    ends = np.sort(np.concatenate([values, values + margin]))
    for number, kept in enumerate(kept_sets(3)):
        for w in np.flatnonzero(kept):

            def density(x, w=w, kept=kept):
                product = laws[w].pdf(x)
                for a in range(3):
                    if a != w:
                        below = laws[a].cdf(x - margin)
                        product *= laws[a].cdf(x) - below if kept[a] else below
                return product

            cuts = [ends[0] - 60 * max(scales), *ends, ends[-1] + 60 * max(scales)]
            out[number] += sum(
                integrate.quad(density, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0]
                for a, b in itertools.pairwise(cuts)
                if b > a
            )
    return out


@pytest.mark.parametrize(
    ("values", "scales", "margin"),
    [
        ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 1.0),
        ((0.0, -2.0, -3.5), (1.0, 1.0, 1.0), 2.0),
        ((1.0, 5.0, -4.0), (1.0, 3.0, 0.5), 4.0),
    ],
)
def test_three_arms_agree_with_brute_force(values, scales, margin):
    log_p, _ = survivors(np.array(values), np.array(scales), margin)
    np.testing.assert_allclose(
        np.exp(log_p), brute_force(np.array(values), np.array(scales), margin), rtol=1e-9, atol=1e-13
    )


def test_one_arm_always_survives():
    np.testing.assert_allclose(survivors(np.array([3.0]), np.ones(1), 2.0)[0], [-np.inf, 0.0], atol=1e-14)


def test_intervals_are_exact_in_both_tails():
    cases = [(-700.0, -699.0), (699.0, 700.0), (-1.0, 2.0), (0.0, 1e-12), (-1e-9, 1e-9), (400.0, np.inf)]
    for low, high in cases:
        mirrored = float(log_interval(-high, -low))
        assert float(log_interval(low, high)) == pytest.approx(mirrored, rel=1e-14)
    assert math.exp(log_interval(-1.0, 2.0)) == pytest.approx(1 - (math.exp(-1) + math.exp(-2)) / 2)
    assert float(log_interval(399.0, 400.0)) == pytest.approx(-399 + math.log((1 - math.exp(-1)) / 2))
    assert float(log_interval(-np.inf, np.inf)) == 0.0
    assert float(log_interval(2.0, 1.0)) == float(log_interval(1.0, 1.0)) == -np.inf


NUMBERS = st.floats(-80, 80)
SCALES = st.floats(0.05, 20)
ARMS = st.integers(2, 5).flatmap(
    lambda m: st.tuples(
        st.lists(NUMBERS, min_size=m, max_size=m),
        st.lists(SCALES, min_size=m, max_size=m),
        st.floats(0.01, 100),
    )
)
QUICK = settings(max_examples=40, deadline=None, derandomize=True)


@QUICK
@given(ARMS)
def test_probabilities_sum_to_one_and_gradients_to_zero(case):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    log_p, gradient = survivors(values, scales, margin)
    assert log_p[0] == -np.inf
    assert abs(math.fsum(np.exp(log_p).tolist()) - 1) < 1e-12
    # Moving all arms alike changes nothing, and probabilities always sum to 1.
    np.testing.assert_allclose((gradient @ np.ones(len(values))), 0, atol=1e-9 / scales.min())
    np.testing.assert_allclose(np.exp(log_p) @ gradient, 0, atol=1e-10 / scales.min())
    assert (np.abs(gradient) <= (1 + 1e-9) / scales).all()  # a Laplace draw's score is at most 1/scale


@QUICK
@given(ARMS, st.randoms(use_true_random=False), st.floats(-50, 50), st.floats(0.1, 10))
def test_arms_units_and_the_origin_do_not_matter(case, random, shift, unit):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    order = list(range(len(values)))
    random.shuffle(order)
    log_p, _ = survivors(values, scales, margin)
    moved, _ = survivors((values[order] + shift) * unit, scales[order] * unit, margin * unit)
    sets = kept_sets(len(values))
    match = sets[:, order] @ (1 << np.arange(len(values)))
    np.testing.assert_allclose(moved[match][1:], log_p[1:], rtol=1e-10, atol=1e-10)


@QUICK
@given(ARMS)
def test_both_ways_of_working_it_out_agree(case):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    np.testing.assert_allclose(
        survivors_in_general(values, scales, margin)[1:],
        survivors(values, scales, margin)[0][1:],
        rtol=1e-11,
        atol=1e-11,
    )


@QUICK
@given(ARMS)
def test_gradient_agrees_with_central_differences(case):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    _, gradient = survivors(values, scales, margin)
    assert len(values) > 1
    for arm in range(len(values)):
        step = np.zeros(len(values))
        step[arm] = 1e-3 * min(scales.min(), margin)
        one, two = (
            (survivors(values + h, scales, margin)[0][1:] - survivors(values - h, scales, margin)[0][1:])
            / (2 * h[arm])
            for h in (step, 2 * step)
        )
        numeric = (4 * one - two) / 3  # Richardson
        np.testing.assert_allclose(gradient[1:, arm], numeric, atol=2e-7 / scales.min())


def test_missing_noise_is_decided_by_comparison():
    law = survivors_in_general(np.array([0.0, -1.0, -3.0]), np.zeros(3), 2.0)
    np.testing.assert_array_equal(np.exp(law), np.eye(8)[0b011])
    # Just at the margin an arm stays, and of equal arms none falls out.
    law = survivors_in_general(np.array([0.0, 0.0, -2.0]), np.zeros(3), 2.0)
    np.testing.assert_array_equal(np.exp(law), np.eye(8)[0b111])


def test_one_noisy_arm_among_exact_ones_follows_the_laplace_law():
    # Exact arms at 0 and -3; the noisy one decides: it is above 2, or within 2 of 0, or below.
    law = survivors_in_general(np.array([0.0, -3.0, 0.0]), np.array([0.0, 0.0, 1.5]), 2.0)
    noise = stats.laplace(0, 1.5)
    assert math.exp(law[0b100]) == pytest.approx(noise.sf(2), rel=1e-12)
    assert math.exp(law[0b101]) == pytest.approx(noise.cdf(2) - noise.cdf(-2), rel=1e-12)
    assert math.exp(law[0b001]) == pytest.approx(noise.cdf(-2), rel=1e-12)
    assert np.isneginf(law[[0b010, 0b011, 0b110, 0b111]]).all()


def test_a_shared_draw_cancels():
    shared = survivors_in_general(np.array([0.0, -1.0, -3.0]), np.ones(3), 2.0, np.zeros(3, int))
    np.testing.assert_allclose(np.exp(shared), np.eye(8)[0b011], atol=1e-12)
    # Two arms share a draw, the third has its own: a race of the larger of the two with the third.
    pair = survivors_in_general(np.array([1.0, 0.5, 0.0]), np.ones(3), 3.0, np.array([7, 7, 8]))
    two, _ = survivors(np.array([1.0, 0.0]), np.ones(2), 3.0)
    assert pair[0b011] == pytest.approx(two[0b01], rel=1e-12)
    alone = [pair[0b100], pair[0b101], pair[0b111]]  # the third alone, with the larger, with both
    assert np.logaddexp.reduce(alone[1:]) == pytest.approx(two[0b11], rel=1e-10)
    assert np.isneginf(pair[[0b001, 0b010, 0b110]]).all()


@pytest.mark.parametrize(
    ("values", "scales", "margin"),
    [
        (np.zeros(2), np.ones(3), 1.0),
        (np.zeros((2, 2)), np.ones((2, 2)), 1.0),
        (np.zeros(MOST_ARMS + 1), np.ones(MOST_ARMS + 1), 1.0),
        (np.array([0.0, np.nan]), np.ones(2), 1.0),
        (np.zeros(2), np.array([1.0, -1.0]), 1.0),
        (np.zeros(2), np.array([1.0, 0.0]), 1.0),
        (np.zeros(2), np.ones(2), 0.0),
        (np.zeros(2), np.ones(2), np.inf),
    ],
)
def test_other_input_is_refused(values, scales, margin):
    with pytest.raises(InputError):
        survivors(values, scales, margin)
