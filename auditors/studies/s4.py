"""Section 6 and Appendix D of Hanna et al.: three models of trust over epsilon, the core set; rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import Actions, on_sphere
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors.studies import Outcomes, bounded, compared, fewer
from verifiable_dp.auditors.studies._s4_rates import (
    ARMS,
    DIMENSION,
    HORIZON,
    KINDS,
    LONG,
    MANY,
    NAMES,
    THEOREMS,
    law_figure,
    laws,
)
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.validate import FloatArray, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyBound, StudyPlan

SHEET = Sheet(__file__, papers.HANNA)

RUNS, INSTANCES, CORE_INSTANCES = 30, 10, 5
EPSILONS = SHEET.grid("below_1") + SHEET.grid("from_1")
CORE_EPSILONS = SHEET.grid("core_below_half") + SHEET.grid("core_from_half")
BOUNDED = SHEET.grid("bounded")  # epsilons at which the theorems are held against every instance
NOISELESS = 1e9  # epsilon of Algorithm 1 "without noise"

CONVERGED = 0.05


# ---------------------------------------------------------------- random instances


@dataclass(frozen=True)
class Instances:
    """Random actions and theta, the same for all algorithms.

    Parameters
    ----------
    label
        Of the cells.
    count
        How many; fewer are the first of them.
    n_arms
        K.
    """

    label: str
    count: int
    n_arms: int

    @cached_property
    def drawn(self) -> list[tuple[Actions, TwoPoint]]:
        """Actions and rewards of each instance j, from the seeds 2j and 2j + 1."""
        found = []
        for number in range(self.count):
            actions = on_sphere(self.n_arms, DIMENSION, 2 * number)
            theta = np.array(on_sphere(1, DIMENSION, 2 * number + 1)[0])
            found.append((actions, family.linear(actions, theta, f"K={self.n_arms}, instance {number + 1}")))
        return found

    def names(self, what: str) -> tuple[str, ...]:
        """Names of the cells of an algorithm, one for each instance."""
        return tuple(f"{self.label} {number + 1} {what}" for number in range(self.count))

    def cells(
        self, what: str, make: Callable[[Actions], Algorithm], runs: int, points: int = 2
    ) -> dict[str, Cell]:
        """Runs of the algorithm `make(actions)` on every instance."""
        pairs = zip(self.names(what), self.drawn, strict=True)
        return {name: Cell(make(actions), place, runs, points) for name, (actions, place) in pairs}

    def line(self, label: str, whats: Mapping[float, str]) -> Line:
        """The mean over all instances, for each value of a parameter."""
        pairs = [(x, name) for x, what in whats.items() for name in self.names(what)]
        return Line(label, tuple(name for _, name in pairs), tuple(x for x, _ in pairs))

    def sample(self, outcomes: Outcomes, what: str) -> FloatArray:
        """Regret (runs,): the r-th value is the mean over the instances of their r-th runs.

        The instances are fixed, so these means are independent and identically distributed over r.
        """
        return np.asarray(np.mean([outcomes[name].regret for name in self.names(what)], axis=0))


def _what(kind: str, epsilon: float, variant: str = "corrected") -> str:
    return f"{kind} epsilon={epsilon:g}" + (" as printed" if variant == "printed" else "")


def _core(core: bool, epsilon: float) -> str:
    return f"{'core set' if core else 'no core set'} epsilon={epsilon:g}"


FREE = "without noise"
FREE_ALL = "without noise or core set"
CHAPTER = "chapter 22"


def _paper_cells(few: Instances, many: Instances, horizon: int, long: int, runs: int) -> dict[str, Cell]:
    cells = few.cells(FREE, lambda actions: DPLinear(actions, NOISELESS, horizon), runs)
    cells |= few.cells(CHAPTER, lambda actions: LinearElimination(actions, horizon), runs)
    for kind, made in KINDS.items():
        for epsilon in EPSILONS:
            for variant in ("corrected", "printed"):
                make = partial(made, epsilon=epsilon, horizon=horizon, variant=variant)
                cells |= few.cells(_what(kind, epsilon, variant), make, runs)
    cells |= many.cells(FREE, lambda actions: DPLinear(actions, NOISELESS, long), runs)
    cells |= many.cells(FREE_ALL, lambda actions: DPLinear(actions, NOISELESS, long, core=False), runs)
    for epsilon in CORE_EPSILONS:
        for core in (True, False):
            made_with = partial(DPLinear, epsilon=epsilon, horizon=long, core=core)
            cells |= many.cells(_core(core, epsilon), made_with, runs)
    return cells


# ---------------------------------------------------------------- Figures 2, 3 and 4


def _mean_bound(few: Instances, kind: str, horizon: int, epsilon: float) -> float:
    """Mean over the instances of the smaller of the bound and the largest possible regret."""
    values = []
    for actions, place in few.drawn:
        most = float(place.gaps.max()) * horizon
        algorithm = KINDS[kind](actions, epsilon, horizon)
        values.append(min(most, family.regret_bound(place.gaps, algorithm)))
    return float(np.mean(values))


def _flat(group: Instances, label: str, what: str, xs: Iterable[float]) -> Line:
    """A line without epsilon, drawn from end to end."""
    ends = tuple(xs)
    return group.line(label, {min(ends): what, max(ends): what})


def _trade_off(
    few: Instances,
    horizon: int,
    epsilons: Sequence[float],
    variant: str = "corrected",
    *,
    bounds: bool = False,
    logy: bool = True,
) -> Panel:
    lines = [
        few.line(NAMES[kind], {epsilon: _what(kind, epsilon, variant) for epsilon in epsilons})
        for kind in KINDS
    ]
    lines.append(_flat(few, "Alg. 1 without noise", FREE, epsilons))
    lines.append(_flat(few, "phased elimination, ch. 22", CHAPTER, epsilons))
    drawn = [
        StudyBound(f"Thm {THEOREMS[kind]}", partial(_mean_bound, few, kind, horizon), NAMES[kind])
        for kind in (KINDS if bounds else ())
    ]
    title = "corrected" if variant == "corrected" else "as printed"
    axis = "epsilon (of a report: local)"
    return Panel(f"K = {ARMS}, {title}", tuple(lines), tuple(drawn), axis, logy=logy)


def _core_panel(many: Instances) -> Panel:
    lines = (
        many.line("Alg. 1", {e: _core(True, e) for e in CORE_EPSILONS}),
        many.line("Alg. 1 no-core-set", {e: _core(False, e) for e in CORE_EPSILONS}),
        _flat(many, "without noise", FREE, CORE_EPSILONS),
        _flat(many, "without noise or core set", FREE_ALL, CORE_EPSILONS),
    )
    return Panel(f"K = {MANY}", lines, axis="epsilon")


def _paper_figures(few: Instances, many: Instances, horizon: int, long: int, runs: int) -> list[Figure]:
    short = tuple(epsilon for epsilon in EPSILONS if epsilon <= 10)
    same: JsonDict = {"horizon": horizon, "arms": ARMS, "instances": few.count, "runs": runs}
    core: JsonDict = {"horizon": long, "arms": MANY, "instances": many.count, "runs": runs}
    both = [_trade_off(few, horizon, EPSILONS, variant) for variant in ("corrected", "printed")]
    return [
        SHEET.figure("figure-2", [_trade_off(few, horizon, EPSILONS, bounds=True)], **same),
        SHEET.figure("figure-3a", [_trade_off(few, horizon, short, logy=False)], **same),
        SHEET.figure("figure-3b", [_core_panel(many)], **core),
        SHEET.figure("figure-4", both, **same),
    ]


# ---------------------------------------------------------------- what the paper says


def _converges(few: Instances, outcomes: Outcomes) -> list[Check]:
    """Two one-sided tests of each algorithm at the largest epsilon."""
    checks, epsilon, free = [], EPSILONS[-1], few.sample(outcomes, FREE)
    about: JsonDict = {"margin": CONVERGED, "rival": FREE}
    for kind in KINDS:
        name, own, most = (
            f"{kind}, epsilon={epsilon:g}",
            few.sample(outcomes, _what(kind, epsilon)),
            1 + CONVERGED,
        )
        checks.append(comparison(f"{name}: not above", own, free, factor=1 / most, at_most=most, **about))
        checks.append(comparison(f"{name}: not below", free, own, factor=1 - CONVERGED, **about))
    return checks


def _statements(few: Instances, many: Instances) -> list[Statement]:
    """Of Figures 2, 3 and 4."""
    share = 100 * CONVERGED
    return [
        SHEET.statement("converges", partial(_converges, few), epsilon=EPSILONS[-1], share=share),
        compared(SHEET, "limit-is-not-chapter-22", few.sample, share=share),
        *(compared(SHEET, name, few.sample) for name in SHEET.grid("of_few")),
        *(compared(SHEET, name, many.sample) for name in SHEET.grid("of_many")),
    ]


def _theorem_statements(few: Instances, cells: Mapping[str, Cell]) -> list[Statement]:
    def names(kind: str) -> dict[str, str]:
        return {
            f"{cells[name].environment.name}, epsilon={epsilon:g}": name
            for epsilon in BOUNDED
            for name in few.names(_what(kind, epsilon))
        }

    return [
        SHEET.statement(
            "theorem-{number}",
            partial(bounded, family.regret_bound, cells, names(kind)),
            kind=kind,
            number=number,
            corrected={"central": "", "local": ", without its sqrt(d)", "shuffled": ", corrected"}[kind],
        )
        for kind, number in THEOREMS.items()
    ]


def plan(scale: float) -> StudyPlan:
    """Everything at T = 1e6 and 1e7 with 30 runs an instance, or less."""
    horizon, long = max(int(HORIZON * scale), 10_000), max(int(LONG * scale), 20_000)
    runs = fewer(RUNS, scale)
    few = Instances("K=10", fewer(INSTANCES, scale, 2), ARMS)
    many = Instances("K=1000", fewer(CORE_INSTANCES, scale, 2), MANY)
    found = laws(runs)
    cells = _paper_cells(few, many, horizon, long, runs)
    for rate in found:
        cells |= rate.plan
    statements = [
        *_statements(few, many),
        *_theorem_statements(few, cells),
        *(statement for rate in found for statement in rate.statements()),
    ]
    figures = [*_paper_figures(few, many, horizon, long, runs), law_figure(found, runs)]
    return StudyPlan(cells, figures, statements, SHEET.notes())


STUDY = Study("S4", "Private linear bandits in three models of trust", papers.HANNA, plan)
