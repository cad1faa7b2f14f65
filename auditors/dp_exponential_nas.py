"""Auditor of DP exponential NAS: streams along the threshold, Corollary 3.2, Theorem 3.3 and its corner."""

from __future__ import annotations

import math
from collections.abc import Iterator

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_exponential_nas import DPExponentialNAS
from verifiable_dp.algorithms.dp_nas import DPNAS
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE
from verifiable_dp.core.environments import two_point
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.floors import floor_row
from verifiable_dp.evidence.regret.floors import floors as floors_check
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet, fill
from verifiable_dp.registry.theorems import TABLE_RUNS, CorrectOnly, TheoremTrial

SHEET = Sheet(__file__, papers.S1)
claim, mutant = SHEET.claim, SHEET.mutant

NEAR = 0.02  # the mean of Theorem 3.4's check, in units of R
FAINT = 0.05  # the mean of Corollary 3.6, at which the rule still halts


def halting_bound(
    mean: float, radius: float, alpha: float, beta: float, epsilon: float, *, printed: bool = False
) -> float:
    """Theorem 3.3: 2000 (t0 + t1 + t2) samples.

    t0 = R^2 l/(alpha mu)^2, t1 = R l/(epsilon |mu|), t2 = R log(1/beta)/(epsilon alpha |mu|),
    l = log((1/beta) log(R/(alpha |mu|))), with R/(alpha |mu|) taken to be e at least. As `printed`, without
    that, l may be negative and the bound with it: at alpha = .999, mu = R, beta = .08.
    """
    ratio = radius / (alpha * abs(mean))
    log = math.log(math.log(ratio if printed else max(math.e, ratio)) / beta)
    t0 = (ratio**2) * log
    t1 = radius * log / (epsilon * abs(mean))
    t2 = ratio * math.log(1 / beta) / epsilon
    return 2000 * (t0 + t1 + t2)


def _halting(trial: TheoremTrial, mean: float, done: Simulation, about: str = "") -> Check:
    rule = trial.rule
    limit = halting_bound(mean, rule.radius, rule.alpha, rule.beta, rule.epsilon)
    return family.halts_by(trial, mean, done, limit, about)


def corner(trial: TheoremTrial) -> Iterator[Check]:
    """Halting at alpha = .999, mu = R."""

    def judge(trial: TheoremTrial, mean: float, done: Simulation) -> Check:
        return _halting(trial, mean, done, "at the corner ")

    return family.AtMean(judge, 1.0)(trial.changed(alpha=0.999, beta=0.08))


FLOORS = SHEET.words("floors")
RULE: JsonDict = {"alpha": 0.5, "beta": 0.08, "horizon": 1 << 21}


def floors(trial: TheoremTrial) -> Iterator[Check]:
    """Both lower bounds on every private stopping rule."""
    rows = []
    for epsilon in (0.05, 0.5):
        for rule in (DPNAS(epsilon=epsilon, **RULE), DPExponentialNAS(epsilon=epsilon, **RULE)):
            done = trial.simulate(rule, two_point(FAINT, 1.0), TABLE_RUNS)
            private = family.least_private(FAINT, 1.0, rule.alpha, rule.beta, epsilon)
            bounds = {
                "Theorem 3.4": private * (1 - math.sqrt(rule.beta) - rule.beta),
                "Corollary 3.6": family.least_mean(FAINT, 1.0, rule.alpha, rule.beta),
            }
            rows += [
                floor_row(
                    family.samples(done, rule),
                    bound=bound,
                    algorithm=rule.name,
                    instance=f"{name}, mean {FAINT:g}",
                    epsilon=epsilon,
                    horizon=rule.horizon,
                )
                for name, bound in bounds.items()
            ]
    yield floors_check(
        "corollary-3.6 on every private stopping rule",
        rows,
        claim="corollary-3.6",
        caption=fill(FLOORS, {"mean": FAINT, "runs": trial.runs(TABLE_RUNS)}),
        measured="samples",
    )


HALTING = family.AtMean(_halting, 0.5)
MUTANTS = (
    HALF_NOISE,
    *family.PRIVACY_MUTANTS,
    family.NO_THRESHOLD_NOISE,
    family.NO_QUERY_NOISE,
    mutant("hasty", family.threshold_over(20), family.POSITIVE),
    mutant(
        "stubborn",
        result("threshold", lambda rule, limit, t, check: limit + t * rule.radius, compiled=True),
        HALTING,
    ),
)

CLAIMS = (
    claim("corollary-3.2", checks=family.CORRECT),
    claim("theorem-3.3", halting_bound, [HALTING, family.AtMean(_halting, -0.5), corner]),
    claim("theorem-3.4", checks=[family.AtMean(family.halts_after, NEAR)]),
    claim(
        "corollary-3.6", family.least_mean, [family.AtMean(family.takes_at_least, FAINT), CorrectOnly(floors)]
    ),
)

auditor = SHEET.auditor(
    DPExponentialNAS, family.along_threshold, MUTANTS, CLAIMS, worst_cost=family.worst_cost
)
