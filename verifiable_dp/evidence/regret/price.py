"""The price of privacy: regret of private algorithms over that of non-private ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import (
    AtLeastOne,
    AtLeastTwo,
    ByRow,
    Count,
    Level,
    Positive,
    Recorded,
    Size,
    Text,
    said,
)
from verifiable_dp.evidence.regret.common import t_limit, welch
from verifiable_dp.evidence.regret.rows import (
    PER_ROW,
    by_row,
    groups,
    joined,
    rows_as_check,
    two_means,
    upper_level,
)


class PriceRow(Recorded, frozen=True):
    """Regret of a private algorithm, a, and of one without privacy, b."""

    instance: Text
    private: Annotated[Text, said("Name of the private algorithm, a.")]
    free: Annotated[Text, said("Name of the algorithm without privacy, b.")]
    epsilon: Positive
    horizon: AtLeastOne
    n_a: AtLeastTwo
    mean_a: Positive
    sd_a: Size
    n_b: AtLeastTwo
    mean_b: Positive
    sd_b: Size


class PriceStatistics(ByRow, frozen=True):
    """What was measured."""

    claim: Text
    rows: Annotated[tuple[PriceRow, ...], Meta(min_length=1)]


class PriceRowResult(Recorded, frozen=True):
    """What follows of a row."""

    lower_a: float
    upper_a: float
    lower_b: float
    upper_b: float
    ratio: Annotated[Positive, said("Regret of a over that of b.")]
    lower: float
    upper: float


class PriceResult(Recorded, frozen=True):
    """What follows."""

    intervals: Annotated[Count, said("Intervals that share the error: two means and a ratio in each row.")]
    level: Level
    rows: Annotated[tuple[PriceRowResult, ...], Meta(min_length=1)]


PRICE = Kind(
    "price",
    "table",
    rank=10,
    cells={
        "instance": "instance",
        "epsilon": "epsilon",
        "private": "private",
        "free": "beside",
        "horizon": "horizon",
        "mean_a": "private: mean",
        "mean_b": "without privacy: mean",
        "ratio": "ratio",
        "lower": "from",
        "upper": "to",
    },
    statistics=PriceStatistics,
    result=PriceResult,
)


def prices(
    name: str,
    rows: Sequence[Json],
    *,
    claim: str,
    caption: str,
) -> Check:
    """Regret of private algorithms over that of non-private ones, as a check of kind ``price``.

    Parameters
    ----------
    name
        Begins with the claim.
    rows
        From `row`, a being private and b not, with ``instance``, ``private`` and ``free`` (names of the
        algorithms), ``epsilon`` and ``horizon``.
    claim
        Name of the claim that speaks of the private regret.
    caption
        What was played, how often and with which constants, in sentences.

    Raises
    ------
    InputError
        If there is no row, or a mean is not positive.
    """
    for entry in rows:
        if entry["mean_a"] <= 0 or entry["mean_b"] <= 0:
            raise InputError(f"rows must have means above 0, got {entry['mean_a']} and {entry['mean_b']}")
    return rows_as_check(name, "price", rows, claim=claim, caption=caption)


@PRICE.judged_by(by_row(two_means))
def _judge_prices(statistics: Json) -> JsonDict:
    """Student t intervals of the means and of the log ratio, all at Bonferroni's level."""
    rows = statistics["rows"]
    intervals = PER_ROW * len(rows)
    upper = upper_level(statistics, intervals)
    return {"intervals": intervals, "level": 2 * upper - 1, "rows": [_judge_price(e, upper) for e in rows]}


def _judge_price(entry: Json, upper: float) -> JsonDict:
    counts, relative = (int(entry["n_a"]), int(entry["n_b"])), []
    found: JsonDict = {}
    for side, n in zip("ab", counts, strict=True):
        mean, error = float(entry[f"mean_{side}"]), float(entry[f"sd_{side}"]) / math.sqrt(n)
        found[f"lower_{side}"] = t_limit(mean, error, n - 1, 1 - upper)
        found[f"upper_{side}"] = t_limit(mean, error, n - 1, upper)
        relative.append((error / mean) ** 2)
    error, df = welch((relative[0], relative[1]), counts)
    spread = t_limit(0.0, error, df, upper)
    ratio = float(entry["mean_a"]) / float(entry["mean_b"])
    return {**found, "ratio": ratio, "lower": ratio * math.exp(-spread), "upper": ratio * math.exp(spread)}


@PRICE.worded_by
def _price_in_words(numbers: Json, result: Json) -> str:
    """Range of the price of privacy by epsilon, over all instances and algorithms."""
    words = []
    for epsilon, rows in sorted(groups(joined(numbers, result), "epsilon").items()):
        ratios = [row["ratio"] for row in rows]
        low, high = (f"{value:.3g}" for value in (min(ratios), max(ratios)))
        words.append(f"{low if low == high else f'{low} to {high}'} at epsilon = {epsilon:g}")
    return f"Regret with privacy, divided by regret without: {'; '.join(words)}."
