"""Errata of Wu, Zhou, Tao & Wang 2023."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.core.algorithm import Histogram, Query
from verifiable_dp.core.environments import Table
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Find, Findings
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__)
said = SHEET.check

BASE: JsonDict = {"n_arms": 10, "epsilon": 1.0, "horizon": 1 << 20}


def slack(seed: int) -> Findings:
    """Rewards that a histogram needs until sampling error is below the slack of the fullest bin."""
    alpha, delta = 0.1, 1e-6
    rule = DPRobustElimination(**BASE, moments="central", radius=10.0, contamination=alpha, failure=delta)
    outside = rule.bin_width**-rule.k
    near = float((1 - alpha) * (1 - outside) / 3 - alpha - (1 - alpha) * outside)
    needed = 8 * math.log(4 * rule.n_bins / delta)
    about = {"contamination": alpha, "delta": delta, "k": rule.k, "bins": rule.n_bins}
    words = "rewards until, by a union bound, the fullest bin is within {} widths of the mean"
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
        found[variant] = said("bins", counted, texts={"variant": variant}, edges=rule.edges.tolist())
    return Findings([found["printed"]], [found["corrected"]], {"rewards": [10.0] * 8})


EVIDENCE: Mapping[str, Find] = {"histogram-slack": slack, "histogram-edge": bins}
