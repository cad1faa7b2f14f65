"""What the auditors of linear bandits share: environments, bounds from a schedule, mutants of removal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.algorithms._design import core_limit
from verifiable_dp.algorithms._linear import Actions, PhasedElimination, on_sphere
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, Json
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.mutants import decided_by, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, Checking, CorrectOnly, MeanBound, Prices, TheoremTrial
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__)
mutant = SHEET.mutant

BETA = 0.1  # of the checks that speak of probability
SHORT = {"horizon": 100_000, "beta": BETA}
CIRCLE = on_sphere(10, 2, 0)  # d = 2, K = 10, as in the experiments of Hanna et al. 2022
AXES: Actions = ((1.0, 0.0), (0.0, 1.0))
# The actions of an auditor, a size each.
PLAYED: Json = {
    key: {"actions": of} for key, of in (("instance", AXES), ("small", AXES), ("experiment", CIRCLE))
}
OF_THREE: Json = {**PLAYED, "instance": {"actions": (*AXES, (0.6, 0.6))}}
THETAS = {"quick": 3, "standard": 5, "thorough": 10, "mutant": 1}


def worst_cost(algorithm: Listed) -> float:
    """A reward goes from one end of its range to the other, and enters one sum."""
    low, high = algorithm.bounds
    return float(algorithm.mechanism.cost(high - low))


def linear(actions: Actions, theta: FloatArray, name: str) -> TwoPoint:
    """Rewards -1 or +1 with mean <a, theta>: noise that is bounded and thus sub-Gaussian."""
    return TwoPoint(tuple((np.array(actions) @ theta).tolist()), -1.0, 1.0, name)


def on_circle(actions: Actions, seed: int) -> TwoPoint:
    """theta uniform on the unit sphere, as in the experiments of Hanna et al. 2022."""
    theta = np.array(on_sphere(16, len(actions[0]), 1)[seed])
    return linear(actions, theta, f"sphere, theta {seed + 1}")


def near_ties(actions: Actions) -> TwoPoint:
    """theta so short that no action can be told from the best one."""
    theta = 0.01 * np.array(on_sphere(2, len(actions[0]), 2)[0])
    return linear(actions, theta, "near ties")


def core_size(algorithm: PhasedElimination) -> float:
    """The largest core set that a batch may have."""
    k = float(algorithm.n_arms)
    return min(k, core_limit(algorithm.dimension)) if algorithm.core else k


def largest_gap(gaps: FloatArray, width: float) -> float:
    """Largest gap of an action that a batch of half-width `width` may keep: at most 4 widths."""
    return float(gaps[gaps <= 4 * width].max())


def closed_width(rule: Listed, core: float) -> Callable[[float], float]:
    """gamma of a batch of q^i pulls in closed form, from the parameters of Algorithm 1, 2 or 3."""
    d, n_actions, beta = rule.dimension, rule.n_arms, float(rule.beta or 1 / rule.horizon)
    log, observe = math.log(4 * n_actions * rule.horizon / beta), rule.claim.observe

    def width(pulls: float) -> float:
        if observe == "releases":
            scale = 2 / float(rule.epsilon)
            return closed_forms.central_width(pulls, d, scale=scale, core=math.ceil(core), log=log)
        epsilon = float(rule.epsilon)
        if observe == "shuffled":
            epsilon = shuffle.local_epsilon(epsilon, math.ceil(round(pulls, 6)), rule.delta)
        return closed_forms.local_width(pulls, d, scale=2 / epsilon, log=log)

    return width


def likely_bound(gaps: FloatArray, rule: Listed) -> float:
    """The sum in (16) of Hanna et al. with its numbers, for gaps (K,): with probability 1 - beta.

    n_i rounds of batch i cost at most the largest gap up to 4 gamma_(i-1) each, the rounds after the last
    batch at most 2 gamma each (its estimates are right up to gamma). What is printed, and phased elimination
    without privacy, have batches and widths of their own.
    """
    core = core_size(rule)
    if getattr(rule, "variant", "") == "corrected":
        return closed_forms.linear(gaps, rule.horizon, core, closed_width(rule, core))
    left, total, gap, batch = float(rule.horizon), 0.0, float(gaps.max()), 1
    while left > 0 and batch <= rule.last_batch:
        rounds = min(left, rule.size(batch) + core)
        width = rule.width(batch, rule.n_arms, math.ceil(core))
        total += rounds * gap
        gap = min(gap, largest_gap(gaps, width))
        left -= rounds
        batch += 1
    if left > 0 and batch > 1:
        gap = min(gap, float(gaps[gaps <= 2 * width].max()))
    return total + left * gap


def regret_bound(gaps: FloatArray, rule: Listed) -> float:
    """Mean regret: `likely_bound`, and T times the largest gap with probability beta."""
    return likely_bound(gaps, rule) + float(rule.beta * rule.horizon * float(gaps.max()))


@dataclass(frozen=True)
class HighProbability:
    """With probability 1 - beta regret is at most the sum in (16): the share of runs above it, not the mean.

    At beta = .1: 1/T, as in the theorems, is too rare to be counted.
    """

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each theta."""
        trial = trial.changed(horizon=10**8, beta=BETA)
        rule = trial.rule
        for environment in (on_circle(rule.actions, number) for number in range(2)):
            bound = likely_bound(environment.gaps, rule)
            yield trial.probability(
                f"with high probability on {environment.name}",
                trial.play(environment, TRIALS).regret > bound,
                float(rule.beta),
                vacuous=bound >= rule.horizon * float(environment.gaps.max()),
                instance=environment.name,
                horizon=rule.horizon,
                bound=bound,
            )


