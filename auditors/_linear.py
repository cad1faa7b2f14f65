"""What the auditors of linear bandits share: environments, bounds from a schedule, mutants of removal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray
from verifiable_dp.algorithms._design import core_limit
from verifiable_dp.algorithms._linear import Actions, PhasedElimination, on_sphere
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditing.auditor import Mutant
from verifiable_dp.auditing.theorems import RUNS, TABLE_RUNS, TRIALS
from verifiable_dp.auditing.wrapped import original, with_parameters
from verifiable_dp.auditors._shared import prices, regret_mutant
from verifiable_dp.environments import TwoPoint
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.simulation import simulate

BETA = 0.1  # of the checks that speak of probability
CIRCLE = on_sphere(10, 2, 0)  # d = 2, K = 10, as in the experiments of Hanna et al. 2022
AXES: Actions = ((1.0, 0.0), (0.0, 1.0))
THETAS = {"quick": 3, "standard": 5, "thorough": 10, "mutant": 1}


def worst_cost(algorithm: Any) -> float:
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


def core_size(algorithm: Any) -> float:
    """The largest core set that a batch may have."""
    k = float(algorithm.n_arms)
    return min(k, core_limit(algorithm.dimension)) if algorithm.core else k


def largest_gap(gaps: FloatArray, width: float) -> float:
    """Largest gap of an action that a batch of half-width `width` may keep: at most 4 widths."""
    return float(gaps[gaps <= 4 * width].max())


def regret_bound(algorithm: PhasedElimination, gaps: FloatArray, beta: float) -> float:
    """The sum in (16) of Hanna et al. with its numbers, for gaps (K,).

    n_i rounds of batch i cost at most the largest gap up to 4 gamma_(i-1) each, the rounds after the last
    batch at most 2 gamma each (its estimates are right up to gamma); with probability beta, T times the
    largest gap.
    """
    most, core = float(gaps.max()), core_size(algorithm)
    left, total, gap, batch = float(algorithm.horizon), 0.0, most, 1
    while left > 0 and batch <= algorithm.last_batch:
        rounds = min(left, algorithm.size(batch) + core)
        width = algorithm.width(batch, algorithm.n_arms, math.ceil(core))
        total += rounds * gap
        gap = min(gap, largest_gap(gaps, width))
        left -= rounds
        batch += 1
    if left > 0 and batch > 1:
        gap = min(gap, float(gaps[gaps <= 2 * width].max()))
    return total + left * gap + beta * algorithm.horizon * most


def mean_regret(
    algorithm: Any, correct: Any, claim: str, thetas: int, *, budget: str, seed: int, workers: int
) -> list[Check]:
    """Mean regret of `algorithm` against the bound of the `correct` one, which may be taken at any T."""
    checks = []
    for number in range(thetas):
        environment = on_circle(correct.actions, number)
        gaps, most = environment.gaps, float(environment.gaps.max())

        def bound(horizon: int, gaps: FloatArray = gaps) -> float:
            if horizon < 8:
                return float(2 * horizon)
            there = with_parameters(correct, horizon=horizon, beta=None)
            return regret_bound(there, gaps, 1 / horizon)

        done = simulate(algorithm, environment, runs=RUNS[budget], seed=seed, workers=workers, points=2)
        checks.append(
            evidence.mean_bound(
                f"{claim} on {environment.name}",
                done.regret,
                bound=bound(correct.horizon),
                largest=most * correct.horizon,
                least_horizon=evidence.least_horizon(bound, lambda t, most=most: most * t),  # type: ignore[misc]
                claim=claim,
                instance=environment.name,
                horizon=correct.horizon,
            )
        )
    return checks


def good_event(
    algorithm: Any, correct: Any, claim: str, *, budget: str, seed: int, source: str
) -> list[Check]:
    """With probability 1 - beta the best action stays, and what stays has a gap of at most 4 widths.

    Both follow from the good event, in which the estimates of all batches are right up to their widths.
    """
    checks = []
    for environment in (on_circle(correct.actions, 0), near_ties(correct.actions)):
        done = simulate(algorithm, environment, runs=TRIALS[budget], seed=seed, points=2)
        gaps, rounds, batch = environment.gaps, 0.0, 0
        while batch < correct.last_batch and rounds < correct.horizon:
            batch += 1
            rounds += correct.size(batch) + core_size(correct)
        # The last batch is surely complete if all rounds fit, and else the one before it is.
        batch -= rounds > correct.horizon
        width = correct.width(batch, correct.n_arms, math.ceil(core_size(correct)))
        lost = ~done.active[:, int(np.argmin(gaps))]
        kept = (done.active & (gaps > 4 * width)).any(axis=1)
        checks.append(
            evidence.probability(
                f"{claim} on {environment.name}",
                lost | kept,
                probability=float(correct.beta),
                claim=claim,
                instance=environment.name,
                horizon=correct.horizon,
                source=source,
            )
        )
    return checks


def regret(
    algorithm: Any, kind: Any, theorem: str, event: str, *, budget: str, seed: int, workers: int
) -> Iterator[Check]:
    """The `theorem` with its numbers for several theta, and the good `event` at beta = .1 and T = 1e5.

    Both are names of claims, such as ``theorem-1``. A mutant is held against the bounds of the correct
    algorithm, of class `kind`.
    """
    correct = kind(**original(algorithm).parameters)
    short = {"horizon": 100_000, "beta": BETA}
    yield from mean_regret(
        algorithm, correct, theorem, THETAS[budget], budget=budget, seed=seed, workers=workers
    )
    yield from good_event(
        with_parameters(algorithm, **short),
        with_parameters(correct, **short),
        event,
        budget=budget,
        seed=seed,
        source=event.replace("-", " ").capitalize(),
    )


PRICES = (0.1, 0.5, 1.0, 5.0)


def price(algorithm: Any, claim: str, *, budget: str, seed: int, workers: int) -> Check:
    """Regret over that of phased elimination without privacy, for two theta."""
    rule = original(algorithm)
    free = LinearElimination(rule.actions, rule.horizon)
    played = [
        (with_parameters(algorithm, epsilon=epsilon), free, on_circle(rule.actions, number))
        for number in range(2)
        for epsilon in PRICES
    ]
    caption = (
        f"d = 2, K = {rule.n_arms} actions and theta uniform on the sphere, rewards -1 or 1, beta = 1/T: "
        f"{rule.name} beside phased elimination, {TABLE_RUNS[budget]} runs of each."
    )
    return prices(claim, played, caption=caption, budget=budget, seed=seed, workers=workers)


# ---------------------------------------------------------------- mutants of removal


class Hasty(PhasedElimination):
    """Removes actions at a thirtieth of the limit."""

    def keep(self, value: FloatArray, limit: float) -> BoolArray:
        """Within the noise of the estimates."""
        return super().keep(value, limit / 30)


class Timid(PhasedElimination):
    """Removes actions at a hundred times the limit."""

    def keep(self, value: FloatArray, limit: float) -> BoolArray:
        """Nothing leaves at all."""
        return super().keep(value, 100 * limit)


class Inverted(PhasedElimination):
    """Removes the actions far above the worst one."""

    def keep(self, value: FloatArray, limit: float) -> BoolArray:
        """The comparison is turned round."""
        remains = value > -np.inf
        worst = np.where(remains, value, np.inf).min(axis=1)[:, None]
        return np.asarray(remains & (value <= worst + limit))


class Unweighted(PhasedElimination):
    """Forgets to divide by the pulls: sums are taken for means."""

    def estimates(self, done: Any, sums: FloatArray) -> FloatArray:
        """Estimates that are too large by the pulls of an action."""
        return super().estimates(done, sums * done.counts)


def removal_mutants(hasty: Any, timid: Any, inverted: Any, unweighted: Any, event: str) -> list[Mutant]:
    """Mutants of the removal rule; the classes are made by the caller from those above.

    They are caught by the good `event`, as in `regret`.
    """
    ties, sphere = f"{event} on near ties", f"{event} on sphere, theta 1"
    return [
        regret_mutant("hasty", "actions are removed at a thirtieth of the limit", hasty, ties),
        regret_mutant("timid", "actions are removed at a hundred times the limit", timid, sphere),
        regret_mutant("inverted", "the best actions are removed", inverted, sphere),
        regret_mutant("sums for means", "estimates are too large by the pulls", unweighted, ties),
    ]
