"""Auditor of elimination in the shuffle model: bounds on delta of each batch, and of its radius."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.algorithms.shuffled_se import ShuffledSE
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, c1_to_c4
from verifiable_dp.auditors.shuffled_linear import report_mutants
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.registry.mutants import gap_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import MeanBound, Pulls, Survival

SHEET = Sheet(__file__, papers.TENENBAUM)
claim, mutant = SHEET.claim, SHEET.mutant

SHORT = {"n_arms": 3, "horizon": 100_000, "beta": 0.1}
DERIVED = SHEET.words("derived")


def pulls_bound(gaps: FloatArray, rule: ShuffledSE) -> FloatArray:
    """2 + 4 + ... + 2^b up to the first batch with 4 radius < Delta for |S| = K, for gaps (m,)."""
    batch = np.arange(1.0, 41.0)
    last = (4 * rule.radius(rule.n_arms, batch) < np.asarray(gaps)[:, None]).argmax(axis=1)
    return np.asarray(2.0 ** (batch[last] + 1) - 2)


def regret_bound(gaps: FloatArray, rule: ShuffledSE) -> float:
    """Sum of Delta_a times the bound on pulls at beta = 1/T, and the largest gap for the runs that fail."""
    bad = gaps[gaps > 0]
    return float(bad @ pulls_bound(bad, rule)) + float(gaps.max())


# ---------------------------------------------------------------- batches


def complete(rule: ShuffledSE) -> int:
    """Batches of all arms that fit into the horizon."""
    return int(np.log2(rule.horizon / (2 * rule.n_arms) + 1))


def batches(rule: ShuffledSE) -> list[exact_shuffle.ShuffledBatch]:
    """An arm's reports in each batch that two arms can reach within the horizon, read off the algorithm."""
    found = []
    for number in range(1, int(np.log2(rule.horizon / 4 + 1)) + 1):
        state = replace(rule.start(np.arange(1)), epoch=np.full(1, number))
        state = replace(state, active=np.arange(rule.n_arms)[None] < 2)
        query, meter = rule.query(state), exact_shuffle.LossMeter()
        rule.release(state, rule.private(state.run), query, np.zeros((1, rule.n_arms)), meter)
        users, crowd = int(query.pulls().max()), int(rule.crowd(query.pulls())[0])
        found += [exact_shuffle.ShuffledBatch(number, users, crowd, scale) for scale in meter.scales.values()]
    return found


def exact(rule: ShuffledSE, claim: PrivacyClaim) -> list[Check]:
    """Bounds on delta of each batch."""
    return [exact_shuffle.check(batch, claim, rule.bounds) for batch in batches(rule)]


def pairs(rule: ShuffledSE) -> list[TablePair]:
    """The first reward of the last and of the first batch; all are alike, so that no arm is removed."""
    found = []
    for batch in (complete(rule), 1):
        table = np.full((rule.horizon, rule.n_arms), 0.5)
        at = rule.n_arms * (2**batch - 2)
        table[at, 0] = 0.0
        found.append(TablePair(table, at, 0, 1.0))
    return found


# ---------------------------------------------------------------- mutants


class Late(ShuffledSE):
    """Users report exact rewards, and the server adds Lap(1/epsilon) to the sums."""

    release = Elimination.release

    def mechanism(self, size: IntArray, epoch: IntArray) -> Laplace:
        """Of a sum."""
        return Laplace(1.0, self.epsilon)


PULLS = Pulls(family.LARGE_GAPS, SHORT, DERIVED)
SURVIVAL = Survival(family.NEAR_TIES, SHORT, DERIVED)
MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    *report_mutants("the formula", "users", Late),
    mutant("hasty", gap_times(1 / 8), SURVIVAL),
    mutant("timid", gap_times(8), PULLS),
    family.inverted(PULLS),
)
CLAIMS = (
    claim("elimination", pulls_bound, [PULLS, SURVIVAL]),
    claim("regret", regret_bound, [MeanBound(c1_to_c4)]),
)

auditor = SHEET.auditor(
    ShuffledSE,
    pairs,
    MUTANTS,
    CLAIMS,
    exact=exact,
    # Of one report, before it is shuffled.
    worst_cost=lambda rule: exact_shuffle.local_epsilon(exact(rule, rule.claim)),
)
