"""Algorithms on the hard instances of a lower bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy.typing as npt
from msgspec import Meta

from verifiable_dp.core import validate
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind, judged
from verifiable_dp.evidence.fields import (
    AtLeastOne,
    AtLeastTwo,
    ByRow,
    Count,
    Level,
    Positive,
    Recorded,
    RegretVerdict,
    Size,
    Text,
    said,
)
from verifiable_dp.evidence.regret import mean_at_least  # noqa: F401 - its judge
from verifiable_dp.evidence.regret.common import ALPHA, as_plain, t_limit
from verifiable_dp.evidence.regret.rows import (
    by_row,
    joined,
    mean_limits,
    of_runs,
    rows_as_check,
    upper_level,
)


class FloorRow(Recorded, frozen=True):
    """Regret of an algorithm on a hard instance, and the least that any algorithm can have."""

    algorithm: Text
    instance: Text
    epsilon: Positive
    horizon: AtLeastOne
    bound: Positive
    n: AtLeastTwo
    mean: Size
    sd: Size


class FloorsStatistics(ByRow, frozen=True):
    """What was measured."""

    claim: Annotated[Text, said("Where the bound comes from.")]
    measured: Annotated[Text, said("What is bounded.")]
    rows: Annotated[tuple[FloorRow, ...], Meta(min_length=1)]


class FloorRowResult(Recorded, frozen=True):
    """What follows of a row."""

    lower: float
    upper: float
    times: Annotated[Size, said("Mean over the bound.")]
    verdict: RegretVerdict


class FloorsResult(Recorded, frozen=True):
    """What follows."""

    intervals: Annotated[Count, said("Intervals that share the error: one mean in each row.")]
    level: Level
    rows: Annotated[tuple[FloorRowResult, ...], Meta(min_length=1)]


FLOORS = Kind(
    "floors",
    "table",
    rank=20,
    cells={
        "algorithm": "algorithm",
        "instance": "instance",
        "epsilon": "epsilon",
        "horizon": "horizon",
        "n": "runs",
        "mean": "mean",
        "lower": "from",
        "upper": "to",
        "bound": "at least",
        "times": "mean / bound",
        "verdict": "verdict",
    },
    statistics=FloorsStatistics,
    result=FloorsResult,
)


def floor_row(values: npt.ArrayLike, *, bound: float, **description: object) -> JsonDict:
    """One row of `floors`: what an algorithm pays on a hard instance, (n,), and what every one must pay.

    Parameters
    ----------
    values
        Measurements by run; sums of two runs where the bound is on a sum.
    bound
        The lower bound on their expectation, above 0.
    **description
        ``algorithm``, ``instance``, ``epsilon`` and ``horizon``.

    Raises
    ------
    InputError
        If there are fewer than two runs, a number is not finite or the bound is not positive.
    """
    n, mean, sd = of_runs("values", values)
    plain: JsonDict = as_plain(
        {**description, "bound": validate.positive("bound", bound), "n": n, "mean": mean, "sd": sd}
    )
    return plain


def floors(
    name: str,
    rows: Sequence[Json],
    *,
    claim: str,
    caption: str,
    measured: str = "regret",
) -> Check:
    """Algorithms on the hard instances of a lower bound, as a check of kind ``floors``.

    Parameters
    ----------
    name
        Begins with the claim.
    rows
        From `floor_row`.
    claim
        Name of the claim that the bound comes from.
    caption
        What was played, how often and with which constants, in sentences.
    measured
        What is bounded, in words.

    Raises
    ------
    InputError
        If there is no row.
    """
    about = {"claim": claim, "caption": caption, "measured": measured}
    return rows_as_check(name, "floors", rows, **about)


def _one_mean(entry: Json, result: Json) -> Json:
    """Scales of a row with one mean."""
    size = mean_limits(entry, "")
    return {"statistics": {"sd": size}, "result": {"lower": size, "upper": size}}


@FLOORS.judged_by(by_row(_one_mean))
def _judge_floors(statistics: Json) -> JsonDict:
    """Student t intervals at Bonferroni's level, and in each row what `regret.mean_at_least` makes of it."""
    rows = statistics["rows"]
    upper = upper_level(statistics, len(rows))
    found = []
    for entry in rows:
        n, mean, error = (
            int(entry["n"]),
            float(entry["mean"]),
            float(entry["sd"]) / math.sqrt(int(entry["n"])),
        )
        single = judged("mean_at_least", {**entry, "least": 0.0, "alpha": ALPHA / len(rows)})
        found.append(
            {
                "lower": t_limit(mean, error, n - 1, 1 - upper),
                "upper": t_limit(mean, error, n - 1, upper),
                "times": mean / float(entry["bound"]),
                "verdict": single["verdict"],
            }
        )
    return {"intervals": len(rows), "level": 2 * upper - 1, "rows": found}


@FLOORS.worded_by
def _floors_in_words(numbers: Json, result: Json) -> str:
    """How far above the lower bound the algorithms stay."""
    rows = joined(numbers, result)
    verdicts = [row["verdict"] for row in rows]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    least = min(rows, key=lambda row: float(row["times"]))
    return (
        f"Lower bound on {numbers['measured']}: {counts}. The closest algorithm is {least['algorithm']}, "
        f"at {least['times']:.3g} times the bound."
    )
