"""Auditor of DP-LinUCB with Wishart noise: replaced users, a tree of noisy matrices, bounds that are ours."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.dp_lin_ucb_wishart import DPLinUCBWishart
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.mechanisms.wishart import WishartTree
from verifiable_dp.core.validate import Given
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import noise_times


class _LeavesOnly(family.LeavesOnly, WishartTree):
    pass


class _LateNoise(family.LateNoise, WishartTree):
    pass


def _enough(rule: DPLinUCBWishart, **changes: Given) -> int:
    """The least degrees of freedom for something else than what the rule promises."""
    asked = {
        "epsilon": rule.epsilon,
        "delta": rule.delta,
        "change": rule.item_norm,
        "size": rule.dimension + 1,
        "times": rule.horizon.bit_length(),
    }
    return wishart.least_freedom(**asked | changes)


PRIVACY = (
    Mutant(
        "half freedom",
        "half of the degrees of freedom that are needed",
        family.tree_of(freedom=lambda rule, tree: tree.freedom // 2),
    ),
    Mutant(
        "no depth",
        "the degrees of freedom suit an item that is in only one node",
        family.tree_of(freedom=lambda rule, tree: _enough(rule, times=1)),
    ),
    Mutant("half noise", "the noise is half of what it should be", noise_times(0.5)),
    family.NOT_CLIPPED,
    Mutant(
        "rewards for nothing",
        "the noise suits a change of the contexts alone, as if rewards could not change",
        family.tree_of(freedom=lambda rule, tree: _enough(rule, change=rule.norm**2)),
    ),
    Mutant("noise at leaves only", "inner nodes are released without noise", family.tree_of(_LeavesOnly)),
    Mutant("first user raw", "the first item is released without noise", family.tree_of(_LateNoise)),
    Mutant(
        "one draw",
        "all nodes have the same noise, which cancels between them",
        family.ONE_DRAW,
    ),
    Mutant(
        "ten deltas",
        "the noise suits ten times the delta",
        family.tree_of(freedom=lambda rule, tree: _enough(rule, delta=min(10 * rule.delta, 0.9))),
    ),
    Mutant(
        "one row",
        "there are only as many degrees of freedom as rows, so the noise has an edge that reveals the data",
        family.tree_of(freedom=lambda rule, tree: rule.dimension + 1),
    ),
)

auditor = Auditor(
    algorithm=DPLinUCBWishart,
    paper=papers.SHARIFF,
    model="joint",
    instance={"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 64, "delta": 1e-3},
    small={"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 8, "delta": 1e-3},
    pairs=family.pairs,
    mutants=(*PRIVACY, *family.SHIFT_MUTANTS, *family.regret_mutants(family.LEARNS)),
    claims=(family.DEFINITE_CLAIM, *family.claims(family.OURS, family.LEARNS)),
    # A privacy budget at which the noise does not hide everything for as few rounds as can be simulated.
    experiment={"n_arms": 5, "dimension": 2, "epsilon": 10.0, "horizon": 2000, "delta": 0.05, "alpha": 0.1},
    longest=512,
    tightness=0.99,  # degrees of freedom are whole numbers, and losses are rounded down
    worst_cost=lambda rule: rule.epsilon,
)
