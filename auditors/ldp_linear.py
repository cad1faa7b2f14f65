"""Auditor of the locally private linear bandit: a reward from -1 to 1; Theorem 2 with numbers, Lemma 5."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.ldp_linear import LDPLinear, width
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.dp_linear import pairs
from verifiable_dp.registry.mutants import MEAN_NOISE, given, noise_by
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.HANNA)
claim, mutant = SHEET.claim, SHEET.mutant


GOOD_EVENT = family.GoodEvent("Lemma 5")
MUTANTS = (
    HALF_NOISE,
    mutant("sensitivity 1", given(variant="printed")),
    NO_NOISE,
    mutant("noise for a mean", MEAN_NOISE),
    mutant("fading noise", noise_by(lambda rule, state, query: 1 / state.batch[:, None])),
    mutant(
        "first action forgotten",
        noise_by(lambda rule, state, query: (np.arange(rule.n_arms) > 0).astype(np.float64)),
    ),
    *family.removal_mutants(GOOD_EVENT),
)

CLAIMS = (claim("theorem-2", family.regret_bound, family.theorem(1.0)), claim("lemma-5", width, [GOOD_EVENT]))

auditor = SHEET.auditor(
    LDPLinear,
    pairs,
    MUTANTS,
    CLAIMS,
    **family.OF_THREE,
    worst_cost=family.worst_cost,
)
