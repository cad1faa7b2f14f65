"""Lower bounds on means, leading constants, and the tables of prices and of hard instances.

What the judges say does not depend on units, nor on the side from which one looks.
"""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import verifiable_dp as vdp
import verifiable_dp.evidence.regret.linear_in_log
import verifiable_dp.evidence.regret.mean_at_least
import verifiable_dp.evidence.regret.mean_bound
from tests.trials import on_trial
from verifiable_dp.auditors import _robust, _stopping, dp_linear, dp_robust_elimination, shuffled_linear, ucb1
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Pulled, bernoulli
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, in_words, judged
from verifiable_dp.evidence.regret.floors import floor_row, floors
from verifiable_dp.evidence.regret.linear_in_log import linear_in_log
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.evidence.regret.price import prices
from verifiable_dp.evidence.regret.rows import row as table_row
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import digest
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import with_parameters
from verifiable_dp.render.markdown import to_markdown
from verifiable_dp.render.page import render
from verifiable_dp.report import finish


def mean(n=25, mean=10.0, sd=5.0, bound=5.0, least=0.0, **more):
    return judged("mean_at_least", {"n": n, "mean": mean, "sd": sd, "bound": bound, "least": least, **more})


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ({}, "consistent"),  # standard error 1: the lower limit at 99 % is 7.51
        ({"bound": 7.5}, "consistent"),
        ({"bound": 7.6}, "inconclusive"),
        ({"bound": 11.0}, "inconclusive"),
        ({"bound": 16.0}, "inconclusive"),  # t = 6 with 24 degrees of freedom: p = 1.7e-6
        ({"bound": 16.5}, "contradicted"),
        ({"bound": 0.0}, "vacuous"),
        ({"bound": 2.0, "least": 2.0}, "vacuous"),
        ({"bound": 2.0, "least": 1.9}, "consistent"),
        ({"n": 1, "sd": 0.0}, "inconclusive"),
        ({"n": 1, "sd": 0.0, "bound": 0.0}, "vacuous"),
        ({"sd": 0.0, "bound": 10.0}, "consistent"),
        ({"sd": 0.0, "bound": 10.1}, "contradicted"),
        ({"bound": 16.0, "alpha": 1e-5}, "contradicted"),
        ({"bound": 8.0, "confidence": 0.95}, "consistent"),
    ],
)
def test_mean_at_least(numbers, verdict):
    assert mean(**numbers)["verdict"] == verdict


def test_mean_at_least_states_interval_and_p_value():
    result = mean(bound=12.0)
    assert result["lower"] == pytest.approx(10 - 2.0639, abs=1e-4)
    assert result["upper"] == pytest.approx(10 + 2.0639, abs=1e-4)
    assert result["lower_limit"] == pytest.approx(10 + stats.t.ppf(0.01, 24))
    assert result["p_value"] == pytest.approx(stats.t.sf(2.0, 24))
    assert mean(bound=5.0)["ratio"] == 2.0


def points(rate, noise=0.02, low=1e3, high=1e6, seed=0, count=12):
    rng = np.random.default_rng(seed)
    return [
        (x, rate(np.log(x)) * (1 + noise * rng.standard_normal(20))) for x in np.geomspace(low, high, count)
    ]


@pytest.mark.parametrize(
    ("rate", "options", "verdict"),
    [
        (lambda x: 3 + 2 * x, {}, "consistent"),
        (lambda x: 3 + 2 * x, {"slope": 2.0, "margin": 0.2}, "consistent"),
        (lambda x: 3 + 2 * x, {"slope": 3.0, "margin": 0.2}, "contradicted"),
        (lambda x: 3 + 2 * x, {"slope": 1.0, "margin": 0.2}, "contradicted"),
        (lambda x: 3 + 2 * x, {"most_slope": 2.0, "margin": 0.2}, "consistent"),
        (lambda x: 3 + 2 * x, {"most_slope": 5.0}, "consistent"),
        (lambda x: 3 + 2 * x, {"most_slope": 1.0, "margin": 0.2}, "contradicted"),
        (lambda x: 3 + 2 * x, {"most_slope": 2.0}, "inconclusive"),
        (lambda x: 100 + 2 * x, {"slope": 2.0, "margin": 0.5}, "inconclusive"),  # much noise
        (lambda x: x**2, {}, "contradicted"),  # a bend of .17 against .1
        (lambda x: x**2, {"curvature": 0.3}, "consistent"),
        (lambda x: x**3, {}, "contradicted"),
        (lambda x: 30 - x, {}, "contradicted"),  # no growth at all
    ],
)
def test_linear_in_log(rate, options, verdict):
    noise = 0.02 if verdict != "contradicted" else 0.002
    assert linear_in_log("c", points(rate, noise), **options).verdict == verdict


