"""Rates and lower bounds of the study S2."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _paths as paths
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors.studies import Outcomes
from verifiable_dp.auditors.studies._rates import Rate, near
from verifiable_dp.core.environments import Discrete, TwoPoint
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.core.validate import Given, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.sheets import Sheet, fill
from verifiable_dp.registry.study import Cell, Figure, Panel, Statement, StudyOutcome

SHEET = Sheet(__file__, papers.TAO)

# Rewards -1 and 1, u = 1: an epoch is one binomial draw an arm, so that any horizon costs the same.
LAW_RUNS = 300
LAW_HORIZON = {"central": 1 << 61, "local": 1 << 61}
RULES: Json = {"central": DPRobustSE, "local": LDPRobustSE}
FACTORS = {"central": 24.0, "local": 28.0}  # in R_tau
# Exponents of pulls in 1/D are `MULTIPLES` times (1 + v)/v; those of u and 1/epsilon follow.
MULTIPLES = {"central": 1, "local": 2}
WORST_ORDERS = (1.0, 0.75)
# Rates over gaps: with less than its proof's constants LDPRSE has room for seven epochs below 2^61. At v = .5
# it has none for five: with constants that small a run in some sixty loses its best arm.
LOCAL_CONSTANTS = 0.4
# Epochs whose gaps are played: those before the first are a constant share, the last one ends below 2^61.
EPOCHS = {
    ("central", 1.0): range(2, 10),
    ("central", 0.75): range(2, 10),
    ("central", 0.5): range(2, 10),
    ("local", 1.0): range(1, 9),
    ("local", 0.75): range(1, 8),
}
WORST_EPOCHS = range(16)  # gaps whose worst counts
# First horizon and number of horizons; T/log T grows by as much as the pulls of two gaps differ.
WORST_T = {
    ("central", 1.0): (1e8, 8),
    ("central", 0.75): (1e9, 8),
    ("local", 1.0): (1e9, 8),
    ("local", 0.75): (1e10, 6),
}
OVER_EPSILON = tuple(float(x) for x in np.geomspace(0.05, 1.0, 8))
OVER_T = {
    "central": tuple(int(t) for t in np.geomspace(1e8, 1e17, 10)),
    "local": tuple(int(t) for t in np.geomspace(1e11, 2e18, 10)),
}


def gap_of(epoch: int) -> float:
    """A gap between the thresholds of two epochs."""
    return 0.7 * 2.0**-epoch


def _two(gap: float, arms: int = 2) -> TwoPoint:
    return TwoPoint((gap, *(0.0,) * (arms - 1)), -1.0, 1.0, f"{arms} arms, +-1, gaps of {gap:.3g}")


def gap_exponent(model: str, v: float) -> float:
    """Of the regret in the gap: 1 less than that of the pulls."""
    return 1 - MULTIPLES[model] * (1 + v) / v


def worst_exponent(model: str, v: float) -> float:
    """Of the worst-case regret in T, whose gap is T^-1/(1 - gap exponent)."""
    return 1 - v / (MULTIPLES[model] * (1 + v))


PATHS = {"central": paths.dp_robust_se, "local": paths.ldp_robust_se}


def _cell(model: str, runs: int, name: str, place: TwoPoint, changes: Json) -> dict[str, Cell]:
    """A cell of changed parameters."""
    base = {"epsilon": 1.0, "horizon": LAW_HORIZON[model], "v": 1.0, "u": 1.0}
    rule = RULES[model](n_arms=place.n_arms, **{**base, **changes})
    return {f"{model} law {name}": Cell(rule, place, runs, points=2)}


def _cells(
    model: str, runs: int, name: str, entries: Mapping[float, tuple[Json, TwoPoint]]
) -> dict[float, dict[str, Cell]]:
    """One cell for each value."""
    return {
        x: _cell(model, runs, f"{name} {x:.6g}", place, changes) for x, (changes, place) in entries.items()
    }


def _rate(
    model: str,
    name: str,
    cells: Mapping[float, Mapping[str, Cell]],
    computed: Json | None = None,
    **values: Given,
) -> Rate:
    about = {"name": f"{model}-{fill(name, values)}", **(computed or {})}
    return Rate.of(SHEET, f"{model}-{name}", cells, near(PATHS[model]), about, **values)


def _constants(model: str) -> str | float:
    """Factor on the constants of rates over gaps and of worst cases."""
    return "proof" if model == "central" else LOCAL_CONSTANTS


def _gap_rate(model: str, v: float, runs: int) -> Rate:
    changes = {"v": v, "constants": _constants(model)}
    entries = {gap_of(j): (changes, _two(gap_of(j))) for j in EPOCHS[model, v]}
    power, values = gap_exponent(model, v), {"v": v, "horizon": LAW_HORIZON[model]}
    computed: JsonDict = {"exponent": power, "margin": max(0.1, -power / 25)}
    if model == "local":
        computed["false_exponent"] = values["wrong"] = -1 / v
    cells = _cells(model, runs, f"gap v={v:g}", entries)
    return _rate(model, "gap-v={v:g}", cells, computed, power=power, **values)


def _worst_rate(model: str, v: float, runs: int) -> Rate:
    """The worst gap of a grid; T grows as the pulls do from one gap to the next."""
    power, (first, number) = worst_exponent(model, v), WORST_T[model, v]
    times = closed_forms.horizons(first, 2.0 ** (1 - gap_exponent(model, v)), number)
    cells: dict[float, dict[str, Cell]] = {float(t): {} for t in times}
    for t, j in itertools.product(times, WORST_EPOCHS):
        changes = {"v": v, "horizon": t, "constants": _constants(model)}
        name = f"worst v={v:g} {t:.6g} gap {gap_of(j):.3g}"
        cells[float(t)] |= _cell(model, runs, name, _two(gap_of(j)), changes)
    computed: JsonDict = {"exponent": power, "log_power": 1 - power}
    values: JsonDict = {"gaps": len(WORST_EPOCHS), "first": times[0], "last": times[-1]}
    if model == "local":
        computed["false_exponent"] = values["wrong"] = 1 / (1 + v)
    return _rate(model, "T-worst-v={v:g}", cells, computed, v=v, power=power, rest=1 - power, **values)


def laws(model: str, runs: int) -> list[Rate]:
    """All rates of a model."""
    make, near = functools.partial(_cells, model, runs), _two(gap_of(1))
    power, horizon, times = MULTIPLES[model], LAW_HORIZON[model], OVER_T[model]
    over_k: dict[float, tuple[Json, TwoPoint]] = {
        k - 1.0: ({}, _two(gap_of(1), k)) for k in SHEET.grid("over_k")
    }
    over_v = {(2 * FACTORS[model]) ** (power / v): ({"v": v}, near) for v in SHEET.grid("over_v")}
    found = [
        *(_gap_rate(model, v, runs) for of, v in EPOCHS if of == model),
        *(_worst_rate(model, v, runs) for v in WORST_ORDERS),
        _rate(
            model,
            "epsilon",
            make("epsilon", {e: ({"epsilon": e}, near) for e in OVER_EPSILON}),
            horizon=horizon,
        ),
        _rate(model, "K", make("K", over_k), horizon=horizon),
        _rate(
            model,
            "T",
            make("T", {float(t): ({"horizon": t}, near) for t in times}),
            first=times[0],
            last=times[-1],
        ),
        _rate(model, "v", make("v", over_v), horizon=horizon),
    ]
    if model == "central":
        over_u = {u: ({"v": 0.5, "u": u}, _two(gap_of(1))) for u in SHEET.grid("over_u")}
        found.append(_rate(model, "u", make("u", over_u), {"false_exponent": 1 / 1.5}))
    return found


# An index policy costs every round. With the constant 18 two arms with E X^2 <= 1, whose gap is 2 at most,
# are told apart from T = 4e7 on only; with a twentieth of it and less the noise of the trees decides.
UCB_CONSTANTS, UCB_LONG_CONSTANTS = 0.1, 0.2
UCB_RUNS, UCB_DEAR = 12, 5_000_000  # twice as many runs at horizons below the second
UCB_OVER_T = tuple(int(t) for t in np.geomspace(3.2e5, 1.28e7, 8))
UCB_OVER = tuple(float(x) for x in np.geomspace(1, 8, 6))
WIDEST = 2.0


def _bonus_pulls(rule: DPRobustUCB, gap: float) -> float:
    constant = 18 * float(rule.constants)
    return float(closed_forms.dp_robust_ucb_pulls(gap, rule.horizon, rule.epsilon, rule.v, rule.u, constant))


def _ucb_rule(arms: int = 2, **changes: Given) -> DPRobustUCB:
    base = {"epsilon": 1.0, "horizon": 1_000_000, "v": 1.0, "u": 1.0, "constants": UCB_CONSTANTS}
    return DPRobustUCB(n_arms=arms, **{**base, **changes})


def _ucb_cells(name: str, runs: int, rule: DPRobustUCB, gaps: Sequence[float]) -> dict[str, Cell]:
    """One cell for each gap; rewards lie about 0."""
    cells = {}
    for gap in gaps:
        means = (gap / 2, *(-gap / 2,) * (rule.n_arms - 1))
        place = TwoPoint(means, -1.0, 1.0, f"{rule.n_arms} arms, +-1, gaps of {gap:.3g}")
        cells[f"ucb law {name} gap {gap:.4g}"] = Cell(rule, place, runs, points=2)
    return cells


def _ucb_worst(name: str, runs: int, **changes: Given) -> dict[str, Cell]:
    """The gap at which the pulls of the closed form come to T, 1.4 times as much, and the widest."""
    rule = _ucb_rule(**changes)
    least = math.sqrt(_bonus_pulls(rule, 1.0) / rule.horizon)
    return _ucb_cells(name, runs, rule, (least, math.sqrt(2) * least, WIDEST))


def ucb_laws(runs: int) -> list[Rate]:
    """Theorem 2 at v = 1."""

    def rate(name: str, cells: Mapping[float, Mapping[str, Cell]], **values: Given) -> Rate:
        level = near(paths.dp_robust_ucb)
        return Rate.of(SHEET, f"ucb-{name}", cells, level, **values)

    over_t = {
        float(t): _ucb_worst(f"T {t}", runs * (1 + (t < UCB_DEAR)), horizon=t, constants=UCB_LONG_CONSTANTS)
        for t in UCB_OVER_T
    }
    over_k = {
        float(k - 1): _ucb_cells(f"K {k}", runs, _ucb_rule(k), (WIDEST,)) for k in SHEET.grid("ucb_over_k")
    }
    ends = {"first": UCB_OVER_T[0], "last": UCB_OVER_T[-1]}
    return [
        rate("T-worst", over_t, constants=UCB_LONG_CONSTANTS, **ends),
        rate(
            "epsilon-worst",
            {x: _ucb_worst(f"1/epsilon {x:.4g}", runs, epsilon=1 / x) for x in UCB_OVER},
            constants=UCB_CONSTANTS,
        ),
        rate("u-worst", {x: _ucb_worst(f"u {x:.4g}", runs, u=x) for x in UCB_OVER}, constants=UCB_CONSTANTS),
        rate("K", over_k, constants=UCB_CONSTANTS),
    ]


def rates(runs: int, ucb_runs: int) -> list[Rate]:
    """All rates."""
    return [*(about for model in RULES for about in laws(model, runs)), *ucb_laws(ucb_runs)]


def law_figures(found: Sequence[Rate]) -> list[Figure]:
    """For each model the rates over gaps, those of the worst case over T, and the others; those of DPRUCB."""
    figures = []
    for model, group in itertools.product(RULES, ("gap", "T-worst", "others")):
        own = [about for about in found if _group(about) == (model, group)]
        names = [statement.name for about in own for statement in about.statements()]
        if group == "others":
            names += [f"lower-bounds-{model}", *(["theorem-7"] if model == "local" else [])]
        printed = any(about.false_exponent is not None for about in own)
        panels = [_law_panel(model, about) for about in own]
        with_printed = SHEET.words("with_printed") if printed else ""
        figures.append(
            SHEET.figure(
                "rates-{model}-{group}", panels, names, model=model, group=group, printed=with_printed
            )
        )
    own = [about for about in found if about.name.startswith("ucb-")]
    panels = [about.panel(about.name.removeprefix("ucb-"), "DPRUCB") for about in own]
    return [*figures, SHEET.figure("rates-ucb", panels, [f"rate-{about.name}" for about in own])]


def _group(about: Rate) -> tuple[str, str]:
    model, _, rest = about.name.partition("-")
    return model, next((group for group in ("gap", "T-worst") if rest.startswith(group)), "others")


def _law_panel(model: str, about: Rate) -> Panel:
    label = "LDPRSE" if model == "local" else "DPRSE"
    return about.panel(about.name.removeprefix(f"{model}-"), label)


_LOWER: Mapping[str, Sequence[tuple[int, int]]] = {"central": ((5, 3), (10, 2)), "local": ((8, 3), (11, 2))}
LOWER_ORDERS = (1.0, 0.5)


def _lower(model: str, v: float, player: family.Player) -> list[Check]:
    """The lower bounds of a model on their hard instances, whoever plays them."""
    about: JsonDict = {"epsilon": 1.0, "v": v}
    if model == "central":
        return [family.central_lower_bound(player, number, n_arms=k, **about) for number, k in _LOWER[model]]
    gap = 0.05 if v > 0.75 else 0.12  # told apart within the horizon
    return [
        family.local_lower_bound(player, number, gaps=[gap] * (k - 1), **about) for number, k in _LOWER[model]
    ]


def _lower_name(model: str, v: float, instance: Discrete) -> str:
    return f"{model} v={v:g} {instance.name}"


def lower_cells(model: str, v: float, runs: int) -> dict[str, Cell]:
    """Cells of all instances that the lower bounds ask for, noted down by a player who plays none."""
    noted: dict[str, Cell] = {}

    def note(instance: Discrete) -> Simulation:
        k = instance.n_arms
        rule = RULES[model](k, 1.0, family.LONG, v, 1.0)
        noted[_lower_name(model, v, instance)] = Cell(rule, instance, runs, points=2)
        none, whole = np.zeros(2), np.zeros((2, k), np.int64)
        return Simulation(none, whole, np.ones(1, np.int64), none[:, None], None, none[:, None])

    _lower(model, v, note)
    return noted


def _lower_checks(model: str, outcomes: Outcomes) -> list[Check]:
    checks = []
    for v in LOWER_ORDERS:

        def player(instance: Discrete, v: float = v) -> StudyOutcome:
            return outcomes[_lower_name(model, v, instance)]

        checks += _lower(model, v, player)
    return checks


def lower_statements() -> list[Statement]:
    return [
        SHEET.statement(f"lower-bounds-{model}", functools.partial(_lower_checks, model)) for model in RULES
    ]
