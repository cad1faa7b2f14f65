"""The studies S2 and S3: what they plan, what their statements say of small runs and of wrong ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from verifiable_dp.auditors._contamination import Released
from verifiable_dp.auditors.studies import _s2_rates, _s3_rates, s2, s3
from verifiable_dp.campaign import reproduction
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import StudyOutcome

TINY = 0.0005
PLANS = {"S2": s2.plan, "S3": s3.plan}
SIZES = {"S2": (s2.RUNS, s2.HORIZON), "S3": (s3.RUNS, s3.HORIZON)}
KINDS = {
    "dprse-outperforms": "comparison",
    "dprse-outperforms-proof": "comparison",
    "epsilon": "comparison",
    "v-": "comparison",
    "local-costs-more": "comparison",
    "alpha-costs": "comparison",
    "k-helps": "comparison",
    "far-outliers": "comparison",
    "clean-beside-dprse": "comparison",
    "dprse-is-turned": "comparison",
    "theorem": "mean_bound",
    "theorem-4.1": "mean_at_least",
    "lower-bounds-local": "mean_at_least",
    "lower-bounds-central": "probability",
    "best-arm": "probability",
    "rate": "scaling",  # and the level
}
RATES = [*_s2_rates.rates(8, 8), *_s3_rates.laws(8)]
GROWTH = {f"rate-{rate.name}": rate.growth for rate in RATES}


def some(plan, chosen):
    """The plan's cells of which `chosen(name)` is true, played."""
    cells = {name: cell for name, cell in plan.cells.items() if chosen(name)}
    return reproduction.simulate(replace(plan, cells=cells, figures=[]), 0)


def found(plan, name, outcomes):
    statement = next(row for row in plan.statements if row.name == name)
    return [check.result["verdict"] for check in statement.checks(outcomes)]


def made_up(cell):
    """An outcome that nobody played."""
    values = np.random.default_rng(0).uniform(0.99, 1.01, cell.runs)
    return StudyOutcome(values, np.array([1]), values[:, None], np.ones((cell.runs, 1)), None)


@pytest.fixture(scope="module")
def tiny():
    """Both studies at a tiny scale; the cells of rates do not shrink, and are not played."""
    plans = {name: plan(TINY) for name, plan in PLANS.items()}
    found = {}
    for name, plan in plans.items():
        laws = {key: made_up(cell) for key, cell in plan.cells.items() if "law " in key}
        found[name] = plan, laws | some(plan, lambda key, laws=laws: key not in laws)
    return found


@pytest.fixture(scope="module")
def laws():
    """The rates of both studies at full size, but those of many cells: these are played by night."""
    plans = {name: plan(1.0) for name, plan in PLANS.items()}
    few = {
        name: replace(plan, cells={n: replace(c, runs=8) for n, c in plan.cells.items()})
        for name, plan in plans.items()
    }
    cells = {name for rate in RATES if len(rate.plan) <= 12 for name in rate.plan}
    return {
        name: (plan, some(plan, lambda n: n in cells or n.startswith("masked ")))
        for name, plan in few.items()
    }


@pytest.mark.parametrize("name", PLANS)
def test_they_are_registered(name):
    assert studies.study(name).name == name


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_plan_at_full_size_and_below(name, scale):
    plan = PLANS[name](scale)
    runs, horizon = SIZES[name]
    if scale == 1:
        assert max(cell.runs for cell in plan.cells.values() if cell.algorithm.horizon == horizon) == runs
    assert max(cell.runs for cell in plan.cells.values()) <= max(runs, _s2_rates.LAW_RUNS, s2.LOCAL_RUNS)
    named = {statement for figure in plan.figures for statement in figure.statements}
    assert named == {statement.name for statement in plan.statements}
    prints = [studies.fingerprint(cell, made, 0) for cell, made in plan.cells.items()]
    assert len(set(prints)) == len(prints)


def test_the_figures_of_s2_are_the_papers():
    plan = s2.plan(1.0)
    for number, setting in ((1, "S1"), (3, "S2"), (4, "S3")):
        figure = next(f for f in plan.figures if f.name == f"figure-{number}")
        assert len(figure.panels) == 4
        for panel in figure.panels:
            cells = [plan.cells[name] for line in panel.lines for name in line.cells]
            assert {cell.environment.name for cell in cells} == {setting}
            assert [cell.algorithm.name for cell in cells] == ["dp-robust-ucb", "dp-robust-se", "robust-ucb"]
            assert [cell.runs for cell in cells] == [90, 90, s2.PRICE_RUNS]
    local = next(f for f in plan.figures if f.name == "figure-2")
    for panel, v in zip(local.panels, (0.5, 0.9), strict=True):
        rules = [plan.cells[line.cells[0]].algorithm for line in panel.lines]
        assert [rule.epsilon for rule in rules] == [5.0, 10.0, 20.0, 0.5]
        assert {rule.v for rule in rules} == {v}


