"""Every rate that the catalogue claims, along each of its symbols; and which private bandit costs least."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from verifiable_dp.auditors import _paths as paths
from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.studies import compared, fewer, over
from verifiable_dp.auditors.studies._rates import ROOM, Rate, near
from verifiable_dp.core.claims import Basis, Source
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.validate import Function, JsonDict
from verifiable_dp.registry import entries
from verifiable_dp.registry.sheets import Sheet, SheetRow
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Study, StudyPlan
from verifiable_dp.registry.wrapped import Listed

OURS = "Studies of this catalogue"
RUNS = 30
Point = Mapping[str, float | str]


class AxisRow(SheetRow, kw_only=True):
    """Fields of `Axis` that differ from those of its symbol; one of the last three has the values.

    `doubling` is the first value, by how many powers of two a step is, and the number of values; `times` are
    the first and the last horizon, and their number.
    """

    symbol: str
    exponent: float | None = None
    log_power: int | float | None = None
    at: JsonDict | None = None
    parameter: str | None = None
    words: str | None = None
    margin: float | None = None
    growth: float | None = None
    values: list[int | float] | None = None
    doubling: tuple[float, float, int] | None = None
    times: tuple[float, float, int] | None = None


class Law(SheetRow, kw_only=True):
    """Where an algorithm is played, and its axes; an axis that is as its symbol has it may be just that.

    The algorithm is the one of the row's name if not given. `point` has its parameters, with ``gap`` as the
    largest of the environment, `share` how many of the runs are made: fewer where they are dear, more where
    they differ much. With `directions` it has actions in place of arms. With `worst` the gap is that many
    times sqrt(K/(epsilon T)). `level` names the path, where that is not one of exact estimates.
    """

    axes: list[str | AxisRow]
    algorithm: str = ""
    point: JsonDict = msgspec.field(default_factory=dict)
    share: float = 1.0
    directions: bool = False
    worst: float = 0.0
    level: str = ""


SHEET = Sheet(__file__, OURS, {"laws": Law, "axes": AxisRow})


@dataclass(frozen=True)
class Axis:
    """One parameter, its values and the claimed rate.

    Attributes
    ----------
    symbol
        As the claim has it.
    values
        Of the parameter.
    exponent, log_power
        The claimed rate over `x`.
    at
        What is fixed elsewhere than at the algorithm's point.
    parameter
        Its name, where that is not the symbol.
    words
        What the rate is over where that is not the value, as in `OVER`.
    margin
        On the exponent.
    growth
        As in `Rate`.
    """

    symbol: str
    values: Sequence[float]
    exponent: float
    log_power: float = 0.0
    at: Point = field(default_factory=dict)
    parameter: str = ""
    words: str = ""
    margin: float = 0.1
    growth: float = 0.0

    @classmethod
    def of(cls, row: str | AxisRow) -> Axis:
        """The axis of a row; what it leaves open is as the sheet has it for its symbol."""
        symbol, own = (row, {}) if isinstance(row, str) else (row.symbol, _given(row))
        known = _given(SHEET.rows.get(("axes", symbol), AxisRow(symbol=symbol)))
        forms = ("values", "doubling", "times")
        chosen = own if own.keys() & set(forms) else known
        values = _values(**{form: chosen[form] for form in forms if form in chosen})
        rest = {key: value for key, value in {**known, **own}.items() if key not in forms}
        return cls(values=values, **rest)

    def x(self, value: float) -> float:
        """What the rate is over, of the parameter's value."""
        return float(OVER.get(self.words, float)(value))


def _given(row: AxisRow) -> JsonDict:
    return {key: value for key, value in msgspec.structs.asdict(row).items() if value is not None}


def _values(
    values: Sequence[float] = (),
    doubling: tuple[float, float, int] | None = None,
    times: tuple[float, float, int] | None = None,
) -> tuple[float, ...]:
    """As `AxisRow` says; steps of doubling batches let all points lie alike between two."""
    if doubling is not None:
        first, power, number = doubling
        return tuple(first * 2.0 ** (power * j) for j in range(number))
    return tuple(values if times is None else (round(t) for t in np.geomspace(*times)))


