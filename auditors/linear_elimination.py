"""Auditor of phased elimination without privacy: it is caught leaking, and held to its regret."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import first_round
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import decided_by, result


def pairs(algorithm: LinearElimination) -> list[TablePair]:
    """The first phase's gap of two sums lies next to the limit: its first reward decides who leaves."""
    counts = algorithm.plan(1, np.ones(algorithm.n_arms, bool)).counts
    first, other = np.flatnonzero(counts)[:2].tolist()
    n = int(counts[first])
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    table[:, first] = n / 2 / max(n - 1, 1)
    table[:, other] = -0.5
    table = np.clip(table, -1, 1)
    table[0, first] = -1.0
    near = TablePair(table, 0, first, 1.0, algorithm.bounds)
    return [near, first_round(np.zeros(table.shape), algorithm.bounds)]


def _partial(state: Own, query: Query, released: FloatArray) -> FloatArray:
    """Without the last action that was pulled."""
    last = query.active.shape[1] - 1 - query.active[:, ::-1].argmax(axis=1)
    return np.where(np.arange(query.active.shape[1]) == last[:, None], 0.0, released)


GOOD_EVENT = family.GoodEvent("ch. 22")
MUTANTS = (
    *family.removal_mutants(GOOD_EVENT),
    Mutant(
        "sparse",
        "a phase has a hundredth of the pulls that it should have",
        result("size", lambda rule, size, batch: size / 100),
        caught_by=GOOD_EVENT,
    ),
    Mutant(
        "turned",
        "estimates have the wrong sign",
        result("estimates", lambda rule, value, *at: -value),
        caught_by=family.MEANS,
    ),
    Mutant(
        "partial",
        "the rewards of the last action of the core set are lost",
        decided_by(_partial),
        caught_by=family.MEANS,
    ),
)

CLAIMS = (
    RegretClaim(
        "regret",
        "With beta = 1/T, the expected regret is O(sqrt(T d log(K T))).",
        "sum_l n_l max {Delta_a <= 4 2^-(l-1)} + max Delta",
        Source(
            papers.LATTIMORE,
            "chapter 22",
            "the numbers are derived here for a design that is optimal up to a factor 2",
        ),
        "mean",
        family.regret_bound,
        "a finite set of actions, rewards in [-1, 1]",
        [family.MEANS],
    ),
    RegretClaim(
        "good-event",
        "With probability 1 - beta, the best action stays, and actions that stay after phase l have gaps "
        "of at most 4 2^-l.",
        "P[best action removed, or an action with a gap above 4 2^-l kept] <= beta",
        Source(papers.LATTIMORE, "chapter 22", "derived: sub-Gaussian tails, union over actions and phases"),
        "probability",
        domain="a finite set of actions, rewards in [-1, 1]",
        checks=[GOOD_EVENT],
    ),
)

auditor = Auditor(
    algorithm=LinearElimination,
    paper=papers.LATTIMORE,
    model="none",
    instance={"actions": family.AXES, "horizon": 600, "beta": 0.5},
    small={"actions": family.AXES, "horizon": 200, "beta": 0.9},
    pairs=pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    reference_epsilon=1.0,
    experiment={"actions": family.CIRCLE, "horizon": 1_000_000},
)
