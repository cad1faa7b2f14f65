"""Auditor of LDP-UCB: the first reward changed, and a bound that follows from the index."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.ldp_ucb import LDPUCB
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import Unforgetting, noise_by
from verifiable_dp.registry.theorems import MeanBound

# Sum over rounds t >= 3 of 4 t^-3: one of two means of reports is off, whatever their numbers.
MISSES = 0.309


def regret_bound(gaps: FloatArray, rule: LDPUCB) -> float:
    """Sum over arms of Delta_a (max(4 log(T + 1), (2 sqrt 2 + 2 sqrt 32/epsilon)^2 log T/Delta_a^2) + 1.309).

    While both means lie within their radii an arm that is played has few pulls, or twice its radius exceeds
    its gap. After n > 4 log t reports the mean of their noise exceeds sqrt(32 log t/(epsilon^2 n)) with
    probability t^-4 at most, as log(1/(1 - s^2)) <= 2 s^2 for s^2 <= 1/2.
    """
    bad = gaps[gaps > 0]
    spread = (2 * math.sqrt(2) + 2 * math.sqrt(32) / rule.epsilon) ** 2
    pulls = np.maximum(4 * math.log(rule.horizon + 1), spread * math.log(rule.horizon) / bad**2)
    return float(bad @ (pulls + 1 + MISSES))


ON_TWO = MeanBound([family.TWO])
CLAIMS = (
    RegretClaim(
        "regret",
        "The expected regret is O(sum_a log T/(epsilon^2 Delta_a)) for small epsilon.",
        "sum_a Delta_a (max(4 log(T + 1), (2 sqrt 2 + 2 sqrt 32/epsilon)^2 log T/Delta_a^2) + 1.309)",
        Source(
            papers.REN,
            "LDP-UCB-L",
            "constants derived from the index, by Hoeffding and Chernoff's bound for sums of Laplace "
            "noise; we did not have the paper's own",
        ),
        "mean",
        regret_bound,
        "rewards in [0, 1]",
        [ON_TWO],
    ),
)

MUTANTS = (
    *family.NOISE_MUTANTS,
    Mutant("sent again", "every report holds the mean of all rewards so far", Unforgetting),
    Mutant(
        "noise of the mean",
        "a report gets the noise that a mean of that many rewards would need",
        noise_by(lambda rule, state, query: 1 / (state.pulls + 1)),
    ),
    *family.order_mutants(ON_TWO),
    family.timid(ON_TWO),
)

auditor = Auditor(
    algorithm=LDPUCB,
    paper=papers.REN,
    model="local",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 2, "epsilon": 1.0, "horizon": 10_000},
    longest=255,
    worst_cost=lambda rule: rule.mechanism.cost(),
)