def test_the_bend_of_log_squared_is_as_stated():
    check = linear_in_log("c", points(lambda x: x**2, noise=0.0))
    low, high = np.log(1e3), np.log(1e6)
    assert check.result["bend"] == pytest.approx((high - low) / (2 * (high + low)))
    straight = linear_in_log("c", points(lambda x: 3 + 2 * x, noise=0.0))
    assert straight.result["slope"] == pytest.approx(2.0)
    assert straight.result["intercept"] == pytest.approx(3.0)
    assert straight.result["bend"] == pytest.approx(0.0, abs=1e-9)


def test_the_error_of_a_slope_is_hc3s_and_that_of_the_means():
    import statsmodels.api as sm

    found = points(lambda x: 3 + 2 * x)
    x, y = np.log([p[0] for p in found]), np.array([p[1].mean() for p in found])
    fitted = sm.OLS(y, sm.add_constant(x)).fit()
    means = np.array([p[1].std(ddof=1) / np.sqrt(20) for p in found])
    centred = x - x.mean()
    extra = np.sum((centred * means) ** 2) / np.sum(centred**2) ** 2
    check = linear_in_log("c", found)
    assert check.result["slope"] == pytest.approx(fitted.params[1])
    assert check.result["standard_error"] == pytest.approx(np.sqrt(fitted.HC3_se[1] ** 2 + extra))


@pytest.mark.parametrize(
    "make",
    [
        lambda: mean_at_least("m", [], bound=1.0),
        lambda: mean_at_least("m", [np.nan], bound=1.0),
        lambda: mean_at_least("m", [1.0], bound=np.inf),
        lambda: linear_in_log("c", points(np.log)[:4]),
        lambda: linear_in_log("c", [(0.0, [1.0]), *points(lambda x: x)]),
        lambda: linear_in_log("c", points(lambda x: x), slope=1.0, most_slope=1.0),
        lambda: linear_in_log("c", points(lambda x: x), curvature=0.0),
        lambda: linear_in_log("c", points(lambda x: x), margin=-1.0),
        lambda: prices("p", [], claim="c", caption="x"),
        lambda: prices("p", [table_row([0.0, 0.0], [1.0, 1.0])], claim="c", caption="x"),
        lambda: floors("f", [], claim="c", caption="x"),
        lambda: floor_row([1.0], bound=1.0),
        lambda: floor_row([1.0, 2.0], bound=0.0),
    ],
)
def test_unusable_numbers_are_refused(make):
    with pytest.raises(InputError):
        make()


# ---------------------------------------------------------------- tables


def price_rows():
    rng = np.random.default_rng(3)
    return [
        table_row(
            100 / epsilon + rng.random(12),
            50 + rng.random(9),
            instance="C1",
            private="dp-se",
            free="se",
            epsilon=epsilon,
            horizon=1000,
        )
        for epsilon in (0.5, 1.0)
    ]


def floor_rows():
    about = {"instance": "hard", "epsilon": 1.0, "horizon": 1000}
    return [
        floor_row(np.full(5, 30.0), bound=10.0, algorithm="above", **about),
        floor_row(np.full(5, 9.0), bound=10.0, algorithm="below", **about),
    ]


def test_the_price_of_privacy_is_a_ratio_with_welchs_interval():
    check = prices("theorem: price", price_rows(), claim="theorem", caption="Made up.")
    row, entry = check.result["rows"][0], check.statistics["rows"][0]
    assert row["ratio"] == pytest.approx(4.0, rel=0.02)
    assert row["lower"] < row["ratio"] < row["upper"]
    a, b = ((entry[f"sd_{s}"] / entry[f"mean_{s}"]) ** 2 / entry[f"n_{s}"] for s in "ab")
    df = (a + b) ** 2 / (a**2 / 11 + b**2 / 8)
    level = 1 - 0.01 / (2 * 6)  # six intervals
    assert row["upper"] == pytest.approx(row["ratio"] * np.exp(stats.t.ppf(level, df) * np.sqrt(a + b)))


def test_a_row_below_its_floor_is_contradicted():
    check = floors("theorem: floors", floor_rows(), claim="theorem", caption="Made up.")
    assert [row["verdict"] for row in check.result["rows"]] == ["consistent", "contradicted"]
    assert [row["times"] for row in check.result["rows"]] == [3.0, 0.9]


