"""Auditor of elimination in the shuffle model: bounds on delta of each batch, and of its radius."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.algorithms.shuffled_se import ShuffledSE
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, c1_to_c4
from verifiable_dp.core.claims import Basis, PrivacyClaim, RegretClaim, Source
from verifiable_dp.core.mechanisms import Laplace, shuffle
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import gap_times, rebuilt, result
from verifiable_dp.registry.theorems import MeanBound, Pulls, Survival

SHORT = {"n_arms": 3, "horizon": 100_000, "beta": 0.1}
DERIVED = "derived: Hoeffding, a tail of sums of Laplace reports, union over arms and batches"


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
    Mutant(
        "domain unchecked",
        "the formula is inverted outside its domain",
        result(
            "local",
            lambda rule, local, clients: max(
                rule.epsilon, shuffle.formula_inverse(rule.epsilon, clients, rule.delta)
            ),
        ),
    ),
    Mutant(
        "amplified by T",
        "epsilon0 suits T shuffled reports, though a batch has fewer",
        result(
            "local",
            lambda rule, local, clients: shuffle.local_epsilon(rule.epsilon, rule.horizon, rule.delta),
        ),
    ),
    Mutant(
        "epsilon0 doubled",
        "a report has twice the epsilon0 that shuffling can compensate for",
        result("local", lambda rule, local, clients: 2 * local),
    ),
    Mutant(
        "order visible",
        "reports are passed on in the order of the users, so nothing is amplified",
        result("crowd", lambda rule, crowd, counts: np.ones(len(counts), np.int64)),
    ),
    Mutant("noise at the server", "users report exact rewards; only the sums get noise", rebuilt(Late)),
    Mutant(
        "hasty",
        "arms are removed at an eighth of the threshold, below the noise of their means",
        gap_times(1 / 8),
        caught_by=SURVIVAL,
    ),
    Mutant("timid", "arms are removed only at eight times the threshold", gap_times(8), caught_by=PULLS),
    family.inverted(PULLS),
)
CLAIMS = (
    RegretClaim(
        "elimination",
        "With probability 1 - beta, the best arm stays, and arm a is removed by the first batch with 4 "
        "radius < Delta_a.",
        "2 + 4 + ... + 2^b, b the first batch with 4 radius < Delta_a",
        Source(papers.TENENBAUM, "shuffle model", DERIVED, Basis.OURS),
        "probability",
        pulls_bound,
        checks=[PULLS, SURVIVAL],
    ),
    RegretClaim(
        "regret",
        "With beta = 1/T, the expected regret is O(sum_a log T/Delta_a + K sqrt(log(1/delta)) log "
        "T/epsilon).",
        "sum_a Delta_a (2 + 4 + ... + 2^b_a) + max Delta, b_a the first batch with 4 radius < Delta_a",
        Source(
            papers.TENENBAUM,
            "shuffle model",
            "a rate; the numbers follow from the claim on pulls, for our reports",
            Basis.UNREAD,
        ),
        "mean",
        regret_bound,
        "rewards in [0, 1]",
        [MeanBound(c1_to_c4)],
    ),
)

auditor = Auditor(
    algorithm=ShuffledSE,
    paper=papers.TENENBAUM,
    model="shuffle",
    # The last batch is large enough to gain by shuffling; outside of its domain the formula gives too much.
    instance={"n_arms": 2, "epsilon": 4.0, "horizon": 66_000, "beta": 0.5, "delta": 1e-6},
    small={"n_arms": 2, "epsilon": 20.0, "horizon": 100, "beta": 0.5},
    pairs=pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 5, "epsilon": 1.0, "horizon": 10**7},
    exact=exact,
    # Of one report, before it is shuffled.
    worst_cost=lambda rule: exact_shuffle.local_epsilon(exact(rule, rule.claim)),
)
