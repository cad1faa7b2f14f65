"""Section 5 of Sajed & Sheffet: DP-SE against DP-UCB on four instances, and the rates of Section 4."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.se import SE
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _paths as paths
from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.dp_se import minimax_regret_bound, regret_bound
from verifiable_dp.auditors.studies import Outcomes, bounded, compared, fewer, over
from verifiable_dp.auditors.studies._rates import Rate, near
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.validate import FloatArray, JsonDict, JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyBound, StudyPlan

HORIZON, RUNS = 50_000_000, 30
SHEET = Sheet(__file__, papers.S1)
SETTINGS, ARMS, EPSILONS = SHEET.grid("settings"), SHEET.grid("arms"), SHEET.grid("epsilons")
DEFAULT_ARMS = 5


def cell(setting: str, arms: int, epsilon: float | None, algorithm: str) -> str:
    """Name of a cell of Figures 1 to 12; no epsilon for what is not private."""
    budget = "" if epsilon is None else f" epsilon={epsilon:g}"
    return f"{setting} K={arms}{budget} {algorithm}"


# ---------------------------------------------------------------- Figures 1 to 12


def _paper_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for setting in SETTINGS:
        for arms in ARMS:
            place = s1(setting, arms)
            for epsilon in EPSILONS:
                cells[cell(setting, arms, epsilon, "dp-se")] = Cell(DPSE(arms, epsilon, horizon), place, runs)
                rival = DPUCB(arms, epsilon, horizon)
                cells[cell(setting, arms, epsilon, "dp-ucb")] = Cell(rival, place, runs)
                rival = DPUCB(arms, epsilon, horizon, budget="per-arm")
                cells[cell(setting, arms, epsilon, "dp-ucb-per-arm")] = Cell(rival, place, runs)
        place = s1(setting, DEFAULT_ARMS)
        cells[cell(setting, DEFAULT_ARMS, None, "se")] = Cell(SE(DEFAULT_ARMS, horizon), place, runs)
        cells[cell(setting, DEFAULT_ARMS, None, "ucb1")] = Cell(UCB1(DEFAULT_ARMS, horizon), place, runs)
    return cells


def _either(gaps: FloatArray, rule: DPSE) -> float:
    """The smaller of the bounds of Theorems 4.3 and 4.4."""
    return min(regret_bound(gaps, rule), minimax_regret_bound(gaps, rule))


def _bound(setting: str, arms: int, epsilon: float, horizon: int) -> StudyBound:
    gaps = s1(setting, arms).gaps
    least = _either(gaps, DPSE(arms, epsilon, horizon))
    label = f"bound, epsilon={epsilon:g}"
    return StudyBound(label, lambda t: min(least, t * float(gaps.max())), f"DP-SE, epsilon={epsilon:g}")


def _panel(setting: str, arms: int, epsilons: Sequence[float], horizon: int, title: str) -> Panel:
    lines = []
    for epsilon in epsilons:
        lines.append(Line(f"DP-SE, epsilon={epsilon:g}", (cell(setting, arms, epsilon, "dp-se"),)))
        lines.append(Line(f"DP-UCB, epsilon={epsilon:g}", (cell(setting, arms, epsilon, "dp-ucb"),)))
    for epsilon in epsilons:
        name = cell(setting, arms, epsilon, "dp-ucb-per-arm")
        lines.append(Line(f"DP-UCB, epsilon={epsilon:g} per arm", (name,)))
    if arms == DEFAULT_ARMS:
        lines.append(Line("SE, not private", (cell(setting, arms, None, "se"),)))
    bounds = [_bound(setting, arms, epsilon, horizon) for epsilon in epsilons]
    return Panel(title, tuple(lines), tuple(bounds))


def _paper_figures(horizon: int, runs: int) -> list[Figure]:
    figures: list[Figure] = []
    halves = EPSILONS[:2], EPSILONS[2:]

    def figure(name: str, setting: str, panels: list[Panel], **values: JsonValue) -> None:
        about: JsonDict = {"number": len(figures) + 1, "setting": setting, "shape": SHEET.words(setting)}
        figures.append(SHEET.figure(name, panels, horizon=horizon, runs=runs, **about, **values))

    for setting in SETTINGS:
        panels = [_panel(setting, DEFAULT_ARMS, half, horizon, _words(half)) for half in halves]
        figure("figure-{number}", setting, panels)
    for setting, half in itertools.product(SETTINGS, reversed(halves)):
        panels = [_panel(setting, arms, half, horizon, f"K = {arms}") for arms in ARMS]
        figure("figure-{number} over K", setting, panels, epsilons=_words(half))
    return figures


def _words(epsilons: Sequence[float]) -> str:
    return f"epsilon = {epsilons[0]:g} and {epsilons[1]:g}"


def _ended(arms: Sequence[int], outcomes: Outcomes) -> list[Check]:
    """Runs of DP-SE in which more than one arm is active at T; a rate of 5 % is tolerated."""
    checks = []
    for setting in SETTINGS:
        for k in arms:
            names = [cell(setting, k, epsilon, "dp-se") for epsilon in EPSILONS]
            active = np.concatenate([np.asarray(outcomes[name].active) for name in names])
            checks.append(probability(f"{setting}, K={k}", active.sum(axis=1) > 1, probability=0.05))
    return checks


def _later(name: str, outcomes: Outcomes) -> FloatArray:
    """Regret from about T/2 to T, by run."""
    found = outcomes[name]
    half = int(np.searchsorted(found.times, found.times[-1] // 2))
    return found.regrets[:, -1] - found.regrets[:, half]


def _smooth(outcomes: Outcomes) -> list[Check]:
    """Runs in which DP-UCB plays no other arm in the second half; a rate of 5 % is tolerated."""
    checks = []
    for setting in SETTINGS:
        names = [cell(setting, DEFAULT_ARMS, epsilon, "dp-ucb") for epsilon in EPSILONS]
        none = np.concatenate([_later(name, outcomes) <= 0 for name in names])
        checks.append(probability(f"{setting}, K=5", none, probability=0.05))
    return checks


def _paper_statements(cells: Mapping[str, Cell]) -> list[Statement]:
    names = {
        f"{setting}, K={arms}, epsilon={epsilon:g}": cell(setting, arms, epsilon, "dp-se")
        for setting, arms, epsilon in itertools.product(SETTINGS, ARMS, EPSILONS)
    }
    found = [compared(SHEET, "five-times-{setting}", setting=setting) for setting in SETTINGS]
    for setting in SETTINGS:
        known = "contradicted" if setting in SHEET.grid("false_per_arm") else "consistent"
        found.append(compared(SHEET, "five-times-per-arm-{setting}", setting=setting, known=known))
    return [
        *found,
        SHEET.statement("smooth", _smooth),
        SHEET.statement("piecewise-linear", functools.partial(_ended, (DEFAULT_ARMS,))),
        SHEET.statement("theorems-4.3-4.4", functools.partial(bounded, _either, cells, names)),
        compared(SHEET, "privacy-costs"),
        compared(SHEET, "per-arm-budget"),
    ]


# ---------------------------------------------------------------- rates

LAW_HORIZON = 10**12  # sums of whole epochs: it costs nothing
LAW_RUNS = 200
INDEX_RUNS = 40  # of DP-UCB over T
WORST_T = closed_forms.horizons(1e7, 4.0, 8)
WORST_GAPS = tuple(0.8 * 2.0**-j for j in range(16))
PRICE = tuple(float(x) for x in np.geomspace(0.01, 10, 13))


def _two(gap: float, arms: int = 5) -> TwoPoint:
    means = [0.5 + gap / 2, *[0.5 - gap / 2] * (arms - 1)]
    return bernoulli(means, f"{arms} arms, gaps of {gap:.3g}")


def _one(values: Mapping[float, tuple[str, DPSE, float]], runs: int) -> dict[float, dict[str, Cell]]:
    """One cell a value: its name, the algorithm and the gap."""
    return {
        x: {f"law {name}": Cell(rule, _two(gap, rule.n_arms), runs, points=2)}
        for x, (name, rule, gap) in values.items()
    }


def _index_rates(runs: int) -> Iterator[Rate]:
    """The baselines over T: blocks of pulls are one draw, so that T is as large as for eliminations."""
    whole = Source(papers.MISHRA, "Algorithm 1, regret", "epsilon = 1, the whole budget for each tree")
    dear = min(runs, INDEX_RUNS)
    for name, make, path, first, number, source in (
        ("ucb1", lambda t: UCB1(2, t), paths.ucb1, 1e4, runs, Source(papers.AUER, "Theorem 1")),
        ("dp-ucb", lambda t: DPUCB(2, 1.0, t, "per-arm"), paths.dp_ucb, 1e5, dear, whole),
    ):
        times = [int(t) for t in np.geomspace(first, 1e12, 8)]
        cells = {
            float(t): {f"law {name} T {t}": Cell(make(t), _two(0.8, 2), number, points=2)} for t in times
        }
        yield Rate.of(SHEET, f"{name}-T", cells, near(path), {"source": source})


def rates(runs: int) -> list[Rate]:
    """The baselines over T, the terms of Theorem 4.3, each where it dominates, and Theorem 4.4."""
    few, law = 0.01, functools.partial(Rate.of, SHEET, level=near(paths.dp_se))
    worst = {
        float(t): {
            f"law worst T {t} gap {gap:.4g}": Cell(DPSE(5, 10.0, t), _two(gap), runs, points=2)
            for gap in WORST_GAPS
        }
        for t in WORST_T
    }
    epsilons = [float(x) for x in np.geomspace(0.0005, 0.02, 9)]
    gaps = [0.075 * 2.0**-j for j in range(8)]
    times = [int(t) for t in np.geomspace(1e8, 1e13, 11)]
    by_epsilon = {e: (f"epsilon {e:.4g}", DPSE(5, e, LAW_HORIZON), 0.4) for e in epsilons}
    by_arms = {k - 1.0: (f"K {k}", DPSE(k, few, LAW_HORIZON), 0.4) for k in SHEET.grid("over_k")}
    by_gap = {g: (f"gap {g:.4g}", DPSE(5, 10.0, LAW_HORIZON), g) for g in gaps}
    by_time = {float(t): (f"T {t}", DPSE(5, 0.25, t), 0.4) for t in times}
    about: JsonDict = {
        "gaps": len(WORST_GAPS),
        "least": WORST_GAPS[-1],
        "first": WORST_T[0],
        "last": WORST_T[-1],
    }
    return [
        *_index_rates(runs),
        law("over-epsilon", _one(by_epsilon, runs)),
        law("over-K", _one(by_arms, runs), few=few),
        law("over-gap", _one(by_gap, runs)),
        law("over-T", _one(by_time, runs)),
        law("over-T-worst", worst, **about),
    ]


def _price_cells(runs: int) -> dict[float, tuple[str, Cell]]:
    """DP-SE over epsilon at gaps of .1."""
    return {
        e: (f"price epsilon {e:.4g}", Cell(DPSE(5, e, LAW_HORIZON), _two(0.1), runs, points=2)) for e in PRICE
    }


def _law_figure(found: Sequence[Rate]) -> Figure:
    labels = {"ucb1-T": "UCB1", "dp-ucb-T": "DP-UCB"}
    panels = [rate.panel(rate.name.removeprefix("over-"), labels.get(rate.name, "DP-SE")) for rate in found]
    return SHEET.figure("rates", panels, [f"rate-{rate.name}" for rate in found])


def _price_figure(cells: Mapping[float, str]) -> Figure:
    ends = dict.fromkeys((min(cells), max(cells)), "price se")
    panel = Panel("gaps of .1, K = 5", (over("DP-SE", cells), over("SE, not private", ends)), axis="epsilon")
    return SHEET.figure("price-of-privacy", [panel])


def plan(scale: float) -> StudyPlan:
    """Everything at T = 5e7 and 30 runs, or less."""
    horizon, runs = max(int(HORIZON * scale), 10_000), fewer(RUNS, scale)
    few = fewer(LAW_RUNS, scale, 30)
    found, prices = rates(few), _price_cells(few)
    cells = _paper_cells(horizon, runs) | dict(prices.values())
    for rate in found:
        cells |= rate.plan
    cells["price se"] = Cell(SE(5, LAW_HORIZON), _two(0.1), few, points=2)
    laws = [statement for rate in found for statement in rate.statements()]
    statements = [*_paper_statements(cells), *laws, compared(SHEET, "free-at-large-epsilon")]
    price = _price_figure({x: name for x, (name, _) in prices.items()})
    figures = [*_paper_figures(horizon, runs), _law_figure(found), price]
    return StudyPlan(cells, figures, statements, SHEET.notes())


STUDY = Study(
    "S1",
    "DP-SE against DP-UCB",
    papers.S1,
    plan,
    settings={name: functools.partial(s1, name) for name in SETTINGS},
)