def arms(n_arms: int, gap: float) -> TwoPoint:
    """One good arm; the others' gaps are spread over a factor of 2, so that doubling batches average out."""
    best = 0.5 + gap / 2
    others = [best - gap * 2.0 ** -((i + 0.5) / (n_arms - 1)) for i in range(n_arms - 1)]
    return bernoulli([best, *others], f"{n_arms} arms, gaps of {gap / 2:.3g} to {gap:.3g}")


def directions(dimension: int, gap: float, n_actions: int = 0) -> tuple[TwoPoint, JsonDict]:
    """Unit vectors of R^d, the first better by a gap; more actions are turned away from it."""
    rows = np.eye(dimension)
    turns = np.linspace(np.pi / 2, np.pi, max(n_actions - dimension, 0) + 1)[1:]
    more = np.zeros((len(turns), dimension))
    more[:, 0], more[:, 1] = np.cos(turns), np.sin(turns)
    actions = np.round(np.vstack([rows, more]) * (1 - 1e-9), 9)
    means = tuple(float(x) for x in gap * actions[:, 0])
    where = TwoPoint(means, -1.0, 1.0, f"{len(actions)} actions in R^{dimension}, a gap of {gap:.3g}")
    return where, {"actions": tuple(tuple(row) for row in actions.tolist())}


POINT: Mapping[str, float] = {"n_arms": 9, "horizon": 10**12, "gap": 0.4}
INDEX_HORIZON, INDEX_GAP = 400_000, 0.8  # of index policies for heavy tails
_LOG = math.log(INDEX_HORIZON)


def _of_index(factor: float, rest: float, logs: float = 1.0) -> Callable[[float], float]:
    """Of v; W is the best arm's bonus after T, and `rest` the other factors of pulls."""

    def over(v: float) -> float:
        once = factor ** (1 + 1 / v) * logs ** (1 / v)
        own = (once * rest / INDEX_HORIZON) ** (v / (1 + v))
        return float(once / (INDEX_GAP / math.sqrt(2) + own) ** (1 + 1 / v))

    return over


OVER: Mapping[str, Callable[[float], float]] = {
    "K - 1": lambda k: k - 1.0,
    "K log K": lambda k: k * math.log(k),
    "(K - 1)^2/K": lambda k: (k - 1) ** 2 / k,
    "log(1/delta)": lambda delta: math.log(1 / delta),
    "log(K/beta)": lambda beta: math.log(9 / beta),
    "log(KT log T/gamma)": lambda gamma: math.log(3e9 * math.log(1e9) / gamma),
    "1 + 4/epsilon": lambda epsilon: 1 + 4 / epsilon,
    "(4/(Delta + W))^((1+v)/v)": _of_index(4.0, 2 * _LOG),
    "(18/(Delta + W))^((1+v)/v) log^(1/v) T": _of_index(
        18.0, (math.log(2) + 4 * _LOG) * _LOG**1.5 / 20_000, _LOG
    ),
}


def _kind(name: str) -> Function[Listed]:
    return entries.auditor(name).algorithm


LAWS: Mapping[str, Law] = {name: law for (table, name), law in SHEET.rows.items() if table == "laws"}


def _cell(kind: str, law: Law, point: Point, runs: int) -> Cell:
    """The algorithm at a point: of Bernoulli arms, or of directions."""
    given = {**POINT, **law.point, **point}
    gap = float(given.pop("gap"))
    if law.worst:
        gap = law.worst * math.sqrt(given["n_arms"] / (given["epsilon"] * given["horizon"]))
    if not law.directions:
        where = arms(int(given["n_arms"]), gap)
    else:
        where, more = directions(int(given.pop("n_arms")), gap, int(given.pop("n_actions", 0)))
        given = {**given, **more}
    return Cell(_kind(kind)(**given), where, max(2, round(law.share * runs)), points=2)


