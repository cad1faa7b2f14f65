"""Nothing right is accused: each way in which it once was, beside the leak that the same audit must refute.

Sizes are counts of runs and seeds are fixed, but for noise of the operating system, where the level of 1e-6
for each audit is the rate of false alarms. Controls are named in each test.
"""

import math

import numpy as np
import pytest
from scipy import special, stats

import verifiable_dp as vdp
from tests.records import read_all
from tests.user_code import accusations as code
from verifiable_dp.auditing import execution_plan, independence, rounds_of_testing
from verifiable_dp.auditing.independence import CallLaw
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.check import judged
from verifiable_dp.record import conclude, power_words
from verifiable_dp.record.model import Record
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import ReleaseSampler


def audit(function, epsilon=1.0, runs=2500, **options):
    shape = {} if "data" in function.__code__.co_varnames else {"n_arms": 2, "horizon": code.HORIZON}
    return vdp.audit(function, epsilon=epsilon, runs=runs, **shape, **options)


# ---------------------------------------------------------------- noise that tracing does not see


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("function", "epsilon"),
    [pytest.param(code.response_3, 3.0, marks=pytest.mark.slow), (code.response_5, 5.0)],
)
def test_noise_that_is_not_seen_and_seldom_shows_is_not_refuted(function, epsilon, seed):
    assert audit(function, epsilon, seed=seed).verdict != "refuted"


def test_what_has_no_noise_is_refuted_also_at_large_epsilon():
    """The control of the test above, and how many runs it takes."""
    assert audit(code.greedy).verdict == "refuted"
    report = audit(code.response_of_none, 3.0, runs=12_000)
    assert report.verdict == "refuted"
    assert report.record["counterexamples"][0]["check"].startswith("black box")
    assert audit(code.greedy, 5.0, runs=30_000).verdict == "refuted"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 5.0, 10.0])
def test_as_many_runs_as_the_level_takes(epsilon):
    """An epsilon-DP program can give n runs that all differ with probability (e^eps / (1 + e^eps))^n."""
    level = 1e-6
    needed = rounds_of_testing.hits_needed(epsilon, level)
    statistics = {"epsilon": epsilon, "delta": 0.0, "tests": 1, "alpha": level, "confidence": 0.95}
    hits = math.ceil(math.log(1 / level) / math.log1p(math.exp(-epsilon)))
    assert needed > hits
    for count, verdict in ((hits + 1, "refuted"), (hits - 1, "not_refuted")):
        found = judged("black_box", {**statistics, "k1": count, "n1": needed, "k0": 0, "n0": needed})
        assert found["verdict"] == verdict


# ---------------------------------------------------------------- runs that share a call


def play_many(function):
    return PlaySampler(function, True, 2, code.HORIZON, 3, shard=64)


TABLES = [np.tile([1.0, 0.0], (code.HORIZON, 1)), np.full((code.HORIZON, 2), 0.5)]


def test_runs_of_one_call_that_share_a_draw_are_told_from_those_that_do_not():
    assert independence.dependent(play_many(code.one_order), TABLES)
    assert not independence.dependent(play_many(code.own_order), TABLES)
    assert independence.dependent(ReleaseSampler(code.shared_release, 3), [0.0, 1.0]) == CallLaw.DEPENDENT
    assert not independence.dependent(ReleaseSampler(code.gaussian, 3), [0.0, 1.0])


def quiet_together(data, size, rng):
    """A thousandth of the noise in calls for several runs."""
    return data + (1.0 if size == 1 else 0.001) * rng.laplace(0, 1, size)


def quiet_and_shared(data, size, rng):
    """The same, with one draw for all runs of a call."""
    return data + (1.0 if size == 1 else 0.001) * rng.laplace(0, 1) + np.zeros(size)


@pytest.mark.parametrize("function", [quiet_together, quiet_and_shared])
def test_calls_of_another_law_are_told_apart_and_acquit_nobody(function):
    """Broken variant: only calls for one run count, which keep the promise. False alarms: below 1e-6."""
    sampler = ReleaseSampler(function, 3)
    assert independence.dependent(sampler, [0.0, 1.0]) == CallLaw.OF_ANOTHER_LAW
    report = audit(function, runs=400)
    assert report.verdict == "inconclusive"
    doubts = [d for check in report.record["checks"] for d in check["statistics"].get("doubts", ())]
    assert doubts == [execution_plan.OTHER_LAW]


def balanced(data, size, rng):
    """The mean of a call's draws is the datum."""
    noise = rng.laplace(0, 1, size)
    return data + noise - (noise.mean() if size > 1 else 0)


def test_runs_of_a_call_that_make_up_for_each_other_depend():
    """Broken variant: only calls that differ too much count. False alarms: below 1e-6, as of both tails."""
    assert independence.dependent(ReleaseSampler(balanced, 3), [0.0, 1.0]) == CallLaw.DEPENDENT


def test_a_draw_that_runs_of_a_call_share_refutes_nothing():
    """Control: with a third of the noise the same code is refuted, also one run a call."""
    right = audit(code.one_order, runs=1600)
    assert right.verdict != "refuted"
    assert execution_plan.ROWS_DEPEND in right.record["target"]["note"]
    assert audit(code.one_order_half_noise, runs=12_000).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.usefixtures("unbounded")
def test_what_runs_of_a_call_refute_is_tried_by_calls_of_their_own(monkeypatch):
    """Should their dependence go unnoticed, and no bound settle it. Control: the leak is refuted by both."""
    monkeypatch.setattr(independence, "dependent", lambda *given: False)
    right = audit(code.one_order, runs=400)
    assert right.verdict != "refuted"
    assert rounds_of_testing.UNCONFIRMED in right.record["target"]["note"]
    leak = audit(code.third_of_the_noise, runs=400)
    assert leak.verdict == "refuted"
    assert any("one run per call" in found["check"] for found in leak.record["counterexamples"])


