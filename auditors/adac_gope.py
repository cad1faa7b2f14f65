"""Auditor of AdaC-GOPE: one reward from -1 to 1; the bound that follows from its widths."""

from __future__ import annotations

import math

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adac_gope import AdaCGOPE
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.dp_linear import SUM_MUTANTS, pairs
from verifiable_dp.core.claims import Basis, RegretClaim, Source, gdp_epsilon, zcdp_epsilon
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import MEAN_NOISE, noise_times
from verifiable_dp.registry.theorems import CorrectOnly

OURS = "we do not know the paper's constants; derived from sub-Gaussian tails and a union"
GOOD_EVENT = family.GoodEvent("AdaC-GOPE")
INSTANCE = {
    "actions": ((1.0, 0.0), (0.0, 1.0), (0.6, 0.6)),
    "rho": 0.1,
    "horizon": 1000,
    "delta": 1e-3,
    "beta": 0.5,
}

MUTANTS = (
    HALF_NOISE,
    Mutant(
        "rho for two",
        "the noise has the standard deviation that suits twice the rho",
        noise_times(1 / math.sqrt(2)),
    ),
    NO_NOISE,
    *SUM_MUTANTS,
    Mutant("noise of means on sums", "sums get the noise that suits means", MEAN_NOISE),
    *family.removal_mutants(GOOD_EVENT),
)

CLAIMS = (
    RegretClaim(
        "regret",
        "With beta = 1/T, the expected regret is O(sqrt(T d log(K T)) + d sqrt(d log log d log(K T)/rho) "
        "log T).",
        "sum_l n_l max {Delta_a <= 4 w_(l-1)} + max Delta, n_l <= 2 d/y_l + |C|, "
        "|C| <= min(K, 4 d log log d + 16)",
        Source(papers.AZIZE_ZCDP, "AdaC-GOPE", OURS, Basis.UNREAD),
        "mean",
        family.regret_bound,
        "a finite set of actions, rewards in [-1, 1]",
        [family.MEANS, CorrectOnly(family.HighProbability())],
    ),
    RegretClaim(
        "good-event",
        "With probability 1 - beta, the best action stays, and actions that stay after phase l have gaps "
        "of at most 4 w_l.",
        "P[best action removed, or an action with a gap above 4 w_l kept] <= beta",
        Source(papers.AZIZE_ZCDP, "AdaC-GOPE", OURS, Basis.UNREAD),
        "probability",
        domain="a finite set of actions, rewards in [-1, 1]",
        checks=[GOOD_EVENT],
    ),
)

auditor = Auditor(
    algorithm=AdaCGOPE,
    paper=papers.AZIZE_ZCDP,
    model="central",
    instance={
        "actions": ((1.0, 0.0), (0.0, 1.0), (0.6, 0.6)),
        "rho": 0.1,
        "horizon": 1000,
        "delta": 1e-3,
        "beta": 0.5,
    },
    small={"actions": family.AXES, "rho": 20.0, "horizon": 400, "delta": 1e-3, "beta": 0.9},
    pairs=lambda rule: pairs(rule, math.sqrt(2 * rule.rho)),
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"actions": family.CIRCLE, "rho": 0.5, "horizon": 1_000_000},
    tightness=gdp_epsilon(math.sqrt(0.2), 1e-3) / zcdp_epsilon(0.1, 1e-3),
    worst_cost=lambda rule: gdp_epsilon(rule.mechanism.mu, rule.delta),  # a reward enters one release
)
