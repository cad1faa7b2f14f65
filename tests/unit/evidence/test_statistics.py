"""Exact tests: their levels are computed from the law itself, not sampled."""

import functools
import math
import time

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.unconditional import Design


def size_of_ratio_test(p, q, runs, epsilon, alpha):
    """Exact rejection probability of `ratio_p_value`: worlds tossed, hits counted, all outcomes added up."""
    hit = (p + q) / 2
    total = 0.0
    for hits in range(runs + 1):
        chance = stats.binom.pmf(hits, runs, hit)
        if chance < 1e-15:
            continue
        k1 = np.arange(hits + 1)
        rejected = np.array([exact.ratio_p_value(int(k), hits - int(k), epsilon) <= alpha for k in k1])
        total += chance * stats.binom.pmf(k1, hits, p / (p + q))[rejected].sum()
    return total


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("alpha", [0.05, 1e-3])
def test_the_ratio_test_has_its_level_at_the_boundary(epsilon, alpha):
    q = 0.9 / (1 + math.exp(epsilon))
    p = q * math.exp(epsilon)
    assert size_of_ratio_test(p, q, 60, epsilon, alpha) <= alpha
    # Negative control: held against an epsilon that is 1.5 too small, it rejects more often than its level.
    assert size_of_ratio_test(p, q, 60, epsilon - 1.5, 0.05) > 0.05


def test_the_ratio_limit_inverts_the_test():
    for k1, k0 in [(40, 3), (5, 0), (1000, 900), (1, 1)]:
        lower = exact.ratio_lower(k1, k0, 0.05)
        assert exact.ratio_p_value(k1, k0, lower) == pytest.approx(0.05, rel=1e-6) if lower > -20 else True
        assert exact.ratio_p_value(k1, k0, lower - 0.01) < 0.05


def test_limits_at_the_edges():
    assert exact.ratio_lower(0, 5, 0.05) == -math.inf
    assert exact.ratio_p_value(0, 5, 1.0) == 1.0
    # No hits on the other side: the limit is log of level^(-1/k) - 1, finite however many hits there are.
    assert exact.ratio_lower(10**6, 0, 0.05) == pytest.approx(math.log(10**6 / -math.log(0.05)), rel=1e-4)
    assert exact.clopper_pearson_lower(0, 10, 0.05) == 0
    assert exact.clopper_pearson_upper(10, 10, 0.05) == 1


@pytest.mark.parametrize("share", [0.01, 0.3, 0.97])
def test_clopper_pearson_covers(share):
    runs, level = 50, 0.05
    k = np.arange(runs + 1)
    law = stats.binom.pmf(k, runs, share)
    lower = np.array([exact.clopper_pearson_lower(int(x), runs, level) for x in k])
    upper = np.array([exact.clopper_pearson_upper(int(x), runs, level) for x in k])
    assert law[lower > share].sum() <= level
    assert law[upper < share].sum() <= level


# ---------------------------------------------------------------- delta > 0: nothing is tossed


def two_limits(k1, n1, k0, n0, delta, level):
    """The plain way that the exact test replaces: two Clopper-Pearson limits at half the level each."""
    p = exact.clopper_pearson_lower(k1, n1, level / 2)
    q = exact.clopper_pearson_upper(k0, n0, level / 2)
    return math.log((p - delta) / q) if p > delta else -math.inf


DESIGNS = [
    (20, 20, 0.5, 0.1),
    (14, 26, 0.1, 0.02),
    (26, 8, 0.3, 0.01),
    (15, 15, 0.5, 1e-5),
    (12, 12, 1.5, 0.3),
]
BY_DAY = [
    pytest.param(d, marks=pytest.mark.slow) if d[1] > 20 else d for d in DESIGNS
]  # more outcomes take long


@functools.cache
def all_p_values(n1, n0, epsilon, delta):
    """P-values of every outcome, (n1 + 1, n0 + 1)."""
    return np.array(
        [
            [exact.approximate_p_value(a, n1, b, n0, epsilon, delta) for b in range(n0 + 1)]
            for a in range(n1 + 1)
        ]
    )


