"""Auditor of locally private LinUCB: replaced users, and what their reports' noise comes to in the sums."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.ldp_lin_ucb import LDPLinUCB
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.claims import gdp_mu
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import Make, noise_by, noise_times, result


def _scaled(factor: Callable[[LDPLinUCB], float]) -> Make:
    return result("scale", lambda rule, scale: scale * factor(rule))


MUTANTS = (
    Mutant("half noise", "every standard deviation is half of what it should be", noise_times(0.5)),
    family.NOT_CLIPPED,
    Mutant(
        "one user removed",
        "the noise suits the removal of an item, not its replacement by another",
        _scaled(lambda rule: 1 / math.sqrt(2)),
    ),
    Mutant(
        "rewards for nothing",
        "the noise suits a change of the contexts alone, as if rewards could not change",
        _scaled(lambda rule: rule.norm**2 / rule.item_norm),
    ),
    Mutant(
        "raw Gram matrix",
        "only r x has noise",
        noise_by(lambda rule, *at: np.triu_indices(rule.dimension + 1)[1] == rule.dimension),
    ),
    Mutant(
        "first user raw",
        "the first report has no noise",
        noise_by(lambda rule, state, query: state.t[:, None] > 0),
    ),
    Mutant(
        "one draw",
        "all reports have the same noise, which cancels between them",
        family.ONE_DRAW,
    ),
    Mutant(
        "ten deltas",
        "the noise suits ten times the delta",
        _scaled(
            lambda rule: gdp_mu(rule.epsilon, rule.delta) / gdp_mu(rule.epsilon, min(10 * rule.delta, 0.9))
        ),
    ),
    Mutant(
        "epsilon for mu",
        "epsilon is used in place of mu",
        _scaled(lambda rule: gdp_mu(rule.epsilon, rule.delta) / rule.epsilon),
    ),
    *family.SHIFT_MUTANTS,
    *family.regret_mutants(family.LEARNS),
)

auditor = Auditor(
    algorithm=LDPLinUCB,
    paper=papers.ZHENG,
    model="local",
    instance={"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 64, "delta": 1e-3},
    small={"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 8, "delta": 1e-3},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=(family.DEFINITE_CLAIM, *family.claims(family.OURS, family.LEARNS)),
    # A privacy budget at which the noise does not hide everything for as few rounds as can be simulated.
    experiment={"n_arms": 5, "dimension": 2, "epsilon": 50.0, "horizon": 2000, "delta": 0.05, "alpha": 0.1},
    longest=512,
    worst_cost=lambda rule: rule.epsilon,
)
