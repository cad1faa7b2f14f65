"""Auditor of adaptive tree sums: the mechanism under DP Robust UCB, by itself."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adaptive_tree import AdaptiveTreeSum
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.tree_sum import error_bound
from verifiable_dp.core.algorithm import Query, State
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.neighbours import StreamPair
from verifiable_dp.core.validate import FloatArray, JsonDict
from verifiable_dp.registry import mutants
from verifiable_dp.registry.auditor import Auditor, Mutant, Printed
from verifiable_dp.registry.mutants import mixed, noise_by, noise_times
from verifiable_dp.registry.wrapped import original

INSTANCE: JsonDict = {"epsilon": 1.0, "horizon": 64, "v": 1.0, "u": 1.0}


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
    Mutant("budget log T", "a node gets epsilon / log T (natural), as printed", family.PRINTED_NOISE),
    Mutant(
        "one draw for all nodes",
        "every node gets the same noise, so differences of nodes are exact",
        family.SAME_NODE,
    ),
    Mutant(
        "re-drawn",
        "the whole prefix sum is released each time, with noise for one node",
        mixed(family.RedrawnSum),
    ),
    Mutant("no truncation", "items are inserted without truncation", mutants.Untruncated, bounding=True),
    Mutant(
        "noise of the first item",
        "later items, which may be larger, get the noise that fits the first one",
        noise_by(_of_the_first),
    ),
    Mutant(
        "tenfold noise",
        "the noise is ten times what privacy needs",
        noise_times(10.0),
        caught_by=ERROR,
    ),
)

CLAIMS = (
    RegretClaim(
        "lemma-2",
        "With probability 1 - gamma, no prefix sum is off by more than the formula.",
        "2 B_T L/epsilon max(sqrt(L), sqrt(l)) sqrt(8 l), L = floor(log2 T) + 1, l = log(2T/gamma)",
        Source(
            papers.TAO,
            "Lemma 2 (3)",
            "derived for all t at once. Printed for one t: 2 B_t log^1.5 T log(1/delta)/epsilon, which at "
            "delta = .1 and t = T - 1 is exceeded with probability .17 for items in one range and T = 2^10",
        ),
        "probability",
        error_limit,
        checks=[ERROR],
        about="utility",
    ),
)

auditor = Auditor(
    algorithm=AdaptiveTreeSum,
    paper=papers.TAO,
    model="central",
    instance=INSTANCE,
    small={**INSTANCE, "horizon": 16},
    pairs=pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"epsilon": 1.0, "horizon": 1024, "v": 0.5, "u": 1.0},
    longest=1023,
    tightness=max(AdaptiveTreeSum(**INSTANCE).mechanism.cost(item) for item in range(1, 65)),
    printed=Printed("refuted"),
    worst_cost=lambda algorithm: algorithm.mechanism.cost(algorithm.mechanism.worst()),
)
