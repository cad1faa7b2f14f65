"""Regret checks: measured regret, pulls or halting times against what a theorem promises.

What several kinds of checks need; each kind has a file beside this one. A builder turns measurements into a
`Check`; its judge is a pure function of the recorded numbers. All judges share two error rates:

- ``alpha`` (1e-6): a claim is ``contradicted`` only at this one-sided level, so that a whole suite of true
  claims does not raise an alarm by chance;
- ``confidence`` (.99): a claim is ``consistent`` only if a one-sided limit at this confidence keeps it.

What lies between the two is ``inconclusive``. A bound that no algorithm could break at the horizon of the
experiment is ``vacuous``. Intervals stated in results (``lower``, ``upper``) are two-sided at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.check import Check, Kind, slack_of
from verifiable_dp.evidence.rounding import of_p_value, settled
from verifiable_dp.evidence.words import digits, interval

ALPHA = 1e-6  # one-sided level of a contradiction
CONFIDENCE = 0.99  # one-sided confidence of "consistent"
LEVELS = {"alpha": ALPHA, "confidence": CONFIDENCE}
STATED = 0.95  # two-sided confidence of stated intervals


def levels(statistics: Json) -> tuple[float, float]:
    """The level of a contradiction and the confidence of "consistent"."""
    return float(statistics.get("alpha", ALPHA)), float(statistics.get("confidence", CONFIDENCE))


def t_limit(mean: float, error: float, df: float, confidence: float) -> float:
    """Upper one-sided t limit; `confidence` below 1/2 gives a lower one."""
    return mean + float(special.stdtrit(df, confidence)) * error if error > 0 else mean


def t_p_value(distance: float, error: float, df: float) -> float:
    """One-sided p-value of a mean that lies `distance` above its claimed limit."""
    if error > 0:
        return float(special.stdtr(df, -distance / error))
    return 0.0 if distance > 0 else 1.0


def as_plain(value: JsonValue) -> JsonValue:
    """Numpy scalars as plain ones; refuses numbers that JSON does not know."""
    if isinstance(value, Mapping):
        return {str(name): as_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"statistics must be finite numbers, got {value!r}")
    return value


def moments(name: str, values: npt.ArrayLike) -> tuple[int, float, float]:
    """n, mean and standard deviation of a sample (n,); runs that agree have no spread from rounding."""
    sample = validate.rewards(name, values, (-np.inf, np.inf), ndim=1)
    if not len(sample):
        raise InputError(f"{name} must contain at least one value, got none")
    if sample.min() == sample.max():
        return len(sample), float(sample[0]), 0.0
    return len(sample), float(sample.mean()), settled(float(sample.std(ddof=1)), float(abs(sample).max()))


def least_horizon(
    bound: Callable[[int], float], largest: Callable[[int], float], *, most: int = 1 << 62
) -> int | None:
    """The least horizon at which a bound lies below the largest possible value.

    Parameters
    ----------
    bound, largest
        Functions of the horizon; once below, the bound must stay below (true of bounds that grow more
        slowly than T, past their first horizon).
    most
        Where the search ends.

    Returns
    -------
    int or None
        None if the bound is not below even at `most`.
    """
    low, high = 1, 2
    while not bound(high) < largest(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) < largest(middle) else (middle, high)
    return high


def mean_scales(statistics: Json, result: Json) -> Json:
    """Scales of a mean's limits: the mean and its standard error, which cancel near 0."""
    size = abs(float(statistics["mean"]))
    error = float(statistics["sd"]) / math.sqrt(int(statistics["n"]))
    limits = ("lower", "upper", "lower_limit", "upper_limit")
    p_value = of_p_value(float(result["p_value"]), error, size + abs(float(statistics["bound"])))
    return {
        "statistics": {"sd": size},
        "result": {**dict.fromkeys(limits, size + error), "p_value": p_value},
    }


def mean_in_words(numbers: Json, result: Json) -> str:
    """The measured mean with its interval, in words."""
    horizon = f" at T = {digits(numbers['horizon'])}" if "horizon" in numbers else ""
    return f"mean {digits(numbers['mean'])}{interval(result)} of {numbers['n']} runs{horizon}"


def against_bound(statistics: Json, *, at_most: bool, idle: bool) -> JsonDict:
    """A mean that is claimed to be at most, or at least, a bound; an `idle` bound holds for every sample."""
    n, mean, bound = int(statistics["n"]), float(statistics["mean"]), float(statistics["bound"])
    alpha, confidence = levels(statistics)
    # Nothing is so many times 0; any mean is beyond what it is at least.
    times = mean / bound if bound != 0 else None if at_most else math.inf
    ratio = {} if times is None else {"ratio": times}
    if n < 2:
        verdict = "vacuous" if idle else "inconclusive"
        return {"verdict": verdict, "lower": None, "upper": None, **ratio, "p_value": 1.0}
    error = float(statistics["sd"]) / math.sqrt(n)
    p_value = t_p_value(mean - bound if at_most else bound - mean, error, n - 1)
    limit = t_limit(mean, error, n - 1, confidence if at_most else 1 - confidence)
    if p_value <= alpha:
        verdict = "contradicted"
    elif idle:
        verdict = "vacuous"
    else:
        verdict = "consistent" if (limit <= bound if at_most else limit >= bound) else "inconclusive"
    return {
        "verdict": verdict,
        "lower": t_limit(mean, error, n - 1, (1 - STATED) / 2),
        "upper": t_limit(mean, error, n - 1, (1 + STATED) / 2),
        "upper_limit" if at_most else "lower_limit": limit,
        **ratio,
        "p_value": p_value,
    }


