"""Rates of the study S4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy import optimize

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import Actions
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors.studies._rates import Rate
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import JsonValue
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Figure
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.HANNA)

HORIZON, ARMS, DIMENSION = 1_000_000, 10, 2
LONG, MANY = 10_000_000, 1000  # of Figure 3(b)
KINDS: Mapping[str, type[DPLinear]] = {"central": DPLinear, "shuffled": ShuffledLinear, "local": LDPLinear}
NAMES = {"central": "Alg. 1 (central)", "shuffled": "Alg. 3 (shuffled)", "local": "Alg. 2 (local)"}
THEOREMS = {"central": "1", "local": "2", "shuffled": "3"}

# floor(log T) - 1 batches leave a share of T that jumps with T; about T = e^(j + 1/2) it hardly changes.
# With three horizons for each j the slope's error is so small that a further factor log T is contradicted.
OVER_T = {
    kind: tuple(round(math.exp(j + share)) for j in range(first, first + 9) for share in (0.45, 0.5, 0.55))
    for kind, first in (("central", 14), ("local", 17), ("shuffled", 17))
}
VAST = 10**12
LOCAL_T = round(math.exp(28.5))
LOCAL_EPSILONS = tuple(float(x) for x in np.geomspace(0.005, 0.1, 9))
STEPS = 8  # epsilons of the law in the models of small noise, and the largest of them
LARGEST = {"central": 1e-3, "shuffled": 3e-4}
# Batches of the private terms of Theorems 1 and 3, all with an epsilon so small that noise decides in each.
FAINT = {"central": 1e-6, "shuffled": 1e-7}
OVER_BATCHES = {
    "central": tuple(round(math.exp(j + 0.5)) for j in range(24, 34)),
    "shuffled": tuple(round(math.exp(j + 0.5)) for j in range(28, 38)),
}
DELTA = 1e-6
OVER_D = (16, 24, 36, 54, 80, 120)
D_T = {"central": round(math.exp(18.5)), "local": round(math.exp(22.5))}
D_EPSILON = {"central": 100.0, "local": 1.0}
D_GAPS = tuple(2.0 ** (j / 2) for j in range(-2, 9))  # in units of the last gamma
WIDE = 0.3  # a gap beside them


def circle(n_arms: int, angle: float) -> tuple[Actions, TwoPoint]:
    """Actions evenly on the unit circle, and theta at `angle` (in units of their distance) from one."""
    at = 2 * np.pi * np.arange(n_arms) / n_arms
    unit = np.round(np.column_stack([np.cos(at), np.sin(at)]) * (1 - 1e-9), 9)
    turn = 2 * np.pi * angle / n_arms
    theta = np.array([math.cos(turn), math.sin(turn)]) * (1 - 1e-9)
    actions: Actions = tuple(tuple(row) for row in unit.tolist())
    return actions, family.linear(actions, theta, f"{n_arms} actions, evenly spaced on the circle")


def axes(dimension: int, gap: float) -> tuple[Actions, TwoPoint]:
    """Unit vectors of R^d, one of them better by a gap."""
    actions: Actions = tuple(tuple(row) for row in np.eye(dimension).tolist())
    means = (gap, *[0.0] * (dimension - 1))
    return actions, TwoPoint(means, -1.0, 1.0, f"unit vectors of R^{dimension}, a gap of {gap:.3g}")


def _width(kind: str, pulls: float, dimension: int, n_actions: int, horizon: int, epsilon: float) -> float:
    """gamma of a batch of q^i = `pulls` with Lap(2/epsilon)."""
    log = math.log(4 * n_actions * horizon**2)
    if kind == "shuffled":
        epsilon = shuffle.local_epsilon(epsilon, math.ceil(round(pulls, 6)), DELTA)
    scale = 2 / epsilon
    if kind != "central":
        return closed_forms.local_width(pulls, dimension, scale=scale, log=log)
    core = closed_forms.core_size(dimension, n_actions)
    return closed_forms.central_width(pulls, dimension, scale=scale, core=core, log=log)


def _closed(kind: str, made: Cell) -> float:
    """The sum in (16) in a cell, and once in T the largest gap throughout."""
    rule: Listed = made.algorithm
    d, gaps = rule.dimension, made.gaps

    def width(pulls: float) -> float:
        return _width(kind, pulls, d, len(gaps), rule.horizon, rule.epsilon)

    core = closed_forms.core_size(d, len(gaps))
    return closed_forms.linear(gaps, rule.horizon, core, width) + float(gaps.max())


def _law(name: str, kind: str, cells: Mapping[float, Mapping[str, Cell]], **values: JsonValue) -> Rate:
    level = partial(_closed, kind), "the sum in (16), computed"
    return Rate.of(SHEET, name, cells, level, {"name": f"over-{name}"}, **values)


def _over_t(kind: str, runs: int) -> Rate:
    dense, place = circle(MANY, 0.3)
    number, cells = THEOREMS[kind], {}
    for t in OVER_T[kind]:
        made = Cell(KINDS[kind](dense, 1.0, t), place, runs, points=2)
        cells[_closed(kind, made)] = {f"law T={t} {kind}": made}
    ends = {"first": OVER_T[kind][0], "last": OVER_T[kind][-1]}
    return _law(f"T-{kind}", kind, cells, number=number, **ends)


def _first(kind: str, horizon: int) -> float:
    """The pulls of a batch after which what is left, up to 4 gamma, costs no more than the mean action."""

    def excess(log_pulls: float) -> float:
        return math.log(4 * _width(kind, math.exp(log_pulls), DIMENSION, MANY, horizon, FAINT[kind]))

    return math.exp(float(optimize.brentq(excess, math.log(1e3), math.log(horizon))))


def _over_batches(kind: str, runs: int) -> Rate:
    """One factor log T is that of the batches, the other one, or its root, that of each one's width."""
    dense, place = circle(MANY, 0.3)
    number, power, epsilon = THEOREMS[kind], {"central": 1.0, "shuffled": 0.5}[kind], FAINT[kind]
    cells = {}
    for t in OVER_BATCHES[kind]:
        x = math.log(4 * MANY * t**2) ** power * math.log(t / _first(kind, t))
        rule = KINDS[kind](dense, epsilon, t)
        cells[x] = {f"law batches T={t} {kind}": Cell(rule, place, runs, points=2)}
    ends = {"first": OVER_BATCHES[kind][0], "last": OVER_BATCHES[kind][-1]}
    return _law(f"batches-{kind}", kind, cells, number=number, many=MANY, epsilon=epsilon, **ends)


