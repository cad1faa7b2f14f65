"""Auditor of the private adversarial bandit: first rewards changed; regret in hindsight on fixed tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_adversarial import DPAdversarial
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.core.algorithm import Query, play
from verifiable_dp.core.claims import Basis, RegretClaim, Source
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, Numbers
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import noise_by, result
from verifiable_dp.registry.theorems import RUNS, MeanBound, TheoremTrial, bound_of
from verifiable_dp.registry.wrapped import Listed

OURS = "the paper states O(sqrt(KT/epsilon)), but we did not have its text; "
TSALLIS = 4.0  # ours


def exp3_bound(gaps: FloatArray, rule: DPAdversarial) -> float:
    """b (log(K)/h + h N K (1 + 2 s^2)/(1 - g) + g N + 2) + 1, N = T/b."""
    h, g, b, k = rule.rate, rule.mixed, rule.batch, rule.n_arms
    if g >= 0.5:
        return float(rule.horizon)
    n = rule.horizon / b
    return b * (math.log(k) / h + h * n * k * (1 + 2 * rule.scale**2) / (1 - g) + g * n + 2) + 1


def tsallis_bound(gaps: FloatArray, rule: DPAdversarial) -> float:
    """4 sqrt(K T max(1, 1/epsilon)), or T."""
    return min(TSALLIS * math.sqrt(rule.n_arms * rule.horizon * max(1.0, 1 / rule.epsilon)), rule.horizon)


# ---------------------------------------------------------------- tables and regret in hindsight


def late(horizon: int, n_arms: int) -> FloatArray:
    """The first arm pays 1/2, the second 1 from a third of the horizon on, the others nothing."""
    table = np.zeros((horizon, n_arms))
    table[:, 0] = 0.5
    table[horizon // 3 :, 1] = 1.0
    return table


def taking_turns(horizon: int, n_arms: int) -> FloatArray:
    """The first two arms take turns of a twentieth of the horizon to pay 1; the second pays 1/2 otherwise."""
    table = np.zeros((horizon, n_arms))
    turn = np.arange(horizon) // max(horizon // 20, 1) % 2
    table[:, 0] = turn == 0
    table[:, 1] = np.where(turn == 1, 1.0, 0.5)
    return table


TABLES = (late, taking_turns)


def hindsight(algorithm: Listed, table: FloatArray, runs: int, seed: int) -> FloatArray:
    """What the best arm of a fixed table earned more than each run, (runs,)."""
    done = play(algorithm, Table(table), Seeded(seed), np.arange(runs), keep=("actions",))
    arms = np.log2(done.actions).round().astype(np.int64)  # by batch; one bit is set
    each = np.repeat(arms, algorithm.batch, axis=1)[:, : algorithm.horizon]
    return np.asarray(table.sum(axis=0).max() - table[np.arange(algorithm.horizon), each].sum(axis=1))


@dataclass(frozen=True)
class Hindsight:
    """Mean regret in hindsight against the claim's bound, on each table, by epsilon.

    Parameters
    ----------
    base
        The bandit that is played on batches.
    epsilons
        Budgets.
    horizon
        T.
    """

    base: str
    epsilons: tuple[float, ...] = (0.1, 1.0)
    horizon: int = 5000

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each table and epsilon."""
        for epsilon in self.epsilons:
            played = trial.changed(n_arms=2, horizon=self.horizon, epsilon=epsilon, base=self.base)
            most = bound_of(trial.claim.bound, played.rule, np.array([0.0, 1.0]))  # type: ignore[arg-type]
            for table in TABLES:
                words = f"{table.__name__.replace('_', ' ')}, epsilon = {epsilon:g}"
                yield mean_bound(
                    f"{trial.claim.name} on {words}",
                    hindsight(played.algorithm, table(self.horizon, 2), trial.runs(RUNS), trial.seed),
                    bound=float(_number(most(self.horizon))),
                    largest=float(self.horizon),
                    claim=trial.claim.name,
                    instance=words,
                    horizon=self.horizon,
                )


def _number(value: Numbers) -> float:
    return float(np.asarray(value))


ON_TWO = MeanBound([family.TWO], {**family.SHORT, "base": "exp3"})
EXP3, TSALLIS_INF = Hindsight("exp3"), Hindsight("tsallis-inf")
CLAIMS = (
    RegretClaim(
        "exp3",
        "On an oblivious table, the expected regret of exp3 in hindsight is O(sqrt(K log(K) log(T) "
        "T/epsilon)) for epsilon <= 1.",
        "b (log(K)/h + h N K (1 + 2 s^2)/(1 - g) + g N + 2) + 1, N = T/b",
        Source(
            papers.ASI,
            "private adversarial bandits",
            OURS + "derived here from the analysis of Exp3 with losses above -1/h",
            Basis.UNREAD,
        ),
        "mean",
        exp3_bound,
        "rewards in [0, 1], fixed beforehand; g below 1/2",
        [ON_TWO, EXP3],
    ),
    RegretClaim(
        "tsallis-inf",
        "On an oblivious table, the expected regret of tsallis-inf in hindsight is O(sqrt(KT/epsilon)) for "
        "epsilon <= 1.",
        "4 sqrt(K T max(1, 1/epsilon))",
        Source(
            papers.ASI,
            "private adversarial bandits",
            OURS + "the constant 4 is ours, not derived",
            Basis.UNREAD,
        ),
        "mean",
        tsallis_bound,
        "rewards in [0, 1], fixed beforehand",
        [TSALLIS_INF],
    ),
)


def _of_means(rule: DPAdversarial, state: Own, query: Query) -> FloatArray:
    """1 over the batch for sums, 1 for coins."""
    each = np.full((len(state.run), rule.n_arms), 1 / rule.batch)
    return np.hstack([each, np.ones((len(state.run), rule.coins))])


def _inverted(rule: DPAdversarial, index: FloatArray, state: Own) -> FloatArray:
    return (1 - index) / (rule.n_arms - 1)


MUTANTS = (
    *family.COIN_MUTANTS,
    Mutant(
        "noise of means on sums",
        "sums get Lap(1/(epsilon b)), which is the scale for means",
        noise_by(_of_means),
    ),
    Mutant(
        "uniform play",
        "the arm with the fewest pulls is played next",
        family.UNIFORM_CHOICE,
        caught_by=ON_TWO,
    ),
    Mutant(
        "inverted",
        "the arms with the largest losses are played most",
        result("index", _inverted),
        caught_by=ON_TWO,
    ),
    Mutant(
        "timid",
        "the bandit learns a hundred times too slowly",
        result("rate", lambda rule, rate: rate / 100),
        caught_by=ON_TWO,
    ),
)

auditor = Auditor(
    algorithm=DPAdversarial,
    paper=papers.ASI,
    model="central",
    # Batches of two rounds: the first one, and others that a coin chooses.
    instance={"n_arms": 2, "epsilon": 0.5, "horizon": 12},
    small={"n_arms": 2, "epsilon": 0.5, "horizon": 8},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 2, "epsilon": 1.0, "horizon": 5000},
    longest=255,
    worst_cost=lambda rule: rule.mechanism.cost(),  # a reward enters one release
)
