"""Two algorithms beside each other: who has the smaller regret, and how it compares with a floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from msgspec import Meta

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import (
    AtLeastOne,
    AtLeastTwo,
    ByRow,
    Count,
    Delta,
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

NEITHER = "neither"
_ALIKE = 1e-3  # regret within a thousandth of that of equal play counts as equal play


class TableRow(Recorded, frozen=True):
    """Regret of two algorithms, a and b, on one instance."""

    instance: Text
    kind: Annotated[Text, said("Of outliers.")]
    contamination: Annotated[Delta, said("alpha")]
    size: Annotated[Size, said("Of outliers.")]
    gap: Positive
    equal: Annotated[Positive, said("Regret if all arms are played equally often.")]
    resolution: Annotated[
        Positive | None,
        said("Gap above which the proof shows that a tells arms apart by the horizon: 4 beta."),
    ]
    first: Annotated[Count, said("Round at which b removes arms for the first time.")]
    n_a: AtLeastTwo
    mean_a: Size
    sd_a: Size
    n_b: AtLeastTwo
    mean_b: Size
    sd_b: Size


class TableStatistics(ByRow, frozen=True):
    """What was measured."""

    claim: Annotated[Text, said("Where the floor comes from.")]
    algorithms: Annotated[
        tuple[Text, Text],
        Meta(description="a and b.", extra_json_schema={"uniqueItems": True}),
    ]
    horizon: AtLeastOne
    order: Annotated[float, Meta(gt=1, description="k: the floor is T alpha^(1 - 1/k).")]
    rows: Annotated[tuple[TableRow, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        if len({*self.algorithms}) < 2:
            raise ValueError("algorithms must differ")


class TableRowResult(Recorded, frozen=True):
    """What follows of a row."""

    lower_a: float
    upper_a: float
    lower_b: float
    upper_b: float
    difference: Annotated[float, said("Mean regret of a less that of b.")]
    lower: float
    upper: float
    wins: Annotated[
        Text,
        said("Which regret is smaller; neither if the interval of the difference contains 0."),
    ]
    floor: Size
    floors_a: Annotated[float | None, said("Mean regret over the floor; null without outliers.")]
    floors_b: float | None
    separable: Annotated[bool, said("Whether the gap exceeds 4 beta.")]
    acts: Annotated[bool, said("Whether b removes arms by the horizon at all.")]


class TableResult(Recorded, frozen=True):
    """What follows."""

    intervals: Annotated[
        Count, said("Intervals that share the error: two means and a difference in each row.")
    ]
    level: Level
    rows: Annotated[tuple[TableRowResult, ...], Meta(min_length=1)]


TABLE = Kind(
    "table",
    "table",
    rank=30,
    cells={
        "instance": "instance",
        "kind": "outliers",
        "contamination": "alpha",
        "wins": "smaller regret",
        "gap": "gap",
        "mean_a": "{0}: mean",
        "mean_b": "{1}: mean",
        "difference": "difference",
        "lower": "from",
        "upper": "to",
        "floor": "floor",
    },
    statistics=TableStatistics,
    result=TableResult,
)


def table(
    name: str,
    rows: Sequence[Json],
    *,
    claim: str,
    caption: str,
    algorithms: tuple[str, str],
    horizon: int,
    order: float,
) -> Check:
    """A table of `rows`, as a check of kind ``table``; a record keeps it apart from the checks.

    Parameters
    ----------
    name
        Begins with the claim.
    rows
        From `row`.
    claim
        Name of the claim that the floor comes from.
    caption
        What was played, how often and with which constants, in sentences.
    algorithms
        Names of a and b.
    horizon, order
        T and k: the floor is T alpha^(1 - 1/k).

    Raises
    ------
    InputError
        If there is no row.
    """
    about = {"claim": claim, "caption": caption, "algorithms": list(algorithms)}
    return rows_as_check(name, "table", rows, **about, horizon=horizon, order=order)


@TABLE.judged_by(by_row(two_means))
def _judge_table(statistics: Json) -> JsonDict:
    """Student t intervals of the means, Welch's of their difference, all at Bonferroni's level.

    Zero variance, where all runs agree, is accepted.
    """
    rows = statistics["rows"]
    intervals = PER_ROW * len(rows)
    upper = upper_level(statistics, intervals)
    judged = [_judge_row(entry, statistics, upper) for entry in rows]
    return {"intervals": intervals, "level": 2 * upper - 1, "rows": judged}


def _judge_row(entry: Json, statistics: Json, upper: float) -> JsonDict:
    """Intervals, who wins, the floor, and regrets as its multiples; `upper` is the one-sided level."""
    means = {side: float(entry[f"mean_{side}"]) for side in "ab"}
    counts = (int(entry["n_a"]), int(entry["n_b"]))
    variances = (float(entry["sd_a"]) ** 2 / counts[0], float(entry["sd_b"]) ** 2 / counts[1])
    found: JsonDict = {}
    for side, n, variance in zip("ab", counts, variances, strict=True):
        found[f"lower_{side}"] = t_limit(means[side], math.sqrt(variance), n - 1, 1 - upper)
        found[f"upper_{side}"] = t_limit(means[side], math.sqrt(variance), n - 1, upper)
    error, df = welch(variances, counts)
    difference = means["a"] - means["b"]
    low, high = t_limit(difference, error, df, 1 - upper), t_limit(difference, error, df, upper)
    first, second = statistics["algorithms"]
    floor = float(statistics["horizon"]) * float(entry["contamination"]) ** (
        1 - 1 / float(statistics["order"])
    )
    return {
        **found,
        "difference": difference,
        "lower": low,
        "upper": high,
        "wins": first if high < 0 else second if low > 0 else NEITHER,
        "floor": floor,
        "floors_a": means["a"] / floor if floor > 0 else None,
        "floors_b": means["b"] / floor if floor > 0 else None,
        "separable": entry["resolution"] is not None and float(entry["gap"]) > float(entry["resolution"]),
        "acts": int(entry["first"]) <= int(statistics["horizon"]),
    }


@TABLE.worded_by
def _who_wins_in_words(numbers: Json, result: Json) -> str:
    names = [row["wins"] for row in result["rows"]]
    words = [f"{name} wins {names.count(name)}" for name in numbers["algorithms"]]
    return f"{', '.join(words)} of {len(names)} rows"


def who_wins(table: Check) -> str:
    """In how many rows either algorithm has the smaller regret."""
    wins = [row["wins"] for row in joined(table.statistics, table.result)]
    first, second = table.statistics["algorithms"]
    return (
        f"Of {len(wins)} rows, {first} has the smaller clean regret in {wins.count(first)} and {second} in "
        f"{wins.count(second)}. In {wins.count(NEITHER)} of them, the interval of the difference contains 0."
    )


def where_they_win(table: Check) -> str:
    """Which rows these are."""
    rows = joined(table.statistics, table.result)
    won = groups(rows, "wins")
    heads = [(name, f"{name} has the smaller regret on") for name in table.statistics["algorithms"]]
    heads.append((NEITHER, "The interval contains 0 on"))
    return " ".join(f"{head} {_places(won[name], rows)}." for name, head in heads if name in won)


def against_the_floor(table: Check) -> str:
    """Whether the floor binds, and how the regret of the first algorithm grows beside it."""
    bad = [row for row in joined(table.statistics, table.result) if row["floor"] > 0]
    if not bad:
        return "No row has outliers, so the lower bound T alpha^(1-1/k) is 0."
    first, second = table.statistics["algorithms"]
    idle = [sum(row[f"mean_{side}"] < row["floor"] for row in bad) for side in "ab"]
    alphas = _list(sorted({row["contamination"] for row in bad}))
    return (
        "The lower bound T alpha^(1-1/k) holds for the worst gaps, not for every gap. This bound exceeds "
        f"the regret in {idle[0]} of {len(bad)} rows with outliers for {first}, and in {idle[1]} for "
        f"{second}. At alpha = {alphas}, the regret of {first}, divided by this lower bound, is at most "
        f"{_multiples(bad, _paid)}. The largest gap at which the proof does not tell the arms apart is 4 "
        f"beta. Its cost, divided by the lower bound, would be {_multiples(bad, _unseparated)}."
        f"{_steady(bad)}"
    )


def what_is_separated(table: Check) -> str:
    """Where the proofs separate no arms by T, and what is paid there."""
    rows = joined(table.statistics, table.result)
    first, second = table.statistics["algorithms"]
    close = [row for row in rows if not row["separable"]]
    alike = [row for row in close if _share(row) >= 1 - _ALIKE]
    less = [_share(row) for row in close if _share(row) < 1 - _ALIKE]
    late = [row for row in rows if not row["acts"]]
    worse = [sum(row[f"lower_{side}"] > row["equal"] * (1 + _ALIKE) for row in rows) for side in "ab"]
    saved = (
        f", and {len(less)} have between {min(less):.2g} and {max(less):.2g} times that regret"
        if less
        else ""
    )
    return (
        f"In {len(close)} rows, the gap is below 4 beta, so the proof does not show that {first} tells the "
        f"arms apart by T. Of these, {len(alike)} have the regret of playing all arms equally{saved}. In "
        f"{len(late)} rows, {second} does not finish an epoch by T. Because it removed the best arm, {first} "
        f"has more regret than playing all arms equally in {worse[0]} rows, and {second} in {worse[1]}."
    )


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _places(rows: Sequence[Json], every: Sequence[Json]) -> str:
    """Where the rows lie: instance, kinds of outliers, alphas."""
    whole, words = groups(every, "instance"), []
    for instance, found in groups(rows, "instance").items():
        if len(found) == len(whole[instance]):
            words.append(f"all of {instance}")
            continue
        kinds = [
            f"{kind} at {_list(row['contamination'] for row in some)}" if kind != "none" else "no outliers"
            for kind, some in groups(found, "kind").items()
        ]
        words.append(f"{instance} ({'; '.join(kinds)})")
    return ", ".join(words)


def _paid(row: Json) -> float:
    """Regret of the first algorithm in floors."""
    return float(row["floors_a"])


def _unseparated(row: Json) -> float:
    """Regret of equal play if the gap were 4 beta, in floors; infinite where no batch by T tells any gap."""
    if row["resolution"] is None:
        return math.inf
    return float(row["equal"] / row["gap"] * row["resolution"] / row["floor"])


def _largest(rows: Iterable[Json], of: Callable[[Json], float]) -> dict[str, list[float]]:
    """Largest value at each alpha, in ascending order, for each instance."""
    return {
        instance: [max(map(of, part)) for _, part in sorted(groups(some, "contamination").items())]
        for instance, some in groups(rows, "instance").items()
    }


def _multiples(rows: Sequence[Json], of: Callable[[Json], float]) -> str:
    return "; ".join(f"{_list(values)} on {instance}" for instance, values in _largest(rows, of).items())


def _steady(rows: Sequence[Json]) -> str:
    """How much the last multiple changes with alpha, and whether the regret keeps to it."""
    finite = [values for values in _largest(rows, _unseparated).values() if max(values) < math.inf]
    if not finite:
        return ""
    change = max(max(values) / min(values) for values in finite)
    over = sum(_paid(row) > _unseparated(row) * (1 + _ALIKE) for row in rows)
    said = f"Different alphas change that cost by a factor of at most {change:.3g}"
    return f" {said}, and the regret exceeds it in {over} rows."


def _share(row: Json) -> float:
    """Mean regret over that of equal play."""
    return float(row["mean_a"] / row["equal"])
