"""Auditor of AdaP-UCB: the first reward changed, Theorem 7, and the bound that its proof gives in numbers."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import c2, one_release
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import CorrectOnly, Prices

SHEET = Sheet(__file__, papers.AZIZE)
claim = SHEET.claim


def regret_bound(gaps: FloatArray, rule: AdaPUCB) -> float:
    """Theorem 7: sum over Delta_a > 0 of 16 alpha log T/min(Delta_a, epsilon) + alpha/(alpha - 3)."""
    bad = gaps[gaps > 0]
    lead = 16 * rule.alpha * math.log(rule.horizon) / np.minimum(bad, rule.epsilon)
    return float(np.sum(lead + rule.alpha / (rule.alpha - 3)))


PRICE = Prices(
    lambda rule: UCB1(rule.n_arms, rule.horizon), c2, (0.01, 0.05, 0.1, 0.25, 1.0), SHEET.words("price")
)

CLAIMS = (
    claim("theorem-7", regret_bound, [*family.CHECKS, CorrectOnly(PRICE)]),
    claim("regret", family.regret_bound, family.CHECKS, pulls=family.BOUND_FORMULA),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    *family.order_mutants(family.ON_TWO),
    family.no_doubling(family.ON_TWO),
    family.timid(family.ON_TWO),
)

auditor = SHEET.auditor(AdaPUCB, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
