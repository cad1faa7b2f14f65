"""Auditor of AdaP-TT: the first reward changed; the arm that is found, and after how many rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_tt import AdaPTT
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import one_release
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, TheoremTrial

SHEET = Sheet(__file__, papers.AZIZE_BAI)
claim, mutant = SHEET.claim, SHEET.mutant

CLEAR = bernoulli([0.2, 0.8], "two arms, gap .6")
CROWD = bernoulli([*[0.1] * 6, 0.5, 0.9], "eight arms, six of them poor")
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


CLAIMS = (claim("correct", checks=[correct]), claim("samples", samples_bound, [samples]))

MUTANTS = (
    *family.BATCH_MUTANTS,
    mutant("uniform play", family.UNIFORM_CHOICE, samples),
    mutant("timid", result("radius", lambda rule, radius, state: 8 * radius), samples),
    mutant("hasty", result("radius", lambda rule, radius, state: radius / 16), correct),
)

auditor = SHEET.auditor(AdaPTT, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
