"""Auditor of adaptive tree sums: the mechanism under DP Robust UCB, by itself."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adaptive_tree import AdaptiveTreeSum
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.tree_sum import error_bound
from verifiable_dp.core.algorithm import Query, State
from verifiable_dp.core.neighbours import StreamPair
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry import mutants
from verifiable_dp.registry.mutants import mixed, noise_by, noise_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.wrapped import original

SHEET = Sheet(__file__, papers.TAO)
claim, mutant = SHEET.claim, SHEET.mutant

INSTANCE = SHEET.row("auditor")["instance"]


def error_limit(rule: AdaptiveTreeSum, gamma: float) -> float:
    """Largest error of any prefix sum, with probability 1 - gamma: that of a tree with bound 2 B_T."""
    return 2 * float(rule.mechanism.limit(rule.horizon)) * error_bound(rule.horizon, rule.epsilon, gamma)


def moved(algorithm: AdaptiveTreeSum, item: int, times: float = 1.0) -> StreamPair:
    """Item number `item` moves from -B to B, or from that multiple of it."""
    limit = times * float(algorithm.mechanism.limit(item))
    stream = np.zeros(algorithm.horizon)
    stream[item - 1] = -limit
    return StreamPair(stream, item - 1, limit, 1, (-limit, limit))


def pairs(algorithm: AdaptiveTreeSum) -> list[StreamPair]:
    """The costliest item, the first one, and one far outside the truncation, which must cost nothing."""
    worst = original(algorithm).mechanism.worst()
    return [moved(algorithm, worst), moved(algorithm, 1), moved(algorithm, 1, 20.0)]


def _of_the_first(rule: AdaptiveTreeSum, state: State, query: Query) -> FloatArray:
    limit = rule.mechanism.limit
    return np.asarray(limit(1.0) / limit(state.t + 1.0))[:, None]


ERROR = family.TreeError(error_limit)
MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    mutant("budget log T", family.PRINTED_NOISE),
    mutant("one draw for all nodes", family.SAME_NODE),
    mutant("re-drawn", mixed(family.RedrawnSum)),
    mutant("no truncation", mutants.Untruncated),
    mutant("noise for the first item", noise_by(_of_the_first)),
    mutant("tenfold noise", noise_times(10.0), ERROR),
)

CLAIMS = (claim("lemma-2", error_limit, [ERROR]),)

auditor = SHEET.auditor(
    AdaptiveTreeSum,
    pairs,
    MUTANTS,
    CLAIMS,
    tightness=max(AdaptiveTreeSum(**INSTANCE).mechanism.cost(item) for item in range(1, 65)),
    worst_cost=lambda algorithm: algorithm.mechanism.cost(algorithm.mechanism.worst()),
)
