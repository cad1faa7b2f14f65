"""Auditor of DP Robust SE."""

from __future__ import annotations

import functools

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_se_doubling import DPSEDoubling
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.robust_ucb import RobustUCB
from verifiable_dp.auditors import _elimination as elimination
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors._first_neighbours import whole_budget
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, CorrectOnly, Exponent, MeanBound, Prices, Pulls, Survival

SHEET = Sheet(__file__, papers.TAO)
claim = SHEET.claim

TWO = {"n_arms": 2, "beta": 0.1}
SHORT = 100_000  # horizon of the table of lower bounds, which index policies can play


def central(epsilon: float, horizon: int = SHORT) -> list[Algorithm]:
    """Every algorithm of the central model for two arms with E X^2 <= 1."""
    heavy: JsonDict = {"v": 1.0, "u": 1.0}
    return [
        DPSE(2, epsilon, horizon),
        DPSEDoubling(2, epsilon, horizon),
        DPUCB(2, epsilon, horizon, "per-arm"),
        DPRobustSE(2, epsilon, horizon, **heavy),
        DPRobustUCB(2, epsilon, horizon, **heavy),
        DPRobustElimination(2, epsilon, horizon),
    ]


FLOORS = family.Floors(
    central,
    lambda gap, epsilon: family.central_minimax_bound(gap, horizon=SHORT, epsilon=epsilon, v=1.0),
    10,
    2,
    SHORT,
    (0.1, 1.0),
    SHEET.words("floors"),
)
PRICE = Prices(
    lambda rule: RobustUCB(2, rule.horizon, rule.v, rule.u),
    [family.TWO_ARMS],
    (0.1, 0.25, 0.5, 1.0),
    SHEET.words("price"),
    {"n_arms": 2, "horizon": 1_000_000, "beta": None},
)


def _least(theorem: int, n_arms: int) -> family.LowerBound:
    judge = functools.partial(family.central_lower_bound, theorem=theorem, n_arms=n_arms)
    return family.LowerBound(judge, TRIALS)


OVER_EPSILON = Exponent(
    "epsilon",
    "1/epsilon",
    "two arms in [0, 1] with means .8 and .2, T = 1e12",
    [
        (1 / e, family.TWO_ARMS, {"n_arms": 2, "epsilon": e, "horizon": 10**12, "beta": None})
        for e in 0.05 * 2.0 ** np.arange(5)
    ],
    margin=0.05,
)

PULLS, SURVIVAL = Pulls(family.TWO_ARMS, TWO), Survival(family.NEAR_TIES, TWO)
CLAIMS = (
    claim("lemma-4", family.pulls_bound, [PULLS, SURVIVAL]),
    claim(
        "theorem-4",
        family.regret_bound,
        [
            MeanBound([family.TWO_ARMS], {"n_arms": 2, "beta": None}),
            CorrectOnly(OVER_EPSILON),
            CorrectOnly(PRICE),
        ],
    ),
    claim("theorem-4-minimax", family.minimax_regret_bound, [family.minimax]),
    claim("theorem-5", family.least_pulls, [_least(5, 3)]),
    claim("theorem-10", family.least_pulls, [_least(10, 2), CorrectOnly(FLOORS)]),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    elimination.SHARED_BY_EPOCHS,
    family.NO_TRUNCATION,
    *family.regret_mutants(PULLS, SURVIVAL),
)

# A reward enters one release: 2 B over 2 B/epsilon.
auditor = SHEET.auditor(DPRobustSE, family.pairs, MUTANTS, CLAIMS, worst_cost=whole_budget)
