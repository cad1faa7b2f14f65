"""What the auditors of the elimination family share: neighbours near the threshold, claims, mutants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray, IntArray
from verifiable_dp.algorithm import Batch, Memory, Query
from verifiable_dp.algorithms._elimination import Elimination, EliminationState
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.auditing.auditor import AlteredNoise, Mutant
from verifiable_dp.auditors._shared import HALF_NOISE, TRIALS, noise_times, original, with_parameters
from verifiable_dp.environments import TwoPoint, bernoulli
from verifiable_dp.evidence import regret
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair
from verifiable_dp.noise import Altered, Noise
from verifiable_dp.simulation import simulate

WIDE = bernoulli([0.95, 0.35, 0.25, 0.15, 0.05], "wide gaps")
NEAR_TIES = bernoulli([0.51, 0.5, 0.5, 0.5, 0.5], "near ties")
# The failure probability of half a threshold falls like sqrt(beta), that of a whole one faster than beta.
CROWD = bernoulli([0.5 + 1e-9, *[0.5] * 99], "a hundred near ties")
CROWD_BETA, CROWD_RUNS = 0.005, 1000

# ---------------------------------------------------------------- neighbours


@dataclass(frozen=True)
class Epoch:
    """An epoch of a known schedule: first round, pulls of each arm, threshold of the gap of means, |S|."""

    start: int
    pulls: int
    limit: float
    size: int


def near_threshold(n_arms: int, horizon: int, epsilon: float, epochs: Sequence[Epoch]) -> list[TablePair]:
    """Tables whose arms 0 and 1 end an epoch near its threshold; other arms pay nothing.

    The exact gap of sums is the threshold less x / epsilon, x = 0 .. 4 in units of the noise; the changed
    reward is the epoch's first of arm 0 or of arm 1. With two epochs also pairs in which the first one
    keeps both arms, so that a second release is sure to come.
    """
    if not epochs:  # too short for a release; any neighbours will do
        epochs = [Epoch(0, max(1, horizon // n_arms), 0.0, n_arms)]
    pairs = []
    if len(epochs) > 1:
        pairs += [_pair(n_arms, horizon, epsilon, epochs, [12.0, 1.0], changed, 0) for changed in (0, 1)]
    for x in (2.0, 0.0, 1.0, 3.0, 4.0):
        for arm in (0, 1):
            pairs.append(_pair(n_arms, horizon, epsilon, epochs, [x] * len(epochs), 0, arm))
    return pairs


def _pair(
    n_arms: int,
    horizon: int,
    epsilon: float,
    epochs: Sequence[Epoch],
    below: Sequence[float],
    changed: int,
    arm: int,
) -> TablePair:
    table = np.zeros((horizon, n_arms))
    place, entry = 0, 0.0
    for number, (epoch, x) in enumerate(zip(epochs, below, strict=True)):
        gap = max(epoch.limit - x / (epsilon * epoch.pulls), 0.0)
        high = np.array([0.5 + gap / 2, 0.5 - gap / 2])
        table[epoch.start :, :2] = np.clip(high, 0, 1)
        if number == changed:
            place = min(epoch.start + arm, horizon - 1)
            # What the changed entry lacks against its arm's mean is spread over the arm's other pulls.
            lacking = table[place, arm] - (1.0 if arm else 0.0)
            table[epoch.start :, arm] += lacking / max(epoch.pulls - 1, 1)
            entry = 1.0 if arm else 0.0
    table = np.clip(table, 0, 1)
    table[place, arm] = entry
    return TablePair(table, place, arm, 1.0 - entry)


# ---------------------------------------------------------------- checks


def survival_and_pulls(
    algorithm: Any,
    name: str,
    bound: Callable[[FloatArray], FloatArray],
    environment: TwoPoint,
    *,
    beta: float,
    budget: str,
    seed: int,
    source: str,
    ties: TwoPoint = NEAR_TIES,
) -> list[Check]:
    """Lemma of the kind of 4.2: w.p. >= 1 - beta no arm exceeds its bound on pulls, and the best survives.

    `bound` maps positive gaps to pulls. `algorithm` has the environment's number of arms. Survival is tried
    on `ties`.
    """
    done = simulate(algorithm, environment, runs=TRIALS[budget], seed=seed, points=2)
    gaps = environment.gaps
    bad = gaps > 0
    most = bound(gaps[bad])
    about = {"claim": name, "instance": environment.name, "horizon": algorithm.horizon, "source": source}
    pulls = regret.probability(
        f"{name} pulls on {environment.name}",
        (done.pulls[:, bad] > most).any(axis=1),
        probability=beta,
        vacuous=bool((most >= algorithm.horizon).all()),
        least_horizon=math.floor(most.min()) + 1,
        bound=[float(m) for m in most],
        **about,
    )
    return [pulls, survives(algorithm, name, ties, beta=beta, budget=budget, seed=seed, source=source)]


def survives(
    algorithm: Any,
    name: str,
    environment: TwoPoint,
    *,
    beta: float,
    budget: str,
    seed: int,
    source: str,
    runs: int | None = None,
) -> Check:
    """The best arm is not eliminated, w.p. >= 1 - beta; an elimination algorithm's most delicate promise."""
    played = with_parameters(algorithm, n_arms=environment.n_arms)
    done = simulate(played, environment, runs=runs or TRIALS[budget], seed=seed, points=2)
    best = int(np.argmax(environment.means))
    if done.active is not None:
        lost = ~done.active[:, best]
    else:  # a compiled loop keeps no set; the survivors are those that were pulled most
        lost = done.pulls[:, best] + 1 < done.pulls.max(axis=1)
    return regret.probability(
        f"{name} survival on {environment.name}",
        lost,
        probability=beta,
        claim=name,
        instance=environment.name,
        horizon=played.horizon,
        source=source,
    )


