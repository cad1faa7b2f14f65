"""Do all runs of a call have one law, wherever in the call they stand and however many it makes?

A bound, or a test, of some runs speaks for others only if they do. Runs of several calls that stand at one
place are independent of each other, so that an exact test compares them with all the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import AtLeastOne, Count, Probability, Recorded, Verdict, said
from verifiable_dp.evidence.rounding import of_p_value
from verifiable_dp.evidence.words import p_value

KIND, NAME = "positions", "runs of one call"
SIZES = (1, 2, 3, 4, 5, 8, 16)  # of calls that are always compared
CALLS = 64  # of each size
_LEVEL = 1e-6
_CUTS = (0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98)  # like from both ends
_STRIDES = range(2, 9)

# Number of the first call, calls, runs of each -> numbers (calls, runs, columns).
Draw = Callable[[int, int, int], FloatArray]
_AT_ONCE = 1 << 16  # runs of several calls that are asked for together


class PositionsStatistics(Recorded, frozen=True):
    """Hits of the runs that differ most from all others, and hits of the others."""

    sizes: Annotated[
        tuple[AtLeastOne, ...], said("Runs made by a call; the test compares every position in every call.")
    ]
    calls: Annotated[AtLeastOne, said("Of each size.")]
    where: Annotated[str, said("The runs that differ most from all others.")]
    k1: Count
    n1: Count
    k0: Count
    n0: Count
    tests: Annotated[AtLeastOne, said("Number of comparisons that share the error level.")]
    level: Probability


class PositionsResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    p_value: Probability
    holds: Annotated[
        bool, said("Whether all runs of a call have the same distribution, as far as the test can tell.")
    ]


POSITIONS = Kind(
    KIND,
    "privacy",
    "exact tests of whether all runs of a call have the same distribution",
    short="the comparison of runs",
    rank=70,
    counts=True,
    statistics=PositionsStatistics,
    result=PositionsResult,
)


@dataclass(frozen=True)
class _Group:
    """Runs that are compared with all others: where they stand, hits (features,), how many they are.

    `single`: whether they have one place of calls of one size.
    """

    words: str
    hits: IntArray
    runs: int
    single: bool = False


def check(draw: Draw, sizes: Sequence[int], strides: Sequence[int] = ()) -> Check:
    """Compare runs by place and by size of call.

    Parameters
    ----------
    draw
        Makes calls and says in numbers how their runs came out.
    sizes
        Of calls; every place of the largest is looked at.
    strides
        Steps, in addition to small ones, by which runs are taken together.
    """
    (pilot,), largest = draw(0, 1, max(256, max(sizes))), max(sizes)
    cuts = np.quantile(pilot, _CUTS, axis=0)  # (cuts, columns)
    groups: list[_Group] = []
    number = 1
    for size in sizes:
        hits: IntArray = np.zeros((size, 1), np.int64)
        step = max(1, _AT_ONCE // size)
        for done in range(0, CALLS, step):
            calls = min(step, CALLS - done)
            hits = hits + _features(draw(number, calls, size), cuts).sum(axis=0)
            number += calls
        groups += [
            _Group(f"run {place + 1} of calls for {size}", hits[place], CALLS, single=True)
            for place in range(size)
        ]
        if size == largest:
            for stride in sorted({*_STRIDES, *strides}):
                parts = (hits[first::stride] for first in range(min(stride, size)))
                groups += [
                    _Group(f"every {stride}th run from run {first + 1}", part.sum(axis=0), CALLS * len(part))
                    for first, part in enumerate(parts)
                    if len(part) > 1
                ]
    singles = [group for group in groups if group.single]
    total, runs = sum(g.hits for g in singles), sum(g.runs for g in singles)
    worst, column = _worst(groups, np.asarray(total), runs)
    k1 = int(worst.hits[column])
    return Check.of(
        NAME,
        KIND,
        {
            "sizes": list(sizes),
            "calls": CALLS,
            "where": worst.words,
            "k1": k1,
            "n1": worst.runs,
            "k0": int(np.asarray(total)[column]) - k1,
            "n0": runs - worst.runs,
            "tests": len(groups) * len(np.asarray(total)),
            "level": _LEVEL,
        },
    )


def _features(values: FloatArray, cuts: FloatArray) -> BoolArray:
    """Whether numbers (..., columns) lie above each cut, below it, and within two; (..., features)."""
    above, below = values[..., None, :] > cuts, values[..., None, :] < cuts
    within = ~(below | above[..., ::-1, :])[..., : len(cuts) // 2, :]
    return np.concatenate([above, below, within], axis=-2).reshape(*values.shape[:-1], -1)


def _worst(groups: Sequence[_Group], total: IntArray, runs: int) -> tuple[_Group, int]:
    """The group and the feature that are farthest from all others, by their relative entropy."""
    hits = np.stack([group.hits for group in groups])
    sizes = np.array([group.runs for group in groups])[:, None]
    share, pooled = hits / sizes, np.broadcast_to((total + 0.5) / (runs + 1), hits.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(share > 0, share * np.log(share / pooled), 0.0)
        apart += np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - pooled)), 0.0)
    place, column = np.unravel_index(int(np.argmax(sizes * apart)), hits.shape)
    return groups[int(place)], int(column)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def fisher(k1: int, n1: int, k0: int, n0: int) -> float:
    """Exact two-sided p-value that `k1` of `n1` and `k0` of `n0` have one chance: twice the smaller tail."""
    hits, runs = k1 + k0, n1 + n0
    low, high = max(0, hits - n0), min(n1, hits)

    def tail(values: range) -> float:
        whole = _log_choose(runs, hits)
        return math.fsum(math.exp(_log_choose(n1, k) + _log_choose(n0, hits - k) - whole) for k in values)

    return min(1.0, 2 * min(tail(range(low, k1 + 1)), tail(range(k1, high + 1))))


def _scales(statistics: Json, result: Json) -> Json:
    return {"result": {"p_value": of_p_value(float(result["p_value"]))}}


@POSITIONS.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """Holds unless some runs are distributed differently from the rest; that alone refutes no promise."""
    counts = (int(statistics[name]) for name in ("k1", "n1", "k0", "n0"))
    found = min(1.0, fisher(*counts) * int(statistics["tests"]))
    holds = found > float(statistics["level"])
    return {"verdict": "not_refuted" if holds else "inconclusive", "p_value": found, "holds": holds}


@POSITIONS.worded_by
def _in_words(numbers: Json, result: Json) -> str:
    sizes = ", ".join(map(str, numbers["sizes"]))
    said = (
        "no position stands out" if result["holds"] else "some runs are distributed differently from the rest"
    )
    return (
        f"{said}: {numbers['calls']} calls for each of {sizes} runs; largest difference: {numbers['where']}, "
        f"{numbers['k1']} of {numbers['n1']} against {numbers['k0']} of {numbers['n0']}, p-value "
        f"{p_value(float(result['p_value']))}"
    )
