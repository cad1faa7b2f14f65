"""Auditor of LDP Robust SE."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors._first_neighbours import whole_budget
from verifiable_dp.auditors._laplace import FACTOR, log_tail
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import (
    RUNS,
    CorrectOnly,
    MeanBound,
    Prices,
    Pulls,
    Survival,
    TheoremTrial,
)
from verifiable_dp.registry.wrapped import with_parameters

SHEET = Sheet(__file__, papers.TAO)
claim = SHEET.claim

BETA = 0.1
TWO = {"n_arms": 2, "beta": BETA}
PROOF = "proof of Theorem 7"
# Rewards -1 and 1 have u = 1; neither u nor epsilon enters the exponent.
RATE = {"n_arms": 2, "horizon": 1 << 62, "beta": BETA, "epsilon": 1.0, "u": 1.0}
ORDERS = (1.0, 0.5)  # v of the rates; below that four gaps do not fit into the horizon
MINIMAX = 10**6  # horizon of Theorem 9


def exponent(v: float) -> float:
    """Pulls of an arm grow like gap to the power of minus this; Theorem 7 prints (1 + v)/v."""
    return 2 * (1 + v) / v


def pulls_by_gap(algorithm: Algorithm, runs: int, seed: int) -> list[tuple[float, FloatArray]]:
    """(1/gap, pulls of the worse arm by run) for gaps .35, .175, …, between the thresholds of two epochs."""
    points = []
    played = with_parameters(algorithm, **RATE)
    for number in range(1, 9):
        gap = 0.7 * 2.0**-number
        if family.pulls_bound(np.array([gap]), played)[0] > played.horizon:
            break
        environment = TwoPoint((gap, 0.0), -1.0, 1.0)
        done = simulate(played, environment, runs=runs, seed=seed, points=2)
        points.append((1 / gap, done.pulls[:, 1].astype(np.float64)))
    return points


def rates(trial: TheoremTrial) -> Iterator[Check]:
    """How pulls grow with 1/gap: the fitted exponent against the corrected one, the printed one beside it."""
    for v in ORDERS:
        yield scaling(
            f"theorem-7-rate at v = {v:g} over gaps .35, .175, …",
            pulls_by_gap(with_parameters(trial.algorithm, v=v), trial.runs(RUNS), trial.seed),
            exponent=exponent(v),
            log_power=0.0,
            # Four points leave two degrees of freedom; the printed exponent is off by (1 + v)/v, 2 or more.
            margin=0.3 * (1 + v) / v,
            claim="theorem-7-rate",
            instance=f"two arms, +-1, v = {v:g}",
            over="1/Delta",
            v=v,
            printed_exponent=(1 + v) / v,
        )


AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # three arms as actions
EPSILONS = (0.25, 0.5, 1.0)  # of the tables


def local(epsilon: float) -> list[Algorithm]:
    """Every algorithm of the local model for three arms with E X^2 <= 1."""
    return [LDPRobustSE(3, epsilon, MINIMAX, 1.0, 1.0), LDPLinear(AXES, epsilon, MINIMAX)]


def laplace_mean(n: float, beta: float, scale: float = 1.0) -> float:
    """Lemma 8 with sqrt(4.5) for 2: a bound on the mean of n >= 4.5 log(2/beta) Laplace variables."""
    return float(scale * math.sqrt(FACTOR * math.log(2 / beta) / n))


def lemma_8(trial: TheoremTrial) -> Iterator[Check]:
    """The exact chance to exceed it, over beta, from the least n on."""
    ratios = []
    for beta in (0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-15):
        least = math.ceil(FACTOR * math.log(2 / beta))
        for n in (least, least + 1, 2 * least, 10 * least, 50 * least):
            ratios.append(2 * math.exp(log_tail(n, n * laplace_mean(n, beta))) / beta)
    yield SHEET.ratio("means", [max(ratios)] * len(ratios))


FLOORS = family.Floors(
    local,
    lambda gap, epsilon: family.minimax_bound(gap, n_arms=3, horizon=MINIMAX, epsilon=epsilon, v=1.0),
    9,
    3,
    MINIMAX,
    EPSILONS,
    SHEET.words("floors"),
)
PRICE = Prices(
    lambda rule: LinearElimination(((1.0, 0.0), (0.0, 1.0)), rule.horizon),
    [family.TWO_ARMS],
    EPSILONS,
    SHEET.words("price"),
    {"n_arms": 2, "beta": None},
)


def _least(theorem: int, others: int) -> family.LowerBound:
    def judge(play: family.Player, *, epsilon: float, v: float) -> Check:
        gap = 0.05 if v > 0.75 else 0.12  # told apart within the horizon
        return family.local_lower_bound(play, theorem, gaps=[gap] * others, epsilon=epsilon, v=v)

    return family.LowerBound(judge, RUNS)


MINIMAX_LEAST = family.LowerBound(
    functools.partial(family.minimax_lower_bound, n_arms=3, horizon=MINIMAX), RUNS, MINIMAX
)

PULLS, SURVIVAL = Pulls(family.TWO_ARMS, TWO, PROOF), Survival(family.NEAR_TIES, TWO, PROOF)
CLAIMS = (
    claim("lemma-8", laplace_mean, [lemma_8]),
    claim("pulls", family.pulls_bound, [PULLS, SURVIVAL]),
    claim(
        "theorem-7",
        family.regret_bound,
        [MeanBound([family.TWO_ARMS], {"n_arms": 2, "beta": None}), CorrectOnly(PRICE)],
    ),
    claim("theorem-7-rate", exponent, [rates]),
    claim("theorem-7-printed"),
    claim("theorem-7-minimax", family.minimax_regret_bound, [family.minimax]),
    claim("theorem-8", checks=[_least(8, 2)]),
    claim("theorem-11", checks=[_least(11, 1)]),
    claim("theorem-9", family.minimax_bound, [MINIMAX_LEAST, CorrectOnly(FLOORS)]),
)

# Reused noise is left out: an epoch that keeps all arms needs very many reports here. Worst cost: of one
# report: 2 B over 2 B/epsilon.
auditor = SHEET.auditor(
    LDPRobustSE,
    family.pairs,
    mutants=(*family.PRIVACY_MUTANTS, family.NO_TRUNCATION, *family.regret_mutants(PULLS, SURVIVAL)),
    claims=CLAIMS,
    worst_cost=whole_budget,
)
