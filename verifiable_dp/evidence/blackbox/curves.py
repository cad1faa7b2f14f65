"""Hockey-stick curves: how much delta each epsilon needs, bounded from below by counts.

A black box tests one event; a curve tests an event at each epsilon of a grid and at each delta of another,
all on the same fresh runs. The error is shared by all points, so that the bounds hold together, and what the
claim implies at a point is held against it: a promise of rho-zCDP is refuted where any point lies above its
whole curve, and a promise (epsilon, delta) also by what it implies at smaller epsilons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from msgspec import UNSET, Meta, UnsetType
from scipy import special

from verifiable_dp.core import validate
from verifiable_dp.core.claims import CURVED, PrivacyClaim
from verifiable_dp.core.neighbours import Neighbours
from verifiable_dp.core.validate import FloatArray, IntArray, Json, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.events import Event, EventSetting, Observation, choose
from verifiable_dp.evidence.blackbox.run_parts import Sampler
from verifiable_dp.evidence.blackbox.test import SELECT, Plan, Selected, Terms, hits_in, learnt
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import (
    AtDelta,
    AtLeastOne,
    Carried,
    Count,
    Delta,
    Direction,
    Hits,
    Loss,
    OpenProbability,
    Positive,
    Probability,
    Recorded,
    Size,
    Text,
    Verdict,
    said,
)
from verifiable_dp.evidence.rounding import of_p_value, searched
from verifiable_dp.evidence.words import bounded, digits, p_value

CURVE = 11  # stage of the runs that are counted
DELTAS = (0.1, 1e-2, 1e-3, 1e-4, 1e-5)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)  # of the claimed epsilon
_CUTS = 2048
_LEAST_HITS = 6
_HALVINGS = 60  # of an interval, after which the last bits are found
_CAUTION = 2.5  # standard errors of the selection runs that a choice keeps from the estimate


class LooksAt(Recorded, frozen=True):
    """Which positions in a run decide."""

    what: Text
    last: Annotated[AtLeastOne | None, said("Null: all.")]


class CurvePoint(Recorded, frozen=True):
    """Counts of an event, and the epsilon or the delta at which it was chosen."""

    either = ("epsilon", "delta")

    direction: Direction
    event: Text
    looks_at: Annotated[LooksAt | None, said("Null where numbers do.")]
    k1: Hits
    k0: Count
    epsilon: Size | UnsetType = UNSET
    delta: OpenProbability | UnsetType = UNSET


class CurveStatistics(Recorded, frozen=True):
    """Counts at the points of a curve, and the claim."""

    only = ("carried",)

    pair: str
    pair_number: Count
    runs: Annotated[AtLeastOne, said("On each input; all events are counted in the same runs.")]
    points: Annotated[
        tuple[CurvePoint, ...],
        Meta(
            min_length=1,
            description="At a given epsilon, delta is bounded; at a given delta, epsilon is bounded.",
        ),
    ]
    epsilon: Positive
    delta: Delta
    tests: Annotated[
        AtLeastOne,
        said("Number of tests that share alpha and the error of the bounds; the points share them too."),
    ]
    alpha: OpenProbability
    confidence: OpenProbability
    rho: Positive | UnsetType = UNSET
    mu: Positive | UnsetType = UNSET
    carried: Carried | UnsetType = UNSET


class CurvePointResult(Recorded, frozen=True):
    """What follows at a point."""

    p_value: Annotated[Probability, said("Of this point alone.")]
    epsilon: Size | UnsetType = UNSET
    delta: OpenProbability | UnsetType = UNSET
    delta_lower: Probability | UnsetType = UNSET
    delta_point: Probability | UnsetType = UNSET
    delta_claimed: Annotated[Probability | UnsetType, said("What the claim implies at this epsilon.")] = UNSET
    epsilon_lower: Loss | UnsetType = UNSET
    epsilon_claimed: Annotated[
        Loss | UnsetType,
        said("Least epsilon at which the claim implies this delta; inf if it implies none."),
    ] = UNSET


class CurveResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    p_value: Annotated[Probability, said("Of all points together.")]
    epsilon_lower: AtDelta
    points: Annotated[tuple[CurvePointResult, ...], Meta(min_length=1)]


CURVE_BOUNDS = Kind(
    "curve",
    "privacy",
    "exact tests of many events on the same runs, one for each point of the curve",
    short="sampling",
    rank=100,
    runs=lambda statistics: 2 * int(statistics["runs"]),
    counts=True,
    statistics=CurveStatistics,
    result=CurveResult,
)


@dataclass(frozen=True)
class Grid:
    """Where a curve is measured.

    Attributes
    ----------
    epsilons
        At which delta is bounded.
    deltas
        At which epsilon is bounded.
    """

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    @classmethod
    def of(cls, claim: PrivacyClaim) -> Grid:
        """Multiples of the claimed epsilon, and decimal deltas with the claimed one."""
        deltas = sorted({*DELTAS, *([claim.delta] if claim.delta > 0 else [])}, reverse=True)
        return cls(tuple(share * claim.epsilon for share in _SHARES), tuple(deltas))


# ---------------------------------------------------------------- events


@dataclass(frozen=True)
class _Seen:
    """Selection runs in a direction: scores of either world that are large where the event is."""

    event: Event
    cuts: FloatArray
    p: FloatArray
    q: FloatArray
    runs: tuple[int, int]

    @classmethod
    def of(cls, event: Event, left: Observation, right: Observation) -> _Seen:
        more, less = (right, left) if event.flipped else (left, right)
        tails = [_Tail(event, seen) for seen in (more, less)]
        cuts = np.unique(np.concatenate([tail.scores for tail in tails]))
        cuts = cuts[cuts > -np.inf]
        if len(cuts) > _CUTS:
            finite = cuts[np.isfinite(cuts)]
            cuts = np.unique(np.quantile(finite, np.linspace(0, 1, _CUTS), method="nearest"))
        p, q = (tail.shares(cuts) for tail in tails)
        return cls(event, cuts, p, q, (more.runs, less.runs))

    def _errors(self, factor: float) -> FloatArray:
        p, q = ((x * n + 0.5) / (n + 1) for x, n in ((self.p, self.runs[0]), (self.q, self.runs[1])))
        return np.sqrt(p * (1 - p) / self.runs[0] + factor**2 * q * (1 - q) / self.runs[1])

    def at_epsilon(self, epsilon: float) -> tuple[float, Event]:
        """The event that makes the most sure of p - e^epsilon q, and how much."""
        factor = math.exp(epsilon)
        return self._best(self.p - factor * self.q - _CAUTION * self._errors(factor))

    def at_delta(self, delta: float) -> tuple[float, Event]:
        """The event that makes the most sure of log((p - delta) / q), and how much."""
        level = float(special.ndtr(-_CAUTION))
        hits, others = self.p * self.runs[0], self.q * self.runs[1]
        low = special.betaincinv(np.maximum(hits, 1e-9), self.runs[0] - hits + 1, level)
        high = special.betaincinv(others + 1, np.maximum(self.runs[1] - others, 1e-9), 1 - level)
        sure = np.log(np.maximum(low - delta, 1e-300)) - np.log(high)
        return self._best(np.where(hits >= _LEAST_HITS, sure, -np.inf))

    def _best(self, worth: FloatArray) -> tuple[float, Event]:
        if not len(worth):
            return -math.inf, self.event
        best = int(np.argmax(worth))
        return float(worth[best]), replace(self.event, cut=float(self.cuts[best]))


class _Tail:
    """Shares of runs that score at least so much."""

    def __init__(self, event: Event, seen: Observation) -> None:
        scores = event.score(seen)
        scores = -scores if event._mirror else scores
        order = np.argsort(scores)
        weight = np.ones(len(scores), np.int64) if seen.weight is None else seen.weight
        self.scores = scores[order]
        self._below = np.append(0, np.cumsum(weight[order]))

    def shares(self, cuts: FloatArray) -> FloatArray:
        """Of runs at or above each cut."""
        runs = max(int(self._below[-1]), 1)
        return np.asarray(1 - self._below[np.searchsorted(self.scores, cuts)] / runs)


@dataclass(frozen=True)
class Point:
    """A point of the grid and the event that was chosen for it.

    Attributes
    ----------
    epsilon, delta
        One is given, the other None: it is what is bounded.
    event
        On the selected pair.
    """

    epsilon: float | None
    delta: float | None
    event: Event


def points(left: Observation, right: Observation, grid: Grid, *, delta: float, test_runs: int) -> list[Point]:
    """An event for each point of the grid, from selection runs: one score a direction, many thresholds."""
    seen = []
    for flipped in (False, True):
        event = choose(left, right, EventSetting(test_runs, delta, directions=(flipped,)))
        seen.append(_Seen.of(event, left, right))
    found = []
    for epsilon in grid.epsilons:
        _, event = max((s.at_epsilon(epsilon) for s in seen), key=lambda pair: pair[0])
        found.append(Point(epsilon, None, event))
    for target in grid.deltas:
        _, event = max((s.at_delta(target) for s in seen), key=lambda pair: pair[0])
        found.append(Point(None, target, event))
    return found


@dataclass(frozen=True)
class CurveSetting:
    """How the events of a curve are chosen: where it is measured, the claim's delta, runs a side to come."""

    grid: Grid
    delta: float
    test_runs: int

    def events(self, left: Observation, right: Observation) -> list[Event]:
        """Those of all points, in the order of the grid."""
        found = points(left, right, self.grid, delta=self.delta, test_runs=self.test_runs)
        return [point.event for point in found]

    def placed(self, events: Sequence[Event]) -> list[Point]:
        """The points that such events are of."""
        places: list[tuple[float | None, float | None]]
        places = [(epsilon, None) for epsilon in self.grid.epsilons]
        places += [(None, delta) for delta in self.grid.deltas]
        return [Point(*place, event) for place, event in zip(places, events, strict=True)]


