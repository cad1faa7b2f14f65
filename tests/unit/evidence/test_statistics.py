"""Exact tests: their levels are computed from the law itself, not sampled."""

import functools
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import verifiable_dp as vdp
from tests import formats
from tests.asking import audited
from tests.user_code import samplers
from verifiable_dp import InputError
from verifiable_dp.evidence.blackbox import numerics
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.evidence.blackbox.unconditional import Design
from verifiable_dp.evidence.check import judged
from verifiable_dp.record.verify import validate
from verifiable_dp.targets.releases import DataPair, ReleaseSampler


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


# Last bits: what the columns are, how the judge reads the counts, how an audit states what it covered.


PLAN = Plan(200, 4000, 8000)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0))
def test_exponents_of_the_highest_and_lowest_bit(x):
    """Against exact rationals: x is an odd multiple of 2^low, and 2^(high - 1) <= |x| < 2^high."""
    code = int(numerics.lattice(np.array([x]))[0])
    high, low = code // 4096 - 2048, code % 4096 - 2048
    top, bottom = abs(x).as_integer_ratio()
    power = bottom.bit_length() - 1  # the denominator is a power of two
    shift = (top & -top).bit_length() - 1
    assert low == shift - power
    assert high == top.bit_length() - power


def test_zero_and_what_is_not_finite_have_codes_of_their_own():
    codes = numerics.lattice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1.0, 1.0]))
    assert codes[:5].tolist() == [-1, -1, -2, -2, -3]
    assert codes[5] > 0
    assert codes[6] == codes[7] > 0


@pytest.mark.parametrize(("shown", "scale"), [(0.0, 1.0), (1.0, 1.0), (0.3, 2.0), (-5.0, 0.7), (100.0, 1.0)])
def test_every_draw_of_numpy_is_attainable(shown, scale):
    """Negative control: from another value most are not, where doubles are finer than the draws."""
    draws = np.random.default_rng(1).laplace(0, scale, 20_000)
    assert numerics.attainable(shown + draws, shown, scale).all()
    if abs(shown) < 2:
        assert numerics.attainable(shown + draws, shown + 0.25, scale).mean() < 0.9


@pytest.mark.parametrize(
    ("data", "outputs", "expected"),
    [
        (2.0, 1, [[2.0]]),
        (2.0, 3, [[2.0, 2.0, 2.0]]),
        ([1.0, 2.0, 3.0], 3, [[1.0, 2.0, 3.0]]),
        ([1.0, 2.0, 3.0], 1, [[6.0], [2.0]]),
        ([1.0, 3.0], 3, [[4.0] * 3, [2.0] * 3]),
    ],
)
def test_what_outputs_may_show_of_the_data(data, outputs, expected):
    assert numerics.shown_without_noise(data, outputs).tolist() == expected


def test_scales_follow_from_the_change_and_the_claim():
    pairs = [DataPair(0.0, 1.0), DataPair(np.zeros(3), np.array([0.5, 0, 0])), DataPair([1], [1, 2])]
    assert numerics.scales_of(pairs, 0.5) == (2.0, 1.0)


def test_columns_are_those_of_the_bits_and_need_no_run_but_their_own():
    sampler = numerics.BitSampler(ReleaseSampler(samplers.laplace, 0), [(1.0,)])
    pair, runs = DataPair(0.0, 1.0), np.arange(500)
    seen = sampler.sample(pair, 1, 0, 0, runs)
    assert not seen.numeric
    assert [name.rpartition(" of ")[2] for name in seen.discrete if "bit" in name] == [
        "output 1",
        "output 1 - 1.0",
    ]
    again = sampler.sample(pair, 1, 0, 0, runs)
    assert all((seen.discrete[name] == again.discrete[name]).all() for name in seen.discrete)


