"""Auditor of Dist-DP-SE: tables near the threshold; the bounds that follow from its radius."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dist_dp_se import DistDPSE
from verifiable_dp.algorithms.se import SE
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import c1_to_c4, c2, one_release
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import gap_times, noise_by
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import CorrectOnly, MeanBound, Prices, Pulls, Survival

SHEET = Sheet(__file__, papers.CHOWDHURY)
claim, mutant = SHEET.claim, SHEET.mutant

SHORT = {"n_arms": 3, "horizon": 100_000, "beta": 0.1}
DERIVED = SHEET.words("derived")


def pulls_bound(gaps: FloatArray, rule: DistDPSE) -> FloatArray:
    """2 + 4 + ... + 2^b up to the first batch with 4 beta(b) < Delta for |Phi| = K, for gaps (m,)."""
    batch = np.arange(1.0, 61.0)
    last = (4 * rule.radius(rule.n_arms, batch) < np.asarray(gaps)[:, None]).argmax(axis=1)
    return np.asarray(2.0 ** (batch[last] + 1) - 2)


def regret_bound(gaps: FloatArray, rule: DistDPSE) -> float:
    """Sum of Delta_a times the bound on pulls at p = 1/T, and the largest gap for the runs that fail."""
    bad = gaps[gaps > 0]
    return float(bad @ pulls_bound(bad, rule)) + float(gaps.max())


def _inverse_scale(rule: DistDPSE, state: Own, query: Query) -> FloatArray:
    """Scale of the noise of a batch over the right one, if shares have Gamma scale (1 - q)/q for q/(1 - q).

    With q = e^(-epsilon/g), g = ceil(epsilon sqrt l), the sum's ratio is then 1 - q in place of q.
    """
    pulls = np.maximum(query.pulls(), 1)
    unit = rule.epsilon / np.ceil(rule.epsilon * np.sqrt(pulls))
    return np.asarray(-unit / np.log(-np.expm1(-unit)))


PRICE = Prices(
    lambda rule: SE(rule.n_arms, rule.horizon),
    c2,
    (0.01, 0.05, 0.1, 0.25, 1.0),
    SHEET.words("price"),
    {"horizon": 10**7, "beta": None},
)

PULLS = Pulls(family.LARGE_GAPS, SHORT, DERIVED)
SURVIVAL = Survival(family.NEAR_TIES, SHORT, DERIVED)
CLAIMS = (
    claim("elimination", pulls_bound, [PULLS, SURVIVAL]),
    claim("theorem-1", regret_bound, [MeanBound(c1_to_c4), CorrectOnly(PRICE)]),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    mutant("inverse Gamma scale", noise_by(_inverse_scale)),
    mutant("hasty", gap_times(1 / 8), SURVIVAL),
    mutant("timid", gap_times(8), PULLS),
    mutant("uniform play", gap_times(1e12), PULLS),
    family.inverted(PULLS),
)

auditor = SHEET.auditor(DistDPSE, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
