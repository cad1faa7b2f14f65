"""Errata of Wu, Zhou, Tao & Wang 2023."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.core.algorithm import Histogram, Query
from verifiable_dp.core.environments import Table
from verifiable_dp.core.validate import FloatArray, JsonDict
from verifiable_dp.registry.errata import Find, Findings
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__)
said = SHEET.check

BASE: JsonDict = {"n_arms": 10, "epsilon": 1.0, "horizon": 1 << 20}
# Mean -10 and variance .0019 but for a tenth of outliers near 9.
ENDS = [-10.01] * 171 + [-9.81] * 9 + [9.0] * 20


def bins(seed: int) -> Findings:
    """Rewards of an arm with mean D, all equal to it, that fall into any bin; the fullest bin at mean -D."""
    found = {}
    for variant in ("printed", "corrected"):
        texts = {"variant": variant}
        rule = DPRobustElimination(**BASE, moments="central", radius=10.0, variant=variant)
        counted = float(counts(rule, [rule.radius] * 8).sum())
        robust = replace(rule, contamination=0.1)
        off = abs(float(robust.edges[counts(robust, ENDS).argmax()]) + rule.radius)
        found[variant] = [
            said("bins", counted, texts=texts, edges=rule.edges.tolist()),
            said("ends", off / robust.bin_width, texts=texts, edges=robust.edges.tolist()),
        ]
    return Findings(found["printed"], found["corrected"], {"rewards": [10.0] * 8, "at mean -D": ENDS})


def counts(rule: DPRobustElimination, rewards: list[float]) -> FloatArray:
    """Rewards of one arm in each bin, without noise."""
    n, zero = len(rewards), np.zeros(1, np.int64)
    query = Query(zero, zero + n, np.ones((1, 1), bool), np.ones(1, bool), Histogram(rule.edges[None, :]))
    return Table(np.array(rewards)[:, None]).answer(query, zero).ravel()


EVIDENCE: Mapping[str, Find] = {"histogram-edge": bins}