@pytest.fixture(scope="module")
def report():
    record = vdp.check_regret("nas").record
    added = [
        prices("theorem: price", price_rows(), claim="theorem", caption="Made up."),
        floors("theorem: floors", floor_rows(), claim="theorem", caption="Made up."),
        mean_at_least("correctness from below", [3.0, 4.0], bound=1.0, claim="correctness"),
        linear_in_log(
            "correctness constant",
            points(lambda x: 3 + 2 * x),
            most_slope=2.0,
            margin=1.0,
            claim="correctness",
        ),
    ]
    checks = [*record["regret"]["checks"], *(check.as_dict() for check in added)]
    return finish({**record, "regret": {**record["regret"], "checks": checks}}, started=0.0, cpu_seconds=0.0)


def test_tables_stand_beside_the_checks_and_the_record_holds(report, tmp_path):
    found = report.record["regret"]
    assert [t["kind"] for t in found["tables"]] == ["price", "floors"]
    assert {"mean_at_least", "linear_in_log"} <= {c["kind"] for c in found["checks"]}
    path, _ = report.save(tmp_path)
    assert verify(path).record == report.record


@pytest.mark.parametrize(
    "edit",
    [
        lambda r: r["tables"][0]["result"]["rows"][0].update(ratio=1.0),
        lambda r: r["tables"][1]["result"]["rows"][1].update(verdict="consistent"),
        lambda r: r["tables"][1]["statistics"]["rows"][1].update(mean=11.0),
        lambda r: r["checks"][-1]["result"].update(slope=0.0),
        lambda r: r["checks"][-2]["statistics"].update(bound=5.0),
        lambda r: r["checks"][-2]["statistics"].pop("least"),
    ],
)
def test_edited_tables_and_checks_are_refused(report, edit, tmp_path):
    record = copy.deepcopy(report.record)
    edit(record["regret"])
    record["digest"] = digest(record)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(InputError, match="record"):
        verify(path)


def test_all_renderings_show_them(report):
    page, text = render(Record.of(report.record)), to_markdown(Record.of(report.record))
    for words in ("Price: ratio", "Mean against a lower bound", "Leading constants", "below"):
        assert words in page
    for words in ("theorem: price", "theorem: floors", "at epsilon = 1", "contradicted"):
        assert words in text
    assert "theorem: price: Regret with privacy, divided by regret without" in report.summary()
    assert page == render(Record.of(report.record))
    shown = {c["kind"]: in_words(Check.read(c)) for c in report.record["regret"]["checks"]}
    assert "claimed at least 1" in shown["mean_at_least"]
    assert "claimed at most 2 + 1" in shown["linear_in_log"]


# ---------------------------------------------------------------- bounds


def test_halved_rewards_are_a_doubled_bonus():
    """The mutant's compiled loop and its definition pull alike."""
    where = bernoulli([0.7, 0.4, 0.5])
    fast = ucb1.DoubledBonus(3, 400)

    run = np.arange(5)
    rewards = Pulled(where, key_of(9, (1,)), np.zeros((5, 3), np.int64))
    pulls, _, _ = fast.kernel(where, 9, run, np.array([400]))
    assert np.array_equal(pulls, play(fast, rewards, Seeded(9, (0,)), run).pulls)
    assert not np.array_equal(pulls, ucb1.UCB1(3, 400).kernel(where, 9, run, np.array([400]))[0])


def test_the_minimax_bound_is_met_by_a_coin_and_not_by_an_oracle():
    """T Delta/2 e^(-3 epsilon T TV) against players that know the answer, or nothing."""
    bound = {
        gap: _robust.central_minimax_bound(gap, horizon=10**5, epsilon=1.0, v=1.0)
        for gap in (1e-4, 1e-3, 1e-2)
    }
    best = _robust.best_gap(lambda g: _robust.central_minimax_bound(g, horizon=10**5, epsilon=1.0, v=1.0))
    assert best == pytest.approx(1 / np.sqrt(60 * 10**5), rel=0.05)
    for gap, value in bound.items():
        assert value <= gap * 10**5 / 2  # a coin's two regrets add up to twice that
    assert bound[1e-2] < 1e-100 < bound[1e-4]


def test_contaminated_instances_are_alike_and_of_the_class():
    alpha = 0.05
    gap, chance = dp_robust_elimination.least_contaminated(1, alpha, 2.0), alpha / (1 - alpha)
    size = chance**-0.5
    assert chance * size**2 == pytest.approx(1.0)  # E X^2 of the better arm
    assert chance * size == pytest.approx(gap)  # its mean
    assert (1 - alpha) * chance == pytest.approx(alpha)  # both pay `size` with probability alpha


def test_least_mean_is_the_inequality_of_kaufmann_cappe_and_garivier():
    least = _stopping.least_mean(0.5, 1.0, 0.5, 0.1)
    p, q = 0.75, 0.5 + 0.5 / 6
    kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    assert least == pytest.approx((0.8 * np.log(9)) / kl)
    assert _stopping.least_mean(0.05, 1.0, 0.5, 0.1) > 50 * least