def test_u_is_the_papers():
    assert plan_u(0.5) == pytest.approx(5.595, abs=1e-3)
    assert plan_u(0.9) == pytest.approx(8.142, abs=1e-3)


def plan_u(v):
    return s2.plan(0.01).cells[s2.cell("S1", v, 1.0, "dprse")].algorithm.u


def test_the_algorithms_act_within_their_horizons():
    """T is chosen so that every algorithm of the figures ends its first epoch, with room for it twice."""
    plan, of_figures = s2.plan(1.0), ("dprse", "ldprse", "proof", "long")
    rules = {name: cell.algorithm for name, cell in plan.cells.items() if name.split()[-1] in of_figures}
    rules = {name: rule for name, rule in rules.items() if rule.name != "dp-robust-ucb"}
    assert len(rules) == 28
    for name, rule in rules.items():
        first = rule.n_arms * int(rule.schedule[0][1, rule.n_arms])
        assert first < 0.9 * rule.horizon, name


@pytest.mark.parametrize("name", PLANS)
def test_every_statement_has_checks_of_its_kind(tiny, name):
    plan, outcomes = tiny[name]
    assert len(plan.statements) > 9
    for statement in plan.statements:
        kinds = {check.kind for check in statement.checks(outcomes)}
        claimed = max((key for key in KINDS if statement.name.startswith(key)), key=len)
        level = claimed == "rate" and not statement.name.endswith("-printed")
        grown = level and GROWTH[statement.name] > 0
        more = {kind for kind, asked in (("mean_bound", level), ("comparison", grown)) if asked}
        assert kinds == {KINDS[claimed]} | more, statement.name
        for check in statement.checks(outcomes):
            json.dumps(check.as_dict(), allow_nan=False)


@pytest.mark.parametrize("name", PLANS)
def test_rates_come_out_as_known(laws, name):
    plan, outcomes = laws[name]
    rates = [statement for statement in plan.statements if statement.name.startswith("rate-")]
    assert len(rates) == {"S2": 27, "S3": 15}[name]
    dear = {statement.name for rate in RATES if len(rate.plan) > 12 for statement in rate.statements()}
    for statement in rates:
        if statement.name in dear:
            continue
        # Fewer runs and points than at full size: `inconclusive` where a point is left to chance.
        assert set(found(plan, statement.name, outcomes)) == {statement.expected}, statement.name


def test_wrong_exponents_are_contradicted(laws):
    for name, shift in (("central-gap-v=1", 0.5), ("local-epsilon", 1.0), ("central-K", -0.5)):
        about = next(law for model in _s2_rates.RULES for law in _s2_rates.laws(model, 8) if law.name == name)
        assert about.slope(laws["S2"][1], about.exponent).verdict == "consistent"
        assert about.slope(laws["S2"][1], about.exponent + shift).verdict == "contradicted"


def test_a_worse_algorithm_is_contradicted(tiny):
    """Regret three times as large on one side: the comparisons and bounds that must notice do."""
    plan, outcomes = tiny["S2"]

    def worse(word):
        # With a spread, so that both samples are like those of a run.
        rng = np.random.default_rng(1)
        return {
            name: replace(
                outcome,
                regret=(3.0 if word(name) else 1.0) * rng.uniform(0.99, 1.01, len(outcome.regret)),
            )
            for name, outcome in outcomes.items()
        }

    assert "contradicted" in found(plan, "dprse-outperforms", worse(lambda n: n.endswith("dprse")))
    assert set(found(plan, "dprse-outperforms", worse(lambda n: n.endswith("dprucb")))) == {"consistent"}
    assert "contradicted" in found(plan, "local-costs-more", worse(lambda n: n.endswith("long")))
    assert "contradicted" in found(plan, "v-local", worse(lambda n: "v=0.9" in n))
    huge = {n: replace(o, regret=o.regret + 1e12) for n, o in outcomes.items()}
    assert "contradicted" in found(plan, "theorem-4", huge)
    plan, outcomes = tiny["S3"]
    huge = {n: replace(o, regret=o.regret + 1e12) for n, o in outcomes.items()}
    assert "contradicted" in found(plan, "theorem-6.2", huge)
    none = {n: replace(o, regret=0 * o.regret) for n, o in outcomes.items()}
    assert set(found(plan, "theorem-4.1", none)) == {"contradicted"}


