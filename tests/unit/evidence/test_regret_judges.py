"""Judges of regret: every verdict from numbers made by hand, and what they refuse."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core import validate
from verifiable_dp.evidence.check import Check, in_words, judged
from verifiable_dp.evidence.regret.common import STATED, least_horizon
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.evidence.regret.probability import _exact_interval
from verifiable_dp.evidence.regret.probability import probability as probability_check
from verifiable_dp.evidence.regret.scaling import scaling


def mean(n=25, mean=10.0, sd=5.0, bound=20.0, largest=100.0, **more):
    return judged("mean_bound", {"n": n, "mean": mean, "sd": sd, "bound": bound, "largest": largest, **more})


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ({}, "consistent"),  # standard error 1: the limit at 99 % is 12.49
        ({"bound": 12.5}, "consistent"),
        ({"bound": 12.4}, "inconclusive"),
        ({"bound": 9.0}, "inconclusive"),
        ({"bound": 4.0}, "inconclusive"),  # t = 6 with 24 degrees of freedom: p = 1.7e-6
        ({"bound": 3.5}, "contradicted"),  # t = 6.5: p = 5e-7
        ({"bound": 100.0}, "vacuous"),
        ({"bound": 99.9}, "consistent"),
        ({"n": 1, "sd": 0.0}, "inconclusive"),
        ({"n": 1, "sd": 0.0, "bound": 100.0}, "vacuous"),
        ({"sd": 0.0, "bound": 10.0}, "consistent"),
        ({"sd": 0.0, "bound": 9.9}, "contradicted"),
        ({"bound": 4.0, "alpha": 1e-5}, "contradicted"),
        ({"bound": 12.4, "confidence": 0.95}, "consistent"),
    ],
)
def test_mean_bound(numbers, verdict):
    assert mean(**numbers)["verdict"] == verdict


def test_mean_bound_states_interval_and_ratio():
    result = mean()
    assert result["lower"] == pytest.approx(10 - 2.0639, abs=1e-4)
    assert result["upper"] == pytest.approx(10 + 2.0639, abs=1e-4)
    assert result["ratio"] == 0.5


@pytest.mark.parametrize(
    ("failures", "probability", "vacuous", "verdict"),
    [
        (0, 0.1, False, "consistent"),
        (3, 0.1, False, "consistent"),
        (6, 0.1, False, "inconclusive"),
        (10, 0.1, False, "inconclusive"),
        (25, 0.1, False, "inconclusive"),
        (28, 0.1, False, "contradicted"),
        (28, 0.1, True, "contradicted"),
        (0, 0.1, True, "vacuous"),
        (1, 0.0, False, "contradicted"),
        (0, 0.0, False, "inconclusive"),
        (100, 1.0, False, "consistent"),
    ],
)
def test_probability_in_100_runs(failures, probability, vacuous, verdict):
    failed = np.arange(100) < failures
    check = probability_check("p", failed, probability=probability, vacuous=vacuous)
    assert check.verdict == verdict


@pytest.mark.parametrize(
    ("failures", "n"), [(0, 200), (1, 200), (16, 200), (199, 200), (200, 200), (0, 1), (7, 10**6)]
)
def test_the_stated_interval_of_a_probability_is_that_of_scipy(failures, n):
    """Negative control: of the neighbouring count it is another."""
    wanted, other = (stats.binomtest(k, n).proportion_ci(STATED) for k in (failures, abs(failures - 1)))
    found = _exact_interval(failures, n)
    assert [found["lower"], found["upper"]] == pytest.approx([wanted.low, wanted.high], rel=0, abs=4e-12)
    assert [found["lower"], found["upper"]] != pytest.approx([other.low, other.high], rel=1e-3, abs=0)


def test_probability_p_value_is_the_binomial_tail():
    check = probability_check("p", [True, True, False], probability=0.1)
    assert check.result["p_value"] == pytest.approx(3 * 0.01 * 0.9 + 0.001)


def points(rate, noise=0.01, low=1e5, high=5e8, seed=0):
    rng = np.random.default_rng(seed)
    return [(x, rate(x) * (1 + noise * rng.standard_normal(20))) for x in np.geomspace(low, high, 16)]


@pytest.mark.parametrize(
    ("rate", "options", "verdict"),
    [
        (lambda x: 7 * np.log(x), {}, "consistent"),
        (lambda x: 7 * np.log(x) + 20, {}, "consistent"),
        (lambda x: 7 * np.log(x) ** 2, {"margin": 0.03}, "contradicted"),
        (lambda x: 7 * np.log(x) ** 2, {"log_power": 2.0}, "consistent"),
        (lambda x: np.sqrt(x), {"exponent": 0.5, "log_power": 0.0}, "consistent"),
        (lambda x: np.sqrt(x), {"exponent": 0.7, "log_power": 0.0}, "contradicted"),
    ],
)
def test_scaling(rate, options, verdict):
    assert scaling("s", points(rate), **options).verdict == verdict


def test_scaling_of_log_squared_shows_as_065():
    check = scaling("s", points(lambda x: np.log(x) ** 2, noise=0.0))
    assert check.result["slope"] == pytest.approx(0.065, abs=0.003)
    assert check.verdict != "consistent"


def test_points_on_a_line_are_no_surer_than_their_means():
    """x^.5 exactly, with a relative error of .1/5 at each x: the error of the slope is that of the means."""
    spread = np.tile([-0.1, 0.1], 13)[:25]
    spread *= 0.1 / spread.std(ddof=1)
    found = [(x, math.sqrt(x) * (1 + spread - spread.mean())) for x in np.geomspace(10, 1e5, 9)]
    result = scaling("s", found, exponent=0.5, log_power=0.0).result
    logs = np.log(np.geomspace(10, 1e5, 9))
    assert result["slope"] == pytest.approx(0.5)
    assert result["standard_error"] == pytest.approx(0.02 / math.sqrt(((logs - logs.mean()) ** 2).sum()))


def test_scaling_with_noisy_points_is_inconclusive():
    noisy = points(np.log, noise=3.0, seed=1)
    assert scaling("s", [(x, abs(v) + 1) for x, v in noisy], margin=0.01).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("rate", "margin", "over", "advice"),
    [
        (lambda x: x**0.5, 0.01, "T", "; about 2 times as many runs would be enough to decide"),
        (lambda x: x**0.6, 0.09, "T", "; to decide, use a longer horizon or a larger gap"),
        (lambda x: x**0.6, 0.09, "K", "; to decide, use a wider range of K, or more runs"),
        (lambda x: x**0.5, 0.1, "T", ""),
    ],
)
def test_what_is_inconclusive_comes_with_advice(rate, margin, over, advice):
    """Relative errors of .02 at 9 points: the limit at 99 % is .0134 from the fitted exponent."""
    spread = np.tile([-0.1, 0.1], 13)[:25]
    spread = (spread - spread.mean()) * 0.1 / spread.std(ddof=1)
    found = [(x, rate(x) * (1 + spread)) for x in np.geomspace(100, 10_000, 9)]
    check = scaling("s", found, exponent=0.5, log_power=0.0, margin=margin, over=over)
    assert check.verdict == ("inconclusive" if advice else "consistent")
    words = in_words(Check.read(check.as_dict())).partition(f"± {margin}")[2]
    assert words.startswith(advice)
    assert bool(words) == bool(advice)


def fitted(last, slope, margin=0.05, **more):
    """x^slope from 100 on, with relative errors of .02 at 9 points, against the claim sqrt(T)."""
    spread = np.tile([-0.1, 0.1], 13)[:25]
    spread = (spread - spread.mean()) * 0.1 / spread.std(ddof=1)
    found = [(x, x**slope * (1 + spread)) for x in np.geomspace(100, last, 9)]
    return scaling("s", found, exponent=0.5, log_power=0.0, margin=margin, **more)


@pytest.mark.parametrize(("slope", "decided"), [(0.6, "contradicted"), (2 / 3, "contradicted")])
def test_the_horizon_that_would_decide_is_named(slope, decided):
    """At half of its logarithm the check is undecided still, and names the same one."""
    first = fitted(200 if slope == 2 / 3 else 400, slope)
    assert first.verdict == "inconclusive"
    named = float(in_words(first).rpartition("T = ")[2].partition(" ")[0])
    assert fitted(1.3 * named, slope).verdict == decided
    near = fitted(100 * (named / 100) ** 0.6, slope)
    assert near.verdict == "inconclusive"
    again = (
        float(in_words(near).rpartition("T = ")[2].partition(" ")[0])
        if "size, T" in in_words(near)
        else named
    )
    assert 0.5 < again / named < 2


def test_what_a_wide_margin_lets_pass_is_named_and_from_where_a_narrow_one_does_not():
    wide = fitted(150, 0.6, 0.15, over="T")
    assert wide.verdict == "inconclusive"
    told = in_words(wide).partition(
        "; T^0.6 would also pass; the claim (0.5, 0.05) would tell the two rates apart "
    )[2]
    named = float(told.removeprefix("from T = ").removesuffix(" on, with errors of this size"))
    assert fitted(1.3 * named, 0.6).verdict == "contradicted"
    assert fitted(1.3 * named, 0.5).verdict == "consistent"
    assert fitted(100 * (named / 100) ** 0.6, 0.6).verdict == "inconclusive"
    assert fitted(1.3 * named, 0.6, 0.15).verdict == "consistent"
    for other in (fitted(150, 0.6, 0.1, over="T"), fitted(150, 0.6, 0.15, over="K"), fitted(150, 0.6, 0.15)):
        assert "would pass" not in in_words(other)


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(5.0, "consistent"), (9.0, "consistent"), (10.0, "inconclusive"), (12.0, "contradicted")],
)
def test_comparison_of_means_1_and_10(factor, verdict):
    spread = np.tile([-0.1, 0.1], 50)
    check = comparison("c", 1 + spread, 10 + spread, factor=factor)
    assert check.verdict == verdict
    assert check.result["lower"] < 10 < check.result["upper"]


@pytest.mark.parametrize("side", ["better", "worse"])
def test_a_comparison_scales_the_spread_of_the_better_one_by_the_factor(side):
    """Welch with one sample without spread: t = distance over factor times sd/5 (or sd/5), 24 degrees."""
    spread = np.tile([-0.1, 0.1], 13)[:25]
    spread = (spread - spread.mean()) * 0.1 / spread.std(ddof=1)
    none = np.zeros(25)
    better, worse = (1 + spread, 9.9 + none) if side == "better" else (1 + none, 9.9 + spread)
    check = comparison("c", better, worse, factor=10.0)
    error = {"better": 10 * 0.1 / 5, "worse": 0.1 / 5}[side]
    assert check.result["p_value"] == pytest.approx(stats.t.sf(0.1 / error, 24), rel=1e-9)


@pytest.mark.parametrize("edge", [-1.0, 0.0, 1.0])
def test_a_bound_at_its_very_edge_is_vacuous_whatever_its_sign(edge):
    numbers = {"n": 25, "mean": edge, "sd": 1.0, "bound": edge, "largest": edge, "least": edge}
    for kind, off in (("mean_bound", -1e-3), ("mean_at_least", 1e-3)):
        assert judged(kind, numbers)["verdict"] == "vacuous"
        assert judged(kind, {**numbers, "bound": edge + off})["verdict"] != "vacuous"


def test_comparison_of_single_runs_is_inconclusive():
    assert comparison("c", [1.0], [10.0, 10.0], factor=5).verdict == "inconclusive"


def test_comparison_without_spread_is_exact():
    assert comparison("c", [1.0, 1.0], [10.0, 10.0], factor=10).verdict == "consistent"
    assert comparison("c", [1.0, 1.0], [10.0, 10.0], factor=10.1).verdict == "contradicted"


@pytest.mark.parametrize(
    "make",
    [
        lambda: mean_bound("m", [], bound=1.0, largest=2.0),
        lambda: mean_bound("m", [np.nan], bound=1.0, largest=2.0),
        lambda: mean_bound("m", [1.0], bound=np.inf, largest=2.0),
        lambda: probability_check("p", [], probability=0.1),
        lambda: probability_check("p", [True], probability=1.1),
        lambda: scaling("s", [(10.0, [1.0])] * 3),
        lambda: scaling("s", [(x, [0.0]) for x in (10.0, 20.0, 30.0, 40.0)]),
        lambda: comparison("c", [1.0], [1.0], factor=0.0),
        lambda: comparison("c", [0.0], [1.0], factor=1.0),
    ],
)
def test_unusable_numbers_are_refused(make):
    with pytest.raises(validate.InputError):
        make()


def test_statistics_survive_json():
    check = mean_bound("m", np.arange(5), bound=np.float64(3), largest=9, instance="C1", horizon=np.int64(7))
    again = json.loads(json.dumps(check.as_dict()))
    assert judged("mean_bound", again["statistics"]) == again["result"]
    assert again["statistics"]["horizon"] == 7


def test_least_horizon():
    assert least_horizon(lambda t: 100.0, lambda t: 0.5 * t) == 201
    assert least_horizon(lambda t: 2.0 * t, lambda t: 1.0 * t) is None


def test_false_alarms_are_rare():
    """True claims at their very limit are not contradicted, and are seldom called consistent."""
    rng = np.random.default_rng(5)
    verdicts = [
        mean_bound("m", rng.exponential(size=30), bound=1.0, largest=10.0).verdict for _ in range(300)
    ]
    assert "contradicted" not in verdicts
    assert verdicts.count("consistent") <= 20  # a mean at its bound is called consistent in 1 to 3 % of cases
