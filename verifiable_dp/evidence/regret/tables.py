"""Tables of regret: two algorithms beside each other, the price of privacy, algorithms on hard instances.

A table promises nothing, so that no verdict on its record follows from it; all that it says follows from the
recorded n, means and standard deviations, by the judges below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check, Scales, judge, judged
from verifiable_dp.evidence.regret.judges import ALPHA, _moments, _plain, _ratio_scales, _t_limit, _welch

CONFIDENCE = 0.99  # of all intervals of a table together
PER_ROW = 3  # intervals: two means and their difference
NEITHER = "neither"


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
        n, mean, sd = _of_runs(name, values)
        found |= {f"n_{name}": n, f"mean_{name}": mean, f"sd_{name}": sd}
    plain: JsonDict = _plain(found)
    return plain


def _of_runs(name: str, values: npt.ArrayLike) -> tuple[int, float, float]:
    """n, mean and standard deviation of two runs or more."""
    n, mean, sd = _moments(name, values)
    if n < 2:
        raise InputError(f"{name} must hold at least two runs, got {n}")
    return n, mean, sd


def _by_row(of_row: Scales) -> Scales:
    """Scales of a table from those of its rows."""

    def scales(statistics: Json, result: Json) -> Json:
        rows = [of_row(*both) for both in zip(statistics["rows"], result["rows"], strict=True)]
        return {part: {"rows": [row[part] for row in rows]} for part in ("statistics", "result")}

    return scales


def _mean_limits(entry: Json, side: str) -> float:
    """Scale of the limits of a mean: the mean and its standard error; `side` ends the names."""
    error = float(entry[f"sd{side}"]) / math.sqrt(int(entry[f"n{side}"]))
    return abs(float(entry[f"mean{side}"])) + error


def _two_means(entry: Json, result: Json) -> Json:
    """Scales of a row with two means: of their limits, and of their difference, which cancels."""
    sides = {side: _mean_limits(entry, f"_{side}") for side in "ab"}
    found = {f"{limit}_{side}": size for side, size in sides.items() for limit in ("lower", "upper")}
    if "ratio" in result:
        found |= _ratio_scales(result)
    else:
        found |= dict.fromkeys(("difference", "lower", "upper"), sum(sides.values()))
    return {"statistics": {f"sd_{side}": size for side, size in sides.items()}, "result": found}


def _one_mean(entry: Json, result: Json) -> Json:
    """Scales of a row with one mean."""
    size = _mean_limits(entry, "")
    return {"statistics": {"sd": size}, "result": {"lower": size, "upper": size}}


def _rows_as_check(name: str, kind: str, rows: Sequence[Json], **about: object) -> Check:
    """The check of a table with its rows; refuses one without rows."""
    if not rows:
        raise InputError("rows must hold at least one row, got none")
    return Check.of(name, kind, _plain({**about, "confidence": CONFIDENCE, "rows": list(rows)}))


def _upper(statistics: Json, intervals: int) -> float:
    """One-sided level of each limit, so that all two-sided intervals together have the confidence."""
    return 1 - (1 - float(statistics["confidence"])) / (2 * intervals)


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
    return _rows_as_check(name, "table", rows, **about, horizon=horizon, order=order)


@judge("table", _by_row(_two_means))
def _judge_table(statistics: Json) -> JsonDict:
    """Student t intervals of the means, Welch's of their difference, all at Bonferroni's level.

    Zero variance, where all runs agree, is accepted.
    """
    rows = statistics["rows"]
    intervals = PER_ROW * len(rows)
    upper = _upper(statistics, intervals)
    judged = [_judge_row(entry, statistics, upper) for entry in rows]
    return {"intervals": intervals, "level": 2 * upper - 1, "rows": judged}


def _judge_row(entry: Json, statistics: Json, upper: float) -> JsonDict:
    """Intervals, who wins, the floor, and regrets as its multiples; `upper` is the one-sided level."""
    means = {side: float(entry[f"mean_{side}"]) for side in "ab"}
    counts = (int(entry["n_a"]), int(entry["n_b"]))
    variances = (float(entry["sd_a"]) ** 2 / counts[0], float(entry["sd_b"]) ** 2 / counts[1])
    found: JsonDict = {}
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


# ---------------------------------------------------------------- the price of privacy


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
    return _rows_as_check(name, "price", rows, claim=claim, caption=caption)


@judge("price", _by_row(_two_means))
def _judge_prices(statistics: Json) -> JsonDict:
    """Student t intervals of the means and of the log ratio, all at Bonferroni's level."""
    rows = statistics["rows"]
    intervals = PER_ROW * len(rows)
    upper = _upper(statistics, intervals)
    return {"intervals": intervals, "level": 2 * upper - 1, "rows": [_judge_price(e, upper) for e in rows]}


def _judge_price(entry: Json, upper: float) -> JsonDict:
    counts, relative = (int(entry["n_a"]), int(entry["n_b"])), []
    found: JsonDict = {}
    for side, n in zip("ab", counts, strict=True):
        mean, error = float(entry[f"mean_{side}"]), float(entry[f"sd_{side}"]) / math.sqrt(n)
        found[f"lower_{side}"] = _t_limit(mean, error, n - 1, 1 - upper)
        found[f"upper_{side}"] = _t_limit(mean, error, n - 1, upper)
        relative.append((error / mean) ** 2)
    error, df = _welch((relative[0], relative[1]), counts)
    spread = _t_limit(0.0, error, df, upper)
    ratio = float(entry["mean_a"]) / float(entry["mean_b"])
    return {**found, "ratio": ratio, "lower": ratio * math.exp(-spread), "upper": ratio * math.exp(spread)}


# ---------------------------------------------------------------- lower bounds


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
    n, mean, sd = _of_runs("values", values)
    plain: JsonDict = _plain(
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
    return _rows_as_check(name, "floors", rows, **about)


@judge("floors", _by_row(_one_mean))
def _judge_floors(statistics: Json) -> JsonDict:
    """Student t intervals at Bonferroni's level, and in each row what `regret.mean_at_least` makes of it."""
    rows = statistics["rows"]
    upper = _upper(statistics, len(rows))
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
                "lower": _t_limit(mean, error, n - 1, 1 - upper),
                "upper": _t_limit(mean, error, n - 1, upper),
                "times": mean / float(entry["bound"]),
                "verdict": single["verdict"],
            }
        )
    return {"intervals": len(rows), "level": 2 * upper - 1, "rows": found}