# ---------------------------------------------------------------- counts


def count(
    sampler: Sampler, chosen: Selected, events: Sequence[Event], runs: int, workers: int
) -> tuple[IntArray, IntArray]:
    """Hits of all events in `runs` fresh runs on each input, (m,) and (m,)."""
    path, asked = (CURVE, chosen.number), (CURVE, chosen.number, runs, len(events))
    hits = hits_in(sampler, chosen.pair, path, (runs, runs), (0, 0), events, workers, "curve", asked)
    return hits[:, 0], hits[:, 1]


def check(
    sampler: Sampler,
    chosen: Selected,
    plan: Plan,
    terms: Terms,
    *,
    name: str = "hockey-stick curve",
) -> Check:
    """Measure the curve on the pair that was selected for the black box.

    Parameters
    ----------
    sampler, chosen
        What is sampled, and on which pair.
    plan
        Runs a side to choose the events on, and fresh ones to count them in.
    terms
        The claim is held against the curve; this check is one of the tests that share the level.
    """
    claim = terms.claim
    validate.exponent(claim.epsilon)
    rule = CurveSetting(Grid.of(claim), claim.delta, plan.test)
    found = rule.placed(
        learnt(sampler, chosen.pair, (SELECT, chosen.number), plan.select, rule, terms.workers)
    )
    hits = count(sampler, chosen, [point.event for point in found], plan.test, terms.workers)
    measured = []
    for i, point in enumerate(found):
        one, zero = (1, 0) if point.event.flipped else (0, 1)
        at = {"epsilon": point.epsilon} if point.delta is None else {"delta": point.delta}
        measured.append(
            {
                **at,
                "direction": f"world {one} over world {zero}",
                "event": point.event.describe(),
                "looks_at": point.event.looks_at(),
                "k1": int(hits[one][i]),
                "k0": int(hits[zero][i]),
            }
        )
    return Check.of(
        name,
        "curve",
        {
            "pair": chosen.pair.describe(),
            "pair_number": chosen.number,
            "runs": plan.test,
            "points": measured,
            **terms.as_dict(),
            **{name: found for name in CURVED if (found := getattr(claim, name)) is not None},
        },
    )


