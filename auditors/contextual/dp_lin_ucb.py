"""Auditor of DP-LinUCB: replaced users, a tree of noisy matrices, and bounds that are ours."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.dp_lin_ucb import DPLinUCB
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.claims import gdp_mu
from verifiable_dp.core.mechanisms.tree import NormalTree
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import noise_times

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
    Mutant("half noise", "every standard deviation is half of what it should be", noise_times(0.5)),
    Mutant(
        "no depth",
        "each node gets the noise of the whole run, as if an item were in one node only",
        family.tree_of(mu=lambda rule, tree: tree.mu * math.sqrt(tree.levels)),
    ),
    family.NOT_CLIPPED,
    Mutant(
        "one user removed",
        "the noise suits the removal of an item, not its replacement by another",
        family.tree_of(sensitivity=lambda rule, tree: tree.sensitivity / math.sqrt(2)),
    ),
    Mutant(
        "rewards for nothing",
        "the noise suits a change of the contexts alone, as if rewards could not change",
        family.tree_of(sensitivity=lambda rule, tree: math.sqrt(2) * rule.norm**2),
    ),
    Mutant("noise at leaves only", "inner nodes are released without noise", family.tree_of(_LeavesOnly)),
    Mutant(
        "raw Gram matrix", "only the sum of rewards times contexts has noise", family.tree_of(_RewardsOnly)
    ),
    Mutant("first user raw", "the first item is released without noise", family.tree_of(_LateNoise)),
    Mutant(
        "one draw",
        "all nodes have the same noise, which cancels between them",
        family.ONE_DRAW,
    ),
    Mutant(
        "ten deltas",
        "the noise suits ten times the delta",
        family.tree_of(mu=lambda rule, tree: gdp_mu(rule.epsilon, min(10 * rule.delta, 0.9))),
    ),
    Mutant(
        "epsilon for mu", "epsilon is used in place of mu", family.tree_of(mu=lambda rule, tree: rule.epsilon)
    ),
)

MUTANTS = (
    *PRIVACY,
    *family.SHIFT_MUTANTS,
    *family.regret_mutants(family.LEARNS),
)


auditor = Auditor(
    algorithm=DPLinUCB,
    paper=papers.SHARIFF,
    model="joint",
    instance={"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 64, "delta": 1e-3},
    small={"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 8, "delta": 1e-3},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=(family.DEFINITE_CLAIM, *family.claims(family.OURS, family.LEARNS)),
    # A privacy budget at which the noise does not hide everything for as few rounds as can be simulated.
    experiment={
        "n_arms": 5,
        "dimension": 2,
        "epsilon": 10.0,
        "horizon": 2000,
        "delta": 0.05,
        "alpha": 0.1,
    },
    longest=512,
    worst_cost=lambda rule: rule.epsilon,
)