def chance(region, p, q):
    """Probability of a set of outcomes, every outcome added up."""
    n1, n0 = (n - 1 for n in region.shape)
    return stats.binom.pmf(np.arange(n1 + 1), n1, p) @ region @ stats.binom.pmf(np.arange(n0 + 1), n0, q)


def boundary(epsilon, delta):
    """Points (p, q) with p = e^epsilon q + delta, close to one another near q = 0."""
    most = min(1.0, (1 - delta) / math.exp(epsilon))
    q = np.concatenate([np.linspace(0, most, 150), np.geomspace(1e-5, 0.05, 40)])
    return [(min(1.0, math.exp(epsilon) * x + delta), x) for x in np.unique(q[q <= most]).tolist()]


@pytest.mark.parametrize("design", BY_DAY)
def test_the_approximate_test_has_its_level_at_every_point_of_the_claim(design):
    _, _, epsilon, delta = design
    p_values = all_p_values(*design)
    for alpha in (0.2, 0.05, 0.01, 1e-3, 1e-5):
        region = p_values <= alpha
        points = boundary(epsilon, delta) + [(0.5 * p, q) for p, q in boundary(epsilon, delta)]
        assert max(chance(region, p, q) for p, q in points) <= alpha


def test_tests_without_the_correction_exceed_the_level():
    """Negative control: the normal test, and the exact one with q taken to be what was seen."""
    n1, n0, epsilon, delta = design = DESIGNS[0]
    roots = Design(*design).roots(np.arange(n1 + 1)[:, None], np.arange(n0 + 1)[None, :])
    normal = stats.norm.sf(roots) <= 0.01
    assert max(chance(normal, p, q) for p, q in boundary(epsilon, delta)) > 0.01
    seen = np.array(
        [
            [
                float(stats.binom.sf(a - 1, n1, min(1.0, math.exp(epsilon) * b / n0 + delta)))
                for b in range(n0 + 1)
            ]
            for a in range(n1 + 1)
        ]
    )
    assert max(chance(seen <= 0.01, p, q) for p, q in boundary(epsilon, delta)) > 0.03


@pytest.mark.parametrize("design", DESIGNS)
def test_the_approximate_test_is_never_worse_than_two_limits(design):
    n1, n0, epsilon, delta = design
    p_values = all_p_values(*design)
    gained = 0
    for level in (0.3, 0.05, 0.01, 1e-4):
        refuted = np.array(
            [[two_limits(a, n1, b, n0, delta, level) > epsilon for b in range(n0 + 1)] for a in range(n1 + 1)]
        )
        assert not (refuted & (p_values > level)).any()
        gained += int((p_values <= level).sum() - refuted.sum())
    assert gained > 0


@pytest.mark.parametrize(
    ("k1", "n1", "k0", "n0", "delta"),
    [
        (60, 200, 3, 200, 0.1),
        (60, 200, 0, 200, 0.1),
        (40, 40, 0, 40, 0.2),
        (1500, 10**6, 100, 10**6, 1e-3),
        (27_600_000, 10**8, 10**7, 10**8, 1e-4),
        (130_000, 10**8, 1000, 10**8, 1e-4),
        (300, 1000, 40, 5000, 0.05),
    ],
)
@pytest.mark.parametrize("level", [0.05, 1e-6])
def test_the_approximate_limits_are_at_least_those_of_two_limits(k1, n1, k0, n0, delta, level):
    lower = exact.approximate_lower(k1, n1, k0, n0, delta, level)
    plain = two_limits(k1, n1, k0, n0, delta, level)
    assert lower >= plain
    if math.isfinite(lower):
        assert exact.approximate_p_value(k1, n1, k0, n0, lower, delta) <= level
    epsilon = 0.5
    least = exact.delta_lower(k1, n1, k0, n0, epsilon, level)
    assert least >= (
        exact.clopper_pearson_lower(k1, n1, level / 2)
        - math.exp(epsilon) * exact.clopper_pearson_upper(k0, n0, level / 2)
    )
    if least > 0:
        assert exact.approximate_p_value(k1, n1, k0, n0, epsilon, least) <= level