def _grows(axis: Axis, words: str) -> str:
    """The claimed rate in words."""
    base = "log T" if axis.log_power else words.removeprefix("horizon ").removeprefix("gap ")
    exponent = axis.log_power or axis.exponent
    if exponent == 0:
        return f"does not depend on {base}"
    if exponent == 1:
        return f"grows like {base}"
    if exponent == -1:
        return f"grows like 1/{base}"
    if axis.log_power:
        return f"grows like log^{exponent:g} T"
    return f"grows like {f'({base})' if ' ' in base else base}^{exponent:.3g}"


def rate(name: str, law: Law, axis: Axis, runs: int) -> Rate:
    """A statement of the study."""
    words = axis.words or {"T": "horizon T", "Delta": "gap Delta"}.get(axis.symbol, axis.symbol)
    parameter, kind = axis.parameter or axis.symbol, law.algorithm or name
    path = getattr(paths, name.removeprefix(f"{kind} ").replace("-", "_"))  # regret if means are as expected
    cells = {
        axis.x(value): {
            f"{name} {axis.symbol} {value:.4g}": _cell(kind, law, {**axis.at, parameter: value}, runs)
        }
        for value in axis.values
    }
    far = {"gap": f"{law.worst:g} sqrt(K/(epsilon T))"} if law.worst else {}
    fixed = ", ".join(
        f"{key} {value if isinstance(value, str) else format(value, '.3g')}"
        for key, value in {**POINT, **law.point, **axis.at, **far}.items()
        if key != parameter
    )
    return Rate(
        f"{name}-{axis.symbol}",
        f"{name}: in our settings, regret {_grows(axis, words)} and is at most {ROOM:g} times "
        f"{law.level or 'the regret of a run in which every estimate is exact'}.",
        words,
        cells,
        axis.exponent,
        axis.margin,
        fixed,
        Source(OURS, name, f"our settings: {fixed}", Basis.OURS),
        *near(path, law.level),
        axis.log_power,
        growth=axis.growth,
    )


def rates(runs: int) -> list[Rate]:
    """All, by algorithm and axis."""
    return [rate(name, law, axis, runs) for name, law in LAWS.items() for axis in map(Axis.of, law.axes)]


# ---------------------------------------------------------------- which private bandit?

CHOICE_T, CHOICE_ARMS, CHOICE_EPSILON = 10**7, 5, 1.0
CHOICE_EPSILONS = SHEET.grid("epsilons")
CHOICE_TS = (10**5, 10**6, 10**7, 10**8, 10**9)
CHOICE_KS = (2, 5, 10, 20)
SHORT_T = 10**4  # for those that are played round by round
DEAR = ("dp-ucb", "ldp-ucb")  # up to `CHOICE_T` and `CHOICE_ARMS`


def on_axes(kind: Function[Listed]) -> Function[Listed]:
    """A linear bandit on the unit vectors of R^K, so that its actions are arms."""
    return lambda n_arms, epsilon, horizon: kind(tuple(map(tuple, np.eye(n_arms).tolist())), epsilon, horizon)


CHOICE: Mapping[str, Function[Listed]] = {
    **{name: _kind(name) for name in SHEET.grid("choice")},
    "dp-ucb": functools.partial(_kind("dp-ucb"), budget="per-arm"),
    "adac-ucb": lambda n_arms, epsilon, horizon: _kind("adac-ucb")(n_arms, rho_of(epsilon), horizon, DELTA),
    **{name: functools.partial(_kind(name), u=1.0, v=1.0) for name in ("dp-robust-se", "ldp-robust-se")},
    **{name: on_axes(_kind(name)) for name in ("dp-linear", "shuffled-linear", "ldp-linear")},
    "adac-gope": on_axes(
        lambda actions, epsilon, horizon: _kind("adac-gope")(actions, rho_of(epsilon), horizon, DELTA)
    ),
    "ucb1": lambda n_arms, epsilon, horizon: _kind("ucb1")(n_arms, horizon),
}
SLOW: Mapping[str, Function[Listed]] = {
    **{name: _kind(name) for name in ("dp-imed", "dp-klucb", "dp-adversarial")},
    "dp-robust-ucb": functools.partial(_kind("dp-robust-ucb"), u=1.0, v=1.0),
    "gaussian-ts": lambda n_arms, epsilon, horizon: _kind("gaussian-ts")(n_arms, horizon),
}
DRAWN = ("dp-imed", "dp-klucb", "lazy-dp-ts", "adap-klucb", "adap-ucb", "dp-se", "dist-dp-se")
DELTA = 1e-5


