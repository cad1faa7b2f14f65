"""Auditor of DP Robust SE."""

from __future__ import annotations

from typing import Any

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditors import _elimination as elimination
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors._shared import mean_regret, with_parameters
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair

BETA = 0.1
_DERIVED = (
    "printed as a rate with u^(1/(1+v)), which does not scale like a reward; constants and u^(1/v) from the "
    "epochs' lengths"
)


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> list[Check]:
    """Lemma 4 and Theorem 4 on two-point rewards in [0, 1], where u = 1 for v = 1."""
    two = with_parameters(algorithm, n_arms=2, beta=BETA)
    checks = elimination.survival_and_pulls(
        two,
        "lemma-4",
        lambda gaps: family.pulls_bound(gaps, two),
        family.TWO_ARMS,
        beta=BETA,
        budget=budget,
        seed=seed,
        source="Lemma 4",
        ties=family.NEAR_TIES,
    )
    stated = with_parameters(algorithm, n_arms=2, beta=None)
    check, _ = mean_regret(
        stated,
        family.TWO_ARMS,
        lambda gaps, t: family.regret_bound(gaps, with_parameters(stated, horizon=int(t), beta=None)),
        claim="theorem-4",
        budget=budget,
        seed=seed,
        workers=workers,
    )
    return [*checks, check]


def pairs(algorithm: Any) -> list[TablePair]:
    """Rewards from -B to B near the thresholds, and one outside the truncation."""
    near = family.pairs(algorithm)
    return [*near[:3], family.outside(algorithm), *near[3:]]


CLAIMS = (
    RegretClaim(
        "lemma-4",
        "With probability 1 - beta the best arm stays and arm a is pulled at most "
        "O(u^(1/v) (log(K/beta) + log log(1/Delta))/(epsilon Delta^((1+v)/v))) times.",
        "sum of R_tau over the epochs up to ceil(log2(1/Delta_a))",
        Source(papers.TAO, "Lemma 4", _DERIVED),
        "probability",
        family.pulls_bound,
        "epsilon <= 1; binds where T exceeds the bound",
    ),
    RegretClaim(
        "theorem-4",
        "With beta = 1/T the expected regret is O(u^(1/v) log T/epsilon sum_a Delta_a^(-1/v) + max Delta).",
        "sum_a Delta_a (pulls of Lemma 4) + max Delta",
        Source(papers.TAO, "Theorem 4 (7)", _DERIVED),
        "mean",
        family.regret_bound,
        "epsilon <= 1",
    ),
    RegretClaim(
        "theorem-4-minimax",
        "Whatever the gaps, the expected regret is O(u^(1/(1+v)) (K log T/epsilon)^(v/(1+v)) T^(1/(1+v))).",
        "O(u^(1/(1+v)) (K log T/epsilon)^(v/(1+v)) T^(1/(1+v)))",
        Source(
            papers.TAO,
            "Theorem 4 (8)",
            "printed with u^(v/(1+v)^2), which does not scale; a rate without constants: not checked",
        ),
        "mean",
    ),
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
    pairs=pairs,
    mutants=family.mutants(DPRobustSE),
    claims=CLAIMS,
    regret=regret,
    experiment={"n_arms": 2, "epsilon": 1.0, "horizon": 4_000_000, "v": 1.0, "u": 1.0},
)
