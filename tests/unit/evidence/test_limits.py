"""Divergences of two known laws against closed forms, and the best event against all others."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verifiable_dp import InputError
from verifiable_dp.evidence.blackbox import statistics
from verifiable_dp.evidence.exact import limits

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
RUNS = 2_000_000


def cells(mean, scale=1.0, step=1e-3, span=40.0):
    """Log-probabilities of the cells of a grid under a Laplace law; the grid has an edge at 0 and at 1."""
    edges = np.arange(round(-span / step), round((span + 1) / step) + 1) * step
    middle = (edges[1:] + edges[:-1]) / 2 - mean
    half = step / (2 * scale)
    return -np.abs(middle) / scale + math.log(math.sinh(half))


@pytest.fixture(scope="module")
def laplace():
    return cells(0.0), cells(1.0)


def test_laplace_divergence_has_its_closed_form(laplace):
    assert limits.max_divergence(*laplace) == pytest.approx(1.0, rel=1e-9)
    for epsilon in (0.0, 0.1, 0.5, 0.9):
        delta = 1 - math.exp((epsilon - 1) / 2)
        assert limits.hockey_stick(*laplace, epsilon) == pytest.approx(delta, rel=1e-6)
        assert limits.epsilon_of(*laplace, delta) == pytest.approx(epsilon, abs=1e-5)
    assert limits.hockey_stick(*laplace, 1 + 1e-9) == pytest.approx(0, abs=1e-12)


def test_tiny_probabilities_keep_their_ratios():
    p = np.array([-700.0, 0.0])
    q = np.array([-701.5, 0.0])
    assert limits.max_divergence(p, q) == 1.5
    assert limits.hockey_stick(p, q, 1.0) == pytest.approx(math.exp(-700) * -math.expm1(-0.5), rel=1e-12)


def test_what_one_law_lacks_makes_epsilon_infinite():
    p, q = np.log([0.5, 0.5]), np.array([-np.inf, 0.0])
    assert limits.max_divergence(p, q) == math.inf
    assert limits.hockey_stick(p, q, 5.0) == 0.5
    assert limits.epsilon_of(p, q, 0.4) == math.inf
    assert limits.epsilon_of(p, q, 0.5) == 0.0
    assert limits.epsilon_of(q, p, 0.3) == pytest.approx(math.log(0.7 / 0.5))
    both = np.array([-np.inf, 0.0])
    assert limits.max_divergence(both, both) == 0


LAWS = (
    st.integers(2, 8)
    .flatmap(lambda m: st.tuples(*(st.lists(st.integers(0, 20), min_size=m, max_size=m) for _ in range(2))))
    .filter(lambda laws: sum(laws[0]) and sum(laws[1]))
)


def logs(weights):
    with np.errstate(divide="ignore"):
        return np.log(np.array(weights) / sum(weights))


@QUICK
@given(LAWS, st.floats(-1, 3))
def test_hockey_stick_is_the_largest_over_all_events(laws, epsilon):
    log_p, log_q = logs(laws[0]), logs(laws[1])
    p, q = np.exp(log_p), np.exp(log_q)
    most = max(
        p[list(event)].sum() - math.exp(epsilon) * q[list(event)].sum()
        for size in range(len(p) + 1)
        for event in itertools.combinations(range(len(p)), size)
    )
    assert limits.hockey_stick(log_p, log_q, epsilon) == pytest.approx(most, abs=1e-12)


@QUICK
@given(LAWS, st.floats(0, 0.6))
def test_epsilon_of_inverts_the_hockey_stick(laws, delta):
    log_p, log_q = logs(laws[0]), logs(laws[1])
    epsilon = limits.epsilon_of(log_p, log_q, delta)
    if math.isinf(epsilon):
        assert limits.hockey_stick(log_p, log_q, 700.0) > delta
        return
    assert limits.hockey_stick(log_p, log_q, epsilon + 1e-9) <= delta + 1e-9
    if epsilon > 1e-6:
        assert limits.hockey_stick(log_p, log_q, epsilon - 1e-6) > delta - 1e-12


def test_bounds_are_those_of_the_statistics():
    for k1, k0 in [(0, 3), (5, 0), (10**8, 0), (10**8, 10**7), (1, 1), (200, 100)]:
        mine = limits.lower_bounds([k1], [k0], 0.05)[0]
        assert mine == pytest.approx(statistics.ratio_lower(k1, k0, 0.05), rel=1e-9)
    p, q, runs = 0.3, 0.2, 1000
    assert limits.median_bound(p, q, runs) == statistics.ratio_lower(300, 200, 0.05)
    assert limits.median_bound(p, q, runs, delta=0.01) == statistics.approximate_lower(
        300, runs, 200, runs, 0.01, 0.05
    )


@QUICK
@given(LAWS, st.sampled_from([100, 10_000, 10**8]))
def test_no_threshold_is_better_than_the_best_events(laws, runs):
    log_p, log_q = logs(laws[0]), logs(laws[1])
    best = limits.best_event(log_p, log_q, runs)
    p, q = np.exp(log_p), np.exp(log_q)
    ratio = limits.log_ratio(log_p, log_q)
    assert best.bound == limits.median_bound(*((best.q, best.p) if best.flipped else (best.p, best.q)), runs)
    for threshold in ratio:
        for first, second, event in ((p, q, ratio >= threshold), (q, p, ratio <= threshold)):
            rival = limits.median_bound(min(first[event].sum(), 1), min(second[event].sum(), 1), runs)
            # A sum may round a count up or down.
            assert rival <= best.bound * (1 + 1e-3) + 0.02 * (runs == 100)


def test_with_delta_the_best_event_is_near_the_best_threshold(laplace):
    runs, delta = 100_000, 0.05
    best = limits.best_event(*laplace, runs, delta=delta)
    middle = (np.arange(len(laplace[0])) + 0.5) * 1e-3 - 40
    rivals = [
        limits.median_bound(stats.laplace(0).cdf(x), stats.laplace(1).cdf(x), runs, delta=delta)
        for x in np.linspace(-1, 1, 21)
    ]
    assert best.bound >= max(rivals) * (1 - 2e-3)
    assert best.atoms[middle < -1].all()
    # More than delta is certain of no event: log((1/2 - delta)/q) is less than epsilon.
    assert 0.8 < best.bound < limits.epsilon_of(*laplace, delta)


def test_the_best_event_of_a_laplace_release(laplace):
    best = limits.best_event(*laplace, RUNS)
    edge = np.flatnonzero(best.atoms)
    assert (np.diff(edge) == 1).all()  # a half-line
    # {x <= 0}: p = 1/2, q = e^-1/2; nothing beyond it has a larger ratio.
    assert best.p == pytest.approx(0.5, abs=5e-3)
    assert best.bound == pytest.approx(limits.median_bound(0.5, 0.5 * math.exp(-1), RUNS), abs=1e-4)
    assert 0.996 < best.bound < 1


def test_median_counts_are_medians():
    p = np.array([0.0, 1e-6, 3e-7, 0.3, 1.0])
    np.testing.assert_array_equal(limits.median_counts(p, RUNS), stats.binom(2 * RUNS, p / 2).median())
    np.testing.assert_array_equal(limits.median_counts(p, RUNS, 0.1), stats.binom(RUNS, p).median())


def test_a_rare_event_is_left_alone_where_runs_are_few():
    p = np.log([1e-6, 0.3, 1 - 0.3 - 1e-6])
    q = np.log([1e-9, 0.2, 1 - 0.2 - 1e-9])
    assert limits.best_event(p, q, 1000).atoms.tolist() == [True, True, False]
    assert limits.best_event(p, q, 10**9).atoms.tolist() == [True, False, False]
    assert limits.best_event(q, p, 1000).flipped  # the other direction is found as well


def test_equal_laws_show_nothing():
    p = np.log(np.full(4, 0.25))
    assert limits.best_event(p, p, 1000).bound == 0
    assert limits.max_divergence(p, p) == limits.epsilon_of(p, p, 0.0) == 0


@pytest.mark.parametrize(
    ("log_p", "log_q"),
    [
        ([], []),
        ([0.0], [0.0, 0.0]),
        ([[0.0]], [[0.0]]),
        ([np.nan, 0.0], [0.0, -1.0]),
        (np.log([0.9, 0.9]), np.log([0.5, 0.5])),
    ],
)
def test_what_is_no_law_is_refused(log_p, log_q):
    with pytest.raises(InputError):
        limits.best_event(log_p, log_q, 10)


@pytest.mark.parametrize(("runs", "level", "delta"), [(0, 0.05, 0.0), (10, 1.0, 0.0), (10, 0.05, 1.0)])
def test_other_sizes_and_levels_are_refused(runs, level, delta):
    with pytest.raises(InputError):
        limits.best_event(np.log([0.5, 0.5]), np.log([0.4, 0.6]), runs, level, delta=delta)
