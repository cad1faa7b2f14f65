"""Tables of regret: two algorithms beside each other, the price of privacy, algorithms on hard instances.

A table promises nothing, so that no verdict on its record follows from it; all that it says follows from the
recorded n, means and standard deviations, by the judges in `table`, `price` and `floors`. Here is what those
share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy.typing as npt

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check, Scales
from verifiable_dp.evidence.regret.common import as_plain, moments, ratio_scales

CONFIDENCE = 0.99  # of all intervals of a table together
PER_ROW = 3  # intervals: two means and their difference


def row(a: npt.ArrayLike, b: npt.ArrayLike, **description: object) -> JsonDict:
    """One row from the regrets of both algorithms on independent runs, (n_a,) and (n_b,).

    Parameters
    ----------
    a, b
        Regret by run, in units of reward.
    **description
        ``instance``, ``kind`` and ``size`` of outliers, ``contamination`` (alpha), ``gap``, ``equal``
        (regret where arms are played alike), ``resolution`` (gap above which algorithm a is proved to tell
        arms apart by the horizon; None if there is none), ``first`` (round at which algorithm b removes arms
        for the first time).

    Raises
    ------
    InputError
        If a sample has fewer than two runs or a number is not finite.
    """
    found = dict(description)
    for name, values in (("a", a), ("b", b)):
        n, mean, sd = of_runs(name, values)
        found |= {f"n_{name}": n, f"mean_{name}": mean, f"sd_{name}": sd}
    plain: JsonDict = as_plain(found)
    return plain


def of_runs(name: str, values: npt.ArrayLike) -> tuple[int, float, float]:
    """n, mean and standard deviation of two runs or more."""
    n, mean, sd = moments(name, values)
    if n < 2:
        raise InputError(f"{name} must contain at least two runs, got {n}")
    return n, mean, sd


def by_row(of_row: Scales) -> Scales:
    """Scales of a table from those of its rows."""

    def scales(statistics: Json, result: Json) -> Json:
        rows = [of_row(*both) for both in zip(statistics["rows"], result["rows"], strict=True)]
        return {part: {"rows": [row[part] for row in rows]} for part in ("statistics", "result")}

    return scales


def mean_limits(entry: Json, side: str) -> float:
    """Scale of the limits of a mean: the mean and its standard error; `side` ends the names."""
    error = float(entry[f"sd{side}"]) / math.sqrt(int(entry[f"n{side}"]))
    return abs(float(entry[f"mean{side}"])) + error


def two_means(entry: Json, result: Json) -> Json:
    """Scales of a row with two means: of their limits, and of their difference, which cancels."""
    sides = {side: mean_limits(entry, f"_{side}") for side in "ab"}
    found = {f"{limit}_{side}": size for side, size in sides.items() for limit in ("lower", "upper")}
    if "ratio" in result:
        found |= ratio_scales(result)
    else:
        found |= dict.fromkeys(("difference", "lower", "upper"), sum(sides.values()))
    return {"statistics": {f"sd_{side}": size for side, size in sides.items()}, "result": found}


def rows_as_check(name: str, kind: str, rows: Sequence[Json], **about: object) -> Check:
    """The check of a table with its rows; refuses one without rows."""
    if not rows:
        raise InputError("rows must contain at least one row, got none")
    return Check.of(name, kind, as_plain({**about, "confidence": CONFIDENCE, "rows": list(rows)}))


def upper_level(statistics: Json, intervals: int) -> float:
    """One-sided level of each limit, so that all two-sided intervals together have the confidence."""
    return 1 - (1 - float(statistics["confidence"])) / (2 * intervals)


def joined(numbers: Json, result: Json) -> list[JsonDict]:
    """Rows with what follows from each."""
    return [{**row, **found} for row, found in zip(numbers["rows"], result["rows"], strict=True)]


def groups(rows: Iterable[Json], key: str) -> dict[str, list[Json]]:
    """Rows by the value of a column, in order of appearance."""
    found: dict[str, list[Json]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found
