"""Figures of Sajed & Sheffet's experiments against an independent simulation, with negative controls."""

import numpy as np
import pytest

from tests.trials import on_trial
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_se_doubling import DPSEDoubling
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.auditors import dp_exponential_nas, dp_se, dp_ucb
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.simulation import simulate
from verifiable_dp.registry.theorems import Growth

HORIZON = 50_000_000
FIGURES = {"C1": 12556, "C2": 4830, "C3": 4286, "C4": 10971}  # DP-SE, K = 5, epsilon = .25
TOLERANCE = 0.03  # at 2000 runs at least 6 standard errors of ours, and 2.5 of a reference of 300 runs


def dp_se_regret(setting, epsilon):
    return simulate(DPSE(5, epsilon, HORIZON), s1(setting), runs=2000, seed=0, points=2).regret


@pytest.mark.parametrize("setting", FIGURES)
def test_dp_se(setting):
    regret = dp_se_regret(setting, 0.25)
    error = regret.std(ddof=1) / np.sqrt(len(regret))
    assert 6 * error < TOLERANCE * FIGURES[setting]
    assert regret.mean() == pytest.approx(FIGURES[setting], rel=TOLERANCE)


@pytest.mark.parametrize("setting", FIGURES)
def test_dp_se_with_its_budget_split_over_arms_is_told_apart(setting):
    assert dp_se_regret(setting, 0.25 / 5).mean() != pytest.approx(FIGURES[setting], rel=TOLERANCE)


@pytest.mark.parametrize(("budget", "figure"), [("split", 157_000), ("per-arm", 34_000)])
def test_dp_ucb(budget, figure):
    done = simulate(DPUCB(5, 1.0, HORIZON, budget), s1("C2"), runs=2, seed=0, workers=2, points=2)
    assert done.regret == pytest.approx(figure, rel=0.05)


def test_dp_ucb_with_another_width_is_told_apart():
    done = simulate(DPUCB(5, 1.0, HORIZON, "per-arm", 1e-6), s1("C2"), runs=1, seed=0, points=2)
    assert done.regret != pytest.approx(34_000, rel=0.05)


@pytest.mark.parametrize("setting", FIGURES)
def test_dp_se_beats_dp_ucb_fivefold(setting):
    # At a tenth of the horizon the claim is not easier: DP-UCB's regret falls more than DP-SE's.
    mine = simulate(DPSE(5, 0.25, HORIZON // 10), s1(setting), runs=30, points=2).regret
    theirs = simulate(DPUCB(5, 0.25, HORIZON // 10), s1(setting), runs=2, points=2).regret
    assert theirs.mean() > 5 * mine.mean()


@pytest.mark.slow
def test_dp_se_claims_at_full_size():
    checks = dp_se.auditor.regret(DPSE(5, 0.25, HORIZON), "standard", 0, 2)
    verdicts = {check.name: check.verdict for check in checks}
    assert verdicts.pop("theorem-4.3 on C1") == "vacuous"
    assert set(verdicts.values()) == {"consistent"}


def test_dp_se_grows_like_log_t_and_not_faster():
    trial = on_trial("dp-se", "theorem-4.3", DPSE(5, 0.25, HORIZON), "quick")
    assert {c.verdict for c in Growth(dp_se.RANGES, log_power=1)(trial)} == {"consistent"}
    assert {c.verdict for c in Growth(dp_se.RANGES, log_power=2)(trial)} == {"contradicted"}


def test_doubling_costs_a_factor_log_t():
    """The remark in the proof of Theorem 4.3 would keep log T: each of log2 T phases pays log T anew."""
    algorithm = DPSEDoubling(5, 0.25, HORIZON)
    trial = on_trial("dp-se-doubling", "theorem-4.3 with restarts", algorithm, "quick")
    [printed] = Growth(dp_se.RANGES[1:], log_power=1)(trial)
    [derived] = Growth(dp_se.RANGES[1:], log_power=2)(trial)
    assert printed.verdict == "contradicted"
    assert derived.verdict == "consistent"


def test_the_printed_halting_bound_is_negative_at_its_corner():
    corner = {"mean": 1.0, "radius": 1.0, "alpha": 0.999, "beta": 0.08, "epsilon": 1.0}
    assert dp_exponential_nas.halting_bound(**corner, printed=True) < 0
    assert dp_exponential_nas.halting_bound(**corner) > 0


def test_both_forms_of_the_halting_bound_agree_where_the_ratio_exceeds_e():
    usual = {"mean": 0.5, "radius": 1.0, "alpha": 0.5, "beta": 0.08, "epsilon": 1.0}
    assert dp_exponential_nas.halting_bound(**usual, printed=True) == dp_exponential_nas.halting_bound(
        **usual
    )


def test_the_width_of_dp_ucb_covers_its_trees():
    """Chernoff's bound on the failure of Gamma, against simulated noise where both can be seen."""
    rng = np.random.default_rng(0)
    levels, ratio = 6, 8.0
    worst = np.abs(rng.laplace(size=(200_000, levels)).sum(axis=1)) > ratio
    assert worst.mean() < dp_ucb.width_failure(1, 1, levels, ratio)
    rule = DPUCB(5, 1.0, HORIZON)
    failure = dp_ucb.width_failure(HORIZON, 5, rule.mechanism.levels, rule.width / rule.mechanism.scale)
    assert failure < 1e-50
