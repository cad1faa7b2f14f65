"""Auditor of DP-LinUCB with Wishart noise: replaced users, a tree of noisy matrices, bounds that are ours."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.dp_lin_ucb_wishart import DPLinUCBWishart
from verifiable_dp.auditors._first_neighbours import whole_budget
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.mechanisms.wishart import WishartTree
from verifiable_dp.core.validate import Given
from verifiable_dp.registry.mutants import noise_times
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.SHARIFF)
mutant = SHEET.mutant


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
    mutant("half freedom", family.tree_of(freedom=lambda rule, tree: tree.freedom // 2)),
    mutant("no depth", family.tree_of(freedom=lambda rule, tree: _enough(rule, times=1))),
    mutant("half noise", noise_times(0.5)),
    family.NOT_CLIPPED,
    mutant(
        "noise for contexts only",
        family.tree_of(freedom=lambda rule, tree: _enough(rule, change=rule.norm**2)),
    ),
    mutant("noise only at leaves", family.tree_of(_LeavesOnly)),
    mutant("first user without noise", family.tree_of(_LateNoise)),
    mutant("one draw", family.ONE_DRAW),
    mutant(
        "ten deltas",
        family.tree_of(freedom=lambda rule, tree: _enough(rule, delta=min(10 * rule.delta, 0.9))),
    ),
    mutant("one row", family.tree_of(freedom=lambda rule, tree: rule.dimension + 1)),
)

auditor = SHEET.auditor(
    DPLinUCBWishart,
    family.pairs,
    mutants=(*PRIVACY, *family.SHIFT_MUTANTS, *family.regret_mutants(family.LEARNS)),
    claims=(family.DEFINITE_CLAIM, *family.claims(family.OURS, family.LEARNS)),
    worst_cost=whole_budget,
)
