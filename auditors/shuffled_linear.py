"""Auditor of the shuffled linear bandit: bounds on delta of each batch; Theorem 3 with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import PhasedElimination
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.dp_linear import pairs
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import BoolArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.mutants import given, rebuilt, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TheoremTrial
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.HANNA)
claim, mutant = SHEET.claim, SHEET.mutant


def amplification(trial: TheoremTrial) -> Iterator[Check]:
    """Delta of n shuffled reports at f(eps0), at most, over the delta claimed: the bound by clones.

    The largest over eps0 in the domain, for each n; exact numbers, no runs.
    """
    delta, worst = 1e-6, []
    for n in (500, 1000, 5000, 20_000):
        shares = shuffle.domain(n, delta) * np.array([0.25, 0.5, 0.75, 1.0])
        found = [shuffle.clones_delta(n, x, shuffle.amplified(x, n, delta)) for x in shares.tolist()]
        worst.append(max(found) / delta)
    yield SHEET.ratio("amplification", worst)


# ---------------------------------------------------------------- batches


def _remaining(n_arms: int) -> BoolArray:
    """Sets of actions that a batch may begin with: all, and pairs, whose batches are the smallest."""
    others = list(range(1, min(n_arms, 9)))
    sets = np.zeros((1 + len(others), n_arms), bool)
    sets[0] = True
    sets[1:, 0] = True
    sets[np.arange(1, len(sets)), others] = True
    return sets


def batches(algorithm: ShuffledLinear) -> list[exact_shuffle.ShuffledBatch]:
    """The fewest and the most reports of each batch that fits into the horizon, read off the algorithm."""
    sets = _remaining(algorithm.n_arms)
    run, found, rounds = np.arange(len(sets)), [], 0
    for number in range(1, algorithm.last_batch + 1):
        state = replace(algorithm.start(run), batch=np.full(len(run), number), active=sets)
        query, meter = algorithm.query(state), exact_shuffle.LossMeter()
        algorithm.release(state, algorithm.private(run), query, np.zeros(sets.shape), meter)
        clients, crowds = query.pulls().sum(axis=1), algorithm.crowd(query.pulls())
        seen = {
            int(clients[row]): exact_shuffle.ShuffledBatch(number, int(clients[row]), int(crowds[row]), scale)
            for row, scale in meter.scales.items()
        }
        if not seen or rounds + min(seen) > algorithm.horizon:
            break
        rounds += min(seen)
        found += [seen[size] for size in sorted({min(seen), max(seen)})]
    return found


def worst_cost(algorithm: Listed) -> float:
    """Of one report, before it is shuffled."""
    return exact_shuffle.local_epsilon(exact(algorithm, algorithm.claim))


def exact(algorithm: ShuffledLinear, claim: PrivacyClaim) -> list[Check]:
    """Bounds on delta of each batch."""
    return [exact_shuffle.check(batch, claim, algorithm.bounds) for batch in batches(algorithm)]


# ---------------------------------------------------------------- mutants


class Late(ShuffledLinear):
    """Clients report exact rewards, and the server adds Lap(2/epsilon) to the sums."""

    release = PhasedElimination.release


def report_mutants(formula: str, who: str, late: type[Algorithm]) -> tuple[Mutant, ...]:
    """Faults of the reports of `who`; `late` adds noise at the server instead."""
    return (
        mutant(
            "domain unchecked",
            result(
                "local",
                lambda rule, local, clients: max(
                    rule.epsilon, shuffle.formula_inverse(rule.epsilon, clients, rule.delta)
                ),
            ),
            formula=formula,
        ),
        mutant(
            "amplified by T",
            result(
                "local",
                lambda rule, local, clients: shuffle.local_epsilon(rule.epsilon, rule.horizon, rule.delta),
            ),
        ),
        mutant("epsilon0 doubled", result("local", lambda rule, local, clients: 2 * local)),
        mutant(
            "order visible",
            result("crowd", lambda rule, crowd, counts: np.ones(len(counts), np.int64)),
            who=who,
        ),
        mutant("noise at the server", rebuilt(late), who=who),
    )


GOOD_EVENT = family.GoodEvent("Lemma 5")
MUTANTS = (
    HALF_NOISE,
    mutant("as printed", given(variant="printed")),
    NO_NOISE,
    *report_mutants("eq. 10", "clients", Late),
    *family.removal_mutants(GOOD_EVENT),
)

CLAIMS = (
    claim("theorem-3", family.regret_bound, family.theorem(1.0)),
    claim("lemma-5", checks=[GOOD_EVENT]),
    claim("equation-10", shuffle.amplified, [amplification], paper=papers.FELDMAN),
)

auditor = SHEET.auditor(
    ShuffledLinear,
    pairs,
    MUTANTS,
    CLAIMS,
    **family.OF_THREE,
    exact=exact,
    worst_cost=worst_cost,
)