def test_a_removed_best_arm_is_noticed(tiny):
    plan, outcomes = tiny["S2"]
    lost = {
        name: replace(outcome, active=None if outcome.active is None else np.zeros_like(outcome.active))
        for name, outcome in outcomes.items()
    }
    assert found(plan, "best-arm-central", lost) == ["contradicted"]
    assert found(plan, "best-arm-local", lost) == ["contradicted"]


@pytest.mark.parametrize("k", _s3_rates.ORDERS)
def test_contamination_makes_the_masked_arms_the_same(k):
    """Both arms in law, the clean moment of order k, and the gap."""
    alpha = 0.03
    place = _s3_rates.masked(alpha, k, 1)
    (low, size), _ = place.seen.rewards
    p = alpha / (1 - alpha)
    assert place.seen.rewards[0] == place.seen.rewards[1]
    assert place.seen.chances[0] == place.seen.chances[1]
    assert p * size**k == pytest.approx(1)
    # A share alpha of the better arm's rewards becomes 0, of the other one's h.
    assert (1 - alpha) * p == pytest.approx(place.seen.chances[0][1])
    assert low == 0
    assert place.gaps.tolist() == pytest.approx([p ** (1 - 1 / k), 0.0])


def floors(term, change=lambda rule: rule):
    """Verdicts of a lower bound on its instances, by algorithm and k."""
    cells = {name: cell for name, cell in _s3_rates.floor_cells(6).items() if f" {term} " in name}
    outcomes = {
        name: studies.play(name, replace(cell, algorithm=change(cell.algorithm)), 0)
        for name, cell in cells.items()
    }
    return [check.verdict for check in _s3_rates._floors(term, outcomes)]


def test_lower_bounds_hold_for_whoever_may_not_know_and_for_no_one_else():
    """The private term is undercut without privacy, the first one by nobody but an oracle."""
    assert set(floors("privacy")) == {"consistent"}
    assert set(floors("privacy", lambda rule: replace(rule, epsilon=1.0))) == {"contradicted"}
    assert set(floors("sampling")) == {"consistent"}
    assert set(floors("sampling", lambda rule: replace(rule, epsilon=30.0))) == {"consistent"}
    oracle = {
        name: StudyOutcome(np.zeros(6), np.array([1]), np.zeros((6, 1)), np.ones((6, 1)), None)
        for name in _s3_rates.floor_cells(6)
    }
    assert {check.verdict for check in _s3_rates._floors("sampling", oracle)} == {"contradicted"}


@pytest.mark.parametrize("k", _s3_rates.ORDERS)
def test_the_instances_of_the_private_term_have_the_moments_that_are_claimed(k):
    assert _s3_rates.FLOOR_ARMS > 1
    for changed in range(_s3_rates.FLOOR_ARMS):
        place = _s3_rates.scarce(k, changed)
        assert place.moment(k) <= 1 + 1e-9
        assert int(np.argmin(place.gaps)) == changed
        assert np.sort(place.gaps)[1] == pytest.approx(np.max(place.means) / (2 if changed else 1))
        # What tells an arm from its original: the chance of its reward.
        if changed:
            p = place.chances[changed][1]
            assert p == pytest.approx(2 * place.chances[0][1])
            assert 12 * _s3_rates.SCARCE * p * _s3_rates.FLOOR_HORIZON["privacy"] == pytest.approx(
                _s3_rates.FLOOR_ARMS - 1
            )


def test_light_rewards_have_moments_within_1():
    assert len(s3.OVER_K) == 4
    for k in s3.OVER_K:
        assert s3.LIGHT.moment(k) <= 1


def test_outcomes_hold_what_the_statements_ask_for(tiny):
    assert set(tiny) == {"S2", "S3"}
    for plan, outcomes in tiny.values():
        assert set(outcomes) == set(plan.cells)
        assert all(isinstance(outcome, StudyOutcome) for outcome in outcomes.values())
        assert all(outcome.regret.shape == (plan.cells[name].runs,) for name, outcome in outcomes.items())


def test_rewards_of_a_last_block_are_not_drawn():
    """An elimination looks at whole epochs only; without this S2 would draw 2e8 rewards a run."""
    plan = s2.plan(1.0)
    rules = {"dp-robust-se", "ldp-robust-se"}
    heavy = [
        cell
        for name, cell in plan.cells.items()
        if cell.algorithm.name in rules and "law" not in name and "hard" not in name
    ]
    assert heavy
    assert all(isinstance(cell.environment, Released) for cell in heavy)
