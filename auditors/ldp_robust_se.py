"""Auditor of LDP Robust SE."""

from __future__ import annotations

from typing import Any

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditors import _elimination as elimination
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors._shared import RUNS, mean_regret, with_parameters
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.environments import TwoPoint
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair
from verifiable_dp.simulation import simulate

BETA = 0.1
RATE = {"n_arms": 2, "horizon": 1 << 62, "beta": BETA}


def exponent(v: float) -> float:
    """Pulls of an arm grow like gap to the power of minus this; Theorem 7 prints (1 + v)/v."""
    return 2 * (1 + v) / v


def pulls_by_gap(algorithm: Any, runs: int, seed: int) -> list[tuple[float, np.ndarray]]:
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


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> list[Check]:
    """Bounds on pulls and regret as for the central algorithm, and how pulls grow with 1/gap."""
    two = with_parameters(algorithm, n_arms=2, beta=BETA)
    checks = elimination.survival_and_pulls(
        two,
        "pulls",
        lambda gaps: family.pulls_bound(gaps, two),
        family.TWO_ARMS,
        beta=BETA,
        budget=budget,
        seed=seed,
        source="proof of Theorem 7",
        ties=family.NEAR_TIES,
    )
    stated = with_parameters(algorithm, n_arms=2, beta=None)
    check, _ = mean_regret(
        stated,
        family.TWO_ARMS,
        lambda gaps, t: family.regret_bound(gaps, with_parameters(stated, horizon=int(t), beta=None)),
        claim="regret",
        budget=budget,
        seed=seed,
        workers=workers,
    )
    rate = evidence.scaling(
        "pulls-rate over gaps .35, .175, …",
        pulls_by_gap(algorithm, RUNS[budget], seed),
        exponent=exponent(algorithm.v),
        log_power=0.0,
        margin=0.7,
        claim="pulls-rate",
        instance="two arms, +-1",
    )
    return [*checks, check, rate]


def pairs(algorithm: Any) -> list[TablePair]:
    """Rewards from -B to B near the thresholds, and one outside the truncation."""
    near = family.pairs(algorithm)
    return [*near[:3], family.outside(algorithm), *near[3:]]


CLAIMS = (
    RegretClaim(
        "pulls",
        "With probability 1 - beta the best arm stays and arm a goes in epoch ceil(log2(1/Delta_a)) at the "
        "latest.",
        "sum of R_tau over the epochs up to ceil(log2(1/Delta_a))",
        Source(papers.TAO, "Theorem 7, proof", "with D_tau = 2^-tau, as the proof uses it"),
        "probability",
        family.pulls_bound,
        "epsilon <= 1; binds where T exceeds the bound",
    ),
    RegretClaim(
        "regret",
        "With beta = 1/T the expected regret is "
        "O(u^(2/v) log T/epsilon^2 sum_a Delta_a^(-(2+v)/v) + max Delta).",
        "sum_a Delta_a (pulls) + max Delta",
        Source(
            papers.TAO,
            "Theorem 7 (10), corrected",
            "printed with Delta^(-1/v): the proof removes an arm at Delta >= D and counts as if at D^2",
        ),
        "mean",
        family.regret_bound,
        "epsilon <= 1",
    ),
    RegretClaim(
        "pulls-rate",
        "Pulls of an arm grow like Delta^(-2(1+v)/v).",
        "Delta^(-2(1+v)/v)",
        Source(papers.TAO, "Theorem 7 (10), corrected", "printed: Delta^(-(1+v)/v)"),
        "scaling",
        exponent,
    ),
    RegretClaim(
        "theorem-7-minimax",
        "Whatever the gaps, the expected regret is "
        "O(u^(1/(1+v)) (K log T/epsilon^2)^(v/(2(1+v))) T^(1 - v/(2(1+v)))).",
        "O(u^(1/(1+v)) (K log T/epsilon^2)^(v/(2(1+v))) T^(1 - v/(2(1+v))))",
        Source(papers.TAO, "Theorem 7 (11), corrected", "a rate without constants: not checked"),
        "mean",
    ),
)

auditor = Auditor(
    algorithm=LDPRobustSE,
    paper=papers.TAO,
    model="local",
    instance={
        "n_arms": 2,
        "epsilon": 1.0,
        "horizon": 600,
        "v": 1.0,
        "u": 1.0,
        "beta": 0.5,
        "constants": 0.02,
    },
    small={"n_arms": 2, "horizon": 200, "v": 1.0, "u": 1.0, "beta": 0.5, "constants": 0.02},
    pairs=pairs,
    mutants=family.mutants(LDPRobustSE, local=True),
    claims=CLAIMS,
    regret=regret,
    experiment={"n_arms": 2, "epsilon": 1.0, "horizon": 1 << 40, "v": 1.0, "u": 1.0},
)
