"""Auditor of AdaC-GOPE: one reward from -1 to 1; the bound that follows from its widths."""

from __future__ import annotations

import math

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adac_gope import AdaCGOPE
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import FROM_RHO, HALF_NOISE, NO_NOISE, RHO_FOR_TWO
from verifiable_dp.auditors.dp_linear import SUM_MUTANTS, pairs
from verifiable_dp.registry.mutants import MEAN_NOISE
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import CorrectOnly

SHEET = Sheet(__file__, papers.AZIZE_ZCDP)
claim, mutant = SHEET.claim, SHEET.mutant

GOOD_EVENT = family.GoodEvent("AdaC-GOPE")
MUTANTS = (
    HALF_NOISE,
    RHO_FOR_TWO,
    NO_NOISE,
    *SUM_MUTANTS,
    mutant("sums with the noise of means", MEAN_NOISE),
    *family.removal_mutants(GOOD_EVENT),
)
CLAIMS = (
    claim("regret", family.regret_bound, [family.MEANS, CorrectOnly(family.HighProbability())]),
    claim("good-event", checks=[GOOD_EVENT]),
)

auditor = SHEET.auditor(
    AdaCGOPE,
    lambda rule: pairs(rule, math.sqrt(2 * rule.rho)),
    MUTANTS,
    CLAIMS,
    **family.OF_THREE,
    **FROM_RHO,
)
