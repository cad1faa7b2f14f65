"""Auditor of AdaC-OFUL: replaced rewards of users with public contexts, and bounds that are ours."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.adac_oful import AdaCOFUL
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.claims import Basis, RegretClaim, Source, gdp_epsilon, zcdp_epsilon
from verifiable_dp.core.validate import BoolArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import noise_by, noise_times, result
from verifiable_dp.registry.theorems import TRIALS, TheoremTrial


def rarely(trial: TheoremTrial) -> Iterator[Check]:
    """Whether a run has more releases than the claim allows; it may never."""
    rule = trial.changed(**family.SHORT)
    users, runs = family.linear_users(rule.rule.n_arms, rule.rule.dimension), trial.runs(TRIALS)
    *_, last = family.states(rule.algorithm, family.Crowd.of(users, trial.seed, runs), trial.seed)
    yield trial.probability(
        f"on {users.name}",
        last.releases > rule.rule.most_releases(rule.rule.ridge),
        float(rule.rule.alpha),
        instance=users.name,
        horizon=rule.rule.horizon,
    )


RARELY = RegretClaim(
    "releases",
    "There are at most d log2(1 + T L^2/(d lambda)) releases.",
    "d log2(1 + T L^2/(d lambda))",
    Source(family.OURS, "episodes", "det V doubles between releases", Basis.OURS),
    "probability",
    domain="every d, T and lambda",
    checks=[rarely],
)


def _of_rewards(rule: AdaCOFUL) -> BoolArray:
    """Which entries of an item a reward has a part in."""
    d = rule.dimension
    return np.arange(d * (d + 3) // 2) >= d * (d + 1) // 2


LEARNS = family.AgainstUniform(10.0)
MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    Mutant(
        "rho for two",
        "the noise has the standard deviation that suits twice the rho",
        noise_times(1 / math.sqrt(2)),
    ),
    Mutant(
        "one entry",
        "only the first entry of a sum has noise",
        noise_by(lambda rule, *at: np.where(np.cumsum(_of_rewards(rule)) <= 1, 1.0, 0.0)),
    ),
    family.NOT_CLIPPED,
    Mutant(
        "no forgetting",
        "old episodes are kept, so one reward enters several releases",
        result("kept", lambda rule, kept, sums, due: sums),
    ),
    Mutant(
        "first release raw",
        "the first episode is released without noise",
        noise_by(lambda rule, state, query: (state.releases > 0).astype(np.float64)[:, None]),
    ),
    Mutant("one draw", "all releases have the same noise, which cancels between them", family.ONE_DRAW),
    Mutant(
        "an episode of two rounds",
        "the sum so far is released in every other round, whatever det V is",
        result("ends", lambda rule, ends, state, log_det: np.ones_like(ends)),
        caught_by=rarely,
    ),
    *family.regret_mutants(LEARNS),
)

auditor = Auditor(
    algorithm=AdaCOFUL,
    paper=papers.AZIZE_ZCDP,
    model="central",
    # A ridge with which episodes end within so few rounds.
    instance={"n_arms": 2, "dimension": 2, "rho": 0.1, "horizon": 64, "delta": 1e-3, "ridge": 1.0},
    small={"n_arms": 2, "dimension": 2, "rho": 0.1, "horizon": 8, "delta": 1e-3, "ridge": 1.0},
    pairs=family.reward_pairs,
    mutants=MUTANTS,
    claims=(RARELY, *family.claims(family.OURS, LEARNS)),
    experiment={"n_arms": 5, "dimension": 2, "rho": 1.0, "horizon": 2000, "alpha": 0.1},
    longest=512,
    tightness=gdp_epsilon(math.sqrt(0.2), 1e-3) / zcdp_epsilon(0.1, 1e-3),
    worst_cost=lambda rule: gdp_epsilon(rule.mechanism.mu, rule.delta),  # a reward enters one release
)
