"""Auditor of Dist-DP-SE: tables near the threshold; the bounds that follow from its radius."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dist_dp_se import DistDPSE
from verifiable_dp.algorithms.se import SE
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import c1_to_c4
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import gap_times, noise_by
from verifiable_dp.registry.theorems import CorrectOnly, MeanBound, Prices, Pulls, Survival

SHORT = {"n_arms": 3, "horizon": 100_000, "beta": 0.1}
DERIVED = "derived: Hoeffding, the tail of Laplace noise, union over arms and batches"


def pulls_bound(gaps: FloatArray, rule: DistDPSE) -> FloatArray:
    """2 + 4 + ... + 2^b up to the first batch with 4 beta(b) < Delta for |Phi| = K, for gaps (m,)."""
    batch = np.arange(1.0, 61.0)
    last = (4 * rule.radius(rule.n_arms, batch) < np.asarray(gaps)[:, None]).argmax(axis=1)
    return np.asarray(2.0 ** (batch[last] + 1) - 2)


def regret_bound(gaps: FloatArray, rule: DistDPSE) -> float:
    """Sum of Delta_a times the bound on pulls at p = 1/T, and the largest gap for the runs that fail."""
    bad = gaps[gaps > 0]
    return float(bad @ pulls_bound(bad, rule)) + float(gaps.max())


def _inverse_scale(rule: DistDPSE, state: Own, query: Query) -> FloatArray:
    """Scale of the noise of a batch over the right one, if shares have Gamma scale (1 - q)/q for q/(1 - q).

    With q = e^(-epsilon/g), g = ceil(epsilon sqrt l), the sum's ratio is then 1 - q in place of q.
    """
    pulls = np.maximum(query.pulls(), 1)
    unit = rule.epsilon / np.ceil(rule.epsilon * np.sqrt(pulls))
    return np.asarray(-unit / np.log(-np.expm1(-unit)))


PRICE = Prices(
    lambda rule: SE(rule.n_arms, rule.horizon),
    lambda trial: [s1("C2", trial.rule.n_arms)],
    (0.01, 0.05, 0.1, 0.25, 1.0),
    "C2 with K = {rule.n_arms} arms, p = 1/T: Dist-DP-SE compared with SE, {runs} runs of each.",
    {"horizon": 10**7, "beta": None},
)

PULLS = Pulls(family.LARGE_GAPS, SHORT, DERIVED)
SURVIVAL = Survival(family.NEAR_TIES, SHORT, DERIVED)
CLAIMS = (
    RegretClaim(
        "elimination",
        "With probability 1 - p, the best arm stays, and arm a is removed by the first batch with 4 "
        "beta(b) < Delta_a.",
        "2 + 4 + ... + 2^b, b the first batch with 4 beta(b) < Delta_a",
        Source(papers.CHOWDHURY, "Lemma 1", DERIVED),
        "probability",
        pulls_bound,
        checks=[PULLS, SURVIVAL],
    ),
    RegretClaim(
        "theorem-1",
        "With p = 1/T, the expected regret is O(sum_a log T/Delta_a + K log T/epsilon).",
        "sum_a Delta_a (2 + 4 + ... + 2^b_a) + max Delta, b_a the first batch with 4 beta(b) < Delta_a",
        Source(papers.CHOWDHURY, "Theorem 1", "printed as a rate; constants derived from the claim on pulls"),
        "mean",
        regret_bound,
        "rewards in [0, 1]",
        [MeanBound(c1_to_c4), CorrectOnly(PRICE)],
    ),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    Mutant(
        "inverse Gamma scale",
        "shares of the noise are drawn with the inverse of their scale, so large batches get little noise",
        noise_by(_inverse_scale),
    ),
    Mutant(
        "hasty",
        "arms are removed at an eighth of the threshold, below the noise of their means",
        gap_times(1 / 8),
        caught_by=SURVIVAL,
    ),
    Mutant(
        "timid",
        "arms are removed only at eight times the threshold",
        gap_times(8),
        caught_by=PULLS,
    ),
    Mutant(
        "uniform play",
        "no arm is ever removed",
        gap_times(1e12),
        caught_by=PULLS,
    ),
    family.inverted(PULLS),
)

auditor = Auditor(
    algorithm=DistDPSE,
    paper=papers.CHOWDHURY,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 200, "beta": 0.5},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 60, "beta": 0.5},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 5, "epsilon": 1.0, "horizon": 10**7},
    worst_cost=lambda rule: rule.mechanism(1, 1).cost(),  # a reward enters one release
)
