"""What the auditors of robust elimination share: neighbours, the bound on pulls, mutants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray
from verifiable_dp.algorithm import Query
from verifiable_dp.auditing.auditor import AlteredNoise, Mutant
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._shared import HALF_NOISE, noise_times, original
from verifiable_dp.environments import bernoulli
from verifiable_dp.neighbours import TablePair

TWO_ARMS = bernoulli([0.8, 0.2], "two arms in [0, 1]")
NEAR_TIES = bernoulli([0.501, 0.5], "near ties")

# ---------------------------------------------------------------- neighbours


def pairs(algorithm: Any) -> list[TablePair]:
    """Tables near the thresholds of the first two epochs: a reward moves from -B to B."""
    pulls, limit, threshold = algorithm.schedule
    k = algorithm.n_arms
    epochs, start = [], 0
    for number, size in ((1, k), (2, 2)):
        end = start + size * int(pulls[number, size])
        if number > 1 and end > algorithm.horizon:
            break
        # In units of the range 2 B of a reward.
        gap = float(threshold[number, size] / (2 * limit[number, size]))
        epochs.append(family.Epoch(start, int(pulls[number, size]), gap, size))
        start = end
    limits = [float(limit[n, e.size]) for n, e in enumerate(epochs, start=1)]
    # The noise of a sum of n reports is about sqrt(2 n) times that of one release.
    local = algorithm.claim.observe == "reports"
    precision = algorithm.epsilon / (math.sqrt(2 * epochs[0].pulls) if local else 1.0)
    found = family.near_threshold(k, algorithm.horizon, precision, epochs)
    return [_widened(pair, [e.start for e in epochs], limits) for pair in found]


def _widened(pair: TablePair, starts: Sequence[int], limits: Sequence[float]) -> TablePair:
    """A pair of rewards in [0, 1] as one of rewards in [-B, B], with the B of each epoch."""
    which = np.searchsorted(np.array(starts), np.arange(len(pair.left)), side="right") - 1
    limit = np.array(limits)[which]
    table = limit[:, None] * (2 * pair.left - 1)
    most = max(limits)
    value = float(limit[pair.round] * (2 * pair.value - 1))
    return TablePair(table, pair.round, pair.arm, value, (-most, most))


def outside(algorithm: Any) -> TablePair:
    """A reward far outside the truncation moves to the other side; it must cost nothing."""
    limit = algorithm.search_bounds[1]
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    table[0, 0] = -4 * limit
    return TablePair(table, 0, 0, 4 * limit, (-4 * limit, 4 * limit))


# ---------------------------------------------------------------- bounds


def pulls_bound(gaps: FloatArray, algorithm: Any) -> FloatArray:
    """Pulls of arms with these gaps, w.p. 1 - beta: all epochs up to the first with D <= gap.

    The threshold is D/2 or a little less and covers the errors of two means, so that an arm whose gap is
    D or more goes in that epoch at the latest.
    """
    rule = original(algorithm)
    epochs = np.ceil(np.log2(1 / np.minimum(gaps, 1.0))).astype(int)
    number = np.maximum(epochs, 1)
    pulls, _, _ = rule.epochs(np.float64(rule.n_arms), np.arange(1, number.max() + 1, dtype=np.float64))
    return np.asarray(np.cumsum(pulls)[number - 1], dtype=np.float64)


def regret_bound(gaps: FloatArray, algorithm: Any) -> float:
    """Mean regret: the gaps times their bound on pulls, and beta T times the largest gap."""
    bad = gaps[gaps > 0]
    rule = original(algorithm)
    return float(bad @ pulls_bound(bad, rule) + float(rule.beta or 0.0) * rule.horizon * bad.max())


# ---------------------------------------------------------------- mutants


class Untruncated:
    """Mixed in: the rewards themselves are summed; the noise is that of truncated ones."""

    def query(self, state: Any) -> Query:
        """Asks for plain sums."""
        this: Any = super()
        query: Query = this.query(state)
        return replace(query, ask=None)


class Hasty:
    """Mixed in: removes every arm but the one with the largest noisy mean."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """Any gap is enough."""
        this: Any = super()
        return np.asarray(this.removed(state, 1e9 * released))


class Inverted:
    """Mixed in: removes the arms far above the smallest mean."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """The comparison is turned round."""
        this: Any = super()
        return np.asarray(this.removed(state, -released))


def mutants(cls: type[Any], *, local: bool = False) -> list[Mutant]:
    """Mutants of an algorithm of the family; the classes are made of `cls` and a mixin.

    Reused noise is left out of the local model: there an epoch that keeps all arms needs very many reports.
    """

    def mixed(mixin: type[Any]) -> Any:
        broken: Any = type(mixin.__name__, (mixin, cls), {"__module__": __name__, "__doc__": mixin.__doc__})
        return lambda algorithm: broken(**algorithm.parameters)

    def arms(algorithm: Any) -> int:
        return int(original(algorithm).n_arms)

    found = [
        HALF_NOISE,
        Mutant(
            "one draw for all arms",
            "the same noise is added to every arm, so that it cancels where means are compared",
            lambda algorithm: AlteredNoise(algorithm, reslot=lambda slot: slot // arms(algorithm)),
        ),
        Mutant(
            "no forgetting",
            "means are over all epochs, so that a reward enters several releases",
            mixed(family.NoForgetting),
        ),
        noise_times(0.0, "raw comparison", "arms are removed by exact means"),
        Mutant(
            "noise of means on sums",
            "sums get noise that is divided by the number of pulls",
            mixed(family.NoiseOfMeans),
        ),
        Mutant(
            "one draw for all epochs",
            "an arm gets the same noise in every epoch, so that differences of its sums are exact",
            lambda algorithm: AlteredNoise(algorithm, reslot=lambda slot: slot % arms(algorithm)),
        ),
        Mutant(
            "no truncation",
            "rewards are summed as they are, with the noise that truncated ones need",
            mixed(Untruncated),
        ),
        Mutant(
            "hasty",
            "every arm but the one that looks best is removed after the first epoch",
            mixed(Hasty),
            "regret",
        ),
        Mutant("inverted", "the best arms are removed", mixed(Inverted), "regret"),
    ]
    return [m for m in found if not (local and m.name == "one draw for all epochs")]
