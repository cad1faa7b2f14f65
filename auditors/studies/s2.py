"""Section 6 and Appendix D of Tao et al.: heavy-tailed rewards in two trust models, and rates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.algorithms.robust_ucb import RobustUCB
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors import dp_robust_ucb
from verifiable_dp.auditors._contamination import Released
from verifiable_dp.auditors._settings import s2
from verifiable_dp.auditors.studies import Outcomes, bounded, compared, fewer, over
from verifiable_dp.auditors.studies._rates import Rate
from verifiable_dp.auditors.studies._s2_rates import (
    LAW_RUNS,
    LOWER_ORDERS,
    RULES,
    UCB_RUNS,
    law_figures,
    lower_cells,
    lower_statements,
    rates,
)
from verifiable_dp.core.validate import Function, JsonDict, Result
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyBound, StudyPlan

SHEET = Sheet(__file__, papers.TAO)

RUNS = 90
LOCAL_RUNS = 360  # 90 leave it open whether epsilon = 20 costs less than 10, and how often the best arm goes
HORIZON, LOCAL_HORIZON = 3_000_000, 200_000_000
# The proofs' constants: an index policy costs every round, an elimination every reward of a whole epoch.
PROOF_HORIZON, PROOF_RUNS, PROOF_UCB_RUNS = 50_000_000, 30, 3
LONG_HORIZON, LONG_RUNS = 1_000_000_000, 6
CONSTANTS = 0.1
ARMS = 5
SETTINGS = {"figure-1": "S1", "figure-3": "S2", "figure-4": "S3"}
ORDERS, EPSILONS, LOCAL_EPSILONS = (SHEET.grid(name) for name in ("orders", "epsilons", "local_epsilons"))
PRICE = SHEET.grid("price")
PRICE_RUNS = 6
BESIDE_RUNS = 30  # of the central algorithm in the figure of the local one
KEPT = 0.05  # rate at which the best arm may go where constants are not the proof's; ours


def cell(setting: str, v: float, epsilon: float | None, algorithm: str) -> str:
    """Name of a cell; no epsilon for what is not private."""
    budget = "" if epsilon is None else f" epsilon={epsilon:g}"
    return f"{setting} v={v:g}{budget} {algorithm}"


def _of(
    cls: Function[Result], setting: str, v: float, epsilon: float, horizon: int, constants: str | float
) -> Result:
    """An algorithm with the u of a setting."""
    return cls(ARMS, epsilon, horizon, v, s2(setting, v).moment(1 + v), constants=constants)


# ---------------------------------------------------------------- Figures 1 to 4


def _central(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for setting, v in itertools.product(SETTINGS.values(), ORDERS):
        place = s2(setting, v)
        for epsilon in EPSILONS:
            rule = _of(DPRobustSE, setting, v, epsilon, horizon, CONSTANTS)
            cells[cell(setting, v, epsilon, "dprse")] = Cell(rule, Released(place), runs)
            rival = _of(DPRobustUCB, setting, v, epsilon, horizon, CONSTANTS)
            cells[cell(setting, v, epsilon, "dprucb")] = Cell(rival, place, runs)
        free = RobustUCB(ARMS, horizon, v, place.moment(1 + v))
        cells[cell(setting, v, None, "robust-ucb")] = Cell(free, place, min(runs, PRICE_RUNS))
    for epsilon in PRICE:
        rule = _of(DPRobustSE, "S1", 0.9, epsilon, horizon, CONSTANTS)
        cells[f"price epsilon={epsilon:g}"] = Cell(rule, Released(s2("S1", 0.9)), runs, points=2)
    return cells


def _local(horizon: int, runs: int) -> dict[str, Cell]:
    """Setting S3; beside it the central algorithm with the least epsilon of Figure 4, at the same horizon."""
    cells = {}
    for v in ORDERS:
        place = Released(s2("S3", v))
        for epsilon in LOCAL_EPSILONS:
            rule = _of(LDPRobustSE, "S3", v, epsilon, horizon, CONSTANTS)
            cells[cell("S3", v, epsilon, "ldprse")] = Cell(rule, place, runs)
        beside = _of(DPRobustSE, "S3", v, EPSILONS[0], horizon, CONSTANTS)
        cells[cell("S3", v, EPSILONS[0], "dprse long")] = Cell(beside, place, min(runs, BESIDE_RUNS))
    return cells


def _proof(horizon: int, long: int, scale: float) -> dict[str, Cell]:
    """The proofs' constants: v = .9 with both algorithms, v = .5 with DPRSE alone at a longer horizon."""
    cells, runs = {}, fewer(PROOF_RUNS, scale, 4)
    for setting, epsilon in itertools.product(SETTINGS.values(), EPSILONS):
        place = s2(setting, 0.9)
        rule = _of(DPRobustSE, setting, 0.9, epsilon, horizon, "proof")
        cells[cell(setting, 0.9, epsilon, "dprse proof")] = Cell(rule, Released(place), runs)
        rival = _of(DPRobustUCB, setting, 0.9, epsilon, horizon, "proof")
        cells[cell(setting, 0.9, epsilon, "dprucb proof")] = Cell(rival, place, PROOF_UCB_RUNS)
    for epsilon in EPSILONS:
        rule = _of(DPRobustSE, "S1", 0.5, epsilon, long, "proof")
        few = fewer(LONG_RUNS, scale, 2)
        cells[cell("S1", 0.5, epsilon, "dprse proof")] = Cell(rule, Released(s2("S1", 0.5)), few)
    return cells


