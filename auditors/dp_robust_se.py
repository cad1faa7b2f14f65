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
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.registry.auditor import Auditor
from verifiable_dp.registry.theorems import TRIALS, CorrectOnly, Exponent, MeanBound, Prices, Pulls, Survival

TWO = {"n_arms": 2, "beta": 0.1}
SHORT = 100_000  # horizon of the table of lower bounds, which index policies can play
_DERIVED = (
    "printed as a rate with u^(1/(1+v)), which does not scale like a reward; constants and u^(1/v) from the "
    "epochs' lengths"
)


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
    "The two laws of Theorem 10 at v = 1, at the gap with the largest bound: T Delta/2 exp(-3 "
    "epsilon T TV), TV = 10 Delta^2, for the sum of the regrets on both, which every epsilon-DP "
    "algorithm pays (derived with Lemma 6.1 of Karwa & Vadhan 2018; the theorem itself is about "
    "horizons that index policies cannot play). Algorithms for rewards in [0, 1] get them divided by the "
    "larger one. {runs} runs of each.",
)
PRICE = Prices(
    lambda rule: RobustUCB(2, rule.horizon, rule.v, rule.u),
    [family.TWO_ARMS],
    (0.1, 0.25, 0.5, 1.0),
    "Two arms in [0, 1] with means .8 and .2, v = {rule.v:g}, u = {rule.u:g}, the proofs' constants: DP "
    "Robust SE compared with Robust UCB, {runs} runs of each.",
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
    RegretClaim(
        "lemma-4",
        "With probability 1 - beta, the best arm stays, and arm a is pulled at most "
        "O(u^(1/v) (log(K/beta) + log log(1/Delta))/(epsilon Delta^((1+v)/v))) times.",
        "sum of R_tau over the epochs up to ceil(log2(1/Delta_a))",
        Source(papers.TAO, "Lemma 4", _DERIVED),
        "probability",
        family.pulls_bound,
        "epsilon <= 1; binds where T exceeds the bound",
        [PULLS, SURVIVAL],
    ),
    RegretClaim(
        "theorem-4",
        "With beta = 1/T, the expected regret is O(u^(1/v) log T/epsilon sum_a Delta_a^(-1/v) + max Delta).",
        "sum_a Delta_a (pulls of Lemma 4) + max Delta",
        Source(papers.TAO, "Theorem 4 (7)", _DERIVED),
        "mean",
        family.regret_bound,
        "epsilon <= 1",
        [
            MeanBound([family.TWO_ARMS], {"n_arms": 2, "beta": None}),
            CorrectOnly(OVER_EPSILON),
            CorrectOnly(PRICE),
        ],
    ),
    RegretClaim(
        "theorem-4-minimax",
        "Whatever the gaps, the expected regret is O(u^(1/(1+v)) (K log T/epsilon)^(v/(1+v)) T^(1/(1+v))).",
        "min_j (T 2^-j + (K - 1) max_{i <= j} 2^(1-i) P_i) + 2 u^(1/(1+v)) (beta T + (K - 1) P_1), "
        "P_i = R_1 + ... + R_i",
        Source(
            papers.TAO,
            "Theorem 4 (8)",
            "printed as a rate with u^(v/(1+v)^2), which does not scale; constants from the epochs' lengths",
        ),
        "mean",
        family.minimax_regret_bound,
        "epsilon <= 1",
        [family.minimax],
    ),
    RegretClaim(
        "theorem-5",
        "There is an instance on which every epsilon-DP algorithm with regret of at most T^(3/4) pulls "
        "every other arm a more than t_a times with probability at least 1/2. So its regret is "
        "Omega(log T/epsilon sum_a Delta_a^(-1/v)).",
        "t_a = log T/(100 epsilon 4^(1/v)) Delta_a^(-(1+v)/v); regret at least sum_a Delta_a t_a/2; "
        "some arm has t_a pulls or fewer with probability at most (K - 1)/(2 K)",
        Source(papers.TAO, "Theorem 5", "constants of its proof; the hard instance has K = 3 arms"),
        "probability",
        family.least_pulls,
        "epsilon <= 1, means <= 1/6, gaps < 1/12, T^.13 > 4 K/Delta; regret <= T^(3/4), also with one arm "
        "changed",
        [_least(5, 3)],
    ),
    RegretClaim(
        "theorem-10",
        "The same for two arms: regret is Omega(log T/(epsilon Delta^(1/v))).",
        "t_2 = log T/(100 epsilon 5^(1/v)) Delta^(-(1+v)/v); arm 2 has t_2 pulls or fewer with probability "
        "at most 1/2",
        Source(papers.TAO, "Theorem 10", "constants of its proof"),
        "probability",
        family.least_pulls,
        "epsilon <= 1, Delta < 1/5, T^.13 > 4/Delta; regret <= T^(3/4), also with arm 2 changed",
        [_least(10, 2), CorrectOnly(FLOORS)],
    ),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    elimination.SHARED_BY_EPOCHS,
    family.NO_TRUNCATION,
    *family.regret_mutants(PULLS, SURVIVAL),
)

auditor = Auditor(
    algorithm=DPRobustSE,
    paper=papers.TAO,
    model="central",
    instance={
        "n_arms": 2,
        "epsilon": 1.0,
        "horizon": 400,
        "v": 1.0,
        "u": 1.0,
        "beta": 0.5,
        "constants": 0.05,
    },
    small={"n_arms": 2, "horizon": 250, "v": 1.0, "u": 1.0, "beta": 0.5, "constants": 0.05},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 2, "epsilon": 1.0, "horizon": 4_000_000, "v": 1.0, "u": 1.0},
    worst_cost=lambda algorithm: algorithm.epsilon,  # 2 B over 2 B/epsilon, and a reward enters one release
)
