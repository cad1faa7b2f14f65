"""Auditor of phased elimination without privacy: it is caught leaking, and held to its regret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import Plan
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditing.wrapped import original, with_parameters
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._shared import first_round, regret_mutant
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """Mean regret for several theta, and the good event at beta = .1 and T = 1e5."""
    correct = LinearElimination(**original(algorithm).parameters)
    short = {"horizon": 100_000, "beta": family.BETA}
    yield from family.mean_regret(
        algorithm, correct, "regret", family.THETAS[budget], budget=budget, seed=seed, workers=workers
    )
    yield from family.good_event(
        with_parameters(algorithm, **short),
        with_parameters(correct, **short),
        "good-event",
        budget=budget,
        seed=seed,
        source="ch. 22",
    )


def pairs(algorithm: Any) -> list[TablePair]:
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


class Hasty(family.Hasty, LinearElimination):
    """See the family."""


class Timid(family.Timid, LinearElimination):
    """See the family."""


class Inverted(family.Inverted, LinearElimination):
    """See the family."""


class Unweighted(family.Unweighted, LinearElimination):
    """See the family."""


class Sparse(LinearElimination):
    """Pulls a hundredth of what the width needs."""

    def size(self, batch: int) -> float:
        """A hundredth of the pulls of a phase."""
        return super().size(batch) / 100


class Turned(LinearElimination):
    """Takes losses for rewards."""

    def estimates(self, done: Plan, sums: FloatArray) -> FloatArray:
        """Estimates with the wrong sign."""
        return -super().estimates(done, sums)


class Partial(LinearElimination):
    """Regresses without the last action of the core set."""

    def estimates(self, done: Plan, sums: FloatArray) -> FloatArray:
        """Its rewards are lost."""
        kept = sums.copy()
        kept[:, done.core[-1]] = 0.0
        return super().estimates(done, kept)


_MUTANTS = (
    *family.removal_mutants(Hasty, Timid, Inverted, Unweighted, "good-event"),
    regret_mutant("sparse", "a phase has a hundredth of its pulls", Sparse, "good-event on near ties"),
    regret_mutant("turned", "estimates have the wrong sign", Turned, "regret on sphere, theta 1"),
    regret_mutant(
        "partial",
        "the rewards of the last action of the core set are lost",
        Partial,
        "regret on sphere, theta 1",
    ),
)

CLAIMS = (
    RegretClaim(
        "regret",
        "With beta = 1/T the expected regret is O(sqrt(T d log(K T))).",
        "sum_l n_l max {Delta_a <= 4 2^-(l-1)} + max Delta",
        Source(
            papers.LATTIMORE,
            "chapter 22",
            "the numbers are derived here for a design that is optimal up to a factor 2",
        ),
        "mean",
        family.regret_bound,
        "a finite set of actions, rewards in [-1, 1]",
    ),
    RegretClaim(
        "good-event",
        "With probability 1 - beta the best action stays, and what stays after phase l has a gap of at most "
        "4 2^-l.",
        "P[best action removed, or an action with a gap above 4 2^-l kept] <= beta",
        Source(papers.LATTIMORE, "chapter 22", "derived: sub-Gaussian tails, union over actions and phases"),
        "probability",
        domain="a finite set of actions, rewards in [-1, 1]",
    ),
)

auditor = Auditor(
    algorithm=LinearElimination,
    paper=papers.LATTIMORE,
    model="none",
    instance={"actions": family.AXES, "horizon": 600, "beta": 0.5},
    small={"actions": family.AXES, "horizon": 200, "beta": 0.9},
    pairs=pairs,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    reference_epsilon=1.0,
    experiment={"actions": family.CIRCLE, "horizon": 1_000_000},
)
