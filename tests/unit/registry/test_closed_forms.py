"""Closed forms of the papers' bounds: right numbers, apart from the code of the rules, and able to fail."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.algorithms import dp_linear, dp_robust_elimination, ldp_linear
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _linear, _robust, dp_ucb
from verifiable_dp.auditors import dp_robust_elimination as robust_elimination
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry import entries
from verifiable_dp.registry.mutants import gap_times, result
from verifiable_dp.registry.theorems import Exponent, TheoremTrial

GAPS = np.array([0.0, 0.03, 0.3, 0.7])
EIGHTFOLD = result("width", lambda rule, width, *at: 8 * width)


def claim(auditor, name):
    return next(claim for claim in auditor.CLAIMS if claim.name == name)


# ---------------------------------------------------------------- numbers


def test_numbers_that_were_worked_out_by_hand():
    # One epoch of DP-SE: 32 log(8 2 1e6) 4 + 1 = 2124.3 pulls at a gap of .5, and the gap once.
    assert closed_forms.dp_se(np.array([0.0, 0.5]), 1e6, 10.0) == 0.5 * 2125 + 0.5
    # 4 (h + c) = 4 (.06249 + .00075) is below .3, too; 2^-1 is not.
    assert closed_forms.dp_se(np.array([0.0, 0.3]), 1e6, 10.0) == 0.3 * 2125 + 0.3
    # Privacy: 8 log(8e6) 2/.01 + 1 = 25432.3.
    assert closed_forms.dp_se(np.array([0.0, 0.5]), 1e6, 0.01) == 0.5 * 25433 + 0.5
    # (24 2)^2 log(8e6) + 1 = 36622.8, and (28 2)^4 l + l, l = log(1.6e10).
    about = {"n_arms": 2, "epsilon": 1.0, "v": 1.0, "u": 1.0}
    assert closed_forms.dp_robust_se_epoch(1.0, failure=1e-6, **about) == 36623
    assert closed_forms.ldp_robust_se_epoch(1.0, failure=1e-9, **about) == pytest.approx(
        (56**4 + 1) * math.log(16e9), abs=1.5
    )
    # (36/.5)^2 2 log(2e24) log^2.5(1e6)/.25.
    assert closed_forms.dp_robust_ucb_pulls(0.5, 1e6, 0.25, 1.0, 2.0) == pytest.approx(
        5184 * 8 * (math.log(2) + 24 * math.log(10)) * (6 * math.log(10)) ** 2.5, rel=1e-12
    )
    # sqrt(2 log 4/n) + 2 M log 4/(3 n) + 2 M log 2/n + 1/M, n = 100, M = (100/log(1/delta))^(1/2), delta = 1.
    beta = closed_forms.robust_deviation(100.0, 2.0, 1.0, 0.25, 0.5)
    log, limit = math.log(8), 2.0
    by_hand = math.sqrt(2 * 2 * log / 100) + 4 * log / 300 + 4 * math.log(4) / 100 + 0.5 + 0.25 * 3
    assert beta == pytest.approx(by_hand, rel=1e-12)
    assert limit == 0.25 ** (-1 / 2)


@pytest.mark.parametrize("constants", ["proof", 0.1])
@pytest.mark.parametrize("variant", ["corrected", "printed"])
def test_epochs_are_those_of_the_listings(constants, variant):
    epoch = np.arange(1.0, 12.0)
    local = LDPRobustSE(4, 0.5, 10**12, 0.7, 3.0, constants=constants, variant=variant)
    for rule in (DPRobustSE(4, 0.5, 10**12, 0.7, 3.0, constants=constants), local):
        assert np.array_equal(_robust.epoch_lengths(rule, epoch), rule.pulls(np.float64(4), epoch))


@pytest.mark.parametrize("alpha", [0.0, 0.02])
@pytest.mark.parametrize("moments", ["raw", "central"])
def test_deviations_are_those_of_the_listing(alpha, moments):
    radius = 7.0 if moments == "central" else 1.0
    rule = DPRobustElimination(4, 0.5, 1 << 30, 2.5, alpha, moments, radius)
    about = (rule.k, rule.epsilon, alpha, rule.failure, radius if moments == "central" else None)
    mine = [closed_forms.robust_deviation(n, *about) for n in rule.samples[1:].tolist()]
    np.testing.assert_allclose(mine, rule.beta[1:], rtol=1e-12)


# ---------------------------------------------------------------- apart from the rules


def bounds():
    actions, gaps = _linear.CIRCLE, _linear.on_circle(_linear.CIRCLE, 0).gaps
    return [
        *(_robust.regret_bound(GAPS, cls(4, 0.5, 10**12, 0.7, 3.0)) for cls in (DPRobustSE, LDPRobustSE)),
        robust_elimination.regret_bound(GAPS, DPRobustElimination(4, 0.5, 1 << 30)),
        robust_elimination.regret_bound(
            GAPS, DPRobustElimination(4, 0.5, 1 << 30, moments="central", radius=7.0)
        ),
        *(_linear.regret_bound(gaps, cls(actions, 1.0, 10**7)) for cls in LINEAR),
    ]


LINEAR = (DPLinear, LDPLinear, ShuffledLinear)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (DPRobustSE, "pulls"),
        (LDPRobustSE, "pulls"),
        (dp_robust_elimination, "deviation"),
        (DPRobustElimination, "gap"),
        (dp_linear, "width"),
        (dp_linear, "growth"),
        (ldp_linear, "width"),
        (ShuffledLinear, "local"),
    ],
)
def test_a_wrong_schedule_does_not_move_its_own_bound(monkeypatch, place, name):
    before, own = bounds(), getattr(place, name)
    monkeypatch.setattr(place, name, lambda *given, **named: 2 * own(*given, **named))
    assert bounds() == before


# ---------------------------------------------------------------- able to fail


@pytest.mark.parametrize("kind", LINEAR)
def test_theorems_of_high_probability_are_checked_as_such(kind):
    """Every run of a rule eight times as timid breaks them, none of the right one's."""
    rule = kind(_linear.CIRCLE, 1.0, 10**6)
    theorem = next(c for c in _claims(kind) if c.name.startswith("theorem"))
    for played, verdict in ((rule, "consistent"), (EIGHTFOLD(rule), "contradicted")):
        found = list(_linear.HighProbability()(TheoremTrial(kind, theorem, played, "quick", 0)))
        assert [check.verdict for check in found] == [verdict, verdict]
        assert {check.kind for check in found} == {"probability"}


