"""Section 5 of Sajed & Sheffet: DP-SE against DP-UCB on four instances, and the rates of Section 4."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

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
from verifiable_dp.auditors.studies import compare, fewer, over
from verifiable_dp.auditors.studies._rates import Rate, near
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.validate import FloatArray, Given
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.registry.study import (
    Cell,
    Figure,
    Line,
    Panel,
    Statement,
    Study,
    StudyBound,
    StudyOutcome,
    StudyPlan,
)
from verifiable_dp.registry.theorems import bound_of, mean_bound

HORIZON, RUNS = 50_000_000, 30
FALSE_PER_ARM = (
    "C1",
    "C4",
)  # where five times fails with the whole budget for each tree; found before the run
SETTINGS = ("C1", "C2", "C3", "C4")
ARMS, DEFAULT_ARMS = (3, 5, 10, 20), 5
EPSILONS = (0.1, 0.25, 0.5, 1.0)
HALVES = ((0.1, 0.25), (0.5, 1.0))
SHAPES = {"C1": "equal gaps of .05", "C2": "linear", "C3": "convex", "C4": "concave"}

Outcomes = Mapping[str, StudyOutcome]


def cell(setting: str, arms: int, epsilon: float | None, algorithm: str) -> str:
    """Name of a cell of Figures 1 to 12; no epsilon for what is not private."""
    budget = "" if epsilon is None else f" epsilon={epsilon:g}"
    return f"{setting} K={arms}{budget} {algorithm}"


def _source(statement: str, note: str = "") -> Source:
    return Source(papers.S1, statement, note)


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


def _words(epsilons: Sequence[float]) -> str:
    return f"epsilon = {epsilons[0]:g} and {epsilons[1]:g}"


def _five_names(setting: str) -> tuple[str, str]:
    return f"five-times-{setting}", f"five-times-per-arm-{setting}"


def _paper_figures(horizon: int, runs: int) -> list[Figure]:
    figures, number = [], 1
    band = f"Means of {runs} runs with quartiles; dotted: the smaller bound of Theorems 4.3 and 4.4 at T."
    for setting in SETTINGS:
        panels = [_panel(setting, DEFAULT_ARMS, half, horizon, _words(half)) for half in HALVES]
        caption = (
            f"{setting} ({SHAPES[setting]}), K = 5, T = {horizon:.3g}. {band} Per arm: DP-UCB with the whole "
            "budget for each arm's tree. Not in the paper: SE."
        )
        figures.append(Figure(f"figure-{number}", caption, tuple(panels), _five_names(setting)))
        number += 1
    for setting in SETTINGS:
        for half in reversed(HALVES):
            panels = [_panel(setting, arms, half, horizon, f"K = {arms}") for arms in ARMS]
            caption = f"{setting} ({SHAPES[setting]}), {_words(half)}, T = {horizon:.3g}. {band}"
            figures.append(Figure(f"figure-{number}", caption, tuple(panels), _five_names(setting)))
            number += 1
    return figures


def _five_times(setting: str, rival: str, words: str, outcomes: Outcomes, factor: float = 5.0) -> list[Check]:
    return [
        compare(
            f"{setting}, K={arms}, epsilon={epsilon:g}",
            outcomes,
            [cell(setting, arms, epsilon, "dp-se")],
            [cell(setting, arms, epsilon, rival)],
            factor,
            rival=words,
        )
        for arms in ARMS
        for epsilon in EPSILONS
    ]


SPLIT = ("dp-ucb", "dp-ucb, budget split as its own paper prints it")
PER_ARM = ("dp-ucb-per-arm", "dp-ucb, the whole budget for each tree")


def _per_arm(outcomes: Outcomes) -> list[Check]:
    return [check for setting in SETTINGS for check in _five_times(setting, *PER_ARM, outcomes, factor=1.0)]


def _theorem(horizon: int, outcomes: Outcomes) -> list[Check]:
    checks = []
    for setting, arms, epsilon in itertools.product(SETTINGS, ARMS, EPSILONS):
        place = s1(setting, arms)
        bound = bound_of(_either, DPSE(arms, epsilon, horizon), place.gaps)
        name, values = (
            f"{setting}, K={arms}, epsilon={epsilon:g}",
            outcomes[cell(setting, arms, epsilon, "dp-se")],
        )
        checks.append(mean_bound(name, values.regret, place, horizon, bound))
    return checks


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


def _privacy_costs(outcomes: Outcomes) -> list[Check]:
    """Regret at epsilon = .1 is at least that at 1."""
    return [
        compare(
            f"{setting}, K=5: epsilon={EPSILONS[0]:g} against {EPSILONS[-1]:g}",
            outcomes,
            [cell(setting, DEFAULT_ARMS, EPSILONS[-1], "dp-se")],
            [cell(setting, DEFAULT_ARMS, EPSILONS[0], "dp-se")],
            1.0,
        )
        for setting in SETTINGS
    ]


def _paper_statements(horizon: int) -> list[Statement]:
    beats = [
        Statement(
            f"five-times-{setting}",
            f"In setting {setting}, the regret of DP-UCB is at least 5 times that of DP-SE, "
            "for every K and epsilon of Figures 1 to 12.",
            _source(
                "Section 5",
                "T = 5e7, 30 runs; DP-UCB's gamma is not stated, so we chose .1; each tree gets epsilon/K, "
                "as printed by Mishra & Thakurta",
            ),
            functools.partial(_five_times, setting, *SPLIT),
        )
        for setting in SETTINGS
    ]
    whole = [
        Statement(
            f"five-times-per-arm-{setting}",
            f"In setting {setting}, the regret of DP-UCB is at least 5 times that of DP-SE, for every K and "
            "epsilon of Figures 1 to 12, with the whole budget for each tree.",
            _source(
                "Section 5",
                "as above, but each tree has the whole budget: Section 1 describes the noise Lap(log2 "
                "T/epsilon) of a node and the added regret K log^2.5 T/epsilon",
            ),
            functools.partial(_five_times, setting, *PER_ARM),
            "contradicted" if setting in FALSE_PER_ARM else "consistent",
        )
        for setting in SETTINGS
    ]
    return [
        *beats,
        *whole,
        Statement(
            "smooth",
            "DP-UCB pulls suboptimal arms up to the end.",
            _source("Section 5"),
            _smooth,
        ),
        Statement(
            "piecewise-linear",
            "At some point, DP-SE has eliminated all suboptimal arms (K = 5).",
            _source("Section 5"),
            lambda outcomes: _ended((DEFAULT_ARMS,), outcomes),
        ),
        Statement(
            "theorems-4.3-4.4",
            "The regret of DP-SE is at most the smaller of the bounds of Theorems 4.3 and 4.4.",
            _source("Theorems 4.3 and 4.4", "constants from the proofs"),
            lambda outcomes: _theorem(horizon, outcomes),
        ),
        Statement(
            "privacy-costs",
            "The regret of DP-SE at epsilon = .1 is no less than at epsilon = 1.",
            _source("Theorem 4.3", "ours; adjacent values of epsilon differ too little for 30 runs"),
            _privacy_costs,
        ),
        Statement(
            "per-arm-budget",
            "DP-UCB does worse than DP-SE even with the whole budget for each arm's tree.",
            _source("Section 5", "ours: the paper does not say how the budget was split"),
            _per_arm,
        ),
    ]


# ---------------------------------------------------------------- rates

LAW_HORIZON = 10**12  # sums of whole epochs: it costs nothing
LAW_RUNS = 200
INDEX_RUNS = 40  # of DP-UCB over T
OVER_EPSILON = tuple(float(x) for x in np.geomspace(0.0005, 0.02, 9))
OVER_K = (2, 3, 5, 9, 17, 33, 65)
OVER_GAP = tuple(0.075 * 2.0**-j for j in range(8))
OVER_T = tuple(int(t) for t in np.geomspace(1e8, 1e13, 11))
WORST_T = closed_forms.horizons(1e7, 4.0, 8)
WORST_GAPS = tuple(0.8 * 2.0**-j for j in range(16))
PRICE = tuple(float(x) for x in np.geomspace(0.01, 10, 13))


def _two(gap: float, arms: int = 5) -> TwoPoint:
    means = [0.5 + gap / 2, *[0.5 - gap / 2] * (arms - 1)]
    return bernoulli(means, f"{arms} arms, gaps of {gap:.3g}")


def _law(
    parameter: str,
    cells: Mapping[float, Mapping[str, Cell]],
    words: str,
    axis: str,
    region: str,
    exponent: float,
    margin: float = 0.1,
    theorem: str = "Theorem 4.3",
    **options: Given,
) -> Rate:
    return Rate(
        f"over-{parameter}",
        words,
        axis,
        cells,
        exponent,
        margin,
        region,
        _source(theorem, f"region: {region}"),
        *near(paths.dp_se),
        **options,
    )


def _one(values: Mapping[float, tuple[str, DPSE, float]], runs: int) -> dict[float, dict[str, Cell]]:
    """One cell a value: its name, the algorithm and the gap."""
    return {
        x: {f"law {name}": Cell(rule, _two(gap, rule.n_arms), runs, points=2)}
        for x, (name, rule, gap) in values.items()
    }


def _index_rates(runs: int) -> list[Rate]:
    """The baselines over T: blocks of pulls are one draw, so that T is as large as for eliminations."""
    found = []
    for name, make, path, first, power, source, words in (
        (
            "ucb1",
            lambda t: UCB1(2, t),
            paths.ucb1,
            1e4,
            1,
            Source(papers.AUER, "Theorem 1"),
            "UCB1, without privacy: regret is proportional to log T.",
        ),
        (
            "dp-ucb",
            lambda t: DPUCB(2, 1.0, t, budget="per-arm"),
            paths.dp_ucb,
            1e5,
            3,
            Source(papers.MISHRA, "Algorithm 1, regret", "epsilon = 1, the whole budget for each tree"),
            "DP-UCB: where privacy dominates, regret grows like log^2 T log(KT log T/gamma), that is, like "
            "log^3 T.",
        ),
    ):
        times = [int(t) for t in np.geomspace(first, 1e12, 8)]
        number = runs if power == 1 else min(runs, INDEX_RUNS)
        cells = {
            float(t): {f"law {name} T {t}": Cell(make(t), _two(0.8, 2), number, points=2)} for t in times
        }
        found.append(
            Rate(
                f"{name}-T",
                words,
                "horizon T",
                cells,
                0.0,
                0.03,
                f"two arms with a gap of .8, T from {first:.0e} to 1e12",
                source,
                *near(path),
                float(power),
            )
        )
    return found


def rates(runs: int) -> list[Rate]:
    """The baselines over T, the terms of Theorem 4.3, each where it dominates, and Theorem 4.4."""
    few = 0.01
    worst = {
        float(t): {
            f"law worst T {t} gap {gap:.4g}": Cell(DPSE(5, 10.0, t), _two(gap), runs, points=2)
            for gap in WORST_GAPS
        }
        for t in WORST_T
    }
    return [
        *_index_rates(runs),
        _law(
            "epsilon",
            _one({e: (f"epsilon {e:.4g}", DPSE(5, e, LAW_HORIZON), 0.4) for e in OVER_EPSILON}, runs),
            "K log T/epsilon: regret is proportional to 1/epsilon where privacy dominates.",
            "epsilon",
            "gaps .4, K = 5, epsilon at most .02, T = 1e12",
            -1.0,
        ),
        _law(
            "K",
            _one({k - 1.0: (f"K {k}", DPSE(k, few, LAW_HORIZON), 0.4) for k in OVER_K}, runs),
            "K log T/epsilon: regret is proportional to the number of suboptimal arms, K - 1.",
            "K - 1",
            f"gaps .4, epsilon = {few:g}, T = 1e12; log K is small against log T, within the margin",
            1.0,
        ),
        _law(
            "gap",
            _one({g: (f"gap {g:.4g}", DPSE(5, 10.0, LAW_HORIZON), g) for g in OVER_GAP}, runs),
            "Sum of log T/gap: regret is proportional to 1/gap where sampling dominates.",
            "gap",
            "epsilon = 10, K = 5, gaps .075/2^j chosen to lie at the same place of an epoch, T = 1e12",
            -1.0,
        ),
        _law(
            "T",
            _one({float(t): (f"T {t}", DPSE(5, 0.25, t), 0.4) for t in OVER_T}, runs),
            "Regret is proportional to log T.",
            "horizon T",
            "gaps .4, K = 5, epsilon = .25, T from 1e8 to 1e13",
            0.0,
            0.03,
            log_power=1.0,
        ),
        _law(
            "T-worst",
            worst,
            "Whatever the gaps, regret is at most of order sqrt(T log T) where sampling dominates.",
            "horizon T",
            f"the worst of {len(WORST_GAPS)} gaps from .8 down to {WORST_GAPS[-1]:.2g}, epsilon = 10, K = 5, "
            f"T from {WORST_T[0]:.2g} to {WORST_T[-1]:.2g}, T/log T growing by 4, chosen to lie at the same "
            "place of an epoch",
            0.5,
            0.05,
            "Theorem 4.4",
            log_power=0.5,
        ),
    ]


def _price_cells(runs: int) -> dict[float, tuple[str, Cell]]:
    """DP-SE over epsilon at gaps of .1."""
    return {
        e: (f"price epsilon {e:.4g}", Cell(DPSE(5, e, LAW_HORIZON), _two(0.1), runs, points=2)) for e in PRICE
    }


CLAIMED = {
    "over-T": "log T",
    "over-T-worst": "sqrt(T log T)",
    "ucb1-T": "log T",
    "dp-ucb-T": "log^3 T",
}


def _law_figure(found: Sequence[Rate]) -> Figure:
    panels = []
    for rate in found:
        claimed = CLAIMED.get(rate.name, "")
        label = {"ucb1-T": "UCB1", "dp-ucb-T": "DP-UCB"}.get(rate.name, "DP-SE")
        panels.append(rate.panel(rate.name.removeprefix("over-"), label, claimed))
    names = tuple(f"rate-{rate.name}" for rate in found)
    caption = (
        "Regret of DP-SE and of the baselines against one parameter, with the others fixed, with the "
        "claimed slope."
    )
    return Figure("rates", caption, tuple(panels), names)


def _price_figure(cells: Mapping[float, str]) -> Figure:
    ends = dict.fromkeys((min(cells), max(cells)), "price se")
    panel = Panel("gaps of .1, K = 5", (over("DP-SE", cells), over("SE, not private", ends)), axis="epsilon")
    caption = "The price of privacy: regret of DP-SE and of SE against epsilon, T = 1e12."
    return Figure("price-of-privacy", caption, (panel,), ("free-at-large-epsilon",))


def _free(outcomes: Outcomes) -> list[Check]:
    """From epsilon = 1.8 to 10 regret falls by a quarter at most."""
    return [
        compare(
            f"epsilon={PRICE[-1]:g} against {PRICE[-4]:.3g}",
            outcomes,
            [f"price epsilon {PRICE[-4]:.4g}"],
            [f"price epsilon {PRICE[-1]:.4g}"],
            0.75,
        )
    ]


FREE = Statement(
    "free-at-large-epsilon",
    "Beyond some epsilon, a larger one does not help: only the regret of sampling is left.",
    _source("Theorem 4.3", "ours, from the two terms of the bound"),
    _free,
)


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
    statements = [*_paper_statements(horizon), *laws, FREE]
    price = _price_figure({x: name for x, (name, _) in prices.items()})
    figures = [*_paper_figures(horizon, runs), _law_figure(found), price]
    return StudyPlan(cells, figures, statements, NOTES)


NOTES = (
    "The paper does not state DP-UCB's gamma or how its budget is split. We use gamma = .1 and run both "
    "splits: epsilon/K for each arm's tree, as printed by Mishra & Thakurta, and the whole epsilon, as in "
    "Section 1.",
    "The paper's T, K, epsilon, means and number of runs are used as printed; beta = 1/T.",
    "We fit rates at T = 1e12, which DP-SE simulates quickly, because an epoch is one binomial draw for "
    "each arm.",
)
STUDY = Study(
    "S1",
    "DP-SE against DP-UCB",
    papers.S1,
    plan,
    settings={name: functools.partial(s1, name) for name in SETTINGS},
)
