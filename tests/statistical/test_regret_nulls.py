"""Nothing correct is accused: checks made for slightly worse algorithms, on the correct ones at many seeds.

Each verdict of ``contradicted`` has level 1e-6 at most, so that 200 runs of a check raise an alarm with
probability 2e-4 under the worst law it allows; the algorithms here lie far inside. Seeds are fixed.
"""

import numpy as np
import pytest

from tests.trials import on_trial
from verifiable_dp.auditors import dp_se, dp_ucb, se, ucb1
from verifiable_dp.evidence.regret.linear_in_log import linear_in_log
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.registry import entries as registry

SEEDS = 200


def algorithm(name):
    auditor = registry.auditor(name)
    return auditor.algorithm(**auditor.experiment)


def mutant(name, which):
    found = next(m for m in registry.auditor(name).mutants if m.name == which)
    return found.make(algorithm(name))


def tried(name, claim, *checks):
    """Checks of one claim on an algorithm, as made of a mutant."""
    return lambda rule, seed: [c for check in checks for c in check(on_trial(name, claim, rule, seed=seed))]


CHECKS = {
    "exponents of DP-SE": ("dp-se", tried("dp-se", "theorem-4.3", *dp_se.EXPONENTS), 30),
    "survival of DP-SE": ("dp-se", tried("dp-se", "lemma-4.2", dp_se.CROWDED), 15),
    "sweeps of SE": ("se", tried("se", "least-sweeps", se.least_sweeps), 40),
    "constant of UCB1": ("ucb1", tried("ucb1", "leading-constant", ucb1.growth), 2),
}


# The dear ones by day at one seed, in contract/test_auditors.py.
BY_DAY = {"exponents of DP-SE", "sweeps of SE"}


@pytest.mark.parametrize(
    "words", [words if words in BY_DAY else pytest.param(words, marks=pytest.mark.slow) for words in CHECKS]
)
def test_the_correct_algorithm_is_not_accused(words):
    name, check, seeds = CHECKS[words]
    rule = algorithm(name)
    verdicts = [c.verdict for seed in range(seeds) for c in check(rule, 1000 * seed + 1)]
    assert "contradicted" not in verdicts
    assert verdicts.count("consistent") >= 0.9 * len(verdicts) or words == "constant of UCB1"


@pytest.mark.slow
@pytest.mark.parametrize("words", CHECKS)
def test_the_correct_algorithm_is_not_accused_at_200_seeds(words):
    name, check, _ = CHECKS[words]
    rule = algorithm(name)
    found = [check(rule, 1000 * seed + 7) for seed in range(SEEDS)]
    assert (len(found), all(found)) == (200, True)
    assert all(c.verdict != "contradicted" for checks in found for c in checks)


@pytest.mark.slow
def test_the_rate_of_dp_ucb_is_not_accused():
    rule = algorithm("dp-ucb")
    for seed in range(30):
        (check,) = dp_ucb.rate(on_trial("dp-ucb", "rate", rule, seed=1000 * seed))
        assert check.verdict != "contradicted"


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("exponents of DP-SE", "epsilon/K per arm"),
        ("survival of DP-SE", "half threshold"),
        ("sweeps of SE", "half threshold"),
        pytest.param("constant of UCB1", "doubled bonus", marks=pytest.mark.slow),
    ],
)
def test_the_worse_algorithm_is_accused(words, which):
    """The negative control."""
    name, check, _ = CHECKS[words]
    assert any(c.verdict == "contradicted" for c in check(mutant(name, which), 1))


def test_safe_sweeps_hold_with_room():
    """SE's arm leaves by `safe_sweeps` far more seldom than it may; at half the threshold nearly always."""
    sweeps = se.safe_sweeps(se.SMALL_GAP, 2, se.BETA, se.BETA)
    assert sweeps > 500
    assert se.safe_sweeps(2 * se.SMALL_GAP, 2, se.BETA, se.BETA) < sweeps
    assert se.safe_sweeps(se.SMALL_GAP, 2, se.BETA, 0.01) < sweeps


# ---------------------------------------------------------------- level of the fit


LEVEL = 0.05
RUNS = 600


def straight(rng, bend=0.0):
    """Means 3 + 2 log x with noise that grows with x; `bend` is q/b."""
    points = []
    for x in np.geomspace(1e3, 1e6, 10):
        z = (np.log(x) - np.log(1e3)) / np.log(1e3) * 2 - 1
        mean = 3 + 2 * np.log(x) + bend * np.log(1e3) * z**2
        points.append((x, mean + 0.2 * np.log(x) * rng.standard_normal(12)))
    return points


@pytest.mark.parametrize(
    ("options", "bend"),
    [
        ({"most_slope": 2.0, "curvature": 10.0}, 0.0),
        ({"slope": 2.0, "curvature": 10.0}, 0.0),
        ({"curvature": 0.05}, 0.05),
    ],
)
def test_a_claim_at_its_very_limit_is_contradicted_at_most_at_the_level(options, bend):
    """600 fits: a true level of .05 gives more than 64 of them with probability below 1e-8."""
    rng = np.random.default_rng(11)
    alarms = sum(
        linear_in_log("c", straight(rng, bend), alpha=LEVEL, **options).verdict == "contradicted"
        for _ in range(RUNS)
    )
    assert alarms <= 64


def test_a_claim_beyond_its_limit_is_contradicted():
    """The negative control of the level: slope and bend that are false."""
    rng = np.random.default_rng(12)
    false = [{"most_slope": 1.2, "curvature": 10.0}, {"slope": 2.8, "curvature": 10.0}]
    for options in false:
        verdicts = [linear_in_log("c", straight(rng), alpha=LEVEL, **options).verdict for _ in range(50)]
        assert verdicts.count("contradicted") > 25
    bent = [linear_in_log("c", straight(rng, 0.6), alpha=LEVEL, curvature=0.05) for _ in range(50)]
    assert sum(c.verdict == "contradicted" for c in bent) > 25


def test_a_mean_at_its_lower_bound_is_contradicted_at_most_at_the_level():
    """Normal runs: the level is exact; 2000 checks at .01 give more than 55 alarms with probability 1e-9."""
    rng = np.random.default_rng(13)
    alarms = sum(
        mean_at_least("m", rng.standard_normal(10) + 1, bound=1.0, alpha=0.01).verdict == "contradicted"
        for _ in range(2000)
    )
    assert 3 <= alarms <= 55