def point_scales(statistics: Json) -> Json:
    """Standard errors of means are compared at the scale of these."""
    return {"points": [[0.0, 0.0, abs(mean)] for _, mean, _ in statistics["points"]]}


def limit_scales(result: Json, size: float) -> dict[str, float]:
    """Scales of a fitted slope of that `size`, its standard error, limits and p-value."""
    error = float(result["standard_error"])
    reach = size * (1 + (abs(float(result["upper"]) - float(result["slope"])) / error if error > 0 else 0.0))
    limits = dict.fromkeys(("lower", "upper", "lower_limit", "upper_limit"), reach)
    p_value = of_p_value(float(result["p_value"]), error, size)
    return {"slope": size, "standard_error": size, **limits, "p_value": p_value}


def robust_fit(
    columns: Sequence[Sequence[float]], values: Sequence[float], errors: Sequence[float], size: float
) -> tuple[int, list[float], list[list[float]]]:
    """Degrees of freedom, coefficients, and their covariance: HC3's plus that of the means themselves.

    Least squares by orthogonal columns and sums without rounding, so that every machine finds the same;
    coefficients and residuals that are nothing but the rounding of values of that `size` are 0.
    """
    n, k = len(values), range(len(columns))
    basis: list[list[float]] = []
    ways = [[float(i == j) for i in k] for j in k]  # of each orthogonal column from those given
    for j in k:
        rest = list(columns[j])
        for i, before in enumerate(basis):
            share = dot(before, rest) / dot(before, before)
            rest = [r - share * b for r, b in zip(rest, before, strict=True)]
            ways[j] = [w - share * v for w, v in zip(ways[j], ways[i], strict=True)]
        basis.append(rest)
    norms = [dot(column, column) for column in basis]
    rest, found = [value - values[0] for value in values], []
    for column, norm in zip(basis, norms, strict=True):
        found.append(settled(dot(column, rest) / norm, size / max(map(abs, column))))
        rest = [r - found[-1] * c for r, c in zip(rest, column, strict=True)]
    leverages = [math.fsum(c[i] ** 2 / norm for c, norm in zip(basis, norms, strict=True)) for i in range(n)]
    spread = [
        (settled(r, size) / (1 - h)) ** 2 + error**2
        for r, h, error in zip(rest, leverages, errors, strict=True)
    ]
    # The coefficients are sums over observations of these weights times their residuals.
    weights = [[math.fsum(ways[j][a] * basis[j][i] / norms[j] for j in k) for i in range(n)] for a in k]
    cov = [
        [math.fsum(map(math.prod, zip(left, right, spread, strict=True))) for right in weights]
        for left in weights
    ]
    params = [math.fsum(found[j] * ways[j][a] for j in k) for a in k]
    params[0] += values[0]
    return n - len(columns), params, cov


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Sum of products, without rounding on the way."""
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def ratio_scales(result: Json) -> dict[str, float]:
    """Scales of the limits of a ratio: e^spread magnifies what the spread is off by."""
    if result["lower"] is None or not 0 < result["ratio"] < result["upper"]:
        return {}
    size = 1 + math.log(float(result["upper"]) / float(result["ratio"]))
    return {limit: size * float(result[limit]) for limit in ("lower", "upper")}


def welch(variances: tuple[float, float], counts: tuple[int, int]) -> tuple[float, float]:
    """Standard error of a difference of means, and its degrees of freedom."""
    total = variances[0] + variances[1]
    if total == 0:
        return 0.0, float(counts[0] + counts[1] - 2)
    pairs = zip(variances, counts, strict=True)
    return math.sqrt(total), total**2 / sum(v**2 / (n - 1) for v, n in pairs)


# ---------------------------------------------------------------- what a check does not show

LOOSE = 10.0  # times the measured value that would still pass


def all_equal(numbers: Json, spread: str, runs: str) -> list[str]:
    """An interval of no width is not a sure one: the runs came out alike."""
    same = numbers.get(spread) == 0 and int(numbers[runs]) > 1
    return [f"all {numbers[runs]} runs are equal"] if same else []


def loose(kind: Kind, numbers: Json, result: Json, what: str) -> list[str]:
    """That much more than what was measured would pass."""
    slack = slack_of(Check("", kind.name, numbers, result))
    return [] if slack < LOOSE else [f"a loose check: code with {slack:.3g} times this {what} would pass"]


def margin_decides(claimed: JsonValue, margin: JsonValue, result: Json) -> list[str]:
    """The interval excludes what is claimed, and the check is consistent: what the margin does."""
    if claimed is None or result["verdict"] != "consistent" or result.get("lower") is None:
        return []
    if float(result["lower"]) <= float(claimed) <= float(result["upper"]):
        return []
    return [
        f"the interval excludes {digits(claimed)}, but lies within the margin of {digits(margin)} around "
        "it, so the claim is consistent"
    ]