def test_a_rule_that_has_not_halted_is_not_accused_of_halting_early():
    auditor = registry.auditor("dp-exponential-nas")
    rule = with_parameters(auditor.algorithm(**auditor.experiment), horizon=1000)
    trial = on_trial("dp-exponential-nas", "corollary-3.6", rule)
    (check,) = _stopping.AtMean(_stopping.takes_at_least, 0.05)(trial)
    assert check.statistics["halted"] == 0
    assert check.verdict == "consistent"


def test_amplification_fails_beyond_its_domain():
    """The negative control of equation 10's check: reports at six times the domain's eps0."""
    (check,) = shuffled_linear.amplification(None)
    assert check.verdict == "consistent"
    n, delta = 500, 1e-6
    local = 6 * shuffle.domain(n, delta)
    claimed = shuffle.formula(local, n, delta)
    assert shuffle.clones_delta(n, local, min(claimed, 0.9 * local)) > delta


def test_nets_and_designs_are_measured():
    algorithm = registry.auditor("dp-linear").algorithm(**dp_linear.auditor.experiment)
    (nets,) = dp_linear.nets(on_trial("dp-linear", "lemma-1", algorithm))
    (designs,) = dp_linear.designs(on_trial("dp-linear", "lemma-2", algorithm))
    assert nets.verdict == designs.verdict == "consistent"
    assert 0.5 < designs.statistics["mean"] <= 1.0


# ---------------------------------------------------------------- whatever the units, and from either side


numbers = st.floats(-1e3, 1e3, allow_nan=False)
positive = st.floats(1e-2, 1e3)
LINE = {"slope": None, "most_slope": None, "margin": 0.0, "curvature": 0.1}


def means(n, mean, sd, bound, edge):
    common = {"n": n, "sd": sd}
    low = judged("mean_at_least", {**common, "mean": mean, "bound": bound, "least": edge})
    high = judged("mean_bound", {**common, "mean": -mean, "bound": -bound, "largest": -edge})
    return low, high


@given(st.integers(1, 50), numbers, positive, numbers, numbers)
def test_a_lower_bound_is_an_upper_bound_on_the_negative(n, mean, sd, bound, edge):
    low, high = means(n, mean, sd, bound, edge)
    assert low["verdict"] == high["verdict"]
    assert low["p_value"] == pytest.approx(high["p_value"])


@given(st.integers(2, 50), numbers, positive, numbers, positive)
def test_a_lower_bound_that_is_lower_is_never_worse(n, mean, sd, bound, step):
    order = ("contradicted", "inconclusive", "consistent")
    high, low = (means(n, mean, sd, b, -1e9)[0]["verdict"] for b in (bound, bound - step))
    assert order.index(low) >= order.index(high)


def line(values, **options):
    rows = [[x, y, e] for x, (y, e) in zip(np.geomspace(1e3, 1e6, len(values)), values, strict=True)]
    return judged("linear_in_log", {"points": rows, **LINE, **options})


points_of_line = st.lists(st.tuples(st.floats(1.0, 100.0), st.floats(1e-3, 5.0)), min_size=5, max_size=12)


@given(points_of_line, st.sampled_from([1e-3, 7.0, 1e4]), st.floats(0.1, 20.0))
def test_growth_is_judged_alike_in_other_units(values, unit, slope):
    """Powers of ten and seven: least squares rounds, so that only clear verdicts are compared."""
    here = line(values, most_slope=slope)
    there = line([(y * unit, e * unit) for y, e in values], most_slope=slope * unit)
    assert there["slope"] == pytest.approx(here["slope"] * unit, rel=1e-6, abs=1e-9 * unit)
    assert there["p_value"] == pytest.approx(here["p_value"], rel=1e-4, abs=1e-12)
    assert there["verdict"] == here["verdict"]


@given(points_of_line, st.floats(0.1, 20.0))
def test_a_stricter_claim_has_no_larger_p_value(values, slope):
    loose, strict = line(values, most_slope=slope), line(values, most_slope=slope / 2)
    assert strict["p_value"] <= loose["p_value"]
    assert (loose["verdict"], strict["verdict"]) != ("contradicted", "consistent")


def test_some_claims_are_contradicted():
    """The negative control of the last test: both verdicts occur."""
    values = [(10 * np.log(x), 1e-3) for x in np.geomspace(1e3, 1e6, 8)]
    assert line(values, most_slope=1.0)["verdict"] == "contradicted"
    assert line(values, most_slope=11.0)["verdict"] == "consistent"