def statistics(k1, k0, control1, control0, n=10_000):
    counts = {"n1": n, "n0": n}
    return {
        "k1": k1,
        "k0": k0,
        **counts,
        "control": {"k1": control1, "k0": control0, **counts},
        "epsilon": 1.0,
        "delta": 0.0,
        "alpha": 1e-6,
        "confidence": 0.95,
        "tests": 1,
    }


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((3000, 10, 3000, 10), "refuted"),
        ((3000, 10, 10, 10), "refuted"),
        ((1000, 900, 3000, 10), "not_refuted"),
        ((1000, 900, 1000, 900), "inconclusive"),
        ((0, 0, 0, 0), "inconclusive"),
    ],
)
def test_the_judge_needs_a_control_that_is_refuted(counts, verdict):
    assert judged("numerics", statistics(*counts))["verdict"] == verdict


def test_what_is_covered_is_said():
    """Without `numerics` the naive sampler is not accused, and the record says what was idealised."""
    plain = vdp.audit(samplers.laplace, epsilon=1.0, budget="smoke")
    assert plain.verdict == "not_refuted"
    assert plain.record["provenance"]["idealized_numerics"] is True
    assert [left["id"] for left in plain.record["not_covered"]][:3] == ["timing", "sampler", "inputs"]
    assert not any("bit" in check["statistics"].get("event", "") for check in plain.record["checks"])
    validate(plain.record)
    strict = vdp.audit(samplers.laplace, epsilon=1.0, budget="smoke", numerics=True)
    assert strict.verdict == "refuted"
    assert strict.epsilon_lower > 3
    assert strict.record["provenance"]["idealized_numerics"] is False
    left = [left["id"] for left in strict.record["not_covered"]]
    assert left[:2] == ["timing", "inputs"]
    assert "sampler" not in left
    assert strict.record["counterexamples"][0]["check"] == numerics.NAME
    validate(strict.record)
    formats.of_record(plain.record)
    (result,) = formats.of_record(strict.record)["runs"][0]["results"]
    assert numerics.NAME in result["message"]["text"]
    assert "Last bits of the outputs" in strict.to_html()
    assert "Last bits of the outputs" not in plain.to_html()


def test_last_bits_that_give_nothing_away_make_a_record():
    """Its power is that of the test of values: what sets of last bits would have shown is not stated."""
    report = vdp.audit(samplers.grid, epsilon=1.0, budget="smoke", numerics=True)
    assert report.verdict != "refuted"
    validate(report.record)
    bits = next(check for check in report.record["checks"] if check["kind"] == "numerics")
    assert bits["result"]["verdict"] == "not_refuted"
    assert "detectable" not in bits["result"]


def test_both_tests_share_the_level():
    options = {"name": "x", "epsilon": 1.0, "plan": PLAN, "alpha": 1e-4, "confidence": 0.9}
    draft = audited(samplers.grid, numerics=True, **options)
    # The others refute nothing: values between the bounds, runs by their place, the upper bound.
    others = ("between", "positions", "upper_bound")
    tests = [c["statistics"] for c in draft["checks"] if c["kind"] not in others]
    assert [test["alpha"] for test in tests] == [5e-5, 5e-5]
    assert [test["confidence"] for test in tests] == [0.95, 0.95]
    assert (draft["plan"]["alpha"], draft["plan"]["confidence"], draft["confidence"]) == (1e-4, 0.9, 0.9)
    assert {c["result"]["verdict"] for c in draft["checks"]} == {"not_refuted"}
    two = audited(samplers.grid, numerics=True, workers=2, **options)
    assert draft["checks"] == two["checks"]


def test_numerics_is_about_what_releases_numbers():
    """Mechanisms, and algorithms with live sessions (tests/unit/auditing/test_audits_of_code.py)."""
    with pytest.raises(InputError, match="`numerics` works only with your own mechanism"):
        vdp.audit("ucb1", numerics=True)
    with pytest.raises(
        InputError, match="`numerics` works only with a mechanism that releases numbers, got play"
    ):
        vdp.audit(lambda rewards, rng: rewards, epsilon=1.0, n_arms=2, horizon=4, numerics=True)
