"""Comparisons: "at least c times better"."""

from __future__ import annotations

import math

import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import AtLeastOne, Positive, RegretResult, RegretStatistics, Size
from verifiable_dp.evidence.regret.common import (
    LEVELS,
    STATED,
    as_plain,
    levels,
    loose,
    moments,
    ratio_scales,
    t_limit,
    t_p_value,
    welch,
)
from verifiable_dp.evidence.rounding import of_p_value
from verifiable_dp.evidence.words import digits, interval


class ComparisonStatistics(RegretStatistics, frozen=True, kw_only=True):
    """Two means, a and b, and how many times a the other is claimed to be."""

    n_a: AtLeastOne
    mean_a: Positive
    sd_a: Size
    n_b: AtLeastOne
    mean_b: Positive
    sd_b: Size
    factor: Positive


COMPARISON = Kind(
    "comparison",
    "regret",
    rank=40,
    numbers={
        "ratio": ("result", "ratio"),
        "lower": ("result", "lower"),
        "upper": ("result", "upper"),
        "claimed": ("statistics", "factor"),
    },
    statistics=ComparisonStatistics,
    result=RegretResult,
)


def comparison(
    name: str,
    better: npt.ArrayLike,
    worse: npt.ArrayLike,
    *,
    factor: float,
    **description: object,
) -> Check:
    """Check that the mean of `worse` is at least `factor` times that of `better`.

    Parameters
    ----------
    name
        Of the check.
    better, worse
        Measurements of the two algorithms, a and b, on independent runs: (n_a,), (n_b,).
    factor
        The claimed factor, above 0.
    **description
        Further entries, kept as they are; ``alpha`` and ``confidence`` in place of the module's.

    Raises
    ------
    InputError
        If a sample is empty, its mean is not positive, or the factor is out of range.
    """
    n_a, mean_a, sd_a = moments("better", better)
    n_b, mean_b, sd_b = moments("worse", worse)
    if mean_a <= 0 or mean_b <= 0:
        raise InputError(f"better and worse must have means above 0, got {mean_a} and {mean_b}")
    statistics = {
        **LEVELS,
        **description,
        "n_a": n_a,
        "mean_a": mean_a,
        "sd_a": sd_a,
        "n_b": n_b,
        "mean_b": mean_b,
        "sd_b": sd_b,
        "factor": validate.positive("factor", factor),
    }
    return Check.of(name, "comparison", as_plain(statistics))


def _comparison_scales(statistics: Json, result: Json) -> Json:
    """Scales of a ratio's limits, which are its multiples by e^(+-spread), and of the p-value."""
    means, factor = (float(statistics["mean_a"]), float(statistics["mean_b"])), float(statistics["factor"])
    errors = [float(statistics[f"sd_{side}"]) / math.sqrt(int(statistics[f"n_{side}"])) for side in "ab"]
    p_value = of_p_value(
        float(result["p_value"]), math.hypot(factor * errors[0], errors[1]), factor * means[0] + means[1]
    )
    sds = {"sd_a": abs(means[0]), "sd_b": abs(means[1])}
    return {"statistics": sds, "result": {**ratio_scales(result), "p_value": p_value}}


@COMPARISON.judged_by(_comparison_scales)
def _judge_comparison(statistics: Json) -> JsonDict:
    """Welch's t for mean_b - factor mean_a (Fieller's way); the stated interval is that of the log ratio."""
    counts = (int(statistics["n_a"]), int(statistics["n_b"]))
    mean_a, mean_b = float(statistics["mean_a"]), float(statistics["mean_b"])
    factor = float(statistics["factor"])
    alpha, confidence = levels(statistics)
    ratio = mean_b / mean_a
    if min(counts) < 2:
        return {"verdict": "inconclusive", "ratio": ratio, "lower": None, "upper": None, "p_value": 1.0}
    variances = (float(statistics["sd_a"]) ** 2 / counts[0], float(statistics["sd_b"]) ** 2 / counts[1])
    error, df = welch((factor**2 * variances[0], variances[1]), counts)
    distance = factor * mean_a - mean_b
    p_value = t_p_value(distance, error, df)
    if p_value <= alpha:
        verdict = "contradicted"
    else:
        verdict = "consistent" if t_limit(distance, error, df, confidence) <= 0 else "inconclusive"
    relative, df = welch((variances[0] / mean_a**2, variances[1] / mean_b**2), counts)
    spread = min(t_limit(0.0, relative, df, (1 + STATED) / 2), 700.0)  # of logarithms: beyond, no float
    return {
        "verdict": verdict,
        "ratio": ratio,
        "lower": ratio * math.exp(-spread),
        "upper": ratio * math.exp(spread),
        "p_value": p_value,
    }


@COMPARISON.worded_by
def _comparison_in_words(numbers: Json, result: Json) -> str:
    times = f"{digits(result['ratio'])} times the regret{interval(result)}"
    claimed = "as much" if numbers["factor"] == 1 else f"{digits(numbers['factor'])} times"
    rival = str(numbers.get("rival", "the rival"))
    return f"{rival}{':' if ' = ' in rival else ' has'} {times}, claimed at least {claimed}"


@COMPARISON.slack_by
def _slack(numbers: Json, result: Json) -> float:
    """The ratio over what it is claimed to be at least."""
    factor = float(numbers["factor"])
    return float(result["ratio"]) / factor if factor > 0 else 1.0


@COMPARISON.limited_by
def _limits(numbers: Json, result: Json) -> list[str]:
    """A claim far below the ratio."""
    return loose(COMPARISON, numbers, result, "regret")
