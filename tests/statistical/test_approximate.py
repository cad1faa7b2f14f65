"""Whole audits of (epsilon, delta), of rho-zCDP, of groups and users: right ones hold, broken ones fall.

Every audit refutes a true claim with probability 1e-6 at most (`ALPHA`), by an exact test; seeds are fixed.
"""

import math
from pathlib import Path

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.auditing import groups
from verifiable_dp.core.neighbours import GroupPair, UserPair
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry

GAUSSIAN = str(Path(__file__).parents[1] / "user_code" / "gaussian.py")


def kinds(report):
    return {check["kind"]: check["result"]["verdict"] for check in report.record["checks"]}


@pytest.fixture(scope="module")
def right():
    return vdp.audit(f"{GAUSSIAN}:right", rho=0.5, budget="smoke", runs=24000, seed=1)


@pytest.fixture(scope="module")
def too_little():
    return vdp.audit(f"{GAUSSIAN}:too_little", rho=0.5, budget="smoke", runs=2400, seed=1)


def test_a_gaussian_with_its_rho_holds_and_with_less_noise_falls(right, too_little):
    assert kinds(right)["curve"] == "not_refuted"
    assert right.verdict == "not_refuted"
    assert right.record["claim"]["rho"] == 0.5
    assert too_little.verdict == "refuted"
    assert kinds(too_little)["curve"] == "refuted"
    found = [c["check"] for c in too_little.record["counterexamples"]]
    assert "hockey-stick curve" in found


@pytest.mark.slow
def test_their_records_are_judged_again_and_run_again(right, too_little, tmp_path):
    for report in (right, too_little):
        path, page = report.save(tmp_path)
        assert verify(path, rerun=api.rerun).record == report.record
        assert "Delta at a given epsilon" in page.read_text()


@pytest.mark.slow  # by day in test_accusations.py: power with delta is that of the event
def test_a_mechanism_with_delta_has_power_and_is_not_inconclusive():
    """It was, as no power was stated for delta above 0; a promise too small by a factor of two falls."""
    report = vdp.audit(f"{GAUSSIAN}:right", epsilon=3.0, delta=0.01, budget="smoke", runs=2400, seed=1)
    assert report.verdict == "not_refuted"
    assert 3.0 < report.record["power"]["smallest_epsilon"] < 12.0
    assert 1.5 < report.epsilon_lower < 3.0
    wrong = vdp.audit(f"{GAUSSIAN}:right", epsilon=1.2, delta=0.01, budget="smoke", runs=2400, seed=1)
    assert wrong.verdict == "refuted"


def test_what_one_reward_costs_twice_is_what_a_group_of_two_is_promised():
    report = vdp.audit("dp-se", group=2, budget=0.3, seed=1, mutants=False)
    claim = report.record["claim"]
    assert (claim["unit"], claim["epsilon"]) == ("group", 2.0)
    assert report.verdict == "not_refuted"
    assert report.epsilon_lower == pytest.approx(2.0)


def test_epsilon_itself_does_not_hold_for_a_group_of_two():
    """Negative control: the same pair, held against the promise about one reward."""
    auditor = registry.auditor("dp-se")
    algorithm = auditor.algorithm(**auditor.instance)
    pairs = groups.of_algorithm(algorithm, list(auditor.pairs(algorithm))[:1], 2, 0)
    assert isinstance(pairs[0], GroupPair)
    report = vdp.audit(algorithm, pairs=pairs, budget=0.3, seed=1, mutants=False)
    assert report.verdict == "refuted"
    assert kinds(report)["alignment"] == "refuted"


@pytest.mark.slow
def test_the_record_of_a_group_runs_again(tmp_path):
    report = vdp.audit("tree-sum", group=3, curve=True, budget=0.2, seed=2, mutants=False)
    assert report.verdict == "not_refuted"
    assert report.record["plan"]["group"] == 3
    path, _ = report.save(tmp_path)
    assert verify(path, rerun=api.rerun).record == report.record


def votes(epsilon):
    """A bandit of 6 rounds that draws each arm from the exponential mechanism on the rewards so far."""

    def play_many(rewards, n_runs, rng):
        arms = np.zeros((n_runs, len(rewards)), int)
        for t in range(1, len(rewards)):
            lead = rewards[:t, 1].sum() - rewards[:t, 0].sum()
            arms[:, t] = rng.random(n_runs) < 1 / (1 + math.exp(-epsilon * lead))
        return arms

    return play_many


PAIR = vdp.neighbours.TablePair(np.zeros((6, 2)), 0, 1, 1.0)


@pytest.mark.slow
def test_a_users_bandit_against_groups():
    """A reward is used in 5 draws, each of which it may tell by epsilon / 5; of two in 5 and in 4."""
    options = {
        "epsilon": 1.0,
        "n_arms": 2,
        "horizon": 6,
        "budget": "smoke",
        "runs": 1200,
        "seed": 3,
        "pairs": [PAIR],
    }
    held = vdp.audit(votes(0.2), group=2, **options)
    assert kinds(held)["black_box"] == "not_refuted"
    assert held.record["claim"]["epsilon"] == 2.0
    broken = vdp.audit(votes(4.0), group=2, **options)
    assert broken.verdict == "refuted"
    assert broken.record["counterexamples"][0]["pair"]["type"] == "group"
    assert broken.epsilon_lower > 2.0


def test_user_level_pairs():
    owner = {t: t % 3 for t in range(6)}
    pair = UserPair.of(np.zeros((6, 2)), owner, 0, np.tile([0.0, 1.0], (2, 1)))
    options = {
        "epsilon": 1.0,
        "n_arms": 2,
        "horizon": 6,
        "budget": "smoke",
        "runs": 1200,
        "seed": 3,
        "pairs": [pair],
    }
    held = vdp.audit(votes(0.2), group=2, **options)
    assert held.record["claim"]["unit"] == "user"
    assert kinds(held)["black_box"] == "not_refuted"
    broken = vdp.audit(votes(4.0), group=2, **options)
    assert broken.verdict == "refuted"
    assert broken.record["counterexamples"][0]["pair"]["type"] == "user"