def _proof_bound(setting: str, v: float, epsilon: float, horizon: int) -> StudyBound:
    gaps = s2(setting, v).gaps
    rule = _of(DPRobustSE, setting, v, epsilon, horizon, "proof")
    most, limit = float(gaps.max()), family.regret_bound(gaps, rule)
    label = f"Thm 4 (7) at T, epsilon={epsilon:g}"
    return StudyBound(label, lambda t: min(limit, most * t), f"DPRSE, epsilon={epsilon:g}")


def _panel(setting: str, v: float, epsilon: float) -> Panel:
    lines = (
        Line("DPRUCB", (cell(setting, v, epsilon, "dprucb"),)),
        Line("DPRSE", (cell(setting, v, epsilon, "dprse"),)),
        Line("Robust UCB, not private", (cell(setting, v, None, "robust-ucb"),)),
    )
    return Panel(f"v = {v:g}, epsilon = {epsilon:g}", lines)


def _central_figure(name: str, setting: str, horizon: int, runs: int) -> Figure:
    panels = tuple(_panel(setting, v, epsilon) for v in ORDERS for epsilon in EPSILONS)
    about: JsonDict = {"setting": setting, "means": ", ".join(f"{m:g}" for m in s2(setting, 0.5).means)}
    fewest = min(runs, PRICE_RUNS)
    return SHEET.figure("{figure}", panels, figure=name, horizon=horizon, runs=runs, fewest=fewest, **about)


def _local_figure(horizon: int, runs: int) -> Figure:
    def lines(v: float) -> tuple[Line, ...]:
        own = [Line(f"LDPRSE, epsilon={e:g}", (cell("S3", v, e, "ldprse"),)) for e in LOCAL_EPSILONS]
        beside = Line(f"DPRSE, epsilon={EPSILONS[0]:g}", (cell("S3", v, EPSILONS[0], "dprse long"),))
        return (*own, beside)

    panels = [Panel(f"v = {v:g}", lines(v)) for v in ORDERS]
    return SHEET.figure("figure-2", panels, horizon=horizon, runs=runs, beside=min(runs, BESIDE_RUNS))


def _proof_figure(horizon: int, long: int) -> Figure:
    panels = []
    for setting in SETTINGS.values():
        lines = []
        for epsilon in EPSILONS:
            for name in ("dprse", "dprucb"):
                found = cell(setting, 0.9, epsilon, f"{name} proof")
                lines.append(Line(f"{name.upper()}, epsilon={epsilon:g}", (found,)))
        bounds = tuple(_proof_bound(setting, 0.9, epsilon, horizon) for epsilon in EPSILONS)
        panels.append(Panel(f"{setting}, v = .9, T = {horizon:.3g}", tuple(lines), bounds))
    alone = [Line(f"DPRSE, epsilon={e:g}", (cell("S1", 0.5, e, "dprse proof"),)) for e in EPSILONS]
    bounds = tuple(_proof_bound("S1", 0.5, epsilon, long) for epsilon in EPSILONS)
    panels.append(Panel(f"S1, v = .5, T = {long:.3g}", tuple(alone), bounds))
    return SHEET.figure("proof-constants", panels)


