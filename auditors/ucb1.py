"""Auditor of UCB1: it is caught leaking, and held to Theorem 1 of Auer, Cesa-Bianchi & Fischer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray, IntArray
from verifiable_dp.algorithm import Query
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._index import IndexState
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditing.theorems import RUNS, TRIALS
from verifiable_dp.auditing.wrapped import with_parameters
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._shared import Interpreted, mean_regret, regret_mutant, settings
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.environments import TwoPoint, bernoulli
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.simulation import simulate

FIVE = bernoulli([0.9, 0.4, 0.4, 0.4, 0.4], "one good arm of five")
HORIZONS = [int(t) for t in np.geomspace(1e4, 1e6, 16)]
GROWTH_RUNS = {"mutant": 30, "quick": 100, "standard": 100, "thorough": 300}
BEST_LAST = bernoulli([0.3, 0.6], "best arm last")  # ties go to the first arm, which is the worse one


def regret_bound(gaps: FloatArray, horizon: float) -> float:
    """8 sum_a log T/Delta_a + (1 + pi^2/3) sum_a Delta_a, over Delta_a > 0."""
    gaps = np.asarray(gaps, dtype=np.float64)
    gaps = gaps[gaps > 0]
    return float(8 * math.log(horizon) * np.sum(1 / gaps) + (1 + math.pi**2 / 3) * np.sum(gaps))


def leading_constant(gaps: FloatArray) -> float:
    """sum of 2/Delta_a over Delta_a > 0."""
    gaps = np.asarray(gaps, dtype=np.float64)
    return float(np.sum(2 / gaps[gaps > 0]))


def growth(algorithm: Any, budget: str, seed: int) -> Check:
    """Regret over log T on one good arm of five; runs at different horizons are independent.

    At these T the shrinking bonus of the best arm, sqrt(2 log T/T), still adds a fifth to the slope.
    """
    played = with_parameters(algorithm, n_arms=FIVE.n_arms)
    points = []
    for number, t in enumerate(HORIZONS):
        done = simulate(
            with_parameters(played, horizon=t), FIVE, runs=GROWTH_RUNS[budget], seed=seed + number, points=2
        )
        points.append((t, done.regret))
    claimed = leading_constant(FIVE.gaps)
    return evidence.linear_in_log(
        f"leading-constant on {FIVE.name}",
        points,
        curvature=0.25,
        most_slope=claimed,
        margin=claimed,
        claim="leading-constant",
        instance=FIVE.name,
    )


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """Theorem 1 on C1 to C4, and on two arms; the leading constant of log T.

    With budget ``mutant``: Theorem 1 on two arms alone, T = 5000, and the constant if there is a compiled
    loop.
    """
    small = with_parameters(algorithm, n_arms=2, horizon=5000)
    played: list[tuple[Any, TwoPoint, int]] = [(small, BEST_LAST, 2 * TRIALS[budget])]
    if budget != "mutant":
        played += [(algorithm, where, RUNS[budget]) for where in settings(algorithm.n_arms, budget)]
    for rule, where, runs in played:
        yield mean_regret(
            rule, where, regret_bound, claim="theorem-1", budget=budget, seed=seed, workers=workers, runs=runs
        )[0]
    if hasattr(algorithm, "kernel"):
        yield growth(algorithm, budget, seed)


class DoubledBonus(UCB1):
    """Twice the bonus: the same choices as with half the means."""

    def index(self, state: IndexState) -> FloatArray:
        """Means plus 2 sqrt(2 log t / n_a), divided by 2."""
        return super().index(replace(state, estimate=state.estimate / 2))

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """The compiled loop on halved rewards."""
        halved = tuple(mean / 2 for mean in environment.means)
        return super().kernel(TwoPoint(halved, environment.low / 2, environment.high / 2), seed, run, times)


class Greedy(Interpreted, UCB1):
    """No bonus."""

    def index(self, state: IndexState) -> FloatArray:
        """Means."""
        return state.estimate / state.pulls


class Curious(Interpreted, UCB1):
    """A bonus without logarithm of time, sqrt(2 t / n)."""

    def index(self, state: IndexState) -> FloatArray:
        """Means plus sqrt(2 t / n_a)."""
        return np.asarray(state.estimate / state.pulls + np.sqrt(2 * state.t[:, None] / state.pulls))


class Inverted(Interpreted, UCB1):
    """Plays the smallest index."""

    def index(self, state: IndexState) -> FloatArray:
        """The index with its sign turned."""
        return -super().index(state)


class Deaf(Interpreted, UCB1):
    """Books only the first reward of each arm."""

    def estimates(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """Later rewards are lost."""
        return super().estimates(state, query, np.where(state.pulls == 1, released, np.nan))


class Misplaced(Interpreted, UCB1):
    """Books each reward to the next arm."""

    def estimates(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """The sum of the wrong arm grows."""
        return super().estimates(state, query, np.roll(released, 1, axis=1))


class Forgetful(Interpreted, UCB1):
    """Takes the last reward of an arm for its mean."""

    def estimates(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """Earlier rewards are dropped."""
        last = np.where(query.active, np.nan_to_num(released) * state.pulls, state.estimate)
        return replace(state, estimate=last)


_MUTANTS = (
    regret_mutant(
        "greedy",
        "the index has no bonus, so that a bad start is never made good",
        Greedy,
        "theorem-1 on best arm last",
    ),
    regret_mutant(
        "doubled bonus",
        "the bonus is 2 sqrt(2 log t/n)",
        DoubledBonus,
        "leading-constant on one good arm of five",
    ),
    regret_mutant(
        "curious",
        "the bonus is sqrt(2 t/n), so that arms are played alike",
        Curious,
        "theorem-1 on best arm last",
    ),
    regret_mutant(
        "inverted", "the arm of the smallest index is played", Inverted, "theorem-1 on best arm last"
    ),
    regret_mutant("deaf", "only the first reward of each arm is booked", Deaf, "theorem-1 on best arm last"),
    regret_mutant(
        "misplaced", "each reward is booked to the next arm", Misplaced, "theorem-1 on best arm last"
    ),
    regret_mutant(
        "forgetful",
        "the last reward of an arm is taken for its mean",
        Forgetful,
        "theorem-1 on best arm last",
    ),
)

CLAIMS = (
    RegretClaim(
        "theorem-1",
        "The expected regret is at most 8 sum_a log T/Delta_a + (1 + pi^2/3) sum_a Delta_a.",
        "8 sum_a log T/Delta_a + (1 + pi^2/3) sum_a Delta_a",
        Source(papers.AUER, "Theorem 1"),
        "mean",
        regret_bound,
        "rewards in [0, 1]",
    ),
    RegretClaim(
        "leading-constant",
        "limsup E[regret]/log T <= sum_a 2/Delta_a.",
        "slope of the regret in log T at most sum_a 2/Delta_a, and as much again for lower-order terms",
        Source(
            papers.LATTIMORE,
            "Lemma 8.2 and Theorem 8.1",
            "derived for the index used here: for e < Delta_a arm a's index reaches mu* - e at most "
            "1 + 2 (log T + sqrt(pi log T) + 1)/(Delta_a - e)^2 times in the mean (Lemma 8.2), and the best "
            "arm's index is below it finitely often, since rewards in [0, 1] are 1/2-sub-Gaussian",
        ),
        "scaling",
        leading_constant,
        "rewards in [0, 1]; in the limit, here between T = 1e4 and 1e6",
    ),
)

auditor = Auditor(
    algorithm=UCB1,
    paper=papers.AUER,
    model="none",
    instance={"n_arms": 2, "horizon": 16},
    small={"n_arms": 2, "horizon": 8},
    pairs=family.first_rewards,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    reference_epsilon=1.0,
    experiment={"n_arms": 5, "horizon": 1_000_000},
    longest=256,
)
