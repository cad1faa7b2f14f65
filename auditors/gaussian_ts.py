"""Auditor of Thompson sampling from normal posteriors: the first reward of an arm that is left alone."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.gaussian_ts import GaussianTS
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors import _sampling as sampling
from verifiable_dp.auditors._first_neighbours import c1_to_c4
from verifiable_dp.auditors._index import first_rewards
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import gdp_epsilon
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.registry.mutants import noise_by, noise_times, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import CorrectOnly, MeanBound

SHEET = Sheet(__file__, papers.OU)
claim, mutant = SHEET.claim, SHEET.mutant

LEVEL = 4.0  # ours


def regret_bound(gaps: FloatArray, rule: GaussianTS) -> float:
    """Sum over arms of b Delta_a + 4 c log T/Delta_a."""
    bad = gaps[gaps > 0]
    return float(np.sum(rule.first * bad + LEVEL * rule.variance * math.log(rule.horizon) / bad))


def pairs(rule: GaussianTS) -> list[TablePair]:
    """The first reward of arm 0; where all else favours the other arms, it is never pulled again."""
    found = first_rewards(rule)
    return [found[4], found[0], found[2], found[1], *found[3:4], *found[5:]]


def _over_rounds(rule: GaussianTS, state: Own, query: Query) -> FloatArray:
    """A deviation that falls with the rounds, over that which falls with the arm's pulls."""
    pulls, rounds = state.pulls + query.pulls(), (state.t + query.rounds)[:, None]
    return np.asarray(np.sqrt((pulls + 1) / (rounds + 1)))


def _never_falls(rule: GaussianTS, deviation: FloatArray, pulls: IntArray) -> FloatArray:
    """That of an arm without rewards."""
    return np.full_like(deviation, math.sqrt(rule.variance))


EARLY, LATE = (bernoulli([0.1, 0.9], f"two arms, gap .8, T = {t}") for t in (100, 10_000))
ON_TWO = MeanBound([family.TWO], {"n_arms": 2, "horizon": 2000})
CLAIMS = (
    claim(
        "regret",
        regret_bound,
        [
            ON_TWO,
            CorrectOnly(MeanBound([EARLY], {"n_arms": 2, "horizon": 100})),
            CorrectOnly(MeanBound([LATE], {"n_arms": 2, "horizon": 10_000})),
            CorrectOnly(MeanBound(c1_to_c4)),
        ],
    ),
)

MUTANTS = (
    *family.NOISE_MUTANTS,
    mutant("half variance", noise_times(1 / math.sqrt(2))),
    mutant("variance falls in every round", noise_by(_over_rounds)),
    mutant(
        "variance as standard deviation", result("deviation", lambda rule, deviation, pulls: deviation**2)
    ),
    mutant("sums instead of means", result("mean", lambda rule, mean, sums, pulls: sums)),
    *family.order_mutants(ON_TWO),
    mutant("variance never falls", result("deviation", _never_falls), ON_TWO),
)

auditor = SHEET.auditor(
    GaussianTS,
    pairs,
    MUTANTS,
    CLAIMS,
    worst_cost=lambda rule: gdp_epsilon(
        sampling.worst_mu(rule.n_arms, rule.horizon, rule.variance, rule.first), rule.delta
    ),
)
