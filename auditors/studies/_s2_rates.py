"""Rates and lower bounds of the study S2."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _paths as paths
from verifiable_dp.auditors import _robust as family
from verifiable_dp.auditors.studies._rates import Rate, near
from verifiable_dp.auditors.studies._s2_shared import Outcomes, cited
from verifiable_dp.core.environments import Discrete, TwoPoint
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.core.validate import Function, Given, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.study import Cell, Figure, Panel, Statement, StudyOutcome
from verifiable_dp.registry.theorems import bound_of, mean_bound
from verifiable_dp.registry.wrapped import Listed

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
OVER_K = (2, 3, 5, 9, 17, 33)
OVER_T = {
    "central": tuple(int(t) for t in np.geomspace(1e8, 1e17, 10)),
    "local": tuple(int(t) for t in np.geomspace(1e11, 2e18, 10)),
}
OVER_V = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
OVER_U = (2.0, 8.0, 32.0, 128.0, 512.0)


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
    words: str,
    axis: str,
    cells: Mapping[float, Mapping[str, Cell]],
    exponent: float,
    margin: float,
    region: str,
    where: str,
    **options: Given,
) -> Rate:
    return Rate(
        f"{model}-{name}",
        words,
        axis,
        cells,
        exponent,
        margin,
        region,
        cited(where, f"region: {region}"),
        *near(PATHS[model]),
        false_source=cited(
            f"{where.removesuffix(', corrected')}, as printed", f"region: {region}; see the errata"
        ),
        **options,
    )


def _constants(model: str) -> tuple[str | float, str]:
    """Factor on the constants of rates over gaps and of worst cases, and the same in words."""
    if model == "central":
        return "proof", ""
    return LOCAL_CONSTANTS, f", constants={LOCAL_CONSTANTS:g}"


def _theorem(model: str) -> str:
    return "Theorem 7 (10), corrected" if model == "local" else "Theorem 4 (7)"


def _gap_rate(model: str, v: float, runs: int) -> Rate:
    local, (constants, words) = model == "local", _constants(model)
    changes = {"v": v, "constants": constants}
    return _rate(
        model,
        f"gap-v={v:g}",
        f"{model.capitalize()} model, v = {v:g}: regret grows like Delta^({gap_exponent(model, v):.3g}).",
        "gap",
        _cells(
            model,
            runs,
            f"gap v={v:g}",
            {gap_of(j): (changes, _two(gap_of(j))) for j in EPOCHS[model, v]},
        ),
        gap_exponent(model, v),
        max(0.1, -gap_exponent(model, v) / 25),
        f"epsilon = 1, two arms with rewards -1 and 1, T = {LAW_HORIZON[model]:.3g}{words}; "
        "gaps .7/2^j, which lie at the same place between two epochs",
        _theorem(model),
        false_exponent=-1 / v if local else None,
        false_words=f"Local model, v = {v:g}: regret grows like Delta^({-1 / v:.3g}).",
    )


def _worst_rate(model: str, v: float, runs: int) -> Rate:
    """The worst gap of a grid; T grows as the pulls do from one gap to the next."""
    local, (constants, words), power = model == "local", _constants(model), worst_exponent(model, v)
    first, number = WORST_T[model, v]
    times = closed_forms.horizons(first, 2.0 ** (1 - gap_exponent(model, v)), number)
    cells: dict[float, dict[str, Cell]] = {float(t): {} for t in times}
    for t, j in itertools.product(times, WORST_EPOCHS):
        changes = {"v": v, "horizon": t, "constants": constants}
        name = f"worst v={v:g} {t:.6g} gap {gap_of(j):.3g}"
        cells[float(t)] |= _cell(model, runs, name, _two(gap_of(j)), changes)
    return _rate(
        model,
        f"T-worst-v={v:g}",
        f"{model.capitalize()} model, v = {v:g}: the worst-case regret grows like "
        f"T^{power:.3g} (log T)^{1 - power:.3g}.",
        "horizon T",
        cells,
        power,
        0.03,
        f"epsilon = 1, two arms with rewards -1 and 1, the worst of {len(WORST_EPOCHS)} gaps .7/2^j, T from "
        f"{times[0]:.3g} to {times[-1]:.3g}{words}",
        "Theorem 7 (11), corrected" if local else "Theorem 4 (8)",
        log_power=1 - power,
        false_exponent=1 / (1 + v) if local else None,
        false_words=f"Local model, v = {v:g}: the worst-case regret grows like T^{1 / (1 + v):.3g}.",
    )


def laws(model: str, runs: int) -> list[Rate]:
    """All rates of a model."""
    make = functools.partial(_cells, model, runs)
    power, local, near = MULTIPLES[model], model == "local", _two(gap_of(1))
    base = f"v = 1, gaps of .35, T = {LAW_HORIZON[model]:.3g}"
    return [
        *(_gap_rate(model, v, runs) for of, v in EPOCHS if of == model),
        *(_worst_rate(model, v, runs) for v in WORST_ORDERS),
        _rate(
            model,
            "epsilon",
            f"{model.capitalize()} model: regret is proportional to 1/epsilon{'^2' if local else ''}.",
            "epsilon",
            make("epsilon", {e: ({"epsilon": e}, near) for e in OVER_EPSILON}),
            -float(power),
            0.05,
            f"epsilon <= 1, two arms, {base}",
            _theorem(model),
        ),
        _rate(
            model,
            "K",
            f"{model.capitalize()} model: regret is proportional to the number of suboptimal arms, K - 1.",
            "K - 1",
            make("K", {float(k - 1): ({}, _two(gap_of(1), k)) for k in OVER_K}),
            1.0,
            0.1,
            f"epsilon = 1, {base}; log K is small against log T, within the margin",
            _theorem(model),
        ),
        _rate(
            model,
            "T",
            f"{model.capitalize()} model: regret is proportional to log T.",
            "horizon T",
            make("T", {float(t): ({"horizon": t}, near) for t in OVER_T[model]}),
            0.0,
            0.03,
            f"epsilon = 1, v = 1, gaps of .35, T from {OVER_T[model][0]:.3g} to {OVER_T[model][-1]:.3g}",
            _theorem(model),
            log_power=1.0,
        ),
        _rate(
            model,
            "v",
            f"{model.capitalize()} model: as v varies, regret grows like "
            f"({FACTORS[model]:g}/D)^({power}/v), where D is the precision that separates the arms.",
            f"({FACTORS[model]:g}/D)^({power}/v)",
            make("v", {(2 * FACTORS[model]) ** (power / v): ({"v": v}, near) for v in OVER_V}),
            1.0,
            0.05,
            f"v from .4 to 1, epsilon = 1, two arms, gaps of .35, so D = 1/2, T = {LAW_HORIZON[model]:.3g}",
            _theorem(model),
        ),
        *([] if local else [_moment_rate(make)]),
    ]


def _moment_rate(make: Function[dict[float, dict[str, Cell]]]) -> Rate:
    v = 0.5
    return _rate(
        "central",
        "u",
        "Central model, v = .5: regret grows like u^(1/v).",
        "moment u",
        make("u", {u: ({"v": v, "u": u}, _two(gap_of(1))) for u in OVER_U}),
        1 / v,
        0.1,
        "the algorithm knows u = 2 to 512, epsilon = 1, two arms, gaps of .35",
        "Lemma 4 and Theorem 4 (7), corrected",
        false_exponent=1 / (1 + v),
        false_words="Central model, v = .5: regret grows like u^(1/(1+v)).",
    )


# An index policy costs every round. With the constant 18 two arms with E X^2 <= 1, whose gap is 2 at most,
# are told apart from T = 4e7 on only; with a twentieth of it and less the noise of the trees decides.
UCB_CONSTANTS, UCB_LONG_CONSTANTS = 0.1, 0.2
UCB_RUNS = 12
UCB_OVER_T = tuple(int(t) for t in np.geomspace(3.2e5, 1.28e7, 8))
UCB_OVER = tuple(float(x) for x in np.geomspace(1, 8, 6))
UCB_OVER_K = (2, 3, 4, 5, 6, 7)
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
    worst = "two arms with rewards -1 and 1, the worst of three gaps, the widest of them 2"

    def rate(
        name: str,
        words: str,
        axis: str,
        cells: Mapping[float, Mapping[str, Cell]],
        exponent: float,
        margin: float,
        **more: Given,
    ) -> Rate:
        region = f"v = 1, {more.pop('region')}"
        source = cited("Theorem 2", f"region: {region}")
        level = near(paths.dp_robust_ucb)
        return Rate(f"ucb-{name}", words, axis, cells, exponent, margin, region, source, *level, **more)

    return [
        rate(
            "T-worst",
            "DPRUCB: the worst-case regret grows like (T log^3.5 T)^(1/2), and pulls like "
            "log^3.5 T/(epsilon Delta^2).",
            "horizon T",
            {
                float(t): _ucb_worst(f"T {t}", runs, horizon=t, constants=UCB_LONG_CONSTANTS)
                for t in UCB_OVER_T
            },
            0.5,
            margin=0.03,
            log_power=1.75,
            region=f"epsilon = 1, u = 1, {worst}, constants={UCB_LONG_CONSTANTS:g}, "
            f"T from {UCB_OVER_T[0]:.3g} to {UCB_OVER_T[-1]:.3g}, where one factor log T would change the "
            "slope by .035",
        ),
        rate(
            "epsilon-worst",
            "DPRUCB: the worst-case regret grows like epsilon^(-1/2), and pulls like 1/epsilon.",
            "1/epsilon",
            {x: _ucb_worst(f"1/epsilon {x:.4g}", runs, epsilon=1 / x) for x in UCB_OVER},
            0.5,
            margin=0.2,
            region=f"epsilon from .125 to 1, u = 1, {worst}, T = 1e6, constants={UCB_CONSTANTS:g}",
        ),
        rate(
            "u-worst",
            "DPRUCB: the worst-case regret grows like u^(1/2), and pulls like u.",
            "moment u",
            {x: _ucb_worst(f"u {x:.4g}", runs, u=x) for x in UCB_OVER},
            0.5,
            margin=0.2,
            region=f"epsilon = 1, the algorithm knows u = 1 to 8, {worst}, T = 1e6, "
            f"constants={UCB_CONSTANTS:g}",
        ),
        rate(
            "K",
            "DPRUCB: regret is proportional to the number of suboptimal arms, K - 1.",
            "K - 1",
            {float(k - 1): _ucb_cells(f"K {k}", runs, _ucb_rule(k), (WIDEST,)) for k in UCB_OVER_K},
            1.0,
            margin=0.15,
            region=f"epsilon = 1, u = 1, rewards -1 and 1, gaps of 2, T = 1e6, constants={UCB_CONSTANTS:g}",
        ),
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
        caption = (
            f"Regret in the {model} model against one parameter, with the others fixed, with the claimed "
            f"slope{' and the printed one' if printed else ''}."
        )
        panels = tuple(_law_panel(model, about) for about in own)
        figures.append(Figure(f"rates-{model}-{group}", caption, panels, tuple(names)))
    own = [about for about in found if about.name.startswith("ucb-")]
    caption = "Regret of DPRUCB against one parameter, with the others fixed, with the claimed slope."
    panels = tuple(about.panel(about.name.removeprefix("ucb-"), "DPRUCB") for about in own)
    figures.append(Figure("rates-ucb", caption, panels, tuple(f"rate-{about.name}" for about in own)))
    return figures


def _group(about: Rate) -> tuple[str, str]:
    model, _, rest = about.name.partition("-")
    return model, next((group for group in ("gap", "T-worst") if rest.startswith(group)), "others")


def _law_panel(model: str, about: Rate) -> Panel:
    label = "LDPRSE" if model == "local" else "DPRSE"
    return about.panel(about.name.removeprefix(f"{model}-"), label)


_LOWER: Mapping[str, Sequence[tuple[int, int]]] = {"central": ((5, 3), (10, 2)), "local": ((8, 3), (11, 2))}
LOWER_ORDERS = (1.0, 0.5)


def on_theorem_7(found: Rate, outcomes: Outcomes) -> list[Check]:
    """The corrected bound of LDPRSE on the cells of the law over K."""
    checks = []
    for name, made in found.plan.items():
        rule: Listed = made.algorithm
        place = made.environment
        bound = bound_of(family.regret_bound, rule, place.gaps)
        values = outcomes[name].regret
        checks.append(mean_bound(f"{place.name}, epsilon=1", values, place, rule.horizon, bound))
    return checks


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
        Statement(
            f"lower-bounds-{model}",
            words,
            cited(f"Theorems {' and '.join(str(number) for number, _ in _LOWER[model])}", note),
            functools.partial(_lower_checks, model),
        )
        for model, words, note in (
            (
                "central",
                "On the hard instances, every epsilon-DP algorithm with small regret pulls the other arms "
                "more than t_a times; so does DPRSE.",
                "epsilon = 1, v = 1 and .5, T = 4e18; an index policy cannot be run for so long",
            ),
            (
                "local",
                "On the hard instances, the regret of every epsilon-LDP algorithm is at least "
                "sum_a Delta_a log(T Delta_a/(4 (R + R_a)))/(8 (e^epsilon - 1)^2 KL_a); so is that of "
                "LDPRSE.",
                "at finite T, in the forms (29) and (28) of the proofs; epsilon = 1, v = 1 and .5, T = 4e18",
            ),
        )
    ]
