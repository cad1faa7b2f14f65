"""Auditor of AdaC-UCB: the first reward changed; the bound that follows from its index."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adac_ucb import AdaCUCB
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import FROM_RHO, RHO_FOR_TWO
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import MEAN_NOISE
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.AZIZE_ZCDP)
claim, mutant = SHEET.claim, SHEET.mutant


def pulls_bound(gaps: FloatArray, rule: AdaCUCB) -> FloatArray:
    """Pulls of arms with these gaps (m,) while all means lie within their widths.

    With u the least n with 2 sqrt(beta log T (1/(2n) + 1/(rho n^2))) <= Delta, no arm whose last episode had
    u rounds is played again; its pulls are twice that episode, and double.
    """
    level = 4 * rule.beta * math.log(rule.horizon) / gaps**2  # n^2 >= level (n/2 + 1/rho)
    least = level / 4 + np.sqrt((level / 4) ** 2 + level / rule.rho)
    return np.asarray(np.where(least > 1, 4 * 2.0 ** np.floor(np.log2(least)), 1.0))


def misses(n_arms: int, beta: float) -> float:
    """Pulls of one arm, in all, in episodes that begin while a mean lies outside its width: at most this.

    After t rounds that has probability 2 (1 + log2 t) t^-beta at most: for the best arm and the other one and
    each length of an episode. An episode has at most t rounds.
    """
    first = int(math.log2(n_arms))
    return float(sum(2 * (j + 2) * 2.0 ** (j * (2 - beta)) for j in range(first, first + 200)))


def regret_bound(gaps: FloatArray, rule: AdaCUCB) -> float:
    """Sum over arms of Delta_a times `pulls_bound` and `misses`."""
    bad = gaps[gaps > 0]
    return float(bad @ (pulls_bound(bad, rule) + misses(len(gaps), rule.beta)))


NORMAL = mutant("sums with the noise of means", MEAN_NOISE)  # of which others have Laplace noise
CLAIMS = (claim("regret", regret_bound, family.CHECKS),)
MUTANTS = (
    *(NORMAL if one.name == NORMAL.name else one for one in family.PRIVACY_MUTANTS),
    RHO_FOR_TWO,
    *family.order_mutants(family.ON_TWO),
    family.no_doubling(family.ON_TWO),
    family.timid(family.ON_TWO),
)

auditor = SHEET.auditor(AdaCUCB, family.pairs, MUTANTS, CLAIMS, **FROM_RHO)
