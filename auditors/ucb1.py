"""Auditor of UCB1: it is caught leaking, and held to Theorem 1 of Auer, Cesa-Bianchi & Fischer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._index import IndexState
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._first_neighbours import c1_to_c4
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.linear_in_log import linear_in_log
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.mutants import decided_by, rebuilt, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, CorrectOnly, MeanBound, TheoremTrial

SHEET = Sheet(__file__, papers.AUER)
claim, mutant = SHEET.claim, SHEET.mutant

FIVE = bernoulli([0.9, 0.4, 0.4, 0.4, 0.4], "five arms, one of them good")
HORIZONS = [int(t) for t in np.geomspace(1e4, 1e6, 16)]
GROWTH_RUNS = {"mutant": 30, "quick": 100, "standard": 100, "thorough": 300}
BEST_LAST = bernoulli([0.3, 0.6], "best arm last")  # ties go to the first arm, which is the worse one
TWICE = {budget: 2 * runs for budget, runs in TRIALS.items()}


def regret_bound(gaps: FloatArray, rule: UCB1) -> float:
    """8 sum_a log T/Delta_a + (1 + pi^2/3) sum_a Delta_a, over Delta_a > 0."""
    gaps = np.asarray(gaps, dtype=np.float64)
    gaps = gaps[gaps > 0]
    return float(8 * math.log(rule.horizon) * np.sum(1 / gaps) + (1 + math.pi**2 / 3) * np.sum(gaps))


def leading_constant(gaps: FloatArray) -> float:
    """sum of 2/Delta_a over Delta_a > 0."""
    gaps = np.asarray(gaps, dtype=np.float64)
    return float(np.sum(2 / gaps[gaps > 0]))


def growth(trial: TheoremTrial) -> Iterator[Check]:
    """Regret over log T on one good arm of five; runs at different horizons are independent.

    At these T the shrinking bonus of the best arm, sqrt(2 log T/T), still adds a fifth to the slope. A line
    through uniform play is so poor that no slope contradicts it, so the last mean is held to the line, too.
    The horizons are too long without a compiled loop.
    """
    if not hasattr(trial.algorithm, "kernel"):
        return
    points = []
    for number, t in enumerate(HORIZONS):
        played = trial.changed(n_arms=FIVE.n_arms, horizon=t)
        points.append((t, played.play(FIVE, GROWTH_RUNS, seed=trial.seed + number).regret))
    claimed = leading_constant(FIVE.gaps)
    yield linear_in_log(
        f"leading-constant on {FIVE.name}",
        points,
        curvature=0.25,
        most_slope=claimed,
        margin=claimed,
        claim="leading-constant",
        instance=FIVE.name,
    )
    yield mean_bound(
        f"leading-constant on {FIVE.name}, level",
        points[-1][1],
        bound=2 * claimed * math.log(HORIZONS[-1]),
        largest=HORIZONS[-1] * float(FIVE.gaps.max()),
        claim="leading-constant",
        instance=FIVE.name,
        horizon=HORIZONS[-1],
    )


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


def _last_alone(
    rule: UCB1, after: IndexState, state: IndexState, query: Query, released: FloatArray
) -> IndexState:
    last = np.nan_to_num(released) * state.pulls
    return replace(after, estimate=np.where(query.active, last, state.estimate))


ON_TWO = MeanBound([BEST_LAST], {"n_arms": 2, "horizon": 5000}, TWICE)
MUTANTS = (
    mutant("greedy", result("index", lambda rule, index, state: state.estimate / state.pulls), ON_TWO),
    mutant("doubled bonus", rebuilt(DoubledBonus), growth),
    mutant(
        "curious",
        result(
            "index",
            lambda rule, index, state: (
                state.estimate / state.pulls + np.sqrt(2 * state.t[:, None] / state.pulls)
            ),
        ),
        ON_TWO,
    ),
    mutant("inverted", result("index", lambda rule, index, state: -index), ON_TWO),
    mutant(
        "deaf",
        decided_by(lambda state, query, released: np.where(state.pulls == 0, released, np.nan)),
        ON_TWO,
    ),
    mutant("misplaced", decided_by(lambda state, query, released: np.roll(released, 1, axis=1)), ON_TWO),
    mutant("forgetful", result("estimates", _last_alone), ON_TWO),
)

CLAIMS = (
    claim("theorem-1", regret_bound, [ON_TWO, CorrectOnly(MeanBound(c1_to_c4))]),
    claim("leading-constant", leading_constant, [growth], paper=papers.LATTIMORE),
)

auditor = SHEET.auditor(UCB1, family.first_rewards, MUTANTS, CLAIMS)
