"""Exact tests: their levels are computed from the law itself, not sampled."""

import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.evidence import statistics as exact


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


def test_the_approximate_test_has_its_level():
    """Fixed sample sizes and delta > 0: all pairs of counts are added up."""
    n, epsilon, delta, alpha, q = 40, 0.5, 0.1, 0.05, 0.3
    p = math.exp(epsilon) * q + delta
    k = np.arange(n + 1)
    rejected = np.array(
        [[exact.approximate_p_value(int(a), n, int(b), n, epsilon, delta) <= alpha for b in k] for a in k]
    )
    law = np.outer(stats.binom.pmf(k, n, p), stats.binom.pmf(k, n, q))
    assert law[rejected].sum() <= alpha
    broken = np.outer(stats.binom.pmf(k, n, 0.98), stats.binom.pmf(k, n, 0.1))
    assert broken[rejected].sum() > 0.95


def test_the_approximate_p_value_inverts_the_limit():
    found = exact.approximate_p_value(90, 100, 20, 100, 0.5, 0.05)
    assert exact.approximate_lower(90, 100, 20, 100, 0.05, found * 1.001) >= 0.5
    assert exact.approximate_lower(90, 100, 20, 100, 0.05, found * 0.999) <= 0.5
    assert exact.approximate_p_value(10, 100, 20, 100, 0.5, 0.05) == 1.0


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
