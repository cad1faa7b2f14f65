"""Auditor of tree sums: the mechanism under DP-UCB, by itself."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.tree_sum import TreeSum
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, first_item
from verifiable_dp.core.claims import RegretClaim, Source
from verifiable_dp.core.neighbours import StreamPair
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import Make, mixed, noise_times
from verifiable_dp.registry.wrapped import with_parameters


def error_bound(horizon: int, epsilon: float, gamma: float) -> float:
    """Largest error of any prefix sum, with probability 1 - gamma, in units of one item.

    b max(sqrt(L), sqrt(l)) sqrt(8 l) with L = floor(log2 T) + 1 levels, b = L/epsilon, l = log(2T/gamma):
    at most L Laplace variables make up a prefix sum, and their sum exceeds lambda with probability at most
    2 exp(-lambda^2/(8 nu^2)) for nu >= b sqrt(L) and lambda <= sqrt(8) nu^2/b.
    """
    levels, log = horizon.bit_length(), math.log(2 * horizon / gamma)
    return levels / epsilon * math.sqrt(max(levels, log)) * math.sqrt(8 * log)


def pairs(algorithm: TreeSum) -> list[StreamPair]:
    """The first item, 0 against 1: it enters the most nodes."""
    n = algorithm.horizon
    return [first_item(np.full(n, value)) for value in (0.5, 0.0, 1.0)]


def _budget(name: str) -> Make:
    return noise_times(
        lambda rule: with_parameters(rule, budget=name).mechanism.divisor / rule.mechanism.levels
    )


ERROR = family.TreeError(lambda rule, gamma: error_bound(rule.horizon, rule.epsilon, gamma))
MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    Mutant("budget log T", "a node gets epsilon / log T (natural), as printed by Tao et al.", _budget("log")),
    Mutant(
        "budget log2 T",
        "a node gets epsilon / log2 T: one level too few where T is a power of 2",
        _budget("log2"),
    ),
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
    Mutant(
        "tenfold noise",
        "the noise is ten times what privacy needs",
        noise_times(10.0),
        caught_by=ERROR,
    ),
)

CLAIMS = (
    RegretClaim(
        "error",
        "With probability 1 - gamma, no prefix sum is off by more than the formula, O(log^2 T/epsilon).",
        "L/epsilon max(sqrt(L), sqrt(l)) sqrt(8 l), L = floor(log2 T) + 1, l = log(2T/gamma)",
        Source(
            papers.CHAN,
            "binary mechanism, utility",
            "derived: tail of a sum of Laplace variables, union over T",
        ),
        "probability",
        error_bound,
        checks=[ERROR],
        about="utility",
    ),
)

auditor = Auditor(
    algorithm=TreeSum,
    paper=papers.CHAN,
    model="central",
    instance={"epsilon": 1.0, "horizon": 8},
    small={"epsilon": 1.0, "horizon": 8},
    pairs=pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"epsilon": 1.0, "horizon": 1024},
    longest=1023,
    worst_cost=lambda algorithm: algorithm.mechanism.cost(1),
)
