"""Auditor of AdaP-UCB: the first reward changed, Theorem 7, and the bound that its proof gives in numbers."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor
from verifiable_dp.registry.theorems import CorrectOnly, Prices


def regret_bound(gaps: FloatArray, rule: AdaPUCB) -> float:
    """Theorem 7: sum over Delta_a > 0 of 16 alpha log T/min(Delta_a, epsilon) + alpha/(alpha - 3)."""
    bad = gaps[gaps > 0]
    lead = 16 * rule.alpha * math.log(rule.horizon) / np.minimum(bad, rule.epsilon)
    return float(np.sum(lead + rule.alpha / (rule.alpha - 3)))


PRICE = Prices(
    lambda rule: UCB1(rule.n_arms, rule.horizon),
    lambda trial: [s1("C2", trial.rule.n_arms)],
    (0.01, 0.05, 0.1, 0.25, 1.0),
    "C2 with K = {rule.n_arms} arms, alpha = {rule.alpha:g}: AdaP-UCB compared with UCB1, {runs} runs of "
    "each.",
)

CLAIMS = (
    RegretClaim(
        "theorem-7",
        "The expected regret is at most sum_a 16 alpha log T/min(Delta_a, epsilon) + alpha/(alpha - 3).",
        "sum_a (16 alpha log T/min(Delta_a, epsilon) + alpha/(alpha - 3))",
        Source(papers.AZIZE, "Theorem 7"),
        "mean",
        regret_bound,
        "rewards in [0, 1], alpha > 3",
        [*family.CHECKS, CorrectOnly(PRICE)],
    ),
    RegretClaim(
        "regret",
        "The expected regret is at most the cost of suboptimal pulls while all means lie within their "
        "radii, plus the cost of episodes that begin while some mean does not.",
        family.BOUND_FORMULA,
        Source(papers.AZIZE, "Algorithm 1", "derived: Hoeffding, the tail of Laplace noise, doubling"),
        "mean",
        family.regret_bound,
        "rewards in [0, 1], alpha > 2",
        family.CHECKS,
    ),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    *family.order_mutants(family.ON_TWO),
    family.no_doubling(family.ON_TWO),
    family.timid(family.ON_TWO),
)

auditor = Auditor(
    algorithm=AdaPUCB,
    paper=papers.AZIZE,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 5, "epsilon": 1.0, "horizon": 10**7},
    longest=4096,
    worst_cost=lambda rule: rule.mechanism.cost(),  # a reward enters one release
)