def counterexample(found: Check, pair: Neighbours) -> JsonDict:
    """The point that refutes most clearly, as a record holds it."""
    point = found.statistics["points"][_clearest(found.result)]
    return {
        "check": found.name,
        "pair": pair.as_dict(),
        "event": point["event"],
        "looks_at": point["looks_at"],
        "p_value": found.result["p_value"],
        "epsilon_lower": found.result["epsilon_lower"],
    }


# ---------------------------------------------------------------- judge


def _claim(statistics: Json) -> PrivacyClaim:
    curved: JsonDict = {name: float(statistics[name]) for name in CURVED if name in statistics}
    return PrivacyClaim(float(statistics["epsilon"]), float(statistics["delta"]), **curved)


def _scales(statistics: Json, result: Json) -> Json:
    """Scales of bounds: what searches find them to, the widest of all, since bounds are made monotone."""
    n, rows = int(statistics["runs"]), []
    epsilons, deltas = [1.0], [0.0]
    for point in statistics["points"]:
        counts = int(point["k1"]), n, int(point["k0"]), n
        if "epsilon" in point:
            deltas.append(searched(exact.SEARCHED * exact.difference_error(*counts, point["epsilon"])))
        elif counts[0] > point["delta"] * n:
            error = exact.log_ratio_error(*counts, float(point["delta"]))
            epsilons.append(searched(exact.SEARCHED * error))
    for point, row in zip(statistics["points"], result["points"], strict=True):
        least = point["k1"] / n + (
            math.exp(point["epsilon"]) * point["k0"] / n if "epsilon" in point else 0.0
        )
        rows.append(
            {
                "delta_lower": max(deltas),
                "delta_point": least,
                "epsilon_lower": max(epsilons),
                "epsilon_claimed": 1.0,
                "p_value": of_p_value(float(row["p_value"])),
            }
        )
    return {
        "result": {
            "points": rows,
            "epsilon_lower": max(epsilons),
            "p_value": of_p_value(float(result["p_value"])),
        }
    }