# ---------------------------------------------------------------- runs in other processes


def test_ranks_distances_and_levels_are_those_of_scipy():
    """Without `scipy.stats`, which takes a second to load. Control: ties without their mean rank differ."""
    rng = np.random.default_rng(0)
    for values in (rng.integers(0, 9, 1152).astype(float), rng.normal(size=1152)):
        assert np.array_equal(independence._ranks(values), stats.rankdata(values))
        other = values[:384] + 0.25
        found = stats.ks_2samp(values, other, method="asymp")
        assert independence._apart(values, other) == pytest.approx(found.statistic)
        assert independence._differs(values[:, None], other[:, None]) == (found.pvalue < independence._LEVEL)
    for apart in np.arange(155, 300) / 1152:  # around the level, from 1e-4 to 1e-17
        exact = stats.kstwo.sf(apart, 288)
        assert 2 * special.smirnov(288, apart) == pytest.approx(exact, rel=1e-9)
    assert not np.array_equal(np.argsort(np.argsort(np.ones(4))) + 1, independence._ranks(np.ones(4)))


def test_code_with_a_generator_of_its_own_follows_the_one_of_each_run():
    """Each worker would seed it alike. Control: what the given generator decides is let alone."""
    words = "draws from a generator of its own, which we seed for each run"
    alone, shared = (audit(code.seeded_by_the_module, runs=400, workers=workers).record for workers in (1, 2))
    assert words in shared["target"]["note"]
    counts = [[check for check in one["checks"] if check["kind"] != "tracing"] for one in (alone, shared)]
    assert counts[0] == counts[1] != []
    assert "follow" not in audit(code.given, runs=400, workers=2).record["target"]["note"]


def test_runs_that_come_out_differently_in_another_process_are_noticed():
    given = PlaySampler(code.given, False, 2, code.HORIZON, 1)
    pair = vdp.neighbours.TablePair(TABLES[1], 0, 0, 1.0, (0.0, 1.0))
    [chosen], _ = blackbox.select(given, [pair], blackbox.Plan(8, 200, 200), delta=0.0, workers=1)
    for function, same in ((code.given, True), (code.seeded_by_the_module, False)):
        sampler = PlaySampler(function, False, 2, code.HORIZON, 1)
        assert rounds_of_testing._same_here(sampler, chosen) == same


# ---------------------------------------------------------------- what is not said of code out of reach


def test_code_that_draws_and_whose_noise_seldom_shows_is_usable():
    """Of 24 runs none differs; code that draws nothing and never varies is refused instead."""
    report = audit(code.seldom)
    assert (report.verdict, report.epsilon_upper) == ("not_refuted", 0.0)
    assert rounds_of_testing.ALIKE in report.record["target"]["note"]
    with pytest.raises(InputError, match="on every input that we tried, all runs gave the same output"):
        audit(lambda rewards, rng: code.never(rewards, rng) if repr(rewards) else None)  # no bound reaches it


def test_power_is_not_taken_from_a_variant_that_equals_the_target():
    """Its noise cannot be scaled: a third look is taken instead, and no power is stated."""
    report = audit(code.out_of_reach, 1.2, runs=12_000)
    assert report.record["power"] is None
    names = [check["name"] for check in report.record["checks"]]
    assert "black box, look 3" in names or report.verdict == "refuted"
    assert audit(code.out_of_reach, 1.0, runs=80_000).verdict == "refuted"


def check(kind, lower=0.0, **statistics):
    result = {"verdict": "not_refuted", "epsilon_lower": lower, "detectable": 1.5}
    return {"name": kind, "kind": kind, "statistics": {"epsilon": 1.0, **statistics}, "result": result}


def test_a_lead_is_never_not_refuted():
    """Control: without it, and where every loss was computed, the same checks are."""
    for checks, verdict in (
        ([check("black_box", 0.99)], "not_refuted"),
        ([check("black_box", 1.01)], "inconclusive"),
        ([check("sequential", 1.01)], "inconclusive"),
        ([check("black_box", 1.01), check("alignment", 1.0, visible=True)], "not_refuted"),
        ([check("black_box", 1.01), check("alignment", 0.0, visible=False)], "inconclusive"),
        ([check("tracing", max_cost=1.0), check("black_box", 0.9)], "not_refuted"),
        ([check("tracing", max_cost=1.1), check("black_box", 0.9)], "inconclusive"),
        ([check("tracing", max_cost="inf"), check("black_box", 0.9)], "inconclusive"),
        ([check("tracing", max_cost=1.1), check("black_box", 0.9, delta=0.1)], "not_refuted"),
    ):
        assert conclude.privacy(read_all(checks)) == verdict, checks


def test_power_with_delta_is_that_of_the_event_and_not_the_factor_of_the_noise():
    """A Gaussian with a sixth of the noise has epsilon 9.3 at this delta, not 6: the factor says nothing."""
    report = vdp.audit(code.gaussian, epsilon=1.0, delta=1e-3, budget="smoke")
    power = report.record["power"]
    assert report.verdict == "not_refuted"
    assert {row[1] for row in power["black_box"]["tried"]} == {"nan"}
    factor = power["black_box"]["noise_divided_by"]
    assert power["smallest_epsilon"] != factor
    assert power["variant"]["stated"] == "event"
    assert "at the tested event" in power_words.power(Record.of(report.record))
    nominal = vdp.audit(code.gaussian, epsilon=1.0, delta=0.0, budget="smoke").record["power"]
    assert nominal is None or nominal["smallest_epsilon"] == nominal["black_box"]["noise_divided_by"]
