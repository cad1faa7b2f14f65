"""Auditor of Lazy DP-TS: rewards of the first two batches changed; the rate of Theorem 4."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.lazy_dp_ts import LazyDPTS
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import one_release
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import MeanBound

SHEET = Sheet(__file__, papers.HU)
claim, mutant = SHEET.claim, SHEET.mutant

LEVEL = 16.0  # ours: the paper's constants are not at hand


def regret_bound(gaps: FloatArray, rule: LazyDPTS) -> float:
    """The rate of Theorem 4 with our constant: sum over Delta_a > 0 of 16 log T/min(Delta_a, epsilon)."""
    bad = gaps[gaps > 0]
    return float(np.sum(LEVEL * math.log(rule.horizon) / np.minimum(bad, rule.epsilon)))


ON_TWO = MeanBound([family.TWO])
CLAIMS = (claim("theorem-4", regret_bound, [ON_TWO]),)

MUTANTS = (
    *family.BATCH_MUTANTS,
    mutant("uniform play", family.UNIFORM_CHOICE, ON_TWO),
    mutant("inverted", result("samples", lambda rule, drawn, state, released: -drawn), ON_TWO),
    family.timid(ON_TWO, "that is added to means"),
)

auditor = SHEET.auditor(LazyDPTS, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