@CURVE_BOUNDS.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """Refuted if the family-wise p-value of what the claim implies at any point reaches alpha."""
    claim, n = _claim(statistics), int(statistics["runs"])
    shared = len(statistics["points"]) * int(statistics["tests"])
    level = (1 - float(statistics["confidence"])) / shared
    rows = [_point(point, n, claim, level) for point in statistics["points"]]
    p_value = min([1.0, *(shared * row["p_value"] for row in rows)])
    return {
        "verdict": "refuted" if p_value <= float(statistics["alpha"]) else "not_refuted",
        "p_value": p_value,
        "epsilon_lower": max([0.0, *_implied(rows, claim.delta)]),
        "points": _monotone(rows),
    }


@CURVE_BOUNDS.worded_by
def _curve_in_words(numbers: Json, result: Json) -> str:
    said = bounded(numbers, result)
    if result["verdict"] == "refuted":
        said = f"{breaking(numbers, result)}, p-value {p_value(float(result['p_value']))}"
    return f"{len(numbers['points'])} points of {numbers['runs']} runs on each side: {said}"


def _clearest(result: Json) -> int:
    """The number of the point that speaks most clearly against the claim."""
    return min(range(len(result["points"])), key=lambda i: float(result["points"][i]["p_value"]))


def breaking(numbers: Json, result: Json) -> str:
    """What was measured at the point that refutes most clearly, beside what is promised there."""
    at = result["points"][_clearest(result)]
    what, where = ("delta", "epsilon") if "epsilon" in at else ("epsilon", "delta")
    return (
        f"{what} is at least {digits(at[f'{what}_lower'])} at {where} {digits(at[where])}, promised at most "
        f"{digits(at[f'{what}_claimed'])}"
    )


def _point(point: Json, n: int, claim: PrivacyClaim, level: float) -> JsonDict:
    """Both bounds are of one event, and the p-value is that of the claim at the point."""
    k1, k0 = int(point["k1"]), int(point["k0"])
    if "epsilon" in point:
        epsilon = float(point["epsilon"])
        implied = claim.delta_at(epsilon)
        return {
            "epsilon": epsilon,
            "delta_lower": exact.delta_lower(k1, n, k0, n, epsilon, level),
            "delta_point": max(0.0, (k1 - math.exp(epsilon) * k0) / n),
            "delta_claimed": implied,
            "p_value": exact.approximate_p_value(k1, n, k0, n, epsilon, implied),
        }
    delta = float(point["delta"])
    epsilon = _epsilon_claimed(claim, delta)
    lower = exact.approximate_lower(k1, n, k0, n, delta, level)
    return {
        "delta": delta,
        "epsilon_lower": plain(max(lower, 0.0)),
        "epsilon_claimed": plain(epsilon),
        "p_value": exact.approximate_p_value(k1, n, k0, n, epsilon, delta) if epsilon < math.inf else 1.0,
    }


def _epsilon_claimed(claim: PrivacyClaim, delta: float) -> float:
    """The least epsilon >= 0 at which the claim implies `delta`."""
    if claim.delta_at(0.0) <= delta:
        return 0.0
    if claim.delta_at(claim.epsilon) <= delta:
        low, high = 0.0, claim.epsilon
    elif not claim.curved:  # it promises nothing at deltas below its own
        return math.inf
    else:
        return claim.epsilon_at(delta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if claim.delta_at(middle) <= delta else (middle, high)
    return high


def _implied(rows: Sequence[Json], delta: float) -> list[float]:
    """Lower bounds on the epsilon at `delta`: epsilon grows as delta falls, and delta as epsilon falls."""
    found = [float(row["epsilon_lower"]) for row in rows if "delta" in row and row["delta"] >= delta]
    return found + [float(r["epsilon"]) for r in rows if "epsilon" in r and r["delta_lower"] > delta]


def _monotone(rows: Sequence[JsonDict]) -> list[JsonDict]:
    """The bounds made monotone: what holds at an epsilon, or a delta, holds at every smaller one."""
    out = []
    for row in rows:
        if "epsilon" in row:
            further = [r["delta_lower"] for r in rows if "epsilon" in r and r["epsilon"] >= row["epsilon"]]
            out.append({**row, "delta_lower": max(further)})
        else:
            further = [float(r["epsilon_lower"]) for r in rows if "delta" in r and r["delta"] >= row["delta"]]
            out.append({**row, "epsilon_lower": plain(max(further))})
    return out
