"""Leading constants of a mean that grows like log x."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import Positive, RegretResult, RegretStatistics, Size
from verifiable_dp.evidence.regret.common import (
    LEVELS,
    STATED,
    as_plain,
    dot,
    levels,
    limit_scales,
    margin_decides,
    moments,
    point_scales,
    robust_fit,
    t_limit,
    t_p_value,
)
from verifiable_dp.evidence.words import digits, interval


class LinearInLogStatistics(RegretStatistics, frozen=True, kw_only=True):
    """Means over a quantity, with their errors, and the claim about the line."""

    points: tuple[tuple[Positive, float, Size], ...]
    curvature: Positive
    slope: float | None
    most_slope: float | None
    margin: Size


LINEAR_IN_LOG = Kind(
    "linear_in_log",
    "regret",
    rank=20,
    numbers={
        "slope": ("result", "slope"),
        "lower": ("result", "lower"),
        "upper": ("result", "upper"),
        "claimed_at_most": ("statistics", "most_slope"),
    },
    statistics=LinearInLogStatistics,
    result=RegretResult,
)


def linear_in_log(
    name: str,
    points: Sequence[tuple[float, npt.ArrayLike]],
    *,
    curvature: float = 0.1,
    slope: float | None = None,
    most_slope: float | None = None,
    margin: float = 0.0,
    **description: object,
) -> Check:
    """Check that a mean grows like a + b log x, and its leading constant b.

    A parabola a + b z + q z^2 is fitted too, with z from -1 to 1 over the range of log x. Its bend q/b is 0
    for a straight line and (l1 - l0)/(2 (l1 + l0)) for log^2 x with log x from l0 to l1: .17 over 1e3 .. 1e6.

    Parameters
    ----------
    name
        Of the check.
    points
        Pairs of x > 0 and measurements at x, (n,), independent between points: at least five different x.
    curvature
        How far q/b may lie from 0 for growth that still counts as straight, above 0.
    slope, most_slope
        The claimed b, or a bound on it; one of the two, or neither.
    margin
        How far b may lie from `slope`, or above `most_slope`, and still count as equal: the room for
        lower-order terms.
    **description
        Further entries, kept as they are; ``alpha`` and ``confidence`` in place of the module's.

    Raises
    ------
    InputError
        If there are too few points, an x is not positive, or both slopes are given.
    """
    rows = []
    for x, values in points:
        n, mean, sd = moments("points", values)
        if not x > 0:
            raise InputError(f"points must have x above 0, got x={x}")
        rows.append([x, mean, sd / math.sqrt(n)])
    if len({row[0] for row in rows}) < 5:
        raise InputError(f"points must contain at least 5 different x, got {len(rows)} points")
    if slope is not None and most_slope is not None:
        raise InputError("slope and most_slope must not both be given")
    if margin < 0:
        raise InputError(f"margin must be at least 0, got {margin!r}")
    statistics = {
        **LEVELS,
        **description,
        "points": rows,
        "curvature": validate.positive("curvature", curvature),
        "slope": slope,
        "most_slope": most_slope,
        "margin": margin,
    }
    return Check.of(name, "linear_in_log", as_plain(statistics))


def _linear_scales(statistics: Json, result: Json) -> Json:
    """Scales of what is fitted: the means, over the spread of log x."""
    log_x = [math.log(x) for x, _, _ in statistics["points"]]
    half, middle = (max(log_x) - min(log_x)) / 2, (max(log_x) + min(log_x)) / 2
    largest = max(abs(mean) for _, mean, _ in statistics["points"])
    slope = abs(float(result["slope"]))
    found = limit_scales(result, 2 * largest / half)
    found["intercept"] = 2 * largest * (1 + abs(middle) / half)
    found["bend"] = 2 * largest / (half * slope) if slope > 0 else 0.0
    return {"statistics": point_scales(statistics), "result": found}


@LINEAR_IN_LOG.judged_by(_linear_scales)
def _judge_linear_in_log(statistics: Json) -> JsonDict:
    """Least squares with HC3 errors, to which the errors of the means are added; Student t limits.

    The bend is tested as the contrasts q - m b and -q - m b (Fieller's way), m the margin. The level of a
    contradiction is shared by the bend and the constant, and by their two sides.
    """
    xs, means, errors = zip(*statistics["points"], strict=True)
    alpha, confidence = levels(statistics)
    log_x = [math.log(x) for x in xs]
    half, middle = (max(log_x) - min(log_x)) / 2, (max(log_x) + min(log_x)) / 2
    z = [(x - middle) / half for x in log_x]
    columns, size = [[1.0] * len(z), z, [x * x for x in z]], max(map(abs, means))
    _, line, line_cov = robust_fit(columns[:2], means, errors, size)
    df, bent, bent_cov = robust_fit(columns, means, errors, size)
    # Distances beyond a margin, their standard errors and degrees of freedom; claims hold where all are <= 0.
    m = float(statistics["curvature"])
    beyond = [_contrast(bent, bent_cov, [0.0, -m, sign], df) for sign in (1.0, -1.0)]
    constant, error = line[1] / half, math.sqrt(line_cov[1][1]) / half
    beyond += [(side, error, df + 1) for side in _sides(statistics, constant)]
    p_value = min(1.0, len(beyond) * min(t_p_value(*side) for side in beyond))
    if p_value <= alpha:
        verdict = "contradicted"
    else:
        inside = all(t_limit(*side, confidence) <= 0 for side in beyond)
        verdict = "consistent" if inside else "inconclusive"
    return {
        "verdict": verdict,
        "slope": constant,
        "standard_error": error,
        "lower": t_limit(constant, error, df + 1, (1 - STATED) / 2),
        "upper": t_limit(constant, error, df + 1, (1 + STATED) / 2),
        "intercept": line[0] - constant * middle,
        "bend": bent[2] / bent[1] if bent[1] != 0 else math.inf,
        "p_value": p_value,
    }


@LINEAR_IN_LOG.worded_by
def _linear_in_log_in_words(numbers: Json, result: Json) -> str:
    return (
        f"slope {digits(result['slope'])} in log x{interval(result)}{claimed_slope(numbers)}; bend "
        f"{digits(result['bend'])}, at most {digits(numbers['curvature'])} for a straight line"
    )


def claimed_slope(numbers: Json) -> str:
    """What is claimed of a leading constant, in words; empty if nothing is."""
    if numbers["most_slope"] is not None:
        return f", claimed at most {digits(numbers['most_slope'])} + {digits(numbers['margin'])}"
    if numbers["slope"] is not None:
        return f", claimed {digits(numbers['slope'])} ± {digits(numbers['margin'])}"
    return ""


def _contrast(
    params: Sequence[float], cov: Sequence[Sequence[float]], weights: Sequence[float], df: float
) -> tuple[float, float, float]:
    variance = dot([dot(row, weights) for row in cov], weights)
    return dot(weights, params), math.sqrt(max(variance, 0.0)), df


def _sides(statistics: Json, constant: float) -> list[float]:
    """How far the leading constant lies beyond what is claimed, on each side that is claimed."""
    margin = float(statistics["margin"])
    if statistics["most_slope"] is not None:
        return [constant - float(statistics["most_slope"]) - margin]
    if statistics["slope"] is not None:
        claimed = float(statistics["slope"])
        return [constant - claimed - margin, claimed - constant - margin]
    return []


@LINEAR_IN_LOG.limited_by
def _limits(numbers: Json, result: Json) -> list[str]:
    """Where the margin decides."""
    return margin_decides(numbers["slope"], numbers["margin"], result)
