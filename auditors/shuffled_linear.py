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
from verifiable_dp.core.claims import PrivacyClaim, RegretClaim, Source
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import BoolArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.auditor import Auditor, Mutant, Printed
from verifiable_dp.registry.mutants import given, rebuilt, result
from verifiable_dp.registry.theorems import TheoremTrial

EXPERIMENT = {"actions": family.CIRCLE, "epsilon": 1.0, "horizon": 1_000_000}


def amplification(trial: TheoremTrial) -> Iterator[Check]:
    """Delta of n shuffled reports at f(eps0), at most, over the delta claimed: the bound by clones.

    The largest over eps0 in the domain, for each n; exact numbers, no runs.
    """
    delta, worst = 1e-6, []
    for n in (500, 1000, 5000, 20_000):
        shares = shuffle.domain(n, delta) * np.array([0.25, 0.5, 0.75, 1.0])
        found = [shuffle.clones_delta(n, x, shuffle.amplified(x, n, delta)) for x in shares.tolist()]
        worst.append(max(found) / delta)
    yield mean_bound(
        "equation-10 within its domain",
        worst,
        bound=1.0,
        largest=1 / delta,
        claim="equation-10",
        instance="n = 500 to 20000, delta = 1e-6",
        horizon=0,
    )


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


def exact(algorithm: ShuffledLinear, claim: PrivacyClaim) -> list[Check]:
    """Bounds on delta of each batch."""
    return [exact_shuffle.check(batch, claim, algorithm.bounds) for batch in batches(algorithm)]


# ---------------------------------------------------------------- mutants


class Late(ShuffledLinear):
    """Clients report exact rewards, and the server adds Lap(2/epsilon) to the sums."""

    release = PhasedElimination.release


GOOD_EVENT = family.GoodEvent("Lemma 5")
MUTANTS = (
    HALF_NOISE,
    Mutant(
        "as printed",
        "Lap(1/epsilon0), though a reward can change by up to 2, and eq. 10 outside its domain",
        given(variant="printed"),
    ),
    NO_NOISE,
    Mutant(
        "domain unchecked",
        "eq. 10 is inverted outside its domain",
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
        "reports are passed on in the order of the clients, so nothing is amplified",
        result("crowd", lambda rule, crowd, counts: np.ones(len(counts), np.int64)),
    ),
    Mutant(
        "noise at the server",
        "clients report exact rewards; only the sums get noise",
        rebuilt(Late),
    ),
    *family.removal_mutants(GOOD_EVENT),
)

CLAIMS = (
    RegretClaim(
        "theorem-3",
        "With probability 1 - 1/T, the regret is at most C (sqrt(T log T) + sqrt(log(1/delta)) log^1.5 "
        "T/epsilon).",
        "sum_i n_i max {Delta_a <= 4 gamma_(i-1)} + rest max {Delta_a <= 2 gamma} + max Delta, "
        "n_i <= q^i + |C|, |C| <= min(K, 4 d log log d + 16), gamma_i with eps0 of batch i",
        Source(
            papers.HANNA,
            "Theorem 3, corrected",
            "printed as a rate; the numbers are those of the proof of Theorem 1, with our gamma",
        ),
        "mean",
        family.regret_bound,
        "the rate holds only for epsilon = O(sqrt(log(1/delta)/T)), where its private term is at least log "
        "T times sqrt(T log T); the numbers hold for every epsilon, a finite set of actions, T at least 8",
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
            "with the batch's eps0, and a width that does not need Lemma 4; checked at beta = .1, T = 1e5",
        ),
        "probability",
        domain="a finite set of actions",
        checks=[GOOD_EVENT],
    ),
    RegretClaim(
        "equation-10",
        "n shuffled reports that are eps0-LDP are (f_(n,delta)(eps0), delta)-DP.",
        "f = log(1 + (e^eps0 - 1)/(e^eps0 + 1) (8 sqrt(e^eps0 log(4/delta))/sqrt(n) + 8 e^eps0/n))",
        Source(
            papers.FELDMAN,
            "Theorem III.1",
            "printed by Hanna et al. without its domain; a privacy statement, checked by exact bounds on "
            "delta: for each n, the largest bound at f(eps0) divided by the claimed delta",
        ),
        "probability",
        shuffle.amplified,
        "eps0 <= log(n/(16 log(2/delta)))",
        [amplification],
    ),
)

auditor = Auditor(
    algorithm=ShuffledLinear,
    paper=papers.HANNA,
    model="shuffle",
    # At epsilon = 4 the formula is used outside its domain in every batch as printed, and the last batch that
    # fits is large enough for the corrected one to gain by shuffling.
    instance={
        "actions": ((1.0, 0.0), (0.0, 1.0), (0.6, 0.6)),
        "epsilon": 4.0,
        "horizon": 60_000,
        "beta": 0.5,
        "delta": 1e-6,
    },
    small={"actions": family.AXES, "epsilon": 20.0, "horizon": 400, "beta": 0.9},
    pairs=pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment=EXPERIMENT,
    printed=Printed("refuted"),
    exact=exact,
    # Of one report, before it is shuffled.
    worst_cost=lambda algorithm: exact_shuffle.local_epsilon(exact(algorithm, algorithm.claim)),
)
