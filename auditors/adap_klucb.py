"""Auditor of AdaP-KLUCB: as that of AdaP-UCB, and what the sharper index is worth."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_klucb import AdaPKLUCB, kl_bound
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.theorems import Better, CorrectOnly


def timid(rule: AdaPKLUCB, index: FloatArray, state: Own) -> FloatArray:
    """The index with eight times the width for the noise, and 64 times the entropy."""
    log = rule.alpha * np.log(state.t + 1.0)[:, None]
    mean = np.clip(state.estimate + 8 * rule.width(state), 0.0, 1.0)
    return kl_bound(mean, 64 * log / rule.last(state))


LOWEST = Better(
    lambda rule: AdaPUCB(rule.n_arms, rule.epsilon, rule.horizon, rule.alpha),
    "adap-ucb",
    1.0,
    lambda trial: [s1("C2", trial.rule.n_arms)],
    {"quick": 60, "standard": 100, "thorough": 300},
)

CLAIMS = (
    RegretClaim(
        "regret",
        "The expected regret is at most the cost of suboptimal pulls while all means lie within their "
        "radii, plus the cost of episodes that begin while some mean does not.",
        family.BOUND_FORMULA,
        Source(
            papers.AZIZE,
            "Theorem 8",
            "printed with constants C_1(alpha) and C_2 that its statement does not give; derived here from "
            "Algorithm 1: Chernoff and Pinsker, the tail of Laplace noise, doubling",
        ),
        "mean",
        family.regret_bound,
        "Bernoulli rewards, alpha > 2",
        family.CHECKS,
    ),
    RegretClaim(
        "section-5",
        "On the paper's five arms, its mean regret is below that of AdaP-UCB.",
        "mean regret of AdaP-UCB >= that of AdaP-KLUCB",
        Source(papers.AZIZE, "Section 5", "at T = 1e7, epsilon = 1, alpha = 3.1, as printed"),
        "comparison",
        domain="Bernoulli arms of means .75, .625, .5, .375 and .25",
        checks=[CorrectOnly(LOWEST)],
    ),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    *family.order_mutants(family.ON_TWO),
    family.no_doubling(family.ON_TWO),
    Mutant(
        "timid",
        "every mean is taken to be eight times as uncertain as it is",
        result("index", timid),
        caught_by=family.ON_TWO,
    ),
)

auditor = Auditor(
    algorithm=AdaPKLUCB,
    paper=papers.AZIZE,
    model="central",
    # Before, all indices are 1 and arms are played in turn.
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 63},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 5, "epsilon": 1.0, "horizon": 10**7},
    longest=4096,
    worst_cost=lambda rule: rule.mechanism.cost(),  # a reward enters one release
)
