"""Auditor of DP-KLUCB: rewards of the first phases changed; regret against the lower bound's quantity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_klucb import AdaPKLUCB
from verifiable_dp.algorithms.dp_klucb import DPKLUCB, divergence
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._elimination import mean_noise
from verifiable_dp.auditors._first_neighbours import c1_to_c4, c2, one_release
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.claims import RegretClaim
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.mutants import Unforgetting, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import Better, Checking, CorrectOnly, MeanBound, TheoremTrial

SHEET = Sheet(__file__, papers.AZIZE_OPTIMAL)
claim, mutant = SHEET.claim, SHEET.mutant

LEVEL = 4.0  # ours: the paper has a constant near 1 as T grows
NEAR = 3.0  # ours, at T = 1e7 and the means themselves


def least_information(gaps: FloatArray, epsilon: float) -> FloatArray:
    """2 Delta^2, or epsilon Delta - epsilon^2/8 from Delta = epsilon/4 on: at most d_epsilon at that gap.

    It is the largest of lambda Delta - lambda^2/8 over lambda up to epsilon, by Hoeffding's lemma.
    """
    return np.asarray(np.where(4 * gaps <= epsilon, 2 * gaps**2, epsilon * gaps - epsilon**2 / 8))


def regret_bound(gaps: FloatArray, rule: DPKLUCB) -> float:
    """4 sum over Delta_a > 0 of Delta_a log T/`least_information`."""
    bad = gaps[gaps > 0]
    return float(np.sum(LEVEL * bad * math.log(rule.horizon) / least_information(bad, rule.epsilon)))


def lower(where: TwoPoint, epsilon: float, horizon: float) -> float:
    """sum_a Delta_a log T/d_epsilon(mu_a, mu*) over the suboptimal arms."""
    means, best = np.array(where.means), max(where.means)
    bad = means[means < best]
    return float(np.sum((best - bad) * math.log(horizon) / divergence(bad, best, epsilon)))


def against_lower_bound(trial: TheoremTrial) -> Iterator[Check]:
    """On C2, at small and at large epsilon."""
    for epsilon in (0.1, 1.0):
        played = trial.changed(epsilon=epsilon)
        arms = s1("C2", trial.rule.n_arms)
        where = replace(arms, name=f"{arms.name}, epsilon = {epsilon:g}")
        yield played.mean_bound(
            where,
            played.play(where).regret,
            lambda horizon, where=where, epsilon=epsilon: NEAR * lower(where, epsilon, horizon),  # type: ignore[misc]
            epsilon=epsilon,
        )


ON_TWO = MeanBound([family.TWO], family.SHORT)
LOWEST = Better(
    lambda rule: AdaPKLUCB(rule.n_arms, rule.epsilon, rule.horizon),
    "adap-klucb",
    1.0,
    c2,
    {"quick": 60, "standard": 100, "thorough": 300},
)


def claims(index: str) -> tuple[RegretClaim, ...]:
    """Those of both indices."""
    return (
        claim("regret", regret_bound, [ON_TWO, MeanBound(c1_to_c4)], index=index),
        claim("near the lower bound", checks=[against_lower_bound, CorrectOnly(LOWEST)], index=index),
    )


def mutants(caught_by: Checking) -> tuple[Mutant, ...]:
    """Those of both indices."""
    return (
        *family.NOISE_MUTANTS,
        mutant("whole sums", Unforgetting),
        mean_noise("1/(epsilon n)"),
        *family.order_mutants(caught_by),
    )


def _timid(rule: DPKLUCB, level: FloatArray, state: Own) -> FloatArray:
    return 16 * level


auditor = SHEET.auditor(
    DPKLUCB,
    family.pairs,
    mutants=(*mutants(ON_TWO), mutant("timid", result("level", _timid), ON_TWO)),
    claims=claims("DP-KLUCB"),
    worst_cost=one_release,
)
