"""Tables that hold two algorithms beside each other: who has the smaller regret, and how large a floor is.

A table promises nothing, so that no verdict follows from it; all else that it says follows from the recorded
n, means and standard deviations, by the judge below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from verifiable_dp import _validate
from verifiable_dp._validate import InputError
from verifiable_dp.evidence.check import Check, judge
from verifiable_dp.evidence.regret import _moments, _plain, _t_limit, _welch

CONFIDENCE = 0.99  # of all intervals of a table together
PER_ROW = 3  # intervals: two means and their difference
NEITHER = "neither"


def row(a: npt.ArrayLike, b: npt.ArrayLike, **description: Any) -> dict[str, Any]:
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
        n, mean, sd = _moments(name, values)
        if n < 2:
            raise InputError(f"{name} must hold at least two runs, got {n}")
        sample = np.asarray(values, dtype=np.float64)
        if sample.min() == sample.max():  # no spread from rounding
            mean, sd = float(sample[0]), 0.0
        found |= {f"n_{name}": n, f"mean_{name}": mean, f"sd_{name}": sd}
    plain: dict[str, Any] = _plain(found)
    return plain


def table(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    claim: str,
    caption: str,
    algorithms: tuple[str, str],
    horizon: int,
    order: float,
    confidence: float = CONFIDENCE,
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
    confidence
        Of all intervals together (Bonferroni).

    Raises
    ------
    InputError
        If there is no row or the confidence is not in (0, 1).
    """
    if not rows:
        raise InputError("rows must hold at least one row, got none")
    statistics = {
        "claim": claim,
        "caption": caption,
        "algorithms": list(algorithms),
        "horizon": horizon,
        "order": order,
        "confidence": _validate.probability("confidence", confidence),
        "rows": [dict(entry) for entry in rows],
    }
    return Check.of(name, "table", _plain(statistics))


@judge("table")
def _judge_table(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Student t intervals of the means, Welch's of their difference, all at Bonferroni's level.

    Runs that all agree (standard deviation 0) are taken at their word.
    """
    rows = statistics["rows"]
    intervals = PER_ROW * len(rows)
    upper = 1 - (1 - float(statistics["confidence"])) / (2 * intervals)
    judged = [_judge_row(entry, statistics, upper) for entry in rows]
    return {"intervals": intervals, "level": 2 * upper - 1, "rows": judged}


def _judge_row(entry: Mapping[str, Any], statistics: Mapping[str, Any], upper: float) -> dict[str, Any]:
    """Intervals, who wins, the floor, and regrets as its multiples; `upper` is the one-sided level."""
    means = {side: float(entry[f"mean_{side}"]) for side in "ab"}
    counts = (int(entry["n_a"]), int(entry["n_b"]))
    variances = (float(entry["sd_a"]) ** 2 / counts[0], float(entry["sd_b"]) ** 2 / counts[1])
    found: dict[str, Any] = {}
    for side, n, variance in zip("ab", counts, variances, strict=True):
        found[f"lower_{side}"] = _t_limit(means[side], math.sqrt(variance), n - 1, 1 - upper)
        found[f"upper_{side}"] = _t_limit(means[side], math.sqrt(variance), n - 1, upper)
    error, df = _welch(variances, counts)
    difference = means["a"] - means["b"]
    low, high = _t_limit(difference, error, df, 1 - upper), _t_limit(difference, error, df, upper)
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
