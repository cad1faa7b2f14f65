"""Auditor of LinUCB: it is caught leaking, and held to Theorems 2 and 3 of Abbasi-Yadkori et al."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.linucb import LinUCB
from verifiable_dp.auditors import _linear as family
from verifiable_dp.core.algorithm import Query, play
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.mutants import decided_by, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, MeanBound, TheoremTrial
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.ABBASI)
claim, mutant = SHEET.claim, SHEET.mutant


def regret_bound(gaps: FloatArray, rule: LinUCB) -> float:
    """rho sqrt(8 T d l), rho = sqrt(2 log(1/beta) + d l) + sqrt(lambda), l = log(1 + T/(lambda d)).

    With probability beta T times the largest gap, so that it bounds the expectation.
    """
    horizon, d, beta = rule.horizon, rule.dimension, float(rule.beta or 1 / rule.horizon)
    log = math.log1p(horizon / (rule.ridge * d))
    rho = math.sqrt(2 * math.log(1 / beta) + d * log) + math.sqrt(rule.ridge)
    return rho * math.sqrt(8 * horizon * d * log) + beta * horizon * float(gaps.max())


def means(trial: TheoremTrial) -> Iterator[Check]:
    """Theorem 3 for several theta; of a mutant, which has no compiled loop, at T = 3000."""
    return MeanBound(family.thetas, {"horizon": 3000, "beta": None} if trial.mutant else {})(trial)


def outside(algorithm: Listed, number: int, runs: int, seed: int) -> BoolArray:
    """Whether theta lies outside the confidence ellipsoid after T rounds, by run (n,)."""
    theta = np.array(on_sphere(16, algorithm.dimension, 1)[number])
    environment = family.on_circle(algorithm.actions, number)
    data = environment.pulled(seed, runs, (1,))
    final: Own = play(algorithm, data, Seeded(seed), np.arange(runs), keep=()).final
    estimate = np.einsum("nij,nj->ni", final.inverse, final.moment)
    off = estimate - theta
    length = np.einsum("ni,nij,nj->n", off, np.linalg.inv(final.inverse), off)
    return np.asarray(np.sqrt(np.maximum(length, 0)) > algorithm.radius(final))


def ellipsoid(trial: TheoremTrial) -> Iterator[Check]:
    """The ellipsoid after 1000 rounds at beta = .1, for two theta."""
    short = trial.changed(horizon=1000, beta=family.BETA)
    for number in (0, 1):
        yield trial.probability(
            f"on sphere, theta {number + 1}",
            outside(short.algorithm, number, trial.runs(TRIALS), trial.seed),
            float(short.rule.beta),
            instance=f"sphere, theta {number + 1}",
            horizon=short.rule.horizon,
            source="Theorem 2",
        )


def pairs(algorithm: LinUCB) -> list[TablePair]:
    """The first reward, -1 against 1, with others that are 0 or alternate."""
    first = int(np.argmax(algorithm.index(algorithm.start(np.zeros(1, np.int64)))[0]))
    plain = np.zeros((algorithm.horizon, algorithm.n_arms))
    alternating = plain.copy()
    alternating[::2] = 1.0
    tables = []
    for table in (plain, alternating):
        table[0, first] = -1.0
        tables.append(TablePair(table, 0, first, 1.0, algorithm.bounds))
    return tables


# ---------------------------------------------------------------- mutants


def _next_action(query: Query) -> Query:
    return replace(query, active=np.roll(query.active, 1, axis=1))


MUTANTS = (
    mutant("greedy", result("radius", lambda rule, radius, state: 0 * radius), ellipsoid),
    mutant("overconfident", result("radius", lambda rule, radius, state: radius / 10), ellipsoid),
    mutant("inverted", result("index", lambda rule, index, state: -index), means),
    mutant(
        "deaf",
        decided_by(lambda state, query, released: np.where(state.t[:, None] == 0, released, 0.0)),
        ellipsoid,
    ),
    mutant(
        "misplaced",
        decided_by(lambda state, query, released: np.roll(released, 1, axis=1), _next_action),
        ellipsoid,
    ),
    mutant("doubled", decided_by(lambda state, query, released: 2 * released), ellipsoid),
    mutant("turned", decided_by(lambda state, query, released: -released), means),
)

CLAIMS = (claim("theorem-3", regret_bound, [means]), claim("theorem-2", checks=[ellipsoid]))

auditor = SHEET.auditor(
    LinUCB,
    pairs,
    MUTANTS,
    CLAIMS,
    **family.PLAYED,
)
