"""Auditor of Robust UCB: it is caught leaking, and held to a regret bound on heavy-tailed arms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.robust_ucb import RobustUCB
from verifiable_dp.auditors._first_neighbours import first_round
from verifiable_dp.core.environments import Drawn, Pareto
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.mutants import rebuilt, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import RUNS, TRIALS, MeanBound, TheoremTrial
from verifiable_dp.registry.wrapped import original

SHEET = Sheet(__file__, papers.BUBECK)
claim, mutant = SHEET.claim, SHEET.mutant

BETA = 0.1  # failure probability of one arm's estimate in the check of the lemma
PULLS = 200  # rewards of that estimate
SHARES = {"two Pareto arms": (0.1, 1.0), "five Pareto arms": (0.1, 0.2, 0.3, 0.4, 1.0)}


def arms(name: str, v: float, u: float) -> Pareto:
    """Pareto arms of shape 2 + v, the best one last, with largest E|X|^(1+v) equal to u."""
    plain = Pareto(SHARES[name], 2 + v, name)
    factor = (u / plain.moment(1 + v)) ** (1 / (1 + v))
    return replace(plain, means=tuple(factor * share for share in SHARES[name]))


def regret_bound(gaps: FloatArray, rule: RobustUCB) -> float:
    """sum_a Delta_a (ceil(2 (8/Delta_a)^((1+v)/v) u^(1/v) log T) + 2 log T), over Delta_a > 0.

    After that many pulls twice the bonus of arm a is at most Delta_a; then it is only played if one of two
    means leaves its bonus, for which the union over numbers of pulls gives 2 sum_t (t - 1)/t^2.
    """
    gaps = np.asarray(gaps, dtype=np.float64)
    gaps, log, v, u = gaps[gaps > 0], math.log(rule.horizon), rule.v, rule.u
    pulls = np.ceil(2 * (8 / gaps) ** ((1 + v) / v) * u ** (1 / v) * log) + 2 * log
    return float(gaps @ pulls)


def one_mean(trial: TheoremTrial) -> Iterator[Check]:
    """One estimate of `PULLS` rewards at delta = BETA, either side; a mutant's own truncation and bonus."""
    rule = original(trial.algorithm)
    where = arms("two Pareto arms", rule.v, rule.u)
    log, number = math.log(1 / BETA), np.arange(1, PULLS + 1)
    limit = (rule.moment * number / log) ** (1 / (1 + rule.v))
    drawn = where.draw(np.random.default_rng(trial.seed), 1, trial.runs(TRIALS) * PULLS)
    rewards = drawn.reshape(-1, PULLS)
    mean = np.where(np.abs(rewards) <= limit, rewards, 0.0).mean(axis=1)
    bonus = rule.constant * (log / PULLS) ** rule.power
    yield trial.probability(
        f"of {PULLS} rewards",
        np.abs(mean - where.means[1]) > bonus,
        2 * BETA,
        instance=f"Pareto rewards of shape {where.shape:g}",
        bonus=float(bonus),
    )


def means(trial: TheoremTrial) -> Iterator[Check]:
    """Regret on two arms; on five arms too but for a mutant."""
    for name, shares in list(SHARES.items())[: 1 if trial.mutant else None]:
        where = arms(name, trial.rule.v, trial.rule.u)
        yield from MeanBound([where], {"n_arms": len(shares)}, {**RUNS, "mutant": 100})(trial)


def pairs(algorithm: RobustUCB) -> list[TablePair]:
    """The first reward of arm 0, -h against h, h kept in all rounds; others pay 0, or more and less."""
    rule = original(algorithm)
    limit = float((rule.u / (2 * math.log(rule.horizon))) ** (1 / (1 + rule.v)))
    shape = (algorithm.horizon, algorithm.n_arms)
    ramp = np.broadcast_to(np.linspace(-limit, limit, algorithm.horizon)[:, None], shape)
    return [first_round(table, (-limit, limit)) for table in (np.zeros(shape), ramp, -ramp)]


@dataclass(frozen=True)
class _Misread(Drawn):
    """Arms that pay what the arm `shift` places on pays, times `sign`."""

    inner: Drawn
    shift: int = 0
    sign: float = 1.0

    @property
    def means(self) -> tuple[float, ...]:  # type: ignore[override]
        """Those of the arms underneath."""
        return self.inner.means

    def draw(self, generator: np.random.Generator, arm: int, count: int) -> FloatArray:
        """See `Drawn.draw`."""
        return np.asarray(self.sign * self.inner.draw(generator, (arm + self.shift) % self.n_arms, count))


class Misplaced(RobustUCB):
    """Books the rewards of each arm under the arm before it."""

    def kernel(
        self, environment: Drawn, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Plays by the neighbours' rewards."""
        return super().kernel(_Misread(environment, shift=1), seed, run, times)


class Inverted(RobustUCB):
    """Takes rewards for costs."""

    def kernel(
        self, environment: Drawn, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Plays by the rewards with their sign turned."""
        return super().kernel(_Misread(environment, sign=-1.0), seed, run, times)


MUTANTS = (
    mutant("greedy", result("constant", lambda rule, constant: 0.0, compiled=True), one_mean),
    mutant("pessimist", result("constant", lambda rule, constant: -constant, compiled=True), one_mean),
    mutant("wide", result("constant", lambda rule, constant: 10 * constant, compiled=True), means),
    mutant(
        "over-truncated",
        result("moment", lambda rule, moment: float(moment / 100 ** (1 + rule.v)), compiled=True),
        one_mean,
    ),
    mutant("misplaced", rebuilt(Misplaced), means),
    mutant("inverted", rebuilt(Inverted), means),
)

CLAIMS = (claim("truncated-mean", checks=[one_mean]), claim("regret", regret_bound, [means]))

auditor = SHEET.auditor(RobustUCB, pairs, MUTANTS, CLAIMS)
