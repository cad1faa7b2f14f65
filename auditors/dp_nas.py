"""Auditor of DP-NAS: streams along the threshold, and the correctness of Theorem 3.1."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_nas import DPNAS
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.registry.mutants import noise_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.wrapped import original
from verifiable_dp.selfcheck.noise_operators import averaged

SHEET = Sheet(__file__, papers.S1)
claim, mutant = SHEET.claim, SHEET.mutant

REPEATS = 16


# With half the noise the estimate alone still keeps epsilon; what the comparisons then add shows only in far
# more runs than a quick audit makes of a rule that compares each round. So does a missing threshold noise.
MUTANTS = (
    mutant("quarter noise", noise_times(0.25)),
    *family.PRIVACY_MUTANTS,
    mutant(
        "sums with the noise of means",
        lambda algorithm: family.ScaledByUse(algorithm, on_estimate=1 / original(algorithm).horizon),
    ),
    mutant("re-drawn", averaged(REPEATS, 40), repeats=REPEATS),  # the slots of the committed records
    mutant("hasty", family.threshold_over(10), family.POSITIVE),
)

CLAIMS = (claim("theorem-3.1", checks=family.CORRECT),)

auditor = SHEET.auditor(DPNAS, family.along_threshold, MUTANTS, CLAIMS, worst_cost=family.worst_cost)
