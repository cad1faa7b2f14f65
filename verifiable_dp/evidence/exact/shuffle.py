"""Rung 2 of the shuffle model: bounds on delta of each batch of shuffled reports, without sampling.

What a batch is, is read off the algorithm: the source of noise writes down how many reports were asked for
at which scale. The upper bound on delta holds for every randomiser (the reduction to clones), the lower one
is the hockey-stick divergence of how many Laplace reports exceed a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import Draw, Noise, Seeded
from verifiable_dp.core.validate import FloatArray, Json, JsonDict
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import (
    AtDelta,
    AtLeastOne,
    Delta,
    Loss,
    Positive,
    Probability,
    Recorded,
    Size,
    Verdict,
    said,
)
from verifiable_dp.evidence.rounding import of_p_value, searched
from verifiable_dp.evidence.words import digits

_SHARES = (0.999, 0.99, 0.9, 0.75, 0.5, 0.25, 0.125)  # of eps0, where a threshold is looked for
_NOTHING = 1e-12  # a delta below it is rounding: counts of 1e6 reports are right up to about 1e-14


class ShuffleStatistics(Recorded, frozen=True):
    """A batch of shuffled reports, and the claim."""

    batch: AtLeastOne
    clients: Annotated[AtLeastOne, said("Reports of the batch.")]
    crowd: Annotated[AtLeastOne, said("Reports among which each is hidden.")]
    scale: Annotated[Size, said("Of the Laplace noise of a report.")]
    range: Annotated[Positive, said("Largest change of a reward.")]
    epsilon: Positive
    delta: Delta


class ShuffleResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    local_epsilon: Annotated[Loss, said("Epsilon of one report: range / scale.")]
    delta_lower: Annotated[
        Probability, said("Lower bound on delta, from the count of reports above the threshold.")
    ]
    delta_upper: Annotated[Probability, said("Upper bound on delta, by the reduction to clones.")]
    threshold: float
    epsilon_lower: AtDelta
    epsilon_upper: AtDelta


SHUFFLE = Kind(
    "shuffle",
    "privacy",
    "bounds on delta of a shuffled batch: reduction to clones, counts above a threshold",
    "Feldman, McMillan & Talwar, Hiding Among the Clones, FOCS 2021",
    short="exact bounds",
    rank=40,
    counts=True,
    statistics=ShuffleStatistics,
    result=ShuffleResult,
)


@dataclass(frozen=True)
class ShuffledBatch:
    """Reports that a shuffler mixes.

    Parameters
    ----------
    number
        Of the batch, from 1.
    clients
        Reports in the batch.
    crowd
        Reports among which each one is hidden: `clients` if the shuffler mixes all of them.
    scale
        Least scale of their Laplace noise; 0 for exact reports.
    """

    number: int
    clients: int
    crowd: int
    scale: float


@dataclass(frozen=True)
class LossMeter:
    """Passes noise on and writes down the least scale of the reports of each run.

    Releases that are not sums of reports carry no noise of the clients: scale 0.
    """

    inner: Noise = field(default_factory=lambda: Seeded(0))
    scales: dict[int, float] = field(default_factory=dict)

    def __call__(self, draw: Draw) -> FloatArray:
        """The answer of `inner`."""
        if draw.hidden is None:
            where = draw.where if draw.count is None else draw.where & (draw.count > 0)
            scale = 0 * draw.scale if draw.count is None else draw.scale
            for row in np.flatnonzero(where.any(axis=1)).tolist():
                least = float(scale[row][where[row]].min())
                key = int(draw.run[row])
                self.scales[key] = min(self.scales.get(key, np.inf), least)
        return self.inner(draw)


def check(batch: ShuffledBatch, claim: PrivacyClaim, bounds: tuple[float, float]) -> Check:
    """Bounds on delta of a batch at the claimed epsilon.

    Parameters
    ----------
    batch
        As measured.
    claim
        (epsilon, delta) of the shuffled reports.
    bounds
        Range of the rewards.
    """
    numbers = {
        "batch": batch.number,
        "clients": batch.clients,
        "crowd": batch.crowd,
        "scale": batch.scale,
        "range": bounds[1] - bounds[0],
        "epsilon": claim.epsilon,
        "delta": claim.delta,
    }
    return Check.of(f"shuffle, batch {batch.number} of {batch.clients} reports", "shuffle", numbers)


def _scales(statistics: Json, result: Json) -> Json:
    """Scales: for deltas the claimed one, for epsilons what the search finds them to."""
    local, delta = float(result["local_epsilon"]), float(statistics["delta"])
    found = dict.fromkeys(("epsilon_lower", "epsilon_upper"), searched(shuffle.SEARCHED * local))
    deltas = {key: delta + of_p_value(float(result[key])) for key in ("delta_lower", "delta_upper")}
    return {"result": {**found, **deltas}}


@SHUFFLE.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """Refuted if the lower bound exceeds delta, not refuted if the upper one does not."""
    epsilon, delta = float(statistics["epsilon"]), float(statistics["delta"])
    crowd, scale = int(statistics["crowd"]), 2 * float(statistics["scale"]) / float(statistics["range"])
    if scale == 0:
        return {
            "verdict": "refuted" if delta < 1 else "not_refuted",
            "local_epsilon": "inf",
            "delta_lower": 1.0,
            "delta_upper": 1.0,
            "threshold": 0.0,
            "epsilon_lower": "inf",
            "epsilon_upper": "inf",
        }
    local = 2 / scale
    lower, threshold = shuffle.worst_threshold(crowd, scale, epsilon)
    upper = shuffle.clones_delta(crowd, local, epsilon)
    if not exceeds(local, epsilon):
        lower = upper = 0.0
    if lower <= _NOTHING:
        lower, threshold = 0.0, _telling(crowd, scale, local, delta)
    undecided = "not_refuted" if upper <= delta else "inconclusive"
    return {
        "verdict": "refuted" if lower > delta + _NOTHING else undecided,
        "local_epsilon": local,
        "delta_lower": lower,
        "delta_upper": upper,
        "threshold": threshold,
        "epsilon_lower": shuffle.largest_epsilon(
            lambda level: shuffle.laplace_delta(crowd, scale, level, threshold) - _NOTHING, delta, local
        ),
        "epsilon_upper": shuffle.least_epsilon(
            lambda level: shuffle.clones_delta(crowd, local, level), delta, local
        ),
    }


@SHUFFLE.worded_by
def _shuffle_in_words(numbers: Json, result: Json) -> str:
    between = f"delta between {digits(result['delta_lower'])} and {digits(result['delta_upper'])}"
    return (
        f"{between} at epsilon {digits(numbers['epsilon'])}, claimed {digits(numbers['delta'])}; one report "
        f"alone has epsilon {digits(result['local_epsilon'])}"
    )


def _telling(crowd: int, scale: float, local: float, delta: float) -> float:
    """The threshold that shows most at the largest of some epsilons at which one shows more than delta.

    Where nothing is to be seen at the claim, only rounding would choose between thresholds there.
    """
    for share in _SHARES:
        found, threshold = shuffle.worst_threshold(crowd, scale, share * local)
        if found > delta + _NOTHING:
            return threshold
    return 0.0


def local_epsilon(checks: Sequence[Check]) -> float:
    """The largest eps0 of a report of any batch, infinite for exact ones."""
    return max(float(c.result["local_epsilon"]) for c in checks)


def epsilon_upper(checks: Sequence[Check]) -> float:
    """The least epsilon at which all upper bounds keep delta."""
    return max(float(c.result["epsilon_upper"]) for c in checks)


def counterexample(found: Check, pair: Json) -> JsonDict:
    """What refutes, in plain values; `pair` holds the inputs."""
    numbers, result = found.statistics, found.result
    return {
        "check": found.name,
        "pair": dict(pair),
        "event": (
            f"the number of the {numbers['crowd']} shuffled reports above {float(result['threshold']):g}, "
            f"noise of scale {float(numbers['scale']):.6g}"
        ),
        "delta_lower": plain(float(result["delta_lower"])),
        "epsilon_lower": plain(float(result["epsilon_lower"])),
    }
