"""Properties that hold "with probability at least 1 - beta"."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from verifiable_dp.core.roots import brentq
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.blackbox.statistics import at_least
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import AtLeastOne, Count, Probability, RegretResult, RegretStatistics
from verifiable_dp.evidence.regret.common import LEVELS, STATED, as_plain, levels
from verifiable_dp.evidence.rounding import of_p_value
from verifiable_dp.evidence.words import digits, interval


class ProbabilityStatistics(RegretStatistics, frozen=True, kw_only=True):
    """Runs in which a property failed, and the claimed probability."""

    n: AtLeastOne
    failures: Count
    probability: Probability
    vacuous: bool
    least_horizon: int | None


PROBABILITY = Kind(
    "probability",
    "regret",
    rank=50,
    numbers={
        "replications": ("statistics", "n"),
        "failures": ("statistics", "failures"),
        "bound": ("statistics", "probability"),
    },
    statistics=ProbabilityStatistics,
    result=RegretResult,
)


def probability(
    name: str,
    failed: npt.ArrayLike,
    *,
    probability: float,
    vacuous: bool = False,
    least_horizon: int | None = None,
    **description: object,
) -> Check:
    """Check that a property fails with at most a given probability.

    Parameters
    ----------
    name
        Of the check.
    failed
        Whether the property failed, by run, (n,) bool.
    probability
        The claimed probability of failure, in [0, 1].
    vacuous
        Whether the property could not fail at this horizon.
    least_horizon
        The least horizon at which it could; None if unknown.
    **description
        Further entries, kept as they are; ``alpha`` and ``confidence`` in place of the module's.

    Raises
    ------
    InputError
        If there is no run or the probability is out of range.
    """
    outcomes = np.asarray(failed, dtype=bool)
    if outcomes.ndim != 1 or not len(outcomes):
        raise InputError(f"failed must contain one truth value per run, got shape {outcomes.shape}")
    if not 0 <= probability <= 1:
        raise InputError(f"probability must lie in [0, 1], got {probability!r}")
    statistics = {
        **LEVELS,
        **description,
        "n": len(outcomes),
        "failures": int(outcomes.sum()),
        "probability": float(probability),
        "vacuous": bool(vacuous),
        "least_horizon": least_horizon,
    }
    return Check.of(name, "probability", as_plain(statistics))


def _probability_scales(statistics: Json, result: Json) -> Json:
    return {"result": {"p_value": of_p_value(float(result["p_value"]))}}


@PROBABILITY.judged_by(_probability_scales)
def _judge_probability(statistics: Json) -> JsonDict:
    """Exact binomial test, and the Clopper-Pearson upper limit."""
    n, failures = int(statistics["n"]), int(statistics["failures"])
    claimed = float(statistics["probability"])
    alpha, confidence = levels(statistics)
    p_value = at_least(failures, n, claimed)
    limit = 1.0 if failures == n else float(special.betaincinv(failures + 1, n - failures, confidence))
    if p_value <= alpha:
        verdict = "contradicted"
    elif statistics["vacuous"]:
        verdict = "vacuous"
    else:
        verdict = "consistent" if limit <= claimed else "inconclusive"
    return {
        "verdict": verdict,
        "rate": failures / n,
        **_exact_interval(failures, n),
        "upper_limit": limit,
        "ratio": failures / n / claimed if claimed > 0 else None,
        "p_value": p_value,
    }


def _exact_interval(failures: int, n: int) -> dict[str, float]:
    """The stated interval of Clopper and Pearson, by the steps of `scipy.stats.binomtest`."""
    tail = (1 - STATED) / 2
    low = brentq(lambda p: special.bdtrc(failures - 1, n, p) - tail, 0, 1) if failures else 0.0
    high = brentq(lambda p: special.bdtr(failures, n, p) - tail, 0, 1) if failures < n else 1.0
    return {"lower": low, "upper": high}


@PROBABILITY.worded_by
def _probability_in_words(numbers: Json, result: Json) -> str:
    failed = f"{numbers['failures']} of {numbers['n']} runs fail{interval(result)}"
    return f"{failed}, claimed with probability at most {digits(numbers['probability'])}"
