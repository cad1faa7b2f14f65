"""Auditor of LDP-UCB: the first reward changed, and a bound that follows from the index."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.ldp_ucb import LDPUCB
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import one_release
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import Unforgetting, noise_by
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import MeanBound

SHEET = Sheet(__file__, papers.REN)
claim, mutant = SHEET.claim, SHEET.mutant

# Sum over rounds t >= 3 of 4 t^-3: one of two means of reports is off, whatever their numbers.
MISSES = 0.309


def regret_bound(gaps: FloatArray, rule: LDPUCB) -> float:
    """Sum over arms of Delta_a (max(4 log(T + 1), (2 sqrt 2 + 2 sqrt 32/epsilon)^2 log T/Delta_a^2) + 1.309).

    While both means lie within their radii an arm that is played has few pulls, or twice its radius exceeds
    its gap. After n > 4 log t reports the mean of their noise exceeds sqrt(32 log t/(epsilon^2 n)) with
    probability t^-4 at most, as log(1/(1 - s^2)) <= 2 s^2 for s^2 <= 1/2.
    """
    bad = gaps[gaps > 0]
    spread = (2 * math.sqrt(2) + 2 * math.sqrt(32) / rule.epsilon) ** 2
    pulls = np.maximum(4 * math.log(rule.horizon + 1), spread * math.log(rule.horizon) / bad**2)
    return float(bad @ (pulls + 1 + MISSES))


ON_TWO = MeanBound([family.TWO])
CLAIMS = (claim("regret", regret_bound, [ON_TWO]),)

MUTANTS = (
    *family.NOISE_MUTANTS,
    mutant("sent again", Unforgetting),
    mutant("noise for a mean", noise_by(lambda rule, state, query: 1 / (state.pulls + 1))),
    *family.order_mutants(ON_TWO),
    family.timid(ON_TWO),
)

auditor = SHEET.auditor(LDPUCB, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
