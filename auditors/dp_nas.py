"""Auditor of DP-NAS: streams along the threshold, and the correctness of Theorem 3.1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray, IntArray
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_nas import DPNAS
from verifiable_dp.auditing.auditor import Auditor, Mutant
from verifiable_dp.auditing.wrapped import original
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.auditors._shared import Interpreted, noise_times, regret_mutant
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.evidence.check import Check
from verifiable_dp.noise import Altered, Noise

MEANS = (0.5, -0.5)
REPEATS = 16


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """Correctness at means R/2 and -R/2; the same at every budget but for the number of runs."""
    for share in MEANS:
        mean = share * float(algorithm.bounds[1])
        done = family.run(algorithm, mean, budget=budget, seed=seed, workers=workers)
        yield family.correct(done, algorithm, mean, "theorem-3.1")


class Hasty(DPNAS):
    """Halts at a tenth of the threshold."""

    def threshold(self, t: Any, check: Any) -> Any:
        """A tenth."""
        return super().threshold(t, check) / 10


class Redrawn(Interpreted, DPNAS):
    """Averages many noisy estimates, each with the budget of one."""

    def estimate(self, total: FloatArray, noise: Noise, run: IntArray, where: BoolArray) -> FloatArray:
        """Mean of fresh draws."""
        rows, found = np.flatnonzero(where[:, 0]), np.full(total.shape, np.nan)

        def draw(number: int) -> FloatArray:
            moved = Altered(noise, 1.0, lambda slot: slot + (number << 40))
            return super(Redrawn, self).estimate(total[rows], moved, run[rows], where[rows])

        if not len(rows):
            return found
        found[rows] = np.mean([draw(number) for number in range(REPEATS)], axis=0)
        return found


# With half the noise the estimate alone still keeps epsilon; what the comparisons then add shows only in far
# more runs than a quick audit makes of a rule that compares each round. So does a missing threshold noise.
_MUTANTS = (
    noise_times(0.25, "quarter noise", "every noise value is a quarter of what the proof needs"),
    *family.PRIVACY_MUTANTS,
    Mutant(
        "noise of means on sums",
        "the sum gets noise that is divided by the number of samples",
        lambda algorithm: family.ScaledByUse(algorithm, on_estimate=1 / original(algorithm).horizon),
    ),
    Mutant(
        "re-drawn",
        f"{REPEATS} noisy estimates are averaged, each with the budget of one",
        lambda algorithm: Redrawn(**algorithm.parameters),
    ),
    regret_mutant(
        "hasty",
        "it halts at a tenth of the threshold",
        Hasty,
        "theorem-3.1 at mean 0.5",
    ),
)

CLAIMS = (
    RegretClaim(
        "theorem-3.1",
        "With probability 1 - beta the estimate is within alpha |mu| of mu.",
        "Pr[|estimate - mu| > alpha |mu|] <= beta",
        Source(papers.S1, "Theorem 3.1"),
        "probability",
        domain="independent samples in [-R, R]; says nothing where the horizon comes before the rule halts",
    ),
)

auditor = Auditor(
    algorithm=DPNAS,
    paper=papers.S1,
    model="central",
    instance={"epsilon": 2.0, "alpha": 0.9, "beta": 0.9, "horizon": 300},
    small={"epsilon": 4.0, "alpha": 0.9, "beta": 0.9, "horizon": 210},
    pairs=family.along_threshold,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    experiment={"epsilon": 1.0, "alpha": 0.5, "beta": 0.1, "horizon": 10_000},
    longest=2000,
    worst_cost=family.worst_cost,
)
