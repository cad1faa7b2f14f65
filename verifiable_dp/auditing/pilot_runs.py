"""Where a rate over T is measured: pilot runs, then the first plan that they say will tell it from others.

Far from the horizon at which an algorithm has learnt, its regret grows faster than its theorem says. A larger
gap, a later range of horizons and more runs each bring a test nearer to a verdict, and pilot runs tell which
is needed. They share no run with the test, whose levels are as stated whatever the pilots chose.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.auditing import rates
from verifiable_dp.auditing.rates import Rate
from verifiable_dp.auditing.regret import SHARD, Asked, Cells, Claims, RegretSubject, at
from verifiable_dp.core import engine
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.study import cell_seed
from verifiable_dp.targets import players
from verifiable_dp.targets.players import PlayerPart

FIRST = 2048  # horizon that is tried first where none is given
_LADDER = 3  # horizons that are tried then, each 4 times the last
_GAPS = (
    rates.GAP,
    0.5,
    0.75,
    0.9,
)  # in units of the range: as small as will do, as broken code errs on those
_SPANS = (32, 8)  # largest over smallest horizon
_MORE = 4  # times as many runs, where the usual number would not do
_PILOTS = 32
_SURE = 0.9995  # confidence at which pilots have to agree with the claim, so that the test will at .99


def chosen_horizon(asked: Asked, n_arms: int | None) -> int | None:
    """The horizon that was given, or the first to try where only a rate over T at a fixed gap is claimed."""
    alone = asked.bound is None and asked.better_than is None and isinstance(asked.scaling, Mapping)
    if asked.horizon is not None or not alone or n_arms is None or list(asked.scaling) != ["T"]:
        return asked.horizon
    return max(FIRST, rates.shortest(n_arms))


@dataclass(frozen=True)
class _Plan:
    """A gap, the horizons and how many times each is played."""

    gap: float
    values: tuple[float, ...]
    runs: int


def planned(
    subject: RegretSubject, claims: Claims, asked: Asked, *, free: bool, seed: int = 0, workers: int = 1
) -> tuple[RegretSubject, Claims]:
    """The subject and the claims with the horizons, the gap and the runs that pilot runs chose.

    What was given stays as it was given; `free` says that the horizon was not. Claims without a rate over T
    at a fixed gap stay as they are.

    Raises
    ------
    InputError
        If the code raises or returns no arms.
    """
    fixed = [rate for rate in claims.rates if not rate.worst and rate.over != "gap"]
    rate = next((rate for rate in fixed if rate.over == "T"), None)
    if rate is None or claims.population is not None:
        return subject, claims
    gaps = (claims.gap,) if asked.gap is not None or len(fixed) > 1 else _GAPS
    runs = (claims.runs,) if asked.runs is not None else (claims.runs, _MORE * claims.runs)
    first = subject.setting.horizon
    for step in range(_LADDER if free else 1):
        horizon = first * 4**step
        subject = replace(subject, setting=replace(subject.setting, horizon=horizon))
        given = (asked.values or {}).get("T")
        grids = [rate.values] if given is not None else [rates.horizons(horizon, span) for span in _SPANS]
        plans = [_Plan(gap, grid, size) for size in runs for gap in gaps for grid in grids]
        plan, verdict = _first(subject, rate, plans, seed, workers)
        if verdict != "inconclusive":
            break
    chosen = [replace(one, values=plan.values) if one is rate else one for one in claims.rates]
    return subject, replace(claims, rates=chosen, gap=plan.gap, runs=plan.runs)


def _first(
    subject: RegretSubject, rate: Rate, plans: Sequence[_Plan], seed: int, workers: int
) -> tuple[_Plan, str]:
    """The first plan by which pilots agree with the claim, else that of the largest gap; and the verdict."""
    if len(plans) == 1:
        return plans[0], "consistent"
    played: dict[float, dict[float, FloatArray]] = {}
    largest = max(plan.gap for plan in plans)
    found = {}
    for plan in plans:
        if plan.gap not in played:
            rounds = {x for other in plans for x in other.values}
            played[plan.gap] = _pilot(subject, rate, plan.gap, sorted(rounds), seed, workers)
        found[plan] = _expected(rate, plan, played[plan.gap])
        if found[plan] == "consistent":
            return plan, found[plan]
    # There it has learnt most: what is far from the claim even there is contradicted for a reason.
    last = [plan for plan in plans if plan.gap == largest and plan.runs == plans[0].runs][-1]
    return last, found[last]


def _expected(rate: Rate, plan: _Plan, played: Mapping[float, FloatArray]) -> str:
    """The verdict of as many runs as are planned, if they were as the pilots."""
    points, size = [], plan.runs / 2  # the judge counts the spread of means twice, and curves are smooth
    for x in plan.values:
        values, mean = played[x], played[x].mean()
        if not mean > 0:
            return "inconclusive"
        points.append((x, mean + (values - mean) * math.sqrt(len(values) / size)))
    check = scaling(
        rate.name,
        points,
        exponent=rate.exponent,
        log_power=rate.log_power,
        margin=rate.margin,
        confidence=_SURE,
    )
    return check.verdict


def _pilot(
    subject: RegretSubject, rate: Rate, gap: float, rounds: Sequence[float], seed: int, workers: int
) -> dict[float, FloatArray]:
    """Regrets at each horizon, (_PILOTS,): of an `Algorithm` at that horizon, else on the way to the last."""
    if players.whole(subject.player, subject.setting):
        cells = Cells(seed, workers)
        for x in rounds:
            cells.ask(f"pilot/{x:.17g}/{gap:.17g}", subject, *at(subject, rate, x, gap), _PILOTS)
        return dict(zip(rounds, cells.run().values(), strict=True))
    setting, instance = at(subject, rate, rounds[-1], gap)
    name = cell_seed(f"pilot/{rounds[-1]:.17g}/{gap:.17g}", seed)
    parts = [
        PlayerPart(subject.player, setting, instance, name, i, min(i + SHARD, _PILOTS))
        for i in range(0, _PILOTS, SHARD)
    ]
    play = functools.partial(players.regrets, rounds=np.array(rounds, dtype=np.int64))
    found = dict(engine.run(play, parts, workers=workers))
    curves = np.concatenate([found[number] for number in range(len(parts))])
    return dict(zip(rounds, curves.T, strict=True))