@pytest.mark.parametrize(
    ("counts", "slack"),
    [((60, 200, 3, 200), 0.2), ((25, 40, 4, 40), 0.3), ((15_000, 10**6, 1000, 10**6), 1e-4)],
)
@pytest.mark.parametrize("level", [0.05, 1e-4])
def test_p_value_and_both_limits_agree(counts, slack, level):
    """One test, read three ways: below a limit all is refuted, a little above it is not."""
    k1, n1, k0, n0 = counts
    lower = exact.approximate_lower(*counts, 1e-3, level)
    step = slack * math.sqrt(1 / k1 + 1 / k0)
    assert exact.approximate_p_value(*counts, lower - step, 1e-3) <= level
    assert exact.approximate_p_value(*counts, lower, 1e-3) <= level
    assert exact.approximate_p_value(*counts, lower + step, 1e-3) > level
    error = math.sqrt(k1 / n1**2 + math.exp(1.0) * k0 / n0**2)
    least = exact.delta_lower(*counts, 0.5, level)
    if least > 0:
        assert exact.approximate_p_value(*counts, 0.5, least) <= level
        assert exact.approximate_p_value(*counts, 0.5, least + slack * error) > level


@pytest.mark.parametrize("delta", [0.1, pytest.param(1e-3, marks=pytest.mark.slow)])
def test_the_approximate_limit_misses_no_more_than_its_level(delta):
    """All outcomes of 5 runs a side: where the p-value falls again as epsilon grows, most of all."""
    n, level, k = 5, 0.1, np.arange(6)
    lower = np.array([[exact.approximate_lower(a, n, b, n, delta, level) for b in k] for a in k.tolist()])
    missed = [
        chance(lower > epsilon, p, q)
        for epsilon in np.linspace(-1.0, 3.0, 41).tolist()
        for p, q in boundary(epsilon, delta)[::4]
    ]
    assert 0.5 * level < max(missed) <= level
    # Negative control: limits that are higher by 1 miss more often.
    raised = [chance(lower + 1 > x, p, q) for x in np.linspace(0, 3, 13) for p, q in boundary(x, delta)[::4]]
    assert max(raised) > level


def test_the_approximate_test_is_near_the_normal_one_at_large_counts():
    """10^8 runs: p-values within 2 % of the normal law's, where two limits are a factor of 100 off."""
    n, epsilon, delta, q = 10**8, 1.0, 1e-5, 0.1
    p = math.exp(epsilon) * q + delta
    error = math.sqrt(n * (p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)))
    for z in (2.0, 4.5, 6.0):
        found = exact.approximate_p_value(round(n * p + z * error), n, round(n * q), n, epsilon, delta)
        assert found == pytest.approx(stats.norm.sf(z), rel=0.03)
    assert two_limits(round(n * p + 4.5 * error), n, round(n * q), n, delta, 3e-4) < epsilon


def test_approximate_edges():
    assert exact.approximate_p_value(10, 100, 20, 100, 0.5, 0.05) == 1.0
    assert exact.approximate_p_value(0, 100, 0, 100, 0.5, 0.0) == 1.0
    assert exact.approximate_p_value(10**8, 10**8, 0, 10**8, 1.0, 0.1) == 1e-50
    assert exact.approximate_lower(1, 100, 0, 100, 0.1, 0.05) == -math.inf
    assert exact.approximate_lower(12, 100, 0, 100, 0.1, 0.05) == -math.inf
    assert exact.delta_lower(10, 100, 20, 100, 0.5, 0.05) == 0.0
    # All hits against none: the limit is that of q alone, as delta is surely exceeded.
    assert 4.0 < exact.approximate_lower(1000, 1000, 0, 1000, 0.01, 0.05) < math.log(1000)


def test_the_approximate_test_is_fast_and_repeatable():
    started = time.process_time()
    first = exact.approximate_p_value(27_300_000, 10**8, 10**7, 10**8, 1.0, 1e-5)
    spent = time.process_time() - started
    assert exact.approximate_p_value(27_300_000, 10**8, 10**7, 10**8, 1.0, 1e-5) == first
    assert spent < 1.0  # it takes 10 ms; the machine may be busy


