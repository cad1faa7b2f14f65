"""The study S4: what it plans, what its statements say of small runs and of wrong ones."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.auditors import _linear, dp_linear
from verifiable_dp.auditors.studies import _s4_rates, bounded, s4
from verifiable_dp.campaign import reproduction
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import Cell, StudyOutcome
from verifiable_dp.render import study as reporting

TINY = 0.001


def made_up(plan):
    """Outcomes with regret 1, so that all checks can be computed without a run."""
    rng = np.random.default_rng(0)
    return {
        name: StudyOutcome(
            rng.uniform(0.99, 1.01, cell.runs), np.array([1]), np.ones((cell.runs, 1)), np.ones((1, 1)), None
        )
        for name, cell in plan.cells.items()
    }


def some(plan, chosen):
    """The plan's cells of which `chosen(name)` is true, played."""
    cells = {name: cell for name, cell in plan.cells.items() if chosen(name)}
    return reproduction.simulate(replace(plan, cells=cells, figures=[]), 0)


def verdicts(plan, name, outcomes):
    statement = next(row for row in plan.statements if row.name == name)
    return [check.verdict for check in statement.checks(outcomes)]


@pytest.fixture(scope="module")
def played():
    """All algorithms on the instances of ten actions, T = 10000."""
    plan = s4.plan(TINY)
    return plan, some(plan, lambda name: name.startswith("K=10 "))


def test_it_is_registered():
    assert studies.study("s4") is s4.STUDY


@pytest.mark.parametrize(
    ("scale", "horizon", "instances", "runs"), [(1.0, 10**6, 10, 30), (0.01, 10**4, 2, 6)]
)
def test_the_plan_at_full_size_and_below(scale, horizon, instances, runs):
    plan = s4.plan(scale)
    paper = [cell for name, cell in plan.cells.items() if name.startswith("K=10 ")]
    # Twelve epsilons, three models, two variants, and two algorithms without privacy.
    assert len(paper) == instances * (12 * 3 * 2 + 2)
    assert {cell.algorithm.horizon for cell in paper} == {horizon}
    assert {cell.runs for cell in plan.cells.values()} == {runs}
    assert {cell.environment.n_arms for name, cell in plan.cells.items() if name.startswith("K=1000 ")} == {
        1000
    }
    assert [figure.name for figure in plan.figures] == [
        "figure-2",
        "figure-3a",
        "figure-3b",
        "figure-4",
        "rates",
    ]
    named = {name for figure in plan.figures for name in figure.statements}
    assert named == {statement.name for statement in plan.statements}


def test_all_algorithms_play_the_same_instances_on_the_unit_circle():
    plan = s4.plan(1.0)
    group = s4.Instances("K=10", 10, 10)
    for number, (actions, place) in enumerate(group.drawn):
        np.testing.assert_allclose(np.linalg.norm(actions, axis=1), 1, atol=1e-5)
        cells = [cell for name, cell in plan.cells.items() if name.startswith(f"K=10 {number + 1} ")]
        assert {cell.algorithm.actions for cell in cells} == {actions}
        assert {cell.environment for cell in cells} == {place}
        # Means <a, theta> of a theta of length 1.
        theta = np.linalg.lstsq(np.array(actions), np.array(place.means), rcond=None)[0]
        assert np.linalg.norm(theta) == pytest.approx(1, abs=1e-5)
    assert s4.Instances("K=10", 2, 10).drawn == group.drawn[:2]


def test_a_line_over_several_instances_is_the_mean_of_their_means():
    plan = s4.plan(TINY)
    outcomes = made_up(plan)
    group = s4.Instances("K=10", 2, 10)
    line = reporting.drawn(group.line("central", {e: s4._what("central", e) for e in s4.EPSILONS}), outcomes)
    assert line["xs"].tolist() == list(s4.EPSILONS)
    sample = group.sample(outcomes, s4._what("central", 0.1))
    assert line["means"][0] == pytest.approx(sample.mean(), rel=1e-12)
    # Two independent samples of 6: sqrt(v1/6 + v2/6)/2 times t of 5 degrees of freedom.
    spread = [outcomes[name].regret.var(ddof=1) / 6 for name in group.names(s4._what("central", 0.1))]
    assert line["highs"][0] - line["means"][0] == pytest.approx(
        2.570582 * math.sqrt(sum(spread)) / 2, rel=1e-5
    )


def test_what_the_paper_says_holds_at_small_size_as_well(played):
    plan, outcomes = played
    for name in ("theorem-1", "theorem-2", "theorem-3"):
        assert set(verdicts(plan, name, outcomes)) <= {"consistent", "vacuous"}
    assert "contradicted" not in verdicts(plan, "rates-differ", outcomes)


