"""Our own study of Wu et al., whose experiments are not known: clean regret against alpha, epsilon and k."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.auditors._contamination import (
    FAR,
    INSIDE,
    KINDS,
    RAW,
    SETTINGS,
    Released,
    Setting,
    contaminated,
    instances,
)
from verifiable_dp.auditors.dp_robust_elimination import regret_bound
from verifiable_dp.auditors.studies import bounded, compared, fewer, over
from verifiable_dp.auditors.studies._s3_rates import (
    LAW_RUNS,
    OWN,
    RIVAL,
    elimination,
    floor_cells,
    floor_statements,
    law_figures,
    laws,
    masked_cells,
    on_masked,
    unaware,
)
from verifiable_dp.core.environments import Drawn, Pareto
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyPlan
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.WU)

HORIZON, RUNS = 1 << 18, 200
SHARES = SHEET.grid("shares")
TIMED = 0.05  # alpha of the curves over time, where kinds differ most
PRIVATE = 0.01  # alpha of the figure over epsilon
PLACES: Mapping[str, Setting] = {"raw": SETTINGS[0], "central": SETTINGS[2]}
OVER_EPSILON = tuple(sorted({*SHEET.grid("up_to_1"), *SHEET.grid("beyond_1")}))
# Moments of all orders up to 6 are within 1: 4 (.7875)^6 = .95.
LIGHT = Pareto((0.9, 0.1), 8.0, "Pareto of shape 8")
OVER_K, K_SHARES = SHEET.grid("orders"), SHEET.grid("order_shares")
ADVERSARIAL = "adversarial"


# ---------------------------------------------------------------- cells


def by_share(moments: str, kind: str, alpha: float, algorithm: str) -> str:
    """Name of a cell of the figures over alpha; clean rewards have the kind ``none``."""
    return f"{moments} alpha={alpha:g} {kind if alpha else 'none'} {algorithm}"


def _share_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for (moments, place), alpha in itertools.product(PLACES.items(), SHARES):
        rule = elimination(horizon, alpha=alpha, moments=moments)
        rival = unaware(horizon, u=place.u)
        for kind, _, environment in instances(place, rule, rival, alpha):
            shown = Released(environment)
            cells[by_share(moments, kind, alpha, OWN)] = Cell(rule, shown, runs)
            cells[by_share(moments, kind, alpha, RIVAL)] = Cell(rival, shown, runs)
    return cells


def by_epsilon(epsilon: float, alpha: float, algorithm: str) -> str:
    """Name of a cell of the figure over epsilon."""
    return f"raw epsilon={epsilon:.3g} alpha={alpha:g} {algorithm}"


def _epsilon_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for epsilon, alpha in itertools.product(OVER_EPSILON, (0.0, PRIVATE)):
        rule, rival = elimination(horizon, epsilon=epsilon, alpha=alpha), unaware(horizon, epsilon=epsilon)
        place = _adversarial(RAW, rule, alpha)
        cells[by_epsilon(epsilon, alpha, OWN)] = Cell(rule, place, runs, points=2)
        cells[by_epsilon(epsilon, alpha, RIVAL)] = Cell(rival, place, runs, points=2)
    return cells


def by_order(k: float, alpha: float) -> str:
    """Name of a cell of the figure over k."""
    return f"light k={k:g} alpha={alpha:g} {OWN}"


def _order_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for k, alpha in itertools.product(OVER_K, K_SHARES):
        rule = elimination(horizon, k=k, alpha=alpha)
        cells[by_order(k, alpha)] = Cell(rule, _adversarial(LIGHT, rule, alpha), runs, points=2)
    return cells


def _adversarial(inlier: Drawn, rule: DPRobustElimination, alpha: float) -> Released:
    """Outliers just within the final truncation of `rule`, for raw moments."""
    if alpha == 0:
        return Released(inlier)
    return Released(contaminated(inlier, alpha, ADVERSARIAL, max(INSIDE * float(rule.limit[-1]), 1.0)))


# ---------------------------------------------------------------- figures


def _share_figures(horizon: int, runs: int) -> list[Figure]:
    panels, timed = [], []
    for moments in PLACES:
        lines = [
            over(f"elimination, {kind}", {a: by_share(moments, kind, a, OWN) for a in SHARES})
            for kind in KINDS
        ]
        lines.append(
            over(f"DPRSE, {ADVERSARIAL}", {a: by_share(moments, ADVERSARIAL, a, RIVAL) for a in SHARES})
        )
        lines.append(over(f"DPRSE, {FAR}", {a: by_share(moments, FAR, a, RIVAL) for a in SHARES}))
        panels.append(Panel(f"{moments} moments", tuple(lines), axis="share alpha", logx=False))
        kinds = [("clean", by_share(moments, "", 0.0, OWN))]
        kinds += [(kind, by_share(moments, kind, TIMED, OWN)) for kind in (*KINDS, FAR)]
        kinds.append((f"DPRSE, {FAR}", by_share(moments, FAR, TIMED, RIVAL)))
        timed.append(Panel(f"{moments} moments", tuple(Line(label, (name,)) for label, name in kinds)))
    about: JsonDict = {"horizon": horizon, "runs": runs}
    return [
        SHEET.figure("over-alpha", panels, **about),
        SHEET.figure("over-time", timed, alpha=TIMED, **about),
    ]


def _parameter_figures(horizon: int, runs: int) -> list[Figure]:
    lines = []
    for alpha, words in ((0.0, "clean"), (PRIVATE, f"alpha = {PRIVATE:g}")):
        for algorithm, label in ((OWN, "elimination"), (RIVAL, "DPRSE")):
            names = {epsilon: by_epsilon(epsilon, alpha, algorithm) for epsilon in OVER_EPSILON}
            lines.append(over(f"{label}, {words}", names))
    orders = [over(f"alpha = {alpha:g}", {k: by_order(k, alpha) for k in OVER_K}) for alpha in K_SHARES]
    about: JsonDict = {"horizon": horizon, "runs": runs}
    return [
        SHEET.figure("over-epsilon", [Panel("raw moments", tuple(lines), axis="epsilon")], **about),
        SHEET.figure("over-k", [Panel("raw moments", tuple(orders), axis="order k", logx=False)], **about),
    ]


# ---------------------------------------------------------------- statements


def _about(made: Cell) -> JsonDict:
    rule: Listed = made.algorithm
    return {"instance": made.environment.name, "contamination": rule.contamination}


def _statements(cells: Mapping[str, Cell]) -> list[Statement]:
    raw, central = (
        [by_share(moments, kind, a, OWN) for a in SHARES[1:] for kind in (*KINDS, FAR)] for moments in PLACES
    )
    clean = [by_share(moments, "", 0.0, OWN) for moments in PLACES]
    check = partial(bounded, regret_bound, cells, most=1 << 40, about=_about)
    held = {"theorem-6.2": [clean[0], *raw], "theorem-6.10": clean[1:], "theorem-6.12": central}
    return [
        *(
            SHEET.statement(name, partial(check, dict(zip(names, names, strict=True))))
            for name, names in held.items()
        ),
        *(compared(SHEET, name) for name in SHEET.grid("compared")),
    ]


# ---------------------------------------------------------------- the study


def plan(scale: float) -> StudyPlan:
    """Figures at T = 2^18 and 200 runs, and the rates; or less."""
    horizon, runs = max(int(HORIZON * scale), 4096), fewer(RUNS, scale)
    law_runs = fewer(LAW_RUNS, scale, 8)
    found = laws(law_runs)
    cells = {
        **_share_cells(horizon, runs),
        **_epsilon_cells(horizon, runs),
        **_order_cells(horizon, runs),
        **masked_cells(law_runs),
        **floor_cells(law_runs),
    }
    for about in found:
        cells |= about.plan
    lowest = [SHEET.statement("theorem-4.1", on_masked), *floor_statements()]
    figures = [
        *_share_figures(horizon, runs),
        *_parameter_figures(horizon, runs),
        *law_figures(found, [statement.name for statement in lowest]),
    ]
    rates = [statement for about in found for statement in about.statements()]
    return StudyPlan(cells, figures, [*_statements(cells), *lowest, *rates], SHEET.notes())


STUDY = Study("S3", "Private and robust elimination on contaminated rewards", papers.WU, plan)
