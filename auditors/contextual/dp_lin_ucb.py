"""Auditor of DP-LinUCB: replaced users, a tree of noisy matrices, and bounds that are ours."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.dp_lin_ucb import DPLinUCB
from verifiable_dp.auditors._first_neighbours import whole_budget
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.claims import gdp_mu
from verifiable_dp.core.mechanisms.tree import NormalTree
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.registry.mutants import noise_times
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.SHARIFF)
mutant = SHEET.mutant

# ---------------------------------------------------------------- mutants


class _LeavesOnly(family.LeavesOnly, NormalTree):
    pass


class _LateNoise(family.LateNoise, NormalTree):
    pass


class _RewardsOnly(NormalTree):
    """The Gram matrix is released as it is: noise is in the column of rewards alone."""

    def scales(self, number: IntArray) -> FloatArray:
        size = int((math.sqrt(8 * number.shape[1] + 1) - 1) / 2)
        return np.asarray(super().scales(number) * (np.triu_indices(size)[1] == size - 1))


PRIVACY = (
    mutant("half noise", noise_times(0.5)),
    mutant("no depth", family.tree_of(mu=lambda rule, tree: tree.mu * math.sqrt(tree.levels))),
    family.NOT_CLIPPED,
    mutant(
        "noise for removal only",
        family.tree_of(sensitivity=lambda rule, tree: tree.sensitivity / math.sqrt(2)),
    ),
    mutant(
        "noise for contexts only", family.tree_of(sensitivity=lambda rule, tree: math.sqrt(2) * rule.norm**2)
    ),
    mutant("noise only at leaves", family.tree_of(_LeavesOnly)),
    mutant("Gram matrix without noise", family.tree_of(_RewardsOnly)),
    mutant("first user without noise", family.tree_of(_LateNoise)),
    mutant("one draw", family.ONE_DRAW),
    mutant(
        "ten deltas", family.tree_of(mu=lambda rule, tree: gdp_mu(rule.epsilon, min(10 * rule.delta, 0.9)))
    ),
    mutant("epsilon instead of mu", family.tree_of(mu=lambda rule, tree: rule.epsilon)),
)

MUTANTS = (*PRIVACY, *family.SHIFT_MUTANTS, *family.regret_mutants(family.LEARNS))


auditor = SHEET.auditor(
    DPLinUCB,
    family.pairs,
    MUTANTS,
    claims=(family.DEFINITE_CLAIM, *family.claims(family.OURS, family.LEARNS)),
    worst_cost=whole_budget,
)
