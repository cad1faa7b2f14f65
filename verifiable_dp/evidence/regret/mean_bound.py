"""Finite-sample upper bounds on a mean."""

from __future__ import annotations

import math

import numpy.typing as npt

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import AtLeastOne, Count, RegretResult, RegretStatistics, Size
from verifiable_dp.evidence.regret.common import (
    LEVELS,
    against_bound,
    all_equal,
    as_plain,
    loose,
    mean_in_words,
    mean_scales,
    moments,
)
from verifiable_dp.evidence.rounding import TOLERANCE
from verifiable_dp.evidence.words import digits

WEAK = 100.0  # a bound that is so many times the measured mean would hold for much worse algorithms


class MeanBoundStatistics(RegretStatistics, frozen=True, kw_only=True):
    """A mean, and the bound on it."""

    n: AtLeastOne
    mean: float
    sd: Size
    bound: float
    largest: float
    least_horizon: int | None
    horizon: Count


MEAN_BOUND = Kind(
    "mean_bound",
    "regret",
    rank=30,
    numbers={
        "replications": ("statistics", "n"),
        "mean_regret": ("statistics", "mean"),
        "upper_confidence_bound": ("result", "upper"),
        "bound": ("statistics", "bound"),
        "slack_ratio": ("result", "ratio"),
    },
    statistics=MeanBoundStatistics,
    result=RegretResult,
)


def mean_bound(
    name: str,
    values: npt.ArrayLike,
    *,
    bound: float,
    largest: float,
    least_horizon: int | None = None,
    **description: object,
) -> Check:
    """Check that an expectation is at most `bound`.

    Parameters
    ----------
    name
        Of the check, such as ``theorem-4.3 on C2``.
    values
        One measurement a run, (n,): regret in units of reward, say.
    bound
        What the theorem promises for the expectation.
    largest
        The largest value that any run could have at this horizon.
    least_horizon
        The least horizon at which the bound is below `largest`; None if unknown.
    **description
        Further entries, kept as they are: claim, instance, horizon, …; ``alpha`` and
        ``confidence`` in place of the module's.

    Raises
    ------
    InputError
        If there is no value, or a number is not finite.
    """
    n, mean, sd = moments("values", values)
    statistics = {
        **LEVELS,
        **description,
        "n": n,
        "mean": mean,
        "sd": sd,
        "bound": float(bound),
        "largest": float(largest),
        "least_horizon": least_horizon,
    }
    return Check.of(name, "mean_bound", as_plain(statistics))


@MEAN_BOUND.judged_by(mean_scales)
def _judge_mean_bound(statistics: Json) -> JsonDict:
    """Student t limits of the mean against the bound.

    They take the mean of n runs for normal; an outcome too rare to occur in n runs is not excluded. Runs
    with zero variance, where all agree, are accepted.
    """
    largest = float(statistics["largest"])
    idle = float(statistics["bound"]) >= largest - TOLERANCE * abs(largest)
    return against_bound(statistics, at_most=True, idle=idle)


@MEAN_BOUND.worded_by
def _mean_bound_in_words(numbers: Json, result: Json) -> str:
    words = f"{mean_in_words(numbers, result)}, claimed at most {digits(numbers['bound'])}"
    if result["verdict"] != "vacuous":
        loose = 1 / result["ratio"] if result.get("ratio") else math.inf
        weak = result["verdict"] == "consistent" and WEAK <= loose < math.inf
        return f"{words}; a weak check, because the bound is {round(loose)} times the mean" if weak else words
    least = numbers["least_horizon"]
    from_ = f"; the claim can fail only from T = {least} on" if least else ""
    return f"{words}; the largest possible mean is {digits(numbers['largest'])}{from_}"


@MEAN_BOUND.slack_by
def _slack(numbers: Json, result: Json) -> float:
    """The bound over the mean."""
    mean = float(numbers["mean"])
    return float(numbers["bound"]) / mean if mean > 0 else 1.0


@MEAN_BOUND.limited_by
def _limits(numbers: Json, result: Json) -> list[str]:
    """Runs that came out alike, and a bound far above."""
    return [*all_equal(numbers, "sd", "n"), *loose(MEAN_BOUND, numbers, result, "mean")]
