"""Regret checks: measured regret, pulls or halting times against what a theorem promises.

A builder turns measurements into a `Check`; its judge is a pure function of the recorded numbers. All
judges share two error rates:

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
from verifiable_dp.evidence.blackbox.statistics import at_least
from verifiable_dp.evidence.check import Check, judge, worded
from verifiable_dp.evidence.rounding import TOLERANCE, of_p_value, settled
from verifiable_dp.evidence.words import digits, interval

ALPHA = 1e-6  # one-sided level of a contradiction
CONFIDENCE = 0.99  # one-sided confidence of "consistent"
_LEVELS = {"alpha": ALPHA, "confidence": CONFIDENCE}
STATED = 0.95  # two-sided confidence of stated intervals
WEAK = 100.0  # a bound that is so many times the measured mean would hold for much worse algorithms
SATURATED = 0.75  # of uniform play's regret: on the worst instance about one half is usual


def _levels(statistics: Json) -> tuple[float, float]:
    return float(statistics.get("alpha", ALPHA)), float(statistics.get("confidence", CONFIDENCE))


def _t_limit(mean: float, error: float, df: float, confidence: float) -> float:
    """Upper one-sided t limit; `confidence` below 1/2 gives a lower one."""
    return mean + float(special.stdtrit(df, confidence)) * error if error > 0 else mean


def _t_p_value(distance: float, error: float, df: float) -> float:
    """One-sided p-value of a mean that lies `distance` above its claimed limit."""
    if error > 0:
        return float(special.stdtr(df, -distance / error))
    return 0.0 if distance > 0 else 1.0


def _plain(value: JsonValue) -> JsonValue:
    """Numpy scalars as plain ones; refuses numbers that JSON does not know."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"statistics must be finite numbers, got {value!r}")
    return value


def _moments(name: str, values: npt.ArrayLike) -> tuple[int, float, float]:
    """n, mean and standard deviation of a sample (n,); runs that agree have no spread from rounding."""
    sample = validate.rewards(name, values, (-np.inf, np.inf), ndim=1)
    if not len(sample):
        raise InputError(f"{name} must hold at least one value, got none")
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


def _mean_scales(statistics: Json, result: Json) -> Json:
    """Scales of a mean's limits: the mean and its standard error, which cancel near 0."""
    size = abs(float(statistics["mean"]))
    error = float(statistics["sd"]) / math.sqrt(int(statistics["n"]))
    limits = ("lower", "upper", "lower_limit", "upper_limit")
    p_value = of_p_value(float(result["p_value"]), error, size + abs(float(statistics["bound"])))
    return {
        "statistics": {"sd": size},
        "result": {**dict.fromkeys(limits, size + error), "p_value": p_value},
    }


# ---------------------------------------------------------------- finite-sample bounds on a mean


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
    n, mean, sd = _moments("values", values)
    statistics = {
        **_LEVELS,
        **description,
        "n": n,
        "mean": mean,
        "sd": sd,
        "bound": float(bound),
        "largest": float(largest),
        "least_horizon": least_horizon,
    }
    return Check.of(name, "mean_bound", _plain(statistics))


@judge("mean_bound", _mean_scales)
def _judge_mean_bound(statistics: Json) -> JsonDict:
    """Student t limits of the mean against the bound.

    They take the mean of n runs for normal; an outcome too rare to occur in n runs is not excluded. Runs
    with zero variance, where all agree, are accepted.
    """
    largest = float(statistics["largest"])
    idle = float(statistics["bound"]) >= largest - TOLERANCE * abs(largest)
    return _against_bound(statistics, at_most=True, idle=idle)


