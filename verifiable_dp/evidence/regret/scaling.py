"""Rates: how a mean grows with the horizon, or with another parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import Positive, RegretResult, RegretStatistics, Size
from verifiable_dp.evidence.regret.common import (
    LEVELS,
    STATED,
    as_plain,
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

SATURATED = 0.75  # of uniform play's regret: on the worst instance about one half is usual
_FARTHEST = 41.0  # of a logarithm: beyond T = 1e18 times the first no horizon is named
_FASTER = 0.1  # by so much the exponent differs of a rate that should be told from the claimed one
_MOST_RUNS = 50  # times as many: beyond, it is not the runs that are missing


class ScalingStatistics(RegretStatistics, frozen=True, kw_only=True):
    """Means over a quantity, with their errors, and the claimed rate."""

    points: tuple[tuple[Positive, float, Size], ...]
    exponent: float
    margin: Size
    log_power: float


SCALING = Kind(
    "scaling",
    "regret",
    rank=10,
    numbers={
        "slope": ("result", "slope"),
        "lower": ("result", "lower"),
        "upper": ("result", "upper"),
        "claimed": ("statistics", "exponent"),
    },
    statistics=ScalingStatistics,
    result=RegretResult,
)


def scaling(
    name: str,
    points: Sequence[tuple[float, npt.ArrayLike]],
    *,
    exponent: float = 0.0,
    log_power: float = 1.0,
    margin: float = 0.05,
    at_most: bool = False,
    **description: object,
) -> Check:
    """Check that a mean grows like x^exponent (log x)^log_power, or with `at_most` no faster.

    The slope of log(mean / (log x)^log_power) against log x is held against the claimed exponent, which
    is 0 for a rate of log T. One more factor log T shows as a slope of about +.065 over 1e5 .. 5e8
    (log(20.0 / 11.5) / log(5000)), so a margin of .05 tells the two apart; leave room for lower-order terms.

    Parameters
    ----------
    name
        Of the check.
    points
        Pairs of x and measurements at x, (n,): at least four different x, above 0, or above 1 with a
        power of log x.
    exponent, log_power
        The claimed rate.
    margin
        How far the slope may lie from the claim and still count as equal.
    at_most
        Whether a smaller slope keeps the claim, too.
    **description
        Further entries, kept as they are; ``alpha`` and ``confidence`` in place of the module's.

    Raises
    ------
    InputError
        If there are too few points, or an x or a mean is not positive.
    """
    rows = []
    for x, values in points:
        n, mean, sd = moments("points", values)
        if not (x > (1 if log_power else 0) and mean > 0):
            least = 1 if log_power else 0
            raise InputError(f"points must have x above {least} and a mean above 0, got x={x}, mean={mean}")
        rows.append([x, mean, sd / math.sqrt(n)])
    if len({row[0] for row in rows}) < 4:
        raise InputError(f"points must contain at least 4 different x, got {len(rows)} points")
    statistics = {
        **LEVELS,
        **description,
        "points": rows,
        "log_power": log_power,
        "exponent": exponent,
        "margin": margin,
        **({"at_most": True} if at_most else {}),
    }
    return Check.of(name, "scaling", as_plain(statistics))


def _logarithms(statistics: Json) -> tuple[list[float], list[float], list[float]]:
    """log x, what is fitted to it, and the standard errors of that.

    Means and logarithms are taken over their first: what they have in common would only cost digits.
    """
    points, power = statistics["points"], float(statistics["log_power"])
    log_x = [math.log(x) for x, _, _ in points]
    log_y = [math.log(mean / points[0][1]) for _, mean, _ in points]
    if power:
        log_y = [y - power * math.log(z / log_x[0]) for y, z in zip(log_y, log_x, strict=True)]
    return log_x, log_y, [error / mean for _, mean, error in points]


def _scaling_scales(statistics: Json, result: Json) -> Json:
    """Scales of a slope, its error and limits: the logarithms it was fitted to, over the spread of log x."""
    log_x, log_y, _ = _logarithms(statistics)
    size = (1 + max(map(abs, log_y))) / float(np.std(log_x))
    return {"statistics": point_scales(statistics), "result": limit_scales(result, size)}


@SCALING.judged_by(_scaling_scales)
def _judge_scaling(statistics: Json) -> JsonDict:
    """Equivalence test of the slope, or a one-sided one: least squares, HC3 standard error, Student t limits.

    The error of the means themselves is added to HC3's, which sees only how far they scatter. Where
    ``shares`` of the regret of uniform play are recorded and one is `SATURATED` or more, the algorithm has
    not begun to act there: no slope can contradict a rate then, it is ``vacuous``.
    """
    claimed, margin = float(statistics["exponent"]), float(statistics["margin"])
    at_most = bool(statistics.get("at_most", False))
    alpha, confidence = levels(statistics)
    log_x, log_y, errors = _logarithms(statistics)
    df, params, cov = robust_fit([[1.0] * len(log_x), log_x], log_y, errors, 1 + max(map(abs, log_y)))
    slope, error = params[1], math.sqrt(cov[1][1])
    low, high = t_limit(slope, error, df, 1 - confidence), t_limit(slope, error, df, confidence)
    off = slope - claimed if at_most else abs(slope - claimed)
    p_value = min(1.0, (1 if at_most else 2) * t_p_value(off - margin, error, df))
    if p_value <= alpha:
        idle = any(share >= SATURATED for share in statistics.get("shares", ()))
        verdict = "vacuous" if idle else "contradicted"
    else:
        inside = (at_most or claimed - margin <= low) and high <= claimed + margin
        verdict = "consistent" if inside else "inconclusive"
    return {
        "verdict": verdict,
        "slope": slope,
        "standard_error": error,
        "lower": t_limit(slope, error, df, (1 - STATED) / 2),
        "upper": t_limit(slope, error, df, (1 + STATED) / 2),
        "lower_limit": low,
        "upper_limit": high,
        "p_value": p_value,
    }


@SCALING.worded_by
def _scaling_in_words(numbers: Json, result: Json) -> str:
    over = str(numbers.get("over", "T"))
    left = f" after a factor log {over}" if numbers["log_power"] else ""
    first, last = numbers["points"][0][0], numbers["points"][-1][0]
    claimed = f"claimed {digits(numbers['exponent'])} ± {digits(numbers['margin'])}"
    if numbers.get("at_most"):
        claimed = f"claimed at most {digits(numbers['exponent'] + numbers['margin'])}"
    words = f"exponent {result['slope']:.3f}{left}{interval(result)}"
    axis = "" if "region" in numbers and "over" not in numbers else f"{over} = "  # studies name it elsewhere
    words = f"{words} over {axis}{first:.6g} .. {last:.6g}, {claimed}"
    most = max(numbers.get("shares", []), default=0.0)
    if most < SATURATED:
        advised = _advice(numbers, result) if result["verdict"] == "inconclusive" else ""
        return words + advised + (_passing(numbers, result) if result["verdict"] != "contradicted" else "")
    # Where nothing has been learnt yet, rates are not those of long horizons.
    return (
        f"{words}; up to {most:.0%} of the regret of uniform play: the algorithm does not learn, or the "
        "horizon is too short"
    )


def _advice(numbers: Json, result: Json) -> str:
    """What would decide an inconclusive rate."""
    slope, margin = float(result["slope"]), float(numbers["margin"])
    off = slope - float(numbers["exponent"])
    room = margin - (off if numbers.get("at_most") else abs(off))
    if room > 0:
        half = max(float(result["upper_limit"]) - slope, slope - float(result["lower_limit"]))
        times = math.ceil((half / room) ** 2)
        if times <= _MOST_RUNS:
            return f"; about {times} times as many runs would be enough to decide"
    if numbers.get("over", "T") == "T":
        longer = (
            "; to decide, use a longer horizon or a larger gap, because the regret follows its rate only "
            "after enough learning"
        )
        reach = _far_enough(numbers, result, room)
        enough = f"; with this slope and errors of this size, {reach} would be enough"
        return longer + (enough if reach else "")
    return f"; to decide, use a wider range of {numbers['over']}, or more runs"


def _passing(numbers: Json, result: Json) -> str:
    """The faster rate over T that a wide margin lets pass, and from which horizon a narrow one would not."""
    claimed = float(numbers["exponent"])
    if numbers.get("over") != "T" or not 0 < claimed < 1 or float(numbers["margin"]) <= _FASTER:
        return ""
    reach = _far_enough(numbers, result, -_FASTER / 2)
    told = f"from {reach} on, with errors of this size" if reach else "with many more runs"
    narrow = f"({digits(claimed)}, {digits(_FASTER / 2)})"
    faster = f"T^{digits(claimed + _FASTER)}"
    return f"; {faster} would also pass; the claim {narrow} would tell the two rates apart {told}"


def _far_enough(numbers: Json, result: Json, room: float) -> str:
    """The horizon at which a slope so far within the margin, or outside if below 0, would be decided.

    The error of a slope falls as the range of log T grows, with as many points and errors of the same size.
    The limit at the check's confidence must clear the margin if the slope lies within it, else that at its
    level. One digit, rounded up.
    """
    alpha, confidence = levels(numbers)
    beyond = confidence if room > 0 else 1 - (alpha if numbers.get("at_most") else alpha / 2)
    first, last, number = numbers["points"][0][0], numbers["points"][-1][0], len(numbers["points"])
    needed = t_limit(0.0, float(result["standard_error"]), number - 2, beyond)
    if not 0 < needed < abs(room) * _FARTHEST / math.log(last / first):
        return ""
    reach = first * math.exp(math.log(last / first) * max(needed / abs(room), 1.0))
    digit = 10.0 ** math.floor(math.log10(reach))
    return f"T = {math.ceil(reach / digit * (1 - 1e-9)) * digit:.0e}"


@SCALING.limited_by
def _limits(numbers: Json, result: Json) -> list[str]:
    """Where the margin decides."""
    return margin_decides(numbers["exponent"], numbers["margin"], result)