def rho_of(epsilon: float) -> float:
    """The largest rho whose zCDP is (epsilon, 1e-5)-DP by epsilon = rho + 2 sqrt(rho log(1/delta))."""
    root = math.sqrt(math.log(1 / DELTA))
    return float((math.sqrt(root**2 + epsilon) - root) ** 2)


def choice(name: str, n_arms: int, epsilon: float, horizon: int) -> str:
    """Name of a cell of the page."""
    return f"choice {name} K={n_arms} epsilon={epsilon:.3g} T={horizon:.0e}"


def choices(runs: int) -> dict[str, Cell]:
    """C2 over epsilon, K and T, one at a time."""
    grid = [(CHOICE_ARMS, e, CHOICE_T) for e in CHOICE_EPSILONS]
    grid += [(k, CHOICE_EPSILON, CHOICE_T) for k in CHOICE_KS]
    grid += [(CHOICE_ARMS, CHOICE_EPSILON, t) for t in CHOICE_TS]
    asked = [(name, make, point) for name, make in CHOICE.items() for point in grid]
    short = [(CHOICE_ARMS, e, SHORT_T) for e in CHOICE_EPSILONS[1:6:2]]
    asked += [(name, make, point) for name, make in SLOW.items() for point in short]
    return {
        choice(name, k, e, t): Cell(make(n_arms=k, epsilon=e, horizon=t), s1("C2", k), runs, points=2)
        for name, make, (k, e, t) in asked
        if name not in DEAR or (t <= CHOICE_T and k <= CHOICE_ARMS)
    }


def _choice_figure() -> Figure:
    def line(name: str, horizon: int, epsilons: Sequence[float]) -> Line:
        return over(name, {e: choice(name, CHOICE_ARMS, e, horizon) for e in epsilons})

    panels = (
        Panel(
            f"T = {CHOICE_T:.0e}",
            tuple(line(name, CHOICE_T, CHOICE_EPSILONS) for name in DRAWN),
            axis="epsilon",
        ),
        Panel(
            f"T = {SHORT_T:.0e}",
            tuple(line(name, SHORT_T, CHOICE_EPSILONS[1:6:2]) for name in SLOW),
            axis="epsilon",
        ),
    )
    return SHEET.figure("choice", panels)


# ---------------------------------------------------------------- the study


def _figure(symbol: str, found: Sequence[Rate]) -> Figure:
    """All algorithms over one symbol."""
    drawn = [r for r in found if r.name.endswith(f"-{symbol}")]
    groups = [drawn[j : j + 11] for j in range(0, len(drawn), 11)]
    panels = [
        Panel(
            f"{len(group)} algorithms",
            tuple(
                Line(r.name.removesuffix(f"-{symbol}"), tuple(r.names), tuple(r.names.values()), worst=True)
                for r in group
            ),
            axis=group[0].axis,
        )
        for group in groups
    ]
    return SHEET.figure("over-{symbol}", panels, [f"rate-{r.name}" for r in drawn], symbol=symbol)


def plan(scale: float) -> StudyPlan:
    """Everything with 30 runs, or fewer."""
    runs = fewer(RUNS, scale)
    found = rates(runs)
    cells = choices(runs)
    for each in found:
        cells |= each.plan
    figures = [_figure(symbol, found) for symbol in ("T", "K", "epsilon", "Delta")]
    statements = [statement for each in found for statement in each.statements()]
    return StudyPlan(
        cells, [*figures, _choice_figure()], [*statements, compared(SHEET, "dp-imed-least")], SHEET.notes()
    )


STUDY = Study(
    "S5", "Every claimed rate in each of its parameters, and the choice of a private bandit", OURS, plan
)
