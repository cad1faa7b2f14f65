"""Auditor of locally private LinUCB: replaced users, and what their reports' noise comes to in the sums."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.ldp_lin_ucb import LDPLinUCB
from verifiable_dp.auditors._first_neighbours import whole_budget
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.claims import gdp_mu
from verifiable_dp.registry.mutants import Make, noise_by, noise_times, result
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.ZHENG)
mutant = SHEET.mutant


def _scaled(factor: Callable[[LDPLinUCB], float]) -> Make:
    return result("scale", lambda rule, scale: scale * factor(rule))


MUTANTS = (
    mutant("half noise", noise_times(0.5)),
    family.NOT_CLIPPED,
    mutant("noise for removal only", _scaled(lambda rule: 1 / math.sqrt(2))),
    mutant("noise for contexts only", _scaled(lambda rule: rule.norm**2 / rule.item_norm)),
    mutant(
        "Gram matrix without noise",
        noise_by(lambda rule, *at: np.triu_indices(rule.dimension + 1)[1] == rule.dimension),
    ),
    mutant("first user without noise", noise_by(lambda rule, state, query: state.t[:, None] > 0)),
    mutant("one draw", family.ONE_DRAW),
    mutant(
        "ten deltas",
        _scaled(
            lambda rule: gdp_mu(rule.epsilon, rule.delta) / gdp_mu(rule.epsilon, min(10 * rule.delta, 0.9))
        ),
    ),
    mutant("epsilon instead of mu", _scaled(lambda rule: gdp_mu(rule.epsilon, rule.delta) / rule.epsilon)),
    *family.SHIFT_MUTANTS,
    *family.regret_mutants(family.LEARNS),
)

auditor = SHEET.auditor(
    LDPLinUCB,
    family.pairs,
    MUTANTS,
    claims=(family.DEFINITE_CLAIM, *family.claims(family.OURS, family.LEARNS)),
    worst_cost=whole_budget,
)