@pytest.mark.parametrize("kind", LINEAR)
def test_the_rate_of_the_worst_case_is_told_from_uniform_play(kind):
    rule = kind(_linear.CIRCLE, 1.0, 10**6)
    theorem = next(c for c in _claims(kind) if c.name.startswith("theorem"))
    check = _linear.WorstCase(100.0 if kind is DPLinear else 1.0, tuple(range(14, 24, 2)))
    never = result("width", lambda rule, width, *at: 1e9 * width)
    for played, slope in ((rule, 0.5), (never(rule), 1.0)):
        (found,) = check(TheoremTrial(kind, theorem, played, "quick", 0))
        assert found.result["slope"] == pytest.approx(slope, abs=0.05)


def _claims(kind):
    return entries.auditor(kind.name).claims


def test_dp_ucb_over_the_number_of_arms(monkeypatch):
    """Regret like K - 1 in the place of K (K - 1), or the other way round, is contradicted."""
    rule = DPUCB(5, 1.0, 10**6, "per-arm")
    trial = TheoremTrial(DPUCB, claim(dp_ucb, "rate"), rule, "quick", 0)
    monkeypatch.setattr(dp_ucb, "OVER_ARMS", (2, 3, 5, 9))
    monkeypatch.setattr(dp_ucb, "RATE_RUNS", 3)
    right = list(dp_ucb.over_arms(trial))
    assert [round(check.result["slope"], 1) for check in right] == [1.0, 1.0]

    def swapped(self, environment, runs, **options):
        budget = "split" if self.rule.budget == "per-arm" else "per-arm"
        return played(self.changed(budget=budget), environment, runs, **options)

    played = TheoremTrial.play
    monkeypatch.setattr(TheoremTrial, "play", swapped)
    slopes = [check.result["slope"] for check in dp_ucb.over_arms(trial)]
    assert slopes[0] > 1.5
    assert slopes[1] < 0.7


def exponents():
    """Every rate over one parameter that an audit measures, by name: its claim's auditor and itself."""
    found = {}
    for auditor in map(entries.auditor, entries.names()):
        for made in (check for claim in auditor.claims for check in claim.checks):
            check = getattr(made, "check", made)
            if isinstance(check, Exponent):
                found[f"{auditor.algorithm.name} {check.over}"] = auditor, check
    return found


def test_uniform_play_breaks_every_rate_over_one_parameter_of_an_audit(monkeypatch):
    assert {"dp-robust-se epsilon", "dp-robust-elimination epsilon", "dp-robust-ucb K"} <= set(exponents())

    def uniform(self, environment, runs, **options):
        return SimpleNamespace(regret=np.full(8, self.rule.horizon * environment.gaps.mean()))

    monkeypatch.setattr(TheoremTrial, "play", uniform)
    for name, (auditor, check) in exponents().items():
        rule = auditor.algorithm(**auditor.instance)
        trial = TheoremTrial(auditor.algorithm, SimpleNamespace(name="claim"), rule, "quick", 0)
        assert [found.verdict for found in check(trial)] == ["contradicted"], name


def test_a_bound_that_is_met_a_hundredfold_is_called_weak():
    def said(bound):
        check = mean_bound("x", np.array([1.0, 1.1, 0.9]), bound=bound, largest=1e6)
        assert check.verdict == "consistent"
        return in_words(Check.read(check.as_dict()))

    assert "weak check, as the bound is 1900 times the mean" in said(1900.0)
    assert "weak" not in said(90.0)


def test_an_eightfold_gap_breaks_the_bound_of_robust_elimination():
    where = bernoulli([0.8, 0.2])
    rule = DPRobustElimination(2, 1.0, 1 << 20)
    bound = robust_elimination.regret_bound(where.gaps, rule)
    regrets = [
        TheoremTrial(DPRobustElimination, None, played, "quick", 0).play(where, 6).regret.mean()
        for played in (rule, gap_times(8)(rule))
    ]
    assert regrets[0] < bound < regrets[1]