def test_a_noisy_algorithm_in_the_place_of_the_central_one_is_contradicted(played):
    plan, outcomes = played
    swapped = {
        name: outcomes[name.replace("central", "local")] if "central" in name else outcome
        for name, outcome in outcomes.items()
    }
    before = verdicts(plan, "central-almost-free", outcomes)
    after = verdicts(plan, "central-almost-free", swapped)
    assert "contradicted" not in before
    assert "contradicted" in after


def test_an_algorithm_that_removes_nothing_breaks_theorem_1():
    group = s4.Instances("K=10", 1, 10)
    (actions, place) = group.drawn[0]
    algorithm = DPLinear(actions, 10.0, 10**6)
    (timid,) = (mutant for mutant in dp_linear.MUTANTS if mutant.name == "timid")
    for played, verdict in ((algorithm, "consistent"), (timid.make(algorithm), "contradicted")):
        runs = {"one": studies.play("one", Cell(played, place, 6, 2), 0)}
        cells = {"one": Cell(algorithm, place, 6, 2)}
        (check,) = bounded(_linear.regret_bound, cells, {"on one instance": "one"}, runs)
        assert check.verdict == verdict


def test_the_core_set_pays_where_epsilon_is_small_and_not_where_it_is_large():
    group = s4.Instances("K=1000", 1, 1000)
    cells = {}
    for epsilon in (0.1, 5.0):
        for core in (True, False):
            cells |= group.cells(
                s4._core(core, epsilon), lambda a, e=epsilon, c=core: DPLinear(a, e, 10**7, core=c), 12
            )
    outcomes = {name: studies.play(name, cell, 0) for name, cell in cells.items()}
    pays = s4.SHEET.row("statements", "core-set-pays-below-.5")["compare"]["factor"]
    found = [
        comparison(
            "a", *(group.sample(outcomes, s4._core(core, e)) for core in (True, False)), factor=pays
        ).verdict
        for e in (0.1, 5.0)
    ]
    assert found == ["consistent", "contradicted"]


@pytest.mark.slow
def test_rates_over_d_are_told_from_others():
    plan = s4.plan(TINY)
    rates = [rate for rate in _s4_rates.laws(6) if rate.name.startswith("over-d-")]
    assert len(rates) == 2
    for rate in rates:
        outcomes = some(plan, lambda name, cells=rate.plan: name in cells)
        assert verdicts(plan, f"rate-{rate.name}", outcomes)[0] == "consistent"
        # What Theorem 2 prints has another factor of sqrt(d).
        grown = {
            name: replace(point, regret=point.regret * math.sqrt(rate.names[name]))
            for name, point in outcomes.items()
        }
        assert "contradicted" in verdicts(plan, f"rate-{rate.name}", grown)


def test_rates_are_fitted_where_the_gaps_that_are_left_follow_gamma():
    dense, place = _s4_rates.circle(_s4_rates.MANY, 0.3)
    least = np.sort(place.gaps)[1]
    laws = [_s4_rates.KINDS[kind](dense, 1.0, t) for kind in _s4_rates.OVER_T for t in _s4_rates.OVER_T[kind]]
    laws += [LDPLinear(dense, e, _s4_rates.LOCAL_T) for e in _s4_rates.LOCAL_EPSILONS]
    assert len(laws) == 90
    for algorithm in laws:
        last = algorithm.last_batch
        before, after = (algorithm.width(batch, _s4_rates.MANY, 3) for batch in (last - 1, last))
        assert before <= 0.05  # as the words `even` of its sheet say
        assert after >= 10 * least


def test_in_the_rate_over_epsilon_each_value_meets_the_same_place_of_its_batch():
    assert len(_s4_rates.LARGEST) == 2
    for kind in _s4_rates.LARGEST:
        rate = next(rate for rate in _s4_rates.laws(6) if rate.name == f"over-epsilon-{kind}")
        cells, growth = rate.cells, next(iter(rate.plan.values())).algorithm.size(1)
        for before, after in pairwise(cells):
            assert before / after == pytest.approx(growth, rel=1e-12)


@pytest.mark.slow
def test_the_private_terms_have_a_factor_for_batches_and_one_for_their_width():
    """log^2 T of Theorem 1 and log^1.5 T of Theorem 3; regret that grows like log T is told apart."""
    plan = s4.plan(TINY)
    rates = [rate for rate in _s4_rates.laws(6) if rate.name.startswith("over-batches-")]
    assert len(rates) == 2
    for rate in rates:
        outcomes = some(plan, lambda name, cells=rate.plan: name in cells)
        assert rate.slope(outcomes, rate.exponent).verdict == "consistent"
        slower = {
            name: replace(
                point,
                regret=point.regret / rate.names[name] * math.log(rate.plan[name].algorithm.horizon),
            )
            for name, point in outcomes.items()
        }
        assert rate.slope(slower, rate.exponent).verdict != "consistent"
