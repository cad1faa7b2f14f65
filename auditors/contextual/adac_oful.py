"""Auditor of AdaC-OFUL: replaced rewards of users with public contexts, and bounds that are ours."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.adac_oful import AdaCOFUL
from verifiable_dp.auditors._first_neighbours import FROM_RHO, HALF_NOISE, NO_NOISE, RHO_FOR_TWO
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.populations import Linear
from verifiable_dp.core.validate import BoolArray, FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.mutants import noise_by, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import RUNS, TRIALS, CorrectOnly, TheoremTrial

SHEET = Sheet(__file__, papers.AZIZE_ZCDP)
mutant = SHEET.mutant


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


def regret_bound(rule: AdaCOFUL) -> float:
    """The formula of `REGRET` with the largest m and r, or T."""
    t, d, ridge = rule.horizon, rule.dimension, rule.shift
    share, m = t * rule.norm**2 / d, rule.most_releases(ridge)
    radius = float(rule.ellipsoid(np.array(d * math.log(ridge + share)))) + rule.moved(m) / math.sqrt(ridge)
    steady = 2 * math.sqrt(2) * radius * math.sqrt(t * d * math.log2(1 + share / ridge))
    return min(m + steady + float(rule.alpha or 0) * t, t)


class Axes(Linear):
    """Users whose arms have the unit vectors as contexts, so that nothing is learnt of one from another."""

    def contexts(self, rng: np.random.Generator, horizon: int) -> FloatArray:
        """The same of every user."""
        return np.tile(np.eye(self.n_arms), (horizon, 1, 1))


def bounded(trial: TheoremTrial) -> Iterator[Check]:
    """Mean regret against the bound: uniform play is above it on the first users only."""
    close = Axes((0.52, 0.48), 2, "positive", (0.0, 1.0), "two unit vectors, gap .04")
    for users in (family.linear_users(trial.rule.n_arms, 2), close):
        tried = trial.changed(
            n_arms=users.n_arms, dimension=2, rho=1e4, horizon=25_000, alpha=0.01, ridge=None
        )
        yield mean_bound(
            f"{trial.claim.name} on {users.name}",
            family.regret(tried.algorithm, users, trial.runs(RUNS), trial.seed),
            bound=regret_bound(tried.rule),
            largest=float(tried.rule.horizon),
            claim=trial.claim.name,
            instance=f"{users.name}, rho = {tried.rule.rho:g}",
            horizon=tried.rule.horizon,
        )


def _of_rewards(rule: AdaCOFUL) -> BoolArray:
    """Which entries of an item a reward has a part in."""
    d = rule.dimension
    return np.arange(d * (d + 3) // 2) >= d * (d + 1) // 2


LEARNS = family.AgainstUniform(10.0)
CLAIMS = (
    SHEET.claim("regret", checks=[CorrectOnly(bounded)], paper=family.OURS),
    SHEET.claim("releases", checks=[rarely], paper=family.OURS),
    *family.claims(family.OURS, LEARNS),
)
MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    RHO_FOR_TWO,
    mutant("one entry", noise_by(lambda rule, *at: np.where(np.cumsum(_of_rewards(rule)) <= 1, 1.0, 0.0))),
    family.NOT_CLIPPED,
    mutant("no forgetting", result("kept", lambda rule, kept, sums, due: sums)),
    mutant(
        "first release without noise",
        noise_by(lambda rule, state, query: (state.releases > 0).astype(np.float64)[:, None]),
    ),
    mutant("one draw", family.ONE_DRAW),
    mutant(
        "an episode of two rounds",
        result("ends", lambda rule, ends, state, log_det: np.ones_like(ends)),
        rarely,
    ),
    *family.regret_mutants(LEARNS),
)

auditor = SHEET.auditor(AdaCOFUL, family.reward_pairs, MUTANTS, CLAIMS, **FROM_RHO)