def _price_figure(horizon: int) -> Figure:
    names = {epsilon: f"price epsilon={epsilon:g}" for epsilon in PRICE}
    free = dict.fromkeys((PRICE[0], PRICE[-1]), cell("S1", 0.9, None, "robust-ucb"))
    lines = (over("DPRSE, a tenth of the constants", names), over("Robust UCB, not private", free))
    return SHEET.figure("price-of-privacy", [Panel("S1, v = .9", lines, axis="epsilon")], horizon=horizon)


# ---------------------------------------------------------------- what the paper says


def _kept(names: Sequence[str], outcomes: Outcomes) -> list[Check]:
    """Runs that removed the best arm."""
    lost = np.concatenate([~np.asarray(outcomes[name].active)[:, 0] for name in names])
    about = f"{len(names)} settings together"
    return [probability(about, lost, probability=KEPT, constants=CONSTANTS)]


def _statements(horizon: int, cells: Mapping[str, Cell], by_arms: Rate) -> list[Statement]:
    """Of Figures 1 to 4, with a tenth of the constants; then with the proofs' constants."""
    central = [
        cell(setting, v, epsilon, "dprse")
        for setting, v, epsilon in itertools.product(SETTINGS.values(), ORDERS, EPSILONS)
    ]
    local = [cell("S3", v, epsilon, "ldprse") for v in ORDERS for epsilon in LOCAL_EPSILONS]
    places = [(s, 0.9, e) for s in SETTINGS.values() for e in EPSILONS]
    se, ucb = (
        {f"{s}, v={v:g}, epsilon={e:g}": cell(s, v, e, f"{rule} proof") for s, v, e in of}
        for rule, of in (("dprse", [*places, *(("S1", 0.5, e) for e in EPSILONS)]), ("dprucb", places))
    )
    by_k = {f"{made.environment.name}, epsilon=1": name for name, made in by_arms.plan.items()}
    return [
        *(compared(SHEET, name) for name in SHEET.grid("compared")),
        compared(SHEET, "dprse-outperforms-proof", horizon=horizon),
        SHEET.statement("theorem-4", partial(bounded, family.regret_bound, cells, se)),
        SHEET.statement("theorem-2", partial(bounded, dp_robust_ucb.regret_bound, cells, ucb)),
        SHEET.statement("best-arm-central", partial(_kept, central), kept=KEPT),
        SHEET.statement("best-arm-local", partial(_kept, local), kept=KEPT),
        SHEET.statement("theorem-7", partial(bounded, family.regret_bound, cells, by_k)),
    ]


# ---------------------------------------------------------------- the study


def plan(scale: float) -> StudyPlan:
    """Figures 1 to 4 with 90 runs, the proofs' constants, and the rates; or less."""
    horizon, local = max(int(HORIZON * scale), 10_000), max(int(LOCAL_HORIZON * scale), 20_000)
    proof, long = max(int(PROOF_HORIZON * scale), 20_000), max(int(LONG_HORIZON * scale), 20_000)
    runs, local_runs, law_runs = fewer(RUNS, scale), fewer(LOCAL_RUNS, scale), fewer(LAW_RUNS, scale, 30)
    found = rates(law_runs, fewer(UCB_RUNS, scale, 4))
    cells = {**_central(horizon, runs), **_local(local, local_runs), **_proof(proof, long, scale)}
    for about in found:
        cells |= about.plan
    for model, v in itertools.product(RULES, LOWER_ORDERS):
        cells |= lower_cells(model, v, law_runs)
    by_arms = next(about for about in found if about.name == "local-K")
    central = {name: _central_figure(name, setting, horizon, runs) for name, setting in SETTINGS.items()}
    figures = [
        central["figure-1"],
        _local_figure(local, local_runs),
        central["figure-3"],
        central["figure-4"],
        _proof_figure(proof, long),
        _price_figure(horizon),
        *law_figures(found),
    ]
    statements = [
        *_statements(proof, cells, by_arms),
        *lower_statements(),
        *(statement for about in found for statement in about.statements()),
    ]
    return StudyPlan(cells, figures, statements, SHEET.notes())


STUDY = Study("S2", "DPRSE, DPRUCB and LDPRSE on heavy-tailed rewards", papers.TAO, plan)
