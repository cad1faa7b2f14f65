"""Auditor of the locally private linear bandit: a reward from -1 to 1; Theorem 2 with numbers, Lemma 5."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.ldp_linear import LDPLinear, width
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.dp_linear import pairs
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.registry.auditor import Auditor, Mutant, Printed
from verifiable_dp.registry.mutants import MEAN_NOISE, given, noise_by

EXPERIMENT = {"actions": family.CIRCLE, "epsilon": 2.0, "horizon": 1_000_000}

GOOD_EVENT = family.GoodEvent("Lemma 5")
MUTANTS = (
    HALF_NOISE,
    Mutant(
        "sensitivity 1",
        "as printed: Lap(1/epsilon), though a reward can change by up to 2",
        given(variant="printed"),
    ),
    NO_NOISE,
    Mutant(
        "noise of the mean",
        "a report gets Lap(2/(epsilon n)), which is the scale for the mean of n rewards",
        MEAN_NOISE,
    ),
    Mutant(
        "fading noise",
        "reports of batch i get Lap(2/(epsilon i))",
        noise_by(lambda rule, state, query: 1 / state.batch[:, None]),
    ),
    Mutant(
        "first action forgotten",
        "the loop that adds noise begins at the second action",
        noise_by(lambda rule, state, query: (np.arange(rule.n_arms) > 0).astype(np.float64)),
    ),
    *family.removal_mutants(GOOD_EVENT),
)

CLAIMS = (
    RegretClaim(
        "theorem-2",
        "With probability 1 - 1/T, the regret is at most C (1 + 1/epsilon) d sqrt(T log T).",
        "sum_i n_i max {Delta_a <= 4 gamma_(i-1)} + rest max {Delta_a <= 2 gamma} + max Delta, "
        "n_i <= q^i + |C|, |C| <= min(K, 4 d log log d + 16)",
        Source(
            papers.HANNA,
            "Theorem 2, corrected",
            "printed as a rate with d sqrt(d T log T); the numbers are those of the proof of Theorem 1, "
            "with our gamma",
        ),
        "mean",
        family.regret_bound,
        "a finite set of actions, T at least 8",
        family.theorem(1.0),
    ),
    RegretClaim(
        "lemma-5",
        "With probability 1 - 1/T, every estimate of every batch errs by at most gamma_i. Then the best "
        "action stays, and actions that stay after batch i have gaps of at most 4 gamma_i.",
        "P[best action removed, or an action with a gap above 4 gamma kept] <= beta",
        Source(
            papers.HANNA,
            "Lemma 5, corrected",
            "with a width that does not need Lemma 4; checked at beta = .1, T = 1e5",
        ),
        "probability",
        width,
        "a finite set of actions; q^i of any size",
        [GOOD_EVENT],
    ),
)

auditor = Auditor(
    algorithm=LDPLinear,
    paper=papers.HANNA,
    model="local",
    instance={
        "actions": ((1.0, 0.0), (0.0, 1.0), (0.6, 0.6)),
        "epsilon": 1.0,
        "horizon": 1000,
        "beta": 0.5,
    },
    small={"actions": family.AXES, "epsilon": 20.0, "horizon": 400, "beta": 0.9},
    pairs=pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment=EXPERIMENT,
    printed=Printed("refuted"),
    worst_cost=family.worst_cost,
)
