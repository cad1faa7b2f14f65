"""Lower bounds on a mean."""

from __future__ import annotations

import numpy.typing as npt

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import AtLeastOne, RegretResult, RegretStatistics, Size
from verifiable_dp.evidence.regret.common import (
    LEVELS,
    against_bound,
    all_equal,
    as_plain,
    mean_in_words,
    mean_scales,
    moments,
)
from verifiable_dp.evidence.rounding import TOLERANCE
from verifiable_dp.evidence.words import digits


class MeanAtLeastStatistics(RegretStatistics, frozen=True, kw_only=True):
    """A mean, and what it is at least."""

    n: AtLeastOne
    mean: float
    sd: Size
    bound: float
    least: float


MEAN_AT_LEAST = Kind(
    "mean_at_least",
    "regret",
    rank=60,
    numbers={
        "replications": ("statistics", "n"),
        "mean_regret": ("statistics", "mean"),
        "lower_confidence_bound": ("result", "lower"),
        "bound": ("statistics", "bound"),
        "slack_ratio": ("result", "ratio"),
    },
    statistics=MeanAtLeastStatistics,
    result=RegretResult,
)


def mean_at_least(
    name: str,
    values: npt.ArrayLike,
    *,
    bound: float,
    least: float = 0.0,
    **description: object,
) -> Check:
    """Check that an expectation is at least `bound`.

    Parameters
    ----------
    name
        Of the check, such as ``theorem-9 on its hard instances``.
    values
        One measurement a run, (n,): regret in units of reward, say.
    bound
        What the theorem promises for the expectation.
    least
        The least value that any run could have; a bound that does not exceed it is vacuous.
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
        "least": float(least),
    }
    return Check.of(name, "mean_at_least", as_plain(statistics))


@MEAN_AT_LEAST.judged_by(mean_scales)
def _judge_mean_at_least(statistics: Json) -> JsonDict:
    """Student t limits of the mean against the bound, as in `mean_bound` the other way round.

    They take the mean of n runs for normal. An outcome too rare to occur in n runs, which alone may carry
    an expectation over its bound, is not seen: builders of such checks allow for it.
    """
    least = float(statistics["least"])
    idle = float(statistics["bound"]) <= least + TOLERANCE * abs(least)
    return against_bound(statistics, at_most=False, idle=idle)


@MEAN_AT_LEAST.worded_by
def _mean_at_least_in_words(numbers: Json, result: Json) -> str:
    return f"{mean_in_words(numbers, result)}, claimed at least {digits(numbers['bound'])}"


@MEAN_AT_LEAST.limited_by
def _limits(numbers: Json, result: Json) -> list[str]:
    """Runs that came out alike."""
    return all_equal(numbers, "sd", "n")
