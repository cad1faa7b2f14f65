"""Our own study of Wu et al., whose experiments are not known: clean regret against alpha, epsilon and k."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

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
from verifiable_dp.auditors.studies import compare, fewer, over
from verifiable_dp.auditors.studies._s3_rates import (
    LAW_RUNS,
    floor_cells,
    floor_statements,
    law_figures,
    laws,
    masked_cells,
    on_masked,
)
from verifiable_dp.auditors.studies._s3_shared import OWN, RIVAL, Outcomes, cited, elimination, unaware
from verifiable_dp.core.environments import Drawn, Pareto
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyPlan
from verifiable_dp.registry.theorems import bound_of, mean_bound
from verifiable_dp.registry.wrapped import Listed

HORIZON, RUNS = 1 << 18, 200
SHARES = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1)
TIMED = 0.05  # alpha of the curves over time, where kinds differ most
PRIVATE = 0.01  # alpha of the figure over epsilon
PLACES: Mapping[str, Setting] = {"raw": SETTINGS[0], "central": SETTINGS[2]}
OVER_EPSILON = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.5, 10.0, 30.0)
NO_LESS = 0.9  # "does not fall": by a tenth at most; equal means would never be told from less
# Moments of all orders up to 6 are within 1: 4 (.7875)^6 = .95.
LIGHT = Pareto((0.9, 0.1), 8.0, "Pareto of shape 8")
OVER_K = (2.0, 3.0, 4.0, 6.0)
K_SHARES = (0.0, 0.003, 0.01, 0.03)
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
    common = (
        f"Two arms with Student-t rewards, k = 2, epsilon = 1, T = {horizon}, {runs} runs; ours. Outliers "
        "lie just within the final truncation of the elimination, far outliers just within the first "
        "truncation of DPRSE."
    )
    return [
        Figure(
            "over-alpha",
            f"Clean regret against the share of outliers. {common} Above some alpha, the arms cannot be "
            "told apart, and both are played to the end.",
            tuple(panels),
            ("alpha-costs", "theorem-6.2", "theorem-6.10", "theorem-6.12", "dprse-is-turned"),
        ),
        Figure(
            "over-time",
            f"Clean regret over time by kind of outliers, alpha = {TIMED:g}. {common}",
            tuple(timed),
            ("far-outliers", "clean-beside-dprse"),
        ),
    ]


def _parameter_figures(horizon: int, runs: int) -> list[Figure]:
    lines = []
    for alpha, words in ((0.0, "clean"), (PRIVATE, f"alpha = {PRIVATE:g}")):
        for algorithm, label in ((OWN, "elimination"), (RIVAL, "DPRSE")):
            names = {epsilon: by_epsilon(epsilon, alpha, algorithm) for epsilon in OVER_EPSILON}
            lines.append(over(f"{label}, {words}", names))
    orders = [over(f"alpha = {alpha:g}", {k: by_order(k, alpha) for k in OVER_K}) for alpha in K_SHARES]
    return [
        Figure(
            "over-epsilon",
            "Clean regret against epsilon: two arms with Student-t rewards, raw moments, k = 2, T = "
            f"{horizon}, "
            f"{runs} runs; adversarial outliers.",
            (Panel("raw moments", tuple(lines), axis="epsilon"),),
            ("epsilon-helps", "epsilon-helps-beyond-1"),
        ),
        Figure(
            "over-k",
            f"Clean regret against the order k of the moment that the algorithm knows, on the same rewards: "
            f"Pareto of shape 8, means .9 and .1, raw moments, epsilon = 1, T = {horizon}, {runs} runs; "
            "adversarial outliers.",
            (Panel("raw moments", tuple(orders), axis="order k", logx=False),),
            ("k-helps",),
        ),
    ]


# ---------------------------------------------------------------- statements


def _bounds(cells: Mapping[str, Cell], names: Sequence[str], outcomes: Outcomes) -> list[Check]:
    """Mean regret against the bound that the proof gives for the gaps at hand."""
    checks = []
    for name in names:
        rule: Listed = cells[name].algorithm
        place = cells[name].environment
        about = {"instance": place.name, "contamination": rule.contamination}
        bound = bound_of(regret_bound, rule, place.gaps)
        values = outcomes[name].regret
        checks.append(mean_bound(name, values, place, rule.horizon, bound, most=1 << 40, **about))
    return checks


def _rising(outcomes: Outcomes, steps: Sequence[tuple[str, str, str]]) -> list[Check]:
    """(name, cell with less regret, cell with more)."""
    return [compare(name, outcomes, [less], [more], NO_LESS) for name, less, more in steps]


def _alpha_costs(outcomes: Outcomes) -> list[Check]:
    steps = [
        (
            f"{moments}, adversarial: alpha={high:g} against {low:g}",
            by_share(moments, ADVERSARIAL, low, OWN),
            by_share(moments, ADVERSARIAL, high, OWN),
        )
        for moments in PLACES
        for low, high in itertools.pairwise(SHARES)
    ]
    return _rising(outcomes, steps)


def _epsilon_helps(epsilons: Sequence[float], outcomes: Outcomes) -> list[Check]:
    steps = [
        (
            f"alpha={alpha:g}: epsilon={low:.3g} against {high:.3g}",
            by_epsilon(high, alpha, OWN),
            by_epsilon(low, alpha, OWN),
        )
        for alpha in (0.0, PRIVATE)
        for low, high in itertools.pairwise(epsilons)
    ]
    return _rising(outcomes, steps)


def _k_helps(outcomes: Outcomes) -> list[Check]:
    steps = [
        (f"alpha={alpha:g}: k={low:g} against {high:g}", by_order(high, alpha), by_order(low, alpha))
        for alpha in K_SHARES
        for low, high in itertools.pairwise(OVER_K)
    ]
    return _rising(outcomes, steps)


def _far_outliers(outcomes: Outcomes) -> list[Check]:
    steps = [
        (
            f"{moments}, alpha={alpha:g}: within the truncation against far",
            by_share(moments, FAR, alpha, OWN),
            by_share(moments, ADVERSARIAL, alpha, OWN),
        )
        for moments in PLACES
        for alpha in SHARES[1:]
    ]
    return _rising(outcomes, steps)


def _clean(outcomes: Outcomes) -> list[Check]:
    steps = [
        (moments, by_share(moments, "", 0.0, OWN), by_share(moments, "", 0.0, RIVAL)) for moments in PLACES
    ]
    return _rising(outcomes, steps)


def _turned(outcomes: Outcomes) -> list[Check]:
    """The largest shares; raw moments, where DPRSE acts within the horizon."""
    return [
        compare(
            f"raw, alpha={alpha:g}, {FAR}",
            outcomes,
            [by_share("raw", FAR, alpha, OWN)],
            [by_share("raw", FAR, alpha, RIVAL)],
            1.25,
        )
        for alpha in SHARES[-2:]
    ]


def _bounded(cells: Mapping[str, Cell]) -> list[Statement]:
    def bounded(name: str, words: str, theorem: str, names: Sequence[str]) -> Statement:
        note = "printed as a rate for the worst gaps; we check what the proof gives for these gaps"
        return Statement(name, words, cited(theorem, note), lambda outcomes: _bounds(cells, names, outcomes))

    shares = SHARES[1:]
    pulls = "sum_a Delta_a sum_(tau <= tau_a) 2^tau + max Delta, tau_a the first batch with 4 beta < Delta_a"
    return [
        bounded(
            "theorem-6.2",
            f"Raw moments, any share of outliers: mean clean regret is at most {pulls}.",
            "Theorem 6.2",
            [
                by_share("raw", "", 0.0, OWN),
                *(by_share("raw", kind, a, OWN) for a in shares for kind in (*KINDS, FAR)),
            ],
        ),
        bounded(
            "theorem-6.10",
            "Central moments without outliers: the same bound, with the beta of Corollary 6.6.",
            "Theorem 6.10",
            [by_share("central", "", 0.0, OWN)],
        ),
        bounded(
            "theorem-6.12",
            "Central moments with outliers: the same bound, with the beta of Corollary 6.8.",
            "Theorem 6.12",
            [by_share("central", kind, a, OWN) for a in shares for kind in (*KINDS, FAR)],
        ),
    ]


def _statements(cells: Mapping[str, Cell]) -> list[Statement]:
    ours = "ours; we do not know the paper's experiments"
    return [
        *_bounded(cells),
        Statement(
            "alpha-costs",
            "Clean regret does not fall as the share of outliers grows.",
            cited("Theorems 6.2 and 6.12", f"{ours}; we allow for a tenth"),
            _alpha_costs,
        ),
        Statement(
            "epsilon-helps",
            "Clean regret does not grow with epsilon up to 1, with or without outliers.",
            cited("Theorem 6.2", f"{ours}; we allow for a tenth"),
            lambda outcomes: _epsilon_helps([e for e in OVER_EPSILON if e <= 1], outcomes),
        ),
        Statement(
            "epsilon-helps-beyond-1",
            "The same for epsilon from 1 to 30.",
            cited(
                "Theorem 6.2",
                "ours; it fails past epsilon = 4.5 at k = 2: M = (n epsilon/log(1/delta))^(1/k) grows with "
                "epsilon, and so does the range term 2Ml/(3n) of beta, which the rate leaves out",
            ),
            lambda outcomes: _epsilon_helps([e for e in OVER_EPSILON if e >= 1], outcomes),
            expected="contradicted",
        ),
        Statement(
            "k-helps",
            "Clean regret does not grow with the order k of the moment that is known to be bounded.",
            cited("Theorem 6.2", f"{ours}; we allow for a tenth"),
            _k_helps,
        ),
        Statement(
            "far-outliers",
            "Outliers beyond the truncation do no more harm than those just within it.",
            cited("Theorem 6.1", f"{ours}; we allow for a tenth"),
            _far_outliers,
        ),
        Statement(
            "clean-beside-dprse",
            "Without outliers the regret is at most that of DPRSE with its proof's constants.",
            cited("Section 6", f"{ours}; u of DPRSE is the second moment of its class, 1 or 1 + D^2"),
            _clean,
        ),
        Statement(
            "dprse-is-turned",
            "If 5 % of rewards are outliers within its truncation, DPRSE keeps the worse arm: its clean "
            "regret is at least 1.25 times that of the private and robust elimination.",
            cited("Section 6", ours),
            _turned,
        ),
    ]


# ---------------------------------------------------------------- rates


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
    lower = Statement(
        "theorem-4.1",
        "If contamination makes two instances look the same, the mean regret over both is at least T "
        "Delta/4, "
        "Delta = (alpha/(1 - alpha))^(1 - 1/k), for the elimination and for DPRSE.",
        cited("Theorem 4.1", "its term T alpha^(1-1/k), with the constant of the instance; reconstructed"),
        on_masked,
    )
    lowest = [lower, *floor_statements()]
    figures = [
        *_share_figures(horizon, runs),
        *_parameter_figures(horizon, runs),
        *law_figures(found, [statement.name for statement in lowest]),
    ]
    rates = [statement for about in found for statement in about.statements()]
    return StudyPlan(cells, figures, [*_statements(cells), *lowest, *rates], NOTES)


NOTES = (
    "We do not know the paper's experiments: instances, T, runs, epsilon, alpha and k are all ours.",
    "Inliers: Student t with 3 degrees of freedom, means .8 and -.8 (raw, second moment .91) or 6 and -6 "
    "(central, "
    "variance .75, D = 7); Pareto of shape 8 with means .9 and .1 where k varies.",
    "The elimination knows alpha, k and the moments; constants are those of the corrected variant, "
    "which hold "
    "for every n. DPRSE has its proof's constants, v = 1, and u = 1 or 1 + D^2 = 50.",
    "We fit rates on rewards -1 and 1 at epsilon = 1e-5, where privacy, not sampling, decides how long "
    "arms stay; sampling alone gives sqrt(T) for every k.",
)
STUDY = Study("S3", "Private and robust elimination on contaminated rewards", papers.WU, plan)
