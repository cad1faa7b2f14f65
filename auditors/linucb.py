"""Auditor of LinUCB: it is caught leaking, and held to Theorems 2 and 3 of Abbasi-Yadkori et al."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithm import Query, play
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.linucb import LinUCB, LinUCBState
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditing.theorems import RUNS, TRIALS
from verifiable_dp.auditing.wrapped import original, with_parameters
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._shared import Interpreted, regret_mutant
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair
from verifiable_dp.noise import Seeded
from verifiable_dp.simulation import simulate

SHORT = 3000  # horizon of mutants, which have no compiled loop


def regret_bound(horizon: float, dimension: int, ridge: float, beta: float, largest: float) -> float:
    """rho sqrt(8 T d l), rho = sqrt(2 log(1/beta) + d l) + sqrt(lambda), l = log(1 + T/(lambda d)).

    With probability beta T times the largest gap, so that it bounds the expectation.
    """
    log = math.log1p(horizon / (ridge * dimension))
    rho = math.sqrt(2 * math.log(1 / beta) + dimension * log) + math.sqrt(ridge)
    return rho * math.sqrt(8 * horizon * dimension * log) + beta * horizon * largest


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """Theorem 3 for several theta, and the ellipsoid after 1000 rounds at beta = .1.

    With budget ``mutant`` Theorem 3 is held against one theta at T = 3000.
    """
    played = with_parameters(algorithm, horizon=SHORT, beta=None) if budget == "mutant" else algorithm
    for number in range(family.THETAS[budget]):
        yield _mean_regret(played, number, budget, seed, workers)
    short = with_parameters(algorithm, horizon=1000, beta=family.BETA)
    for number in (0, 1):
        yield _ellipsoid(short, number, TRIALS[budget], seed)


def _mean_regret(algorithm: Any, number: int, budget: str, seed: int, workers: int) -> Check:
    correct = LinUCB(**original(algorithm).parameters)
    environment = family.on_circle(correct.actions, number)
    most = float(environment.gaps.max())

    def bound(horizon: float) -> float:
        return regret_bound(horizon, correct.dimension, correct.ridge, 1 / horizon, most)

    done = simulate(algorithm, environment, runs=RUNS[budget], seed=seed, workers=workers, points=2)
    return evidence.mean_bound(
        f"theorem-3 on {environment.name}",
        done.regret,
        bound=bound(correct.horizon),
        largest=most * correct.horizon,
        least_horizon=evidence.least_horizon(bound, lambda t: most * t),
        claim="theorem-3",
        instance=environment.name,
        horizon=correct.horizon,
    )


def outside(algorithm: Any, number: int, runs: int, seed: int) -> Any:
    """Whether theta lies outside the confidence ellipsoid after T rounds, by run (n,)."""
    theta = np.array(on_sphere(16, algorithm.dimension, 1)[number])
    environment = family.on_circle(algorithm.actions, number)
    data = environment.pulled(seed, runs, (1,))
    final: Any = play(algorithm, data, Seeded(seed), np.arange(runs), keep=()).final
    estimate = np.einsum("nij,nj->ni", final.inverse, final.moment)
    off = estimate - theta
    length = np.einsum("ni,nij,nj->n", off, np.linalg.inv(final.inverse), off)
    return np.sqrt(np.maximum(length, 0)) > algorithm.radius(final)


def _ellipsoid(algorithm: Any, number: int, runs: int, seed: int) -> Check:
    return evidence.probability(
        f"theorem-2 on sphere, theta {number + 1}",
        outside(algorithm, number, runs, seed),
        probability=float(algorithm.beta),
        claim="theorem-2",
        instance=f"sphere, theta {number + 1}",
        horizon=algorithm.horizon,
        source="Theorem 2",
    )


def pairs(algorithm: Any) -> list[TablePair]:
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


class Greedy(Interpreted, LinUCB):
    """No bonus."""

    def radius(self, state: LinUCBState) -> FloatArray:
        """An ellipsoid that is a point."""
        return np.zeros(len(state.run))


class Overconfident(Interpreted, LinUCB):
    """A tenth of the radius."""

    def radius(self, state: LinUCBState) -> FloatArray:
        """As if noise had a hundredth of its variance."""
        return super().radius(state) / 10


class Inverted(Interpreted, LinUCB):
    """Plays the smallest index."""

    def index(self, state: LinUCBState) -> FloatArray:
        """The index with its sign turned."""
        return -super().index(state)


class Deaf(Interpreted, LinUCB):
    """Books only the first reward."""

    def decide(self, state: LinUCBState, query: Query, released: FloatArray) -> LinUCBState:
        """Later rewards are lost."""
        return super().decide(state, query, np.where(state.t[:, None] == 0, released, 0.0))


class Misplaced(Interpreted, LinUCB):
    """Books each reward to the next action."""

    def decide(self, state: LinUCBState, query: Query, released: FloatArray) -> LinUCBState:
        """The regression takes the next action for the one that was played."""
        shifted = replace(query, active=np.roll(query.active, 1, axis=1))
        return super().decide(state, shifted, np.roll(released, 1, axis=1))


class Doubled(Interpreted, LinUCB):
    """Books each reward twice, and the action once."""

    def decide(self, state: LinUCBState, query: Query, released: FloatArray) -> LinUCBState:
        """Estimates are twice as large."""
        return super().decide(state, query, 2 * released)


class Turned(Interpreted, LinUCB):
    """Books rewards with the wrong sign."""

    def decide(self, state: LinUCBState, query: Query, released: FloatArray) -> LinUCBState:
        """Losses are taken for rewards."""
        return super().decide(state, query, -released)


_MUTANTS = (
    regret_mutant(
        "greedy",
        "the index has no bonus, and the ellipsoid is a point",
        Greedy,
        "theorem-2 on sphere, theta 1",
    ),
    regret_mutant(
        "overconfident",
        "the radius is a tenth of what the noise needs",
        Overconfident,
        "theorem-2 on sphere, theta 1",
    ),
    regret_mutant(
        "inverted", "the action of the smallest index is played", Inverted, "theorem-3 on sphere, theta 1"
    ),
    regret_mutant("deaf", "only the first reward is booked", Deaf, "theorem-2 on sphere, theta 1"),
    regret_mutant(
        "misplaced", "each reward is booked to the next action", Misplaced, "theorem-2 on sphere, theta 1"
    ),
    regret_mutant(
        "doubled", "each reward is booked twice, its action once", Doubled, "theorem-2 on sphere, theta 1"
    ),
    regret_mutant("turned", "rewards are booked with the wrong sign", Turned, "theorem-3 on sphere, theta 1"),
)

CLAIMS = (
    RegretClaim(
        "theorem-3",
        "With probability 1 - beta the regret is at most 4 sqrt(T d log(lambda + T/d)) (sqrt(lambda) + "
        "sqrt(2 log(1/beta) + d log(1 + T/(lambda d)))), for 1-sub-Gaussian noise and |theta|, |a| <= 1.",
        "rho sqrt(8 T d l) + max Delta, rho = sqrt(2 log T + d l) + sqrt(lambda), l = log(1 + T/(lambda d))",
        Source(
            papers.ABBASI,
            "Theorem 3",
            "the numbers are those of its proof, at beta = 1/T; not larger than the printed ones for "
            "lambda >= 1",
        ),
        "mean",
        regret_bound,
        "mean rewards in [-1, 1]",
    ),
    RegretClaim(
        "theorem-2",
        "With probability 1 - beta theta lies in the ellipsoid |theta - estimate|_V <= sqrt(2 log(1/beta) + "
        "log(det V/det lambda I)) + sqrt(lambda) at all times.",
        "P[theta outside after T rounds] <= beta",
        Source(papers.ABBASI, "Theorem 2", "checked after T = 1000 rounds at beta = .1"),
        "probability",
        domain="1-sub-Gaussian noise, |theta| <= 1",
    ),
)

auditor = Auditor(
    algorithm=LinUCB,
    paper=papers.ABBASI,
    model="none",
    instance={"actions": family.AXES, "horizon": 16},
    small={"actions": family.AXES, "horizon": 8},
    pairs=pairs,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    reference_epsilon=1.0,
    experiment={"actions": family.CIRCLE, "horizon": 100_000},
    longest=256,
)