@worded("mean_bound")
def _mean_bound_in_words(numbers: Json, result: Json) -> str:
    words = f"{_mean(numbers, result)}, claimed at most {digits(numbers['bound'])}"
    if result["verdict"] != "vacuous":
        loose = 1 / result["ratio"] if result.get("ratio") else math.inf
        weak = result["verdict"] == "consistent" and WEAK <= loose < math.inf
        return f"{words}; a weak check, as the bound is {round(loose)} times the mean" if weak else words
    least = numbers["least_horizon"]
    from_ = f"; the claim says something from T = {least} on" if least else ""
    return f"{words}, the largest possible is {digits(numbers['largest'])}{from_}"


def _mean(numbers: Json, result: Json) -> str:
    horizon = f" at T = {digits(numbers['horizon'])}" if "horizon" in numbers else ""
    return f"mean {digits(numbers['mean'])}{interval(result)} of {numbers['n']} runs{horizon}"


def _against_bound(statistics: Json, *, at_most: bool, idle: bool) -> JsonDict:
    """A mean that is claimed to be at most, or at least, a bound; an `idle` bound holds for every sample."""
    n, mean, bound = int(statistics["n"]), float(statistics["mean"]), float(statistics["bound"])
    alpha, confidence = _levels(statistics)
    # Nothing is so many times 0; any mean is beyond what it is at least.
    times = mean / bound if bound != 0 else None if at_most else math.inf
    ratio = {} if times is None else {"ratio": times}
    if n < 2:
        verdict = "vacuous" if idle else "inconclusive"
        return {"verdict": verdict, "lower": None, "upper": None, **ratio, "p_value": 1.0}
    error = float(statistics["sd"]) / math.sqrt(n)
    p_value = _t_p_value(mean - bound if at_most else bound - mean, error, n - 1)
    limit = _t_limit(mean, error, n - 1, confidence if at_most else 1 - confidence)
    if p_value <= alpha:
        verdict = "contradicted"
    elif idle:
        verdict = "vacuous"
    else:
        verdict = "consistent" if (limit <= bound if at_most else limit >= bound) else "inconclusive"
    return {
        "verdict": verdict,
        "lower": _t_limit(mean, error, n - 1, (1 - STATED) / 2),
        "upper": _t_limit(mean, error, n - 1, (1 + STATED) / 2),
        "upper_limit" if at_most else "lower_limit": limit,
        **ratio,
        "p_value": p_value,
    }


# ---------------------------------------------------------------- lower bounds on a mean


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
    n, mean, sd = _moments("values", values)
    statistics = {
        **_LEVELS,
        **description,
        "n": n,
        "mean": mean,
        "sd": sd,
        "bound": float(bound),
        "least": float(least),
    }
    return Check.of(name, "mean_at_least", _plain(statistics))


@judge("mean_at_least", _mean_scales)
def _judge_mean_at_least(statistics: Json) -> JsonDict:
    """Student t limits of the mean against the bound, as in `mean_bound` the other way round.

    They take the mean of n runs for normal. An outcome too rare to occur in n runs, which alone may carry
    an expectation over its bound, is not seen: builders of such checks allow for it.
    """
    least = float(statistics["least"])
    idle = float(statistics["bound"]) <= least + TOLERANCE * abs(least)
    return _against_bound(statistics, at_most=False, idle=idle)


@worded("mean_at_least")
def _mean_at_least_in_words(numbers: Json, result: Json) -> str:
    return f"{_mean(numbers, result)}, claimed at least {digits(numbers['bound'])}"


# ---------------------------------------------------------------- "with probability at least 1 - beta"


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
        raise InputError(f"failed must hold one truth value a run, got shape {outcomes.shape}")
    if not 0 <= probability <= 1:
        raise InputError(f"probability must lie in [0, 1], got {probability!r}")
    statistics = {
        **_LEVELS,
        **description,
        "n": len(outcomes),
        "failures": int(outcomes.sum()),
        "probability": float(probability),
        "vacuous": bool(vacuous),
        "least_horizon": least_horizon,
    }
    return Check.of(name, "probability", _plain(statistics))


def _probability_scales(statistics: Json, result: Json) -> Json:
    return {"result": {"p_value": of_p_value(float(result["p_value"]))}}


