"""Auditor of DP-NAS: streams along the threshold, and the correctness of Theorem 3.1."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_nas import DPNAS
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import noise_times
from verifiable_dp.registry.wrapped import original
from verifiable_dp.selfcheck.noise_operators import averaged

REPEATS = 16


# With half the noise the estimate alone still keeps epsilon; what the comparisons then add shows only in far
# more runs than a quick audit makes of a rule that compares each round. So does a missing threshold noise.
MUTANTS = (
    Mutant("quarter noise", "every noise value is a quarter of what the proof needs", noise_times(0.25)),
    *family.PRIVACY_MUTANTS,
    Mutant(
        "noise of means on sums",
        "the sum gets noise that is divided by the number of samples",
        lambda algorithm: family.ScaledByUse(algorithm, on_estimate=1 / original(algorithm).horizon),
    ),
    Mutant(
        "re-drawn",
        f"{REPEATS} noisy estimates are averaged, each with the budget of one",
        averaged(REPEATS, 40),  # the slots of the committed records
    ),
    Mutant(
        "hasty",
        "it halts at a tenth of the threshold",
        family.threshold_over(10),
        caught_by=family.POSITIVE,
    ),
)

CLAIMS = (
    RegretClaim(
        "theorem-3.1",
        "With probability 1 - beta, the estimate is within alpha |mu| of mu.",
        "Pr[|estimate - mu| > alpha |mu|] <= beta",
        Source(papers.S1, "Theorem 3.1"),
        "probability",
        domain="independent samples in [-R, R]; empty if the horizon ends before the rule halts",
        checks=family.CORRECT,
        about="utility",
    ),
)

auditor = Auditor(
    algorithm=DPNAS,
    paper=papers.S1,
    model="central",
    instance={"epsilon": 2.0, "alpha": 0.9, "beta": 0.9, "horizon": 300},
    small={"epsilon": 4.0, "alpha": 0.9, "beta": 0.9, "horizon": 210},
    pairs=family.along_threshold,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"epsilon": 1.0, "alpha": 0.5, "beta": 0.1, "horizon": 10_000},
    longest=2000,
    worst_cost=family.worst_cost,
)
