"""Auditor of DP-SE with guess-and-double: the auditor of DP-SE, and what restarts add."""

from __future__ import annotations

from dataclasses import replace

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_se_doubling import DPSEDoubling
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors import dp_se
from verifiable_dp.auditors._first_neighbours import c1_to_c4, one_release
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import CorrectOnly, Growth, MeanBound

SHEET = Sheet(__file__, papers.S1)
claim = SHEET.claim


def phases(first_guess: int, horizon: int) -> list[tuple[int, int, int]]:
    """(guess, first round, end) of each phase up to the horizon."""
    found, guess, start = [], first_guess, 0
    while start < horizon:
        end = min(guess // 2, horizon)
        found.append((guess, start, end))
        guess, start = 2 * guess, end
    return found


def regret_bound(gaps: FloatArray, rule: DPSEDoubling) -> float:
    """Theorem 4.3 in every phase, or the phase's length times the largest gap where that is less."""
    largest = float(gaps.max())
    total = 0.0
    for phase, (_, start, end) in zip(rule.phases, phases(rule.first_guess, rule.horizon), strict=True):
        total += min(dp_se.regret_bound(gaps, phase), largest * (end - start))
    trivial = largest * rule.horizon
    return trivial if total >= trivial * (1 - 1e-12) else total


def summed_regret_bound(gaps: FloatArray, rule: DPSEDoubling) -> float:
    """The same with the epochs of each phase summed up to the one that removes an arm."""
    return closed_forms.dp_se_doubling(gaps, rule.horizon, rule.epsilon, rule.first_guess)


def pairs(rule: DPSEDoubling) -> list[TablePair]:
    """Tables near the thresholds of the first epochs of the first two phases that are long enough for one."""
    epochs = []
    for phase, (_, start, end) in zip(rule.phases, phases(rule.first_guess, rule.horizon), strict=False):
        first = family.first_epochs(phase)[0]
        if rule.n_arms * first.pulls <= end - start:
            epochs.append(replace(first, start=start))
    return family.near_threshold(rule.n_arms, rule.horizon, rule.epsilon, epochs[:2])


MEANS = MeanBound(c1_to_c4)
CLAIMS = (
    claim(
        "theorem-4.3 with restarts",
        regret_bound,
        [MEANS, CorrectOnly(MeanBound(dp_se.c1_late, dp_se.LATE)), Growth(dp_se.RANGES[1:], log_power=2)],
    ),
    claim("theorem-4.3-summed with restarts", summed_regret_bound, [CorrectOnly(dp_se.summed)]),
)

auditor = SHEET.auditor(
    DPSEDoubling,
    pairs,
    mutants=(*family.PRIVACY_MUTANTS, family.inverted(MEANS)),
    claims=CLAIMS,
    small={"beta": None},
    experiment=dp_se.auditor.experiment,
    worst_cost=one_release,
)