@dataclass(frozen=True)
class WorstCase:
    """Regret grows like sqrt(T log T) on two actions with the worst gap, at an epsilon of one's own.

    T = e^(j + 1/2): a share of T is left after the last batch that jumps with T, and hardly changes here.
    Gaps are in units of the last gamma, in closed form, and one is wide.
    """

    epsilon: float
    powers: Sequence[int] = tuple(range(14, 26, 2))

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        points = []
        for horizon in (round(math.exp(power + 0.5)) for power in self.powers):
            on = trial.changed(actions=AXES, epsilon=self.epsilon, horizon=horizon, beta=None)
            last = closed_forms.batch_growth(horizon) ** (math.floor(math.log(horizon)) - 1)
            unit = closed_width(on.rule, 2.0)(last)
            gaps = [0.9, *(unit * 2.0 ** (j / 2) for j in range(-2, 9) if unit * 2.0 ** (j / 2) < 0.9)]
            places = [TwoPoint((gap, 0.0), -1.0, 1.0, f"two actions, a gap of {gap:.3g}") for gap in gaps]
            found = [on.play(place).regret for place in places]
            points.append((float(horizon), max(found, key=lambda values: float(values.mean()))))
        yield scaling(
            f"{trial.claim.name} rate over T",
            points,
            exponent=0.5,
            log_power=0.5,
            margin=0.05,
            claim=trial.claim.name,
            instance="two actions, the worst of some gaps",
            epsilon=self.epsilon,
        )


def thetas(trial: TheoremTrial) -> list[TwoPoint]:
    """As many theta as the budget allows."""
    return [on_circle(trial.rule.actions, number) for number in range(trial.runs(THETAS))]


MEANS = MeanBound(thetas)


@dataclass(frozen=True)
class GoodEvent:
    """With probability 1 - beta the best action stays, and what stays has a gap of at most 4 widths.

    Both follow from the good event, in which the estimates of all batches are right up to their widths.
    """

    source: str

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """For one theta and for near ties."""
        trial = trial.changed(**SHORT)
        correct = trial.rule
        for environment in (on_circle(correct.actions, 0), near_ties(correct.actions)):
            gaps, rounds, batch = environment.gaps, 0.0, 0
            while batch < correct.last_batch and rounds < correct.horizon:
                batch += 1
                rounds += correct.size(batch) + core_size(correct)
            # The last batch is surely complete if all rounds fit, and else the one before it is.
            batch -= rounds > correct.horizon
            width = correct.width(batch, correct.n_arms, math.ceil(core_size(correct)))
            done = trial.play(environment, TRIALS)
            assert done.active is not None
            lost = ~done.active[:, int(np.argmin(gaps))]
            kept = (done.active & (gaps > 4 * width)).any(axis=1)
            yield trial.probability(
                f"on {environment.name}",
                lost | kept,
                float(correct.beta),
                instance=environment.name,
                horizon=correct.horizon,
                source=self.source,
            )


PRICE = Prices(
    lambda rule: LinearElimination(rule.actions, rule.horizon),
    lambda trial: [on_circle(trial.rule.actions, number) for number in range(2)],
    (0.1, 0.5, 1.0, 5.0),
    SHEET.words("price"),
)


def theorem(epsilon: float) -> list[Checking]:
    """How Theorems 1 to 3 are held: mean, share of runs, growth with T at an `epsilon`, price of privacy."""
    return [MEANS, *(CorrectOnly(check) for check in (HighProbability(), WorstCase(epsilon), PRICE))]


# ---------------------------------------------------------------- mutants of removal


def _inverted(rule: PhasedElimination, kept: BoolArray, value: FloatArray, limit: float) -> BoolArray:
    remains = value > -np.inf
    worst = np.where(remains, value, np.inf).min(axis=1)[:, None]
    return np.asarray(remains & (value <= worst + limit))


def _sums(state: Own, query: Query, released: FloatArray) -> FloatArray:
    return released * query.pulls()


def removal_mutants(event: GoodEvent) -> list[Mutant]:
    """Mutants of the removal rule, which the check of the good event catches."""
    return [
        mutant("hasty", result("width", lambda rule, width, *at: width / 30), event),
        mutant("timid", result("width", lambda rule, width, *at: width * 100), event),
        mutant("inverted", result("keep", _inverted), event),
        mutant("sums instead of means", decided_by(_sums), event),
    ]
