"""Auditor of phased elimination without privacy: it is caught leaking, and held to its regret."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import first_round
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import decided_by, result
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.LATTIMORE)
claim, mutant = SHEET.claim, SHEET.mutant


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
    mutant("sparse", result("size", lambda rule, size, batch: size / 100), GOOD_EVENT),
    mutant("turned", result("estimates", lambda rule, value, *at: -value), family.MEANS),
    mutant("partial", decided_by(_partial), family.MEANS),
)

CLAIMS = (claim("regret", family.regret_bound, [family.MEANS]), claim("good-event", checks=[GOOD_EVENT]))

auditor = SHEET.auditor(
    LinearElimination,
    pairs,
    MUTANTS,
    CLAIMS,
    **family.PLAYED,
)
