"""Auditor of tree sums: the mechanism under DP-UCB, by itself."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.tree_sum import TreeSum
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, first_item
from verifiable_dp.core.neighbours import StreamPair
from verifiable_dp.registry.mutants import Make, mixed, noise_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.wrapped import with_parameters

SHEET = Sheet(__file__, papers.CHAN)
claim, mutant = SHEET.claim, SHEET.mutant


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
    mutant("budget log T", _budget("log")),
    mutant("budget log2 T", _budget("log2")),
    mutant("one draw for all nodes", family.SAME_NODE),
    mutant("re-drawn", mixed(family.RedrawnSum)),
    mutant("tenfold noise", noise_times(10.0), ERROR),
)

CLAIMS = (claim("error", error_bound, [ERROR]),)

auditor = SHEET.auditor(
    TreeSum, pairs, MUTANTS, CLAIMS, worst_cost=lambda algorithm: algorithm.mechanism.cost(1)
)
