"""What a table of a record comes down to, in sentences that follow from its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.check import in_words, worded

_KINDS = ("table", "price", "floors")
_ALIKE = 1e-3  # regret within a thousandth of that of equal play counts as equal play


def is_table(check: Json) -> bool:
    """Whether a check is a table, which promises nothing and has no verdict."""
    return check["kind"] in _KINDS


def joined(table: Json) -> list[JsonDict]:
    """Rows with what follows from each."""
    statistics, result = table["statistics"], table["result"]
    return [{**row, **found} for row, found in zip(statistics["rows"], result["rows"], strict=True)]


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _by(rows: Iterable[Json], key: str) -> dict[str, list[Json]]:
    """Rows by the value of a column, in order of appearance."""
    found: dict[str, list[Json]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def _places(rows: Sequence[Json], every: Sequence[Json]) -> str:
    """Where the rows lie: instance, kinds of outliers, alphas."""
    whole, words = _by(every, "instance"), []
    for instance, found in _by(rows, "instance").items():
        if len(found) == len(whole[instance]):
            words.append(f"all of {instance}")
            continue
        kinds = [
            f"{kind} at {_list(row['contamination'] for row in some)}" if kind != "none" else "no outliers"
            for kind, some in _by(found, "kind").items()
        ]
        words.append(f"{instance} ({'; '.join(kinds)})")
    return ", ".join(words)


@worded("table")
def _who_wins_in_words(numbers: Json, result: Json) -> str:
    names = [row["wins"] for row in result["rows"]]
    words = [f"{name} wins {names.count(name)}" for name in numbers["algorithms"]]
    return f"{', '.join(words)} of {len(names)} rows"


def who_wins(table: Json) -> str:
    """In which rows either algorithm has the smaller regret."""
    rows = joined(table)
    parts = []
    for name in (*table["statistics"]["algorithms"], "neither"):
        won = [row for row in rows if row["wins"] == name]
        words = f"{name} in {len(won)}" if name != "neither" else f"In {len(won)} the interval holds 0"
        parts.append(words + (f": {_places(won, rows)}" if won else ""))
    return f"Smaller clean regret, of {len(rows)} rows: " + ". ".join(parts) + "."


def against_the_floor(table: Json) -> str:
    """Whether the floor binds, and how the regret of the first algorithm grows beside it."""
    bad = [row for row in joined(table) if row["floor"] > 0]
    if not bad:
        return "No row has outliers, so that the floor is 0."
    first, second = table["statistics"]["algorithms"]
    idle = [sum(row[f"mean_{side}"] < row["floor"] for row in bad) for side in "ab"]
    alphas = _list(sorted({row["contamination"] for row in bad}))
    return (
        "The floor T alpha^(1-1/k) is for the worst gaps and does not bind where it exceeds the regret: in "
        f"{idle[0]} of {len(bad)} rows with outliers that of {first}, in {idle[1]} that of {second}. "
        f"Largest multiple of it that {first} pays at alpha = {alphas}: {_multiples(bad, _paid)}. "
        "A gap of 4 beta, the largest that its proof leaves unseparated, would cost in floors "
        f"{_multiples(bad, _unseparated)}{_steady(bad)}."
    )


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
        instance: [max(map(of, part)) for _, part in sorted(_by(some, "contamination").items())]
        for instance, some in _by(rows, "instance").items()
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
    return (
        f": alpha changes that by a factor of {change:.3g} at most, and the regret exceeds it in {over} rows"
    )


def what_is_separated(table: Json) -> str:
    """Where the proofs separate no arms by T, and what is paid there."""
    rows = joined(table)
    first, second = table["statistics"]["algorithms"]
    close = [row for row in rows if not row["separable"]]
    alike = [row for row in close if _share(row, "a") >= 1 - _ALIKE]
    less = [_share(row, "a") for row in close if _share(row, "a") < 1 - _ALIKE]
    late = [row for row in rows if not row["acts"]]
    worse = [sum(row[f"lower_{side}"] > row["equal"] * (1 + _ALIKE) for row in rows) for side in "ab"]
    saved = f", {len(less)} between {min(less):.2g} and {max(less):.2g} of that" if less else ""
    return (
        f"In {len(close)} rows the gap is below 4 beta, so that no batch of {first} by T is proved to "
        f"separate the arms: {len(alike)} pay what equal play does{saved}. {second} ends no epoch by T in "
        f"{len(late)} rows. More than equal play, so that the best arm was removed, is paid by {first} in "
        f"{worse[0]} rows and by {second} in {worse[1]}."
    )


def _share(row: Json, side: str) -> float:
    """Mean regret over that of equal play."""
    return float(row[f"mean_{side}"] / row["equal"])


@worded("price")
def _price_in_words(numbers: Json, result: Json) -> str:
    """Range of the price of privacy by epsilon, over all instances and algorithms."""
    words = []
    for epsilon, rows in sorted(_by(joined({"statistics": numbers, "result": result}), "epsilon").items()):
        ratios = [row["ratio"] for row in rows]
        low, high = (f"{value:.3g}" for value in (min(ratios), max(ratios)))
        words.append(f"{low if low == high else f'{low} to {high}'} at epsilon = {epsilon:g}")
    return f"Regret with privacy over regret without: {'; '.join(words)}."


@worded("floors")
def _floors_in_words(numbers: Json, result: Json) -> str:
    """How far above the lower bound the algorithms stay."""
    rows = joined({"statistics": numbers, "result": result})
    verdicts = [row["verdict"] for row in rows]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    least = min(rows, key=lambda row: float(row["times"]))
    return (
        f"Lower bound on {numbers['measured']}: {counts}. Nearest to it comes "
        f"{least['algorithm']}, with {least['times']:.3g} times the bound."
    )


def reading(table: Json) -> list[str]:
    """Who wins where, what the floor makes of it, and why; computed from the rows alone."""
    if table["kind"] != "table":
        return [in_words(table)]
    return [who_wins(table), against_the_floor(table), what_is_separated(table)]