@judge("probability", _probability_scales)
def _judge_probability(statistics: Json) -> JsonDict:
    """Exact binomial test, and the Clopper-Pearson upper limit."""
    n, failures = int(statistics["n"]), int(statistics["failures"])
    claimed = float(statistics["probability"])
    alpha, confidence = _levels(statistics)
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
    from scipy.optimize import brentq  # `scipy.stats` takes a second to load

    tail = (1 - STATED) / 2
    low = brentq(lambda p: special.bdtrc(failures - 1, n, p) - tail, 0, 1) if failures else 0.0
    high = brentq(lambda p: special.bdtr(failures, n, p) - tail, 0, 1) if failures < n else 1.0
    return {"lower": float(low), "upper": float(high)}


@worded("probability")
def _probability_in_words(numbers: Json, result: Json) -> str:
    failed = f"{numbers['failures']} of {numbers['n']} runs fail{interval(result)}"
    return f"{failed}, claimed with probability at most {digits(numbers['probability'])}"


# ---------------------------------------------------------------- rates


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
        n, mean, sd = _moments("points", values)
        if not (x > (1 if log_power else 0) and mean > 0):
            least = 1 if log_power else 0
            raise InputError(f"points must have x above {least} and a mean above 0, got x={x}, mean={mean}")
        rows.append([x, mean, sd / math.sqrt(n)])
    if len({row[0] for row in rows}) < 4:
        raise InputError(f"points must hold at least 4 different x, got {len(rows)} points")
    statistics = {
        **_LEVELS,
        **description,
        "points": rows,
        "log_power": log_power,
        "exponent": exponent,
        "margin": margin,
        **({"at_most": True} if at_most else {}),
    }
    return Check.of(name, "scaling", _plain(statistics))


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
    return {"statistics": _point_scales(statistics), "result": _limit_scales(result, size)}


def _point_scales(statistics: Json) -> Json:
    """Standard errors of means are compared at the scale of these."""
    return {"points": [[0.0, 0.0, abs(mean)] for _, mean, _ in statistics["points"]]}


def _limit_scales(result: Json, size: float) -> dict[str, float]:
    """Scales of a fitted slope of that `size`, its standard error, limits and p-value."""
    error = float(result["standard_error"])
    reach = size * (1 + (abs(float(result["upper"]) - float(result["slope"])) / error if error > 0 else 0.0))
    limits = dict.fromkeys(("lower", "upper", "lower_limit", "upper_limit"), reach)
    p_value = of_p_value(float(result["p_value"]), error, size)
    return {"slope": size, "standard_error": size, **limits, "p_value": p_value}


@judge("scaling", _scaling_scales)
def _judge_scaling(statistics: Json) -> JsonDict:
    """Equivalence test of the slope, or a one-sided one: least squares, HC3 standard error, Student t limits.

    The error of the means themselves is added to HC3's, which sees only how far they scatter. Where
    ``shares`` of the regret of uniform play are recorded and one is `SATURATED` or more, the algorithm has
    not begun to act there: no slope can contradict a rate then, it is ``vacuous``.
    """
    claimed, margin = float(statistics["exponent"]), float(statistics["margin"])
    at_most = bool(statistics.get("at_most", False))
    alpha, confidence = _levels(statistics)
    log_x, log_y, errors = _logarithms(statistics)
    df, params, cov = _robust_fit([[1.0] * len(log_x), log_x], log_y, errors, 1 + max(map(abs, log_y)))
    slope, error = params[1], math.sqrt(cov[1][1])
    low, high = _t_limit(slope, error, df, 1 - confidence), _t_limit(slope, error, df, confidence)
    off = slope - claimed if at_most else abs(slope - claimed)
    p_value = min(1.0, (1 if at_most else 2) * _t_p_value(off - margin, error, df))
    if p_value <= alpha:
        acts = max(statistics.get("shares", ()), default=0.0) < SATURATED
        verdict = "contradicted" if acts else "vacuous"
    else:
        inside = (at_most or claimed - margin <= low) and high <= claimed + margin
        verdict = "consistent" if inside else "inconclusive"
    return {
        "verdict": verdict,
        "slope": slope,
        "standard_error": error,
        "lower": _t_limit(slope, error, df, (1 - STATED) / 2),
        "upper": _t_limit(slope, error, df, (1 + STATED) / 2),
        "lower_limit": low,
        "upper_limit": high,
        "p_value": p_value,
    }


