"""Errata of Wu, Zhou, Tao & Wang 2023."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.core.algorithm import Histogram, Query
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import Table
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Erratum, Findings, Quotation

BASE: JsonDict = {"n_arms": 10, "epsilon": 1.0, "horizon": 1 << 20}


def slack(seed: int) -> Findings:
    """Rewards that a histogram needs until sampling error is below the slack of the fullest bin."""
    alpha, delta = 0.1, 1e-6
    rule = DPRobustElimination(**BASE, moments="central", radius=10.0, contamination=alpha, failure=delta)
    outside = rule.bin_width**-rule.k
    near = float((1 - alpha) * (1 - outside) / 3 - alpha - (1 - alpha) * outside)
    needed = 8 * math.log(4 * rule.n_bins / delta)
    about = {"contamination": alpha, "delta": delta, "k": rule.k, "bins": rule.n_bins}
    words = "rewards until the fullest bin is within {} widths of the mean by a union bound"
    return Findings(
        [statement(words.format(2), needed / near**2, "at least", 1e6, slack=near, **about)],
        [statement(words.format(3), needed / rule.slack**2, "at most", 2e4, slack=rule.slack, **about)],
        {**about, "slack": near},
    )


def bins(seed: int) -> Findings:
    """Rewards of an arm with mean D, all equal to it, that fall into any bin."""
    found = {}
    for variant in ("printed", "corrected"):
        rule = DPRobustElimination(**BASE, moments="central", radius=10.0, variant=variant)
        table = np.full((8, 1), rule.radius)
        zero = np.zeros(1, np.int64)
        query = Query(zero, zero + 8, np.ones((1, 1), bool), np.ones(1, bool), Histogram(rule.edges[None, :]))
        counted = float(Table(table).answer(query, zero).sum())
        found[variant] = statement(
            f"of 8 rewards equal to D = 10, those in a bin, {variant}",
            counted,
            "at least",
            8,
            edges=rule.edges.tolist(),
        )
    return Findings([found["printed"]], [found["corrected"]], {"rewards": [10.0] * 8})


ERRATA = (
    Erratum(
        "histogram-slack",
        Source(
            papers.WU,
            "Corollary 6.8",
            "reconstructed in part; the constant is left open, so that the statement holds, and the numbers "
            "are those of a union bound at alpha = .1, delta = 1e-6",
        ),
        "loose",
        (
            Quotation(
                "Corollary 6.8",
                "Then, there exists constant c1, for all n such that n T = (max{ log(1/δ) , c1 log(D/δ) 1 }) "
                "and D 2r, we have that for any δ 2 (0, 1), with probability at least 1 δ, |eµ µ| β",
            ),
        ),
        "With r^k = (1-alpha)/(.249-alpha), n of order log(D/delta)/epsilon puts J within 2r of the mean.",
        "The fullest bin near the mean outweighs the others by .0013 only, whatever alpha is: a union bound "
        "takes some 10^7 rewards. J within 3r takes about 10^4.",
        "proof",
        slack,
    ),
    Erratum(
        "histogram-edge",
        Source(papers.WU, "Algorithm 3"),
        "false",
        (Quotation("Algorithm 3", "3: Bj = [j, j + r), j 2 J = { D, D + r, . . . , D r}."),),
        "Bins [j, j + r) begin at j = -D, ..., D - r, for means in [-D, D].",
        "An arm whose rewards all equal D has none of them in a bin, and where 2D is not a multiple of r the "
        "last bin ends before D: bins must reach a width beyond [-D, D].",
        "proof",
        bins,
    ),
)
