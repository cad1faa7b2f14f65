"""Auditor of AdaP-KLUCB: as that of AdaP-UCB, and what the sharper index is worth."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_klucb import AdaPKLUCB, kl_bound
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import c2, one_release
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import Better, CorrectOnly

SHEET = Sheet(__file__, papers.AZIZE)
claim, mutant = SHEET.claim, SHEET.mutant


def timid(rule: AdaPKLUCB, index: FloatArray, state: Own) -> FloatArray:
    """The index with eight times the width for the noise, and 64 times the entropy."""
    log = rule.alpha * np.log(state.t + 1.0)[:, None]
    mean = np.clip(state.estimate + 8 * rule.width(state), 0.0, 1.0)
    return kl_bound(mean, 64 * log / rule.last(state))


LOWEST = Better(
    lambda rule: AdaPUCB(rule.n_arms, rule.epsilon, rule.horizon, rule.alpha),
    "adap-ucb",
    1.0,
    c2,
    {"quick": 60, "standard": 100, "thorough": 300},
)

CLAIMS = (
    claim("regret", family.regret_bound, family.CHECKS, pulls=family.BOUND_FORMULA),
    claim("section-5", checks=[CorrectOnly(LOWEST)]),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    *family.order_mutants(family.ON_TWO),
    family.no_doubling(family.ON_TWO),
    mutant("timid", result("index", timid), family.ON_TWO),
)

auditor = SHEET.auditor(AdaPKLUCB, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
