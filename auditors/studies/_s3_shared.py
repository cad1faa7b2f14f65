"""Algorithms and names that the figures and the rates of S3 share."""

from __future__ import annotations

from collections.abc import Mapping

from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.auditors._contamination import RADIUS
from verifiable_dp.registry.study import StudyOutcome

OWN, RIVAL = "elimination", "dprse"
Outcomes = Mapping[str, StudyOutcome]


def elimination(
    horizon: int, *, epsilon: float = 1.0, alpha: float = 0.0, k: float = 2.0, moments: str = "raw"
) -> DPRobustElimination:
    """Two arms; the algorithm is told alpha and the moments."""
    return DPRobustElimination(
        2, epsilon, horizon, k, alpha, moments, RADIUS if moments == "central" else 1.0
    )


def unaware(horizon: int, *, epsilon: float = 1.0, u: float = 1.0) -> DPRobustSE:
    """DP Robust SE with its proof's constants, for second moments; it knows nothing of outliers."""
    return DPRobustSE(2, epsilon, horizon, 1.0, u)