def _over_epsilon(runs: int) -> list[Rate]:
    dense, place = circle(MANY, 0.3)
    sparse, far = circle(ARMS, 0.15)
    step = (2 * VAST) ** (1 / math.log(VAST))  # q: each epsilon meets the same place of its batch

    def least(kind: str) -> Rate:
        few = [LARGEST[kind] * step**-j for j in range(STEPS)]
        cells = {
            e: {f"law epsilon={e:.4g} {kind}": Cell(KINDS[kind](sparse, e, VAST), far, runs, points=2)}
            for e in few
        }
        return _law(f"epsilon-{kind}", kind, cells, number=THEOREMS[kind], arms=ARMS, first=few[0])

    local = {
        e: {f"law epsilon={e:.4g} local": Cell(LDPLinear(dense, e, LOCAL_T), place, runs, points=2)}
        for e in LOCAL_EPSILONS
    }
    return [*(least(kind) for kind in LARGEST), _law("epsilon-local", "local", local)]


def _over_d(kind: str, runs: int) -> Rate:
    cells: dict[float, dict[str, Cell]] = {float(d): {} for d in OVER_D}
    for d in OVER_D:
        pulls = closed_forms.batch_growth(D_T[kind]) ** (math.floor(math.log(D_T[kind])) - 1)
        unit = _width(kind, pulls, d, d, D_T[kind], D_EPSILON[kind])
        for gap in (WIDE, *(unit * share for share in D_GAPS if unit * share < WIDE)):
            actions, place = axes(d, gap)
            rule = KINDS[kind](actions, D_EPSILON[kind], D_T[kind])
            cells[float(d)][f"law d={d} gap={gap:.3g} {kind}"] = Cell(rule, place, runs, points=2)
    about = {"first": OVER_D[0], "last": OVER_D[-1], "wide": WIDE, "epsilon": D_EPSILON[kind]}
    return _law(f"d-{kind}", kind, cells, horizon=D_T[kind], **about)


def laws(runs: int) -> list[Rate]:
    """All rates."""
    return [
        *(_over_t(kind, runs) for kind in OVER_T),
        *_over_epsilon(runs),
        *(_over_batches(kind, runs) for kind in OVER_BATCHES),
        *(_over_d(kind, runs) for kind in D_T),
    ]


def law_figure(found: Sequence[Rate], runs: int) -> Figure:
    panels = []
    for rate in found:
        title = rate.name.removeprefix("over-").replace("-", ", ")
        panels.append(rate.panel(title, NAMES[title.split(", ")[1]]))
    return SHEET.figure("rates", panels, [f"rate-{rate.name}" for rate in found], runs=runs)