# ---------------------------------------------------------------- mutants of private elimination


@dataclass(frozen=True)
class Accumulated(Batch):
    """Private side of an elimination that does not forget.

    Attributes
    ----------
    sums : (n, K) float
        Rewards of each arm in all epochs so far.
    count : (n, K) int
        Pulls in them.
    """

    sums: FloatArray
    count: IntArray


class NoForgetting:
    """Mixed into an elimination: means over all epochs so far, each released with the noise of one epoch."""

    def private(self, run: IntArray) -> Accumulated:
        """Nothing yet."""
        shape = (len(run), self.n_arms)  # type: ignore[attr-defined]
        return Accumulated(np.zeros(shape), np.zeros(shape, np.int64))

    def release(
        self, state: EliminationState, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums since the start, scaled to the length of this epoch."""
        this: Any = super()
        length = self.epoch_length(state)[:, None]  # type: ignore[attr-defined]
        kept = Accumulated(memory.sums + answer, memory.count + query.pulls())
        _, released = this.release(state, memory, query, kept.sums, noise)
        return kept, released * length / np.maximum(kept.count, 1)


class NoiseOfMeans:
    """Mixed into an elimination: adds to sums the noise that is meant for means."""

    def release(
        self, state: EliminationState, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """All noise is divided by the length of the epoch."""
        this: Any = super()
        length = self.epoch_length(state)[:, None]  # type: ignore[attr-defined]
        released: tuple[Memory, FloatArray] = this.release(
            state, memory, query, answer, Altered(noise, 1 / length)
        )
        return released


class Unforgetting(NoForgetting, DPSE):
    """DP-SE that does not forget."""


class MeanScale(NoiseOfMeans, DPSE):
    """DP-SE with the noise of means on sums."""


class Hasty(DPSE):
    """Removes arms at an eighth of the threshold."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """Gaps count eightfold."""
        return super().removed(state, 8 * released)


class HalfThreshold(DPSE):
    """Removes arms at half the threshold."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """Gaps count twice."""
        return super().removed(state, 2 * released)


class Timid(DPSE):
    """Removes arms only at eight times the threshold."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """Gaps count for an eighth."""
        return super().removed(state, released / 8)


class Inverted(DPSE):
    """Removes the arms far above the smallest mean."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """The comparison is turned round."""
        return super().removed(state, -released)


def _shared_between_arms(algorithm: Any) -> AlteredNoise:
    arms = original(algorithm).n_arms
    return AlteredNoise(algorithm, reslot=lambda slot: slot // arms)


def _shared_between_epochs(algorithm: Any) -> AlteredNoise:
    arms = original(algorithm).n_arms
    return AlteredNoise(algorithm, reslot=lambda slot: slot % arms)


def privacy_mutants(unforgetting: type[Elimination], mean_scale: type[Elimination]) -> list[Mutant]:
    """Mutants of DP-SE and of its wrapper; the classes are made by the caller from those above."""
    return [
        HALF_NOISE,
        Mutant(
            "one draw for all arms",
            "the same noise is added to every arm, so that it cancels where means are compared",
            _shared_between_arms,
        ),
        Mutant(
            "no forgetting",
            "means are over all epochs, so that a reward enters several releases",
            lambda algorithm: unforgetting(**algorithm.parameters),
        ),
        noise_times(0.0, "raw comparison", "arms are removed by exact means"),
        Mutant(
            "noise of means on sums",
            "sums get Lap(1/(epsilon R)), which is the scale for means",
            lambda algorithm: mean_scale(**algorithm.parameters),
        ),
        Mutant(
            "one draw for all epochs",
            "an arm gets the same noise in every epoch, so that differences of its sums are exact",
            _shared_between_epochs,
        ),
    ]
