"""Auditor of NAS, the stopping rule without privacy: it is caught leaking, and held to its correctness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._stopping import StoppingState
from verifiable_dp.algorithms.nas import NAS
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.auditors._shared import (
    Interpreted,
    regret_mutant,
)
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.evidence.check import Check

MEANS = (0.5, -0.5)


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """Correctness at means R/2 and -R/2; the same at every budget but for the number of runs."""
    for share in MEANS:
        mean = share * float(algorithm.bounds[1])
        done = family.run(algorithm, mean, budget=budget, seed=seed, workers=workers)
        yield family.correct(done, algorithm, mean, "correctness")


class NoAccuracy(NAS):
    """Halts as soon as the mean differs from 0."""

    def threshold(self, t: Any, check: Any) -> Any:
        """t h_t: the factor 1 + 1/alpha is left out."""
        return super().threshold(t, check) / (1 + 1 / self.alpha)


class Narrow(NAS):
    """A radius without its logarithm and a tenth as wide."""

    def threshold(self, t: Any, check: Any) -> Any:
        """A twentieth."""
        return super().threshold(t, check) / 20


class Unsigned(Interpreted, NAS):
    """Releases |mean|."""

    def output(self, state: StoppingState) -> FloatArray:
        """The sign is lost."""
        return np.abs(super().output(state))


class Late(Interpreted, NAS):
    """Divides the sum by twice the time."""

    def output(self, state: StoppingState) -> FloatArray:
        """Half the mean."""
        return super().output(state) * [1.0, 0.5]


class Total(Interpreted, NAS):
    """Releases the sum."""

    def output(self, state: StoppingState) -> FloatArray:
        """The sum of the samples."""
        return super().output(state) * np.column_stack([np.ones(len(state.t)), state.t])


class Rescaled(Interpreted, NAS):
    """Releases the mean on the scale of [0, 1]."""

    def output(self, state: StoppingState) -> FloatArray:
        """(mean + R)/(2 R)."""
        time, mean = super().output(state).T
        return np.column_stack([time, (mean + self.radius) / (2 * self.radius)])


_MUTANTS = (
    regret_mutant(
        "no accuracy",
        "it halts at h_t, without the factor 1 + 1/alpha",
        NoAccuracy,
        "correctness at mean 0.5",
    ),
    regret_mutant("narrow", "it halts at a twentieth of the threshold", Narrow, "correctness at mean 0.5"),
    regret_mutant("unsigned", "|mean| is released", Unsigned, "correctness at mean -0.5"),
    regret_mutant(
        "halved", "the sum is divided by twice the number of samples", Late, "correctness at mean 0.5"
    ),
    regret_mutant("total", "the sum is released instead of the mean", Total, "correctness at mean 0.5"),
    regret_mutant(
        "rescaled", "the mean is released on the scale of [0, 1]", Rescaled, "correctness at mean 0.5"
    ),
)

CLAIMS = (
    RegretClaim(
        "correctness",
        "With probability 1 - beta the released mean is within alpha |mu| of mu.",
        "Pr[|mean - mu| > alpha |mu|] <= beta",
        Source(papers.S1, "Section 3", "after Domingo, Gavaldà & Watanabe 2002"),
        "probability",
        domain="independent samples in [-R, R]; says nothing where the horizon comes before the rule halts",
    ),
)

auditor = Auditor(
    algorithm=NAS,
    paper=papers.DOMINGO,
    model="none",
    instance={"alpha": 0.9, "beta": 0.9, "horizon": 160},
    small={"alpha": 0.9, "beta": 0.9, "horizon": 120},
    pairs=family.along_threshold,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    reference_epsilon=1.0,
    experiment={"alpha": 0.2, "beta": 0.1, "horizon": 20_000},
    longest=2000,
)
