"""Auditor of AdaP-TT: the first reward changed; the arm that is found, and after how many rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_tt import AdaPTT
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.theorems import TRIALS, TheoremTrial

CLEAR = bernoulli([0.2, 0.8], "two arms, gap .6")
CROWD = bernoulli([*[0.1] * 6, 0.5, 0.9], "six far arms and a near one")
LEVEL = 1.4  # ours: the paper's constants are not at hand
RUNS = {"mutant": 60, "quick": 60, "standard": 200, "thorough": 400}


def samples_bound(gaps: FloatArray, rule: AdaPTT) -> float:
    """1.4 times the sum over arms of 2 n_a, n_a the least power of two with 2 radius(n_a) <= Delta_a.

    The gap of the best arm is that of the second.
    """
    own = np.where(gaps > 0, gaps, np.min(gaps[gaps > 0]))
    total = 0.0
    for gap in own.tolist():
        for j in range(60):
            log = math.log(3 * rule.n_arms * (j + 2) * (j + 3) / rule.beta)
            if 2 * (math.sqrt(log / 2 ** (j + 1)) + log / (rule.epsilon * 2**j)) <= gap:
                total += 2.0 ** (j + 1)
                break
    return LEVEL * total


def correct(trial: TheoremTrial) -> Iterator[Check]:
    """A run fails if it finds an arm that is not the best."""
    trial = trial.changed(n_arms=2, horizon=1000)
    found = trial.play(CLEAR, TRIALS).output[:, 1]
    yield trial.probability(
        f"on {CLEAR.name}",
        np.nan_to_num(found, nan=1.0) != 1,
        trial.rule.beta,
        vacuous=bool(np.isnan(found).all()),
        instance=CLEAR.name,
        horizon=trial.rule.horizon,
        found=int((~np.isnan(found)).sum()),
    )


def samples(trial: TheoremTrial) -> Iterator[Check]:
    """Mean rounds until an arm is found; a run that finds none counts as its horizon."""
    rounds = np.nan_to_num(trial.play(CROWD, RUNS).output[:, 0], nan=float(trial.rule.horizon))
    yield mean_bound(
        f"{trial.claim.name} on {CROWD.name}",
        rounds,
        bound=float(trial.bound(CROWD.gaps)(trial.rule.horizon)),
        largest=float(trial.rule.horizon),
        claim=trial.claim.name,
        instance=CROWD.name,
        horizon=trial.rule.horizon,
    )


CLAIMS = (
    RegretClaim(
        "correct",
        "With probability 1 - beta, the arm that is found is the best one.",
        "beta",
        Source(papers.AZIZE_BAI, "delta-correctness", "with our own threshold"),
        "probability",
        checks=[correct],
        about="utility",
    ),
    RegretClaim(
        "samples",
        "Arms that are far from the best get few rounds: on eight arms, fewer than uniform play needs.",
        "1.4 sum_a 2 n_a, n_a = min {2^j: 2 radius(2^j) <= Delta_a}",
        Source(
            papers.AZIZE_BAI,
            "sample complexity",
            "we did not have its asymptotic bound; we chose the level 1.4, which uniform play and a "
            "threshold eight times too large exceed",
        ),
        "mean",
        samples_bound,
        "six arms of mean .1, one of .5, one of .9",
        [samples],
        about="utility",
    ),
)

MUTANTS = (
    *family.BATCH_MUTANTS,
    Mutant(
        "uniform play",
        "the arm with the fewest pulls is played next",
        family.UNIFORM_CHOICE,
        caught_by=samples,
    ),
    Mutant(
        "timid",
        "the radii of the threshold are eight times too large",
        result("radius", lambda rule, radius, state: 8 * radius),
        caught_by=samples,
    ),
    Mutant(
        "hasty",
        "the radii are sixteen times too small, below the noise of the estimates",
        result("radius", lambda rule, radius, state: radius / 16),
        caught_by=correct,
    ),
)

auditor = Auditor(
    algorithm=AdaPTT,
    paper=papers.AZIZE_BAI,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 8, "epsilon": 1.0, "horizon": 6000},
    longest=255,
    worst_cost=lambda rule: rule.mechanism.cost(),  # a reward enters one release
)