@worded("scaling")
def _scaling_in_words(numbers: Json, result: Json) -> str:
    over = str(numbers.get("over", "T"))
    left = f" beside log {over}" if numbers["log_power"] else ""
    first, last = numbers["points"][0][0], numbers["points"][-1][0]
    claimed = f"claimed {digits(numbers['exponent'])} ± {digits(numbers['margin'])}"
    if numbers.get("at_most"):
        claimed = f"claimed at most {digits(numbers['exponent'] + numbers['margin'])}"
    words = f"exponent {result['slope']:.3f}{left}{interval(result)}"
    words = f"{words} over {over} = {first:.6g} .. {last:.6g}, {claimed}"
    most = max(numbers.get("shares", []), default=0.0)
    if most < SATURATED:
        return words + (_advice(numbers, result) if result["verdict"] == "inconclusive" else "")
    # Where nothing has been learnt yet, rates are not those of long horizons.
    return (
        f"{words}; up to {most:.0%} of uniform play's regret: it does not learn, or the horizon is too short"
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
            return f"; about {times} times as many runs would decide"
    if numbers.get("over", "T") == "T":
        return "; a longer horizon or a larger gap would decide, as rates settle only once enough is learnt"
    return f"; values of {numbers['over']} over a wider range, or more runs, would decide"


_MOST_RUNS = 50  # times as many: beyond, it is not the runs that are missing

# ---------------------------------------------------------------- leading constants


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
        n, mean, sd = _moments("points", values)
        if not x > 0:
            raise InputError(f"points must have x above 0, got x={x}")
        rows.append([x, mean, sd / math.sqrt(n)])
    if len({row[0] for row in rows}) < 5:
        raise InputError(f"points must hold at least 5 different x, got {len(rows)} points")
    if slope is not None and most_slope is not None:
        raise InputError("slope and most_slope must not both be given")
    if margin < 0:
        raise InputError(f"margin must be at least 0, got {margin!r}")
    statistics = {
        **_LEVELS,
        **description,
        "points": rows,
        "curvature": validate.positive("curvature", curvature),
        "slope": slope,
        "most_slope": most_slope,
        "margin": margin,
    }
    return Check.of(name, "linear_in_log", _plain(statistics))


def _linear_scales(statistics: Json, result: Json) -> Json:
    """Scales of what is fitted: the means, over the spread of log x."""
    log_x = [math.log(x) for x, _, _ in statistics["points"]]
    half, middle = (max(log_x) - min(log_x)) / 2, (max(log_x) + min(log_x)) / 2
    largest = max(abs(mean) for _, mean, _ in statistics["points"])
    slope = abs(float(result["slope"]))
    found = _limit_scales(result, 2 * largest / half)
    found["intercept"] = 2 * largest * (1 + abs(middle) / half)
    found["bend"] = 2 * largest / (half * slope) if slope > 0 else 0.0
    return {"statistics": _point_scales(statistics), "result": found}


@judge("linear_in_log", _linear_scales)
def _judge_linear_in_log(statistics: Json) -> JsonDict:
    """Least squares with HC3 errors, to which the errors of the means are added; Student t limits.

    The bend is tested as the contrasts q - m b and -q - m b (Fieller's way), m the margin. The level of a
    contradiction is shared by the bend and the constant, and by their two sides.
    """
    xs, means, errors = zip(*statistics["points"], strict=True)
    alpha, confidence = _levels(statistics)
    log_x = [math.log(x) for x in xs]
    half, middle = (max(log_x) - min(log_x)) / 2, (max(log_x) + min(log_x)) / 2
    z = [(x - middle) / half for x in log_x]
    columns, size = [[1.0] * len(z), z, [x * x for x in z]], max(map(abs, means))
    _, line, line_cov = _robust_fit(columns[:2], means, errors, size)
    df, bent, bent_cov = _robust_fit(columns, means, errors, size)
    # Distances beyond a margin, their standard errors and degrees of freedom; claims hold where all are <= 0.
    m = float(statistics["curvature"])
    beyond = [_contrast(bent, bent_cov, [0.0, -m, sign], df) for sign in (1.0, -1.0)]
    constant, error = line[1] / half, math.sqrt(line_cov[1][1]) / half
    beyond += [(side, error, df + 1) for side in _sides(statistics, constant)]
    p_value = min(1.0, len(beyond) * min(_t_p_value(*side) for side in beyond))
    if p_value <= alpha:
        verdict = "contradicted"
    else:
        inside = all(_t_limit(*side, confidence) <= 0 for side in beyond)
        verdict = "consistent" if inside else "inconclusive"
    return {
        "verdict": verdict,
        "slope": constant,
        "standard_error": error,
        "lower": _t_limit(constant, error, df + 1, (1 - STATED) / 2),
        "upper": _t_limit(constant, error, df + 1, (1 + STATED) / 2),
        "intercept": line[0] - constant * middle,
        "bend": bent[2] / bent[1] if bent[1] != 0 else math.inf,
        "p_value": p_value,
    }


@worded("linear_in_log")
def _linear_in_log_in_words(numbers: Json, result: Json) -> str:
    return (
        f"slope {digits(result['slope'])} in log x{interval(result)}{claimed_slope(numbers)}; bend "
        f"{digits(result['bend'])}, at most {digits(numbers['curvature'])} if straight"
    )


def claimed_slope(numbers: Json) -> str:
    """What is claimed of a leading constant, in words; empty if nothing is."""
    if numbers["most_slope"] is not None:
        return f", claimed at most {digits(numbers['most_slope'])} + {digits(numbers['margin'])}"
    if numbers["slope"] is not None:
        return f", claimed {digits(numbers['slope'])} ± {digits(numbers['margin'])}"
    return ""


def _robust_fit(
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
            share = _dot(before, rest) / _dot(before, before)
            rest = [r - share * b for r, b in zip(rest, before, strict=True)]
            ways[j] = [w - share * v for w, v in zip(ways[j], ways[i], strict=True)]
        basis.append(rest)
    norms = [_dot(column, column) for column in basis]
    rest, found = [value - values[0] for value in values], []
    for column, norm in zip(basis, norms, strict=True):
        found.append(settled(_dot(column, rest) / norm, size / max(map(abs, column))))
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


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def _contrast(
    params: Sequence[float], cov: Sequence[Sequence[float]], weights: Sequence[float], df: float
) -> tuple[float, float, float]:
    variance = _dot([_dot(row, weights) for row in cov], weights)
    return _dot(weights, params), math.sqrt(max(variance, 0.0)), df


def _sides(statistics: Json, constant: float) -> list[float]:
    """How far the leading constant lies beyond what is claimed, on each side that is claimed."""
    margin = float(statistics["margin"])
    if statistics["most_slope"] is not None:
        return [constant - float(statistics["most_slope"]) - margin]
    if statistics["slope"] is not None:
        claimed = float(statistics["slope"])
        return [constant - claimed - margin, claimed - constant - margin]
    return []


# ---------------------------------------------------------------- "at least c times better"


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
    n_a, mean_a, sd_a = _moments("better", better)
    n_b, mean_b, sd_b = _moments("worse", worse)
    if mean_a <= 0 or mean_b <= 0:
        raise InputError(f"better and worse must have means above 0, got {mean_a} and {mean_b}")
    statistics = {
        **_LEVELS,
        **description,
        "n_a": n_a,
        "mean_a": mean_a,
        "sd_a": sd_a,
        "n_b": n_b,
        "mean_b": mean_b,
        "sd_b": sd_b,
        "factor": validate.positive("factor", factor),
    }
    return Check.of(name, "comparison", _plain(statistics))


def _comparison_scales(statistics: Json, result: Json) -> Json:
    """Scales of a ratio's limits, which are its multiples by e^(+-spread), and of the p-value."""
    means, factor = (float(statistics["mean_a"]), float(statistics["mean_b"])), float(statistics["factor"])
    errors = [float(statistics[f"sd_{side}"]) / math.sqrt(int(statistics[f"n_{side}"])) for side in "ab"]
    p_value = of_p_value(
        float(result["p_value"]), math.hypot(factor * errors[0], errors[1]), factor * means[0] + means[1]
    )
    sds = {"sd_a": abs(means[0]), "sd_b": abs(means[1])}
    return {"statistics": sds, "result": {**_ratio_scales(result), "p_value": p_value}}


def _ratio_scales(result: Json) -> dict[str, float]:
    """Scales of the limits of a ratio: e^spread magnifies what the spread is off by."""
    if result["lower"] is None or not 0 < result["ratio"] < result["upper"]:
        return {}
    size = 1 + math.log(float(result["upper"]) / float(result["ratio"]))
    return {limit: size * float(result[limit]) for limit in ("lower", "upper")}


@judge("comparison", _comparison_scales)
def _judge_comparison(statistics: Json) -> JsonDict:
    """Welch's t for mean_b - factor mean_a (Fieller's way); the stated interval is that of the log ratio."""
    counts = (int(statistics["n_a"]), int(statistics["n_b"]))
    mean_a, mean_b = float(statistics["mean_a"]), float(statistics["mean_b"])
    factor = float(statistics["factor"])
    alpha, confidence = _levels(statistics)
    ratio = mean_b / mean_a
    if min(counts) < 2:
        return {"verdict": "inconclusive", "ratio": ratio, "lower": None, "upper": None, "p_value": 1.0}
    variances = (float(statistics["sd_a"]) ** 2 / counts[0], float(statistics["sd_b"]) ** 2 / counts[1])
    error, df = _welch((factor**2 * variances[0], variances[1]), counts)
    distance = factor * mean_a - mean_b
    p_value = _t_p_value(distance, error, df)
    if p_value <= alpha:
        verdict = "contradicted"
    else:
        verdict = "consistent" if _t_limit(distance, error, df, confidence) <= 0 else "inconclusive"
    relative, df = _welch((variances[0] / mean_a**2, variances[1] / mean_b**2), counts)
    spread = min(_t_limit(0.0, relative, df, (1 + STATED) / 2), 700.0)  # of logarithms: beyond, no float
    return {
        "verdict": verdict,
        "ratio": ratio,
        "lower": ratio * math.exp(-spread),
        "upper": ratio * math.exp(spread),
        "p_value": p_value,
    }


@worded("comparison")
def _comparison_in_words(numbers: Json, result: Json) -> str:
    times = f"{digits(result['ratio'])} times the regret{interval(result)}"
    return (
        f"{numbers.get('rival', 'the rival')} has {times}, claimed at least {digits(numbers['factor'])} times"
    )


def _welch(variances: tuple[float, float], counts: tuple[int, int]) -> tuple[float, float]:
    """Standard error of a difference of means, and its degrees of freedom."""
    total = variances[0] + variances[1]
    if total == 0:
        return 0.0, float(counts[0] + counts[1] - 2)
    pairs = zip(variances, counts, strict=True)
    return math.sqrt(total), total**2 / sum(v**2 / (n - 1) for v, n in pairs)