@pytest.mark.parametrize(
    ("p", "q", "runs", "epsilon", "delta", "alpha"),
    [
        pytest.param(0.5, 0.1, 300, 1.0, 0.1, 1e-3, marks=pytest.mark.slow),
        (0.205, 0.05, 2000, 1.0, 0.02, 1e-3),
        (0.03, 0.0, 500, 1.0, 0.005, 1e-3),
    ],
)
def test_the_stated_approximate_power_is_the_simulated_one(p, q, runs, epsilon, delta, alpha):
    """400 tests: a share is off by .12 with probability 3e-6 at most (Hoeffding: 2 exp(-2 400 .12^2))."""
    stated = exact.approximate_power(p, q, runs, epsilon, delta, alpha)
    rng = np.random.default_rng(0)
    k1, k0 = rng.binomial(runs, p, 400), rng.binomial(runs, q, 400)
    tested = {
        (a, b): exact.approximate_p_value(a, runs, b, runs, epsilon, delta) <= alpha
        for a, b in set(zip(k1.tolist(), k0.tolist(), strict=True))
    }
    seen = np.mean([tested[a, b] for a, b in zip(k1.tolist(), k0.tolist(), strict=True)])
    assert abs(stated - seen) < 0.12
    assert 0.05 < stated < 0.99
    # Negative controls: no power where the claim holds, all of it far beyond.
    assert exact.approximate_power(math.exp(epsilon) * q + delta, q, runs, epsilon, delta, alpha) <= alpha
    assert exact.approximate_power(0.95, 0.0, runs, epsilon, delta, alpha) > 0.999


@pytest.mark.parametrize("runs", [300, 3000])
def test_the_stated_power_is_the_binomial_one(runs):
    p, q, epsilon, alpha = 0.5, 0.05, 1.0, 1e-3
    stated = exact.rejection_power(p, q, runs, epsilon, alpha)
    rng = np.random.default_rng(0)
    hits = rng.binomial(2 * runs, (p + q) / 2, 4000)
    k1 = rng.binomial(hits, p / (p + q))
    seen = np.mean(
        [exact.ratio_p_value(int(a), int(h - a), epsilon) <= alpha for a, h in zip(k1, hits, strict=True)]
    )
    assert abs(stated - seen) < 0.05
    assert exact.rejection_power(0.1, 0.1, runs, epsilon, alpha) < alpha
    assert exact.rejection_power(0.0, 0.0, runs, epsilon, alpha) == 0.0


# ---------------------------------------------------------------- what would have been detected


@pytest.mark.parametrize(
    ("p", "runs", "delta"),
    [
        (0.3, 20_000, 0.0),
        (0.9, 5_000, 0.0),
        pytest.param(0.3, 20_000, 0.01, marks=pytest.mark.slow),
    ],
)
def test_the_least_epsilon_that_is_detected_is_refuted_with_95_percent(p, runs, delta):
    """Tests of simulated counts; 10 % less of the excess, the control, is refuted clearly less often.

    400 tests: a share of .9 or less comes about with probability below 1e-7 where .95 is true.
    """
    epsilon, alpha, repeats = 1.0, 1e-6, 400
    least = exact.detectable(round(p * runs), runs, runs, epsilon, delta, alpha)
    rng = np.random.default_rng(3)

    def share(true):
        q = (p - delta) * np.exp(-true)
        refuted = 0
        for _ in range(repeats):
            if delta:
                k1, k0 = rng.binomial(runs, p), rng.binomial(runs, q)
                value = exact.approximate_p_value(k1, runs, k0, runs, epsilon, delta)
            else:
                first = rng.binomial(2 * runs, 0.5)
                k1, k0 = rng.binomial(first, p), rng.binomial(2 * runs - first, q)
                value = exact.ratio_p_value(k1, k0, epsilon)
            refuted += value <= alpha
        return refuted / repeats

    assert share(least) > 0.9
    assert share(epsilon + 0.9 * (least - epsilon)) < 0.9


def test_an_event_that_is_too_rare_detects_nothing():
    assert exact.detectable(0, 1000, 1000, 1.0, 0.0, 1e-6) == np.inf
    assert exact.detectable(10, 1000, 1000, 1.0, 0.0, 1e-6) == np.inf
    assert exact.detectable(10, 1000, 1000, 1.0, 0.02, 1e-6) == np.inf
