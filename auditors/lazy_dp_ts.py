"""Auditor of Lazy DP-TS: rewards of the first two batches changed; the rate of Theorem 4."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.lazy_dp_ts import LazyDPTS
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.theorems import MeanBound

LEVEL = 16.0  # ours: the paper's constants are not at hand


def regret_bound(gaps: FloatArray, rule: LazyDPTS) -> float:
    """The rate of Theorem 4 with our constant: sum over Delta_a > 0 of 16 log T/min(Delta_a, epsilon)."""
    bad = gaps[gaps > 0]
    return float(np.sum(LEVEL * math.log(rule.horizon) / np.minimum(bad, rule.epsilon)))


ON_TWO = MeanBound([family.TWO])
CLAIMS = (
    RegretClaim(
        "theorem-4",
        "The expected regret is O(sum_a log T/min(epsilon, Delta_a)).",
        "sum_a 16 log T/min(epsilon, Delta_a)",
        Source(
            papers.HU,
            "Theorem 4",
            "a rate; we chose the constant 16, which uniform play and a width eight times too large exceed "
            "at the horizon of the check",
        ),
        "mean",
        regret_bound,
        "rewards in [0, 1]",
        [ON_TWO],
    ),
)

MUTANTS = (
    *family.BATCH_MUTANTS,
    Mutant(
        "uniform play",
        "the arm with the fewest pulls is played next",
        family.UNIFORM_CHOICE,
        caught_by=ON_TWO,
    ),
    Mutant(
        "inverted",
        "the arm with the smallest draw is played next",
        result("samples", lambda rule, drawn, state, released: -drawn),
        caught_by=ON_TWO,
    ),
    family.timid(ON_TWO, "the width that is added to means is eight times too large"),
)

auditor = Auditor(
    algorithm=LazyDPTS,
    paper=papers.HU,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 2, "epsilon": 1.0, "horizon": 3000},
    longest=255,
    worst_cost=lambda rule: rule.mechanism.cost(),  # a reward enters one release
)
