"""Auditor of NAS, the stopping rule without privacy: it is caught leaking, and held to its correctness."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._stopping import StoppingState
from verifiable_dp.algorithms.nas import NAS
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import result


def _total(rule: NAS, output: FloatArray, state: StoppingState) -> FloatArray:
    return output * np.column_stack([np.ones(len(state.t)), state.t])


def _rescaled(rule: NAS, output: FloatArray, state: StoppingState) -> FloatArray:
    time, mean = output.T
    return np.column_stack([time, (mean + rule.radius) / (2 * rule.radius)])


MUTANTS = (
    Mutant(
        "no accuracy",
        "it halts at h_t, without the factor 1 + 1/alpha",
        result("threshold", lambda rule, limit, t, check: limit / (1 + 1 / rule.alpha), compiled=True),
        caught_by=family.POSITIVE,
    ),
    Mutant(
        "narrow",
        "it halts at a twentieth of the threshold",
        family.threshold_over(20),
        caught_by=family.POSITIVE,
    ),
    Mutant(
        "unsigned",
        "|mean| is released",
        result("output", lambda rule, output, state: np.abs(output)),
        caught_by=family.NEGATIVE,
    ),
    Mutant(
        "halved",
        "the sum is divided by twice the number of samples",
        result("output", lambda rule, output, state: output * [1.0, 0.5]),
        caught_by=family.POSITIVE,
    ),
    Mutant(
        "total",
        "the sum is released instead of the mean",
        result("output", _total),
        caught_by=family.POSITIVE,
    ),
    Mutant(
        "rescaled",
        "the mean is released on the scale of [0, 1]",
        result("output", _rescaled),
        caught_by=family.POSITIVE,
    ),
)

CLAIMS = (
    RegretClaim(
        "correctness",
        "With probability 1 - beta, the released mean is within alpha |mu| of mu.",
        "Pr[|mean - mu| > alpha |mu|] <= beta",
        Source(papers.S1, "Section 3", "after Domingo, Gavaldà & Watanabe 2002"),
        "probability",
        domain="independent samples in [-R, R]; empty if the horizon ends before the rule halts",
        checks=family.CORRECT,
        about="utility",
    ),
)

auditor = Auditor(
    algorithm=NAS,
    paper=papers.DOMINGO,
    model="none",
    instance={"alpha": 0.9, "beta": 0.9, "horizon": 160},
    small={"alpha": 0.9, "beta": 0.9, "horizon": 120},
    pairs=family.along_threshold,
    mutants=MUTANTS,
    claims=CLAIMS,
    reference_epsilon=1.0,
    experiment={"alpha": 0.2, "beta": 0.1, "horizon": 20_000},
    longest=2000,
)
