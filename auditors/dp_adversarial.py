"""Auditor of the private adversarial bandit: first rewards changed; regret in hindsight on fixed tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_adversarial import DPAdversarial
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import one_release
from verifiable_dp.core.algorithm import Query, play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, Numbers
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry.mutants import noise_by, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import RUNS, MeanBound, TheoremTrial, bound_of
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.ASI)
claim, mutant = SHEET.claim, SHEET.mutant

TSALLIS = 4.0  # ours


def exp3_bound(gaps: FloatArray, rule: DPAdversarial) -> float:
    """b (log(K)/h + h N K (1 + 2 s^2)/(1 - g) + g N + 2) + 1, where N = T/b."""
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
CLAIMS = (claim("exp3", exp3_bound, [ON_TWO, EXP3]), claim("tsallis-inf", tsallis_bound, [TSALLIS_INF]))


def _of_means(rule: DPAdversarial, state: Own, query: Query) -> FloatArray:
    """1 over the batch for sums, 1 for coins."""
    each = np.full((len(state.run), rule.n_arms), 1 / rule.batch)
    return np.hstack([each, np.ones((len(state.run), rule.coins))])


def _inverted(rule: DPAdversarial, index: FloatArray, state: Own) -> FloatArray:
    return (1 - index) / (rule.n_arms - 1)


MUTANTS = (
    *family.COIN_MUTANTS,
    mutant("sums with the noise of means", noise_by(_of_means)),
    mutant("uniform play", family.UNIFORM_CHOICE, ON_TWO),
    mutant("inverted", result("index", _inverted), ON_TWO),
    mutant("timid", result("rate", lambda rule, rate: rate / 100), ON_TWO),
)

auditor = SHEET.auditor(DPAdversarial, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
