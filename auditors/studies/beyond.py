"""Every rate that the catalogue claims, along each of its symbols; and which private bandit costs least."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.algorithms.adac_gope import AdaCGOPE
from verifiable_dp.algorithms.adac_ucb import AdaCUCB
from verifiable_dp.algorithms.adap_klucb import AdaPKLUCB
from verifiable_dp.algorithms.adap_tt import AdaPTT
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.algorithms.dist_dp_se import DistDPSE
from verifiable_dp.algorithms.dp_adversarial import DPAdversarial
from verifiable_dp.algorithms.dp_imed import DPIMED
from verifiable_dp.algorithms.dp_klucb import DPKLUCB
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_se_doubling import DPSEDoubling
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.gaussian_ts import GaussianTS
from verifiable_dp.algorithms.lazy_dp_ts import LazyDPTS
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.algorithms.ldp_ucb import LDPUCB
from verifiable_dp.algorithms.linear_elimination import LinearElimination
from verifiable_dp.algorithms.robust_ucb import RobustUCB
from verifiable_dp.algorithms.se import SE
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.algorithms.shuffled_se import ShuffledSE
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _paths as paths
from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.studies import compare, fewer, over
from verifiable_dp.auditors.studies._rates import ROOM, Rate, near
from verifiable_dp.core.claims import Basis, Source
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.validate import Function, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyOutcome, StudyPlan
from verifiable_dp.registry.wrapped import Listed

OURS = "Studies of this catalogue"
RUNS = 30
Point = Mapping[str, float]


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
    x
        What the rate is over, from the parameter's value; with its words where that is not the value.
    words
        Of `x`.
    margin
        On the exponent.
    """

    symbol: str
    values: Sequence[float]
    exponent: float
    log_power: float = 0.0
    at: Point = field(default_factory=dict)
    parameter: str = ""
    x: Callable[[float], float] = float
    words: str = ""
    margin: float = 0.1


def times(first: float, last: float, number: int = 8) -> tuple[int, ...]:
    """Horizons."""
    return tuple(round(t) for t in np.geomspace(first, last, number))


def halves(first: float, number: int = 7) -> tuple[float, ...]:
    """Steps of the doubling batches, so that all points lie alike between two."""
    return tuple(first * 2.0**-j for j in range(number))


def roots(first: float, number: int) -> tuple[float, ...]:
    """Steps of half as much."""
    return tuple(first * 2.0 ** (-j / 2) for j in range(number))


def over_t(first: float = 1e6, last: float = 1e12, log_power: float = 1, **at: float) -> Axis:
    """A further factor log T shows as a slope of +.05 over the default range."""
    return Axis("T", times(first, last), 0.0, log_power, at, "horizon", margin=0.03)


def over_k(*arms: int, **at: float) -> Axis:
    """Suboptimal arms."""
    known = arms or (9, 13, 17, 25, 33, 49, 65)
    return Axis("K", known, 1.0, 0.0, at, "n_arms", lambda k: k - 1.0, "K - 1")


OVER_GAP = Axis("Delta", halves(0.1), -1.0, parameter="gap")


@dataclass(frozen=True)
class Law:
    """An algorithm, where it is played, the path of its means, and its axes.

    Attributes
    ----------
    kind
        Of the algorithm.
    path
        Regret of a cell where every mean is its expectation; see `_paths`.
    axes
        Of the claim.
    point
        Parameters; ``gap`` is the largest of the environment.
    place
        The environment, and parameters of the algorithm that belong to it; None for Bernoulli arms.
    share
        Of the runs: fewer where they are dear, more where they differ much.
    gaps
        Of which the worst counts; the point's alone if none.
    """

    kind: Function[Listed]
    path: Callable[[Cell], float]
    axes: Sequence[Axis]
    point: Mapping[str, float | str] = field(default_factory=dict)
    place: Function[tuple[TwoPoint, JsonDict]] | None = None
    share: float = 1.0
    gaps: Sequence[float] = ()


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
MUCH = {"epsilon": 10.0}  # sampling decides
BEYOND = {"epsilon": 0.25}


def private(kind: Function[Listed], path: Callable[[Cell], float]) -> Law:
    """Of sum_a log T/Delta_a + K log T/epsilon, or the like."""
    budget = Axis("epsilon", halves(0.02), -1.0)
    return Law(kind, path, [over_t(), over_k(), budget, replace(OVER_GAP, at=MUCH)], BEYOND)


def heavy(power: float, first: float) -> tuple[Axis, ...]:
    """Of the eliminations for heavy tails at v = 1, from a horizon at which they have learnt."""
    return over_t(first, 1e18), over_k(), Axis("epsilon", halves(0.5), -power)


def adversarial(base: str, path: Callable[[Cell], float], horizon: int, *gaps: float) -> Law:
    """Of sqrt(KT/epsilon), on the worst of some gaps; exp3 has a further log K."""
    words, over_arms = ("K log K", lambda k: k * math.log(k)) if base == "exp3" else ("K", float)
    axes = (
        Axis("T", times(horizon, 6 * horizon, 5), 0.5, parameter="horizon"),
        # Below T = 4e4 uniform play on five arms keeps the level of tsallis-inf.
        Axis("K", (2, 3, 4, 5), 0.5, at={"horizon": 80_000}, parameter="n_arms", x=over_arms, words=words),
        Axis("epsilon", halves(0.2, 5), -0.5, at={"horizon": 4 * horizon}),
    )
    point: Mapping[str, float | str] = {"epsilon": 0.05, "horizon": 2 * horizon, "n_arms": 3, "base": base}
    return Law(DPAdversarial, path, [replace(one, margin=0.3) for one in axes], point, None, 8.0, gaps)


LOCAL = {"n_arms": 3, "horizon": 10**6, "gap": 0.8, "epsilon": 1.0}
INDEX: Mapping[str, float] = {"n_arms": 3, "horizon": 400_000, "u": 1.0, "v": 1.0, "gap": 0.8}


def over_heavy_t(log_power: float) -> Axis:
    """The best arm's bonus, which shrinks with T, is within the margin."""
    return replace(over_t(1e5, 1e6, log_power), margin=0.15)


def index_for_heavy_tails(factor: float, *orders: float, logs: bool = False) -> tuple[Axis, ...]:
    """Its bonus is a power of factor/n; what the best arm's adds to the gap is within the margins."""
    gap, base = INDEX["gap"] / math.sqrt(2), math.log(INDEX["horizon"]) if logs else 1.0
    return (
        over_k(3, 5, 7, 9, 11),
        Axis("u", tuple(2.0 ** (j / 2) for j in range(6)), 1.0, margin=0.2),
        replace(
            OVER_GAP, values=tuple(0.8 * 2.0 ** (-j / 4) for j in range(8)), at={"n_arms": 2}, margin=0.35
        ),
        Axis(
            "v",
            orders,
            1.0,
            x=lambda v: float((factor / gap) ** (1 + 1 / v) * base ** (1 / v)),
            words=f"({factor:g}/Delta)^((1+v)/v)" + (" log^(1/v) T" if logs else ""),
            at={"n_arms": 2},
            margin=0.25,
        ),
    )


OVER_RHO = Axis("rho", tuple(4.0**-j * 1e-5 for j in range(7)), -0.5)
HEAVY = index_for_heavy_tails(4.0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0)
OVER_DIRECTIONS = (
    replace(over_t(1e8, 1e14), margin=0.04),
    Axis("d", (16, 24, 32, 48, 64, 96), 1.0, parameter="n_arms"),
    OVER_GAP,
    Axis("K", (12, 48, 192, 768), 0.0, parameter="n_actions"),
)


def _of_beta(beta: float) -> float:
    return math.log(9 / beta)


LAW_OF_DP_SE = private(DPSE, paths.dp_se)
LAWS: Mapping[str, Law] = {
    "se": Law(
        SE, paths.se, [over_t(1e8, 1e14), over_k(), replace(OVER_GAP, values=halves(0.8, 5), margin=0.15)]
    ),
    "ucb1": Law(
        UCB1,
        paths.ucb1,
        [over_t(), over_k(3, 5, 7, 9, 13), replace(OVER_GAP, values=halves(0.8, 5))],
        {"n_arms": 3, "gap": 0.8, "horizon": 10**9},
    ),
    "dp-se": LAW_OF_DP_SE,
    "dp-se-doubling": Law(
        DPSEDoubling, paths.dp_se_doubling, [over_t(1e9, 1e15, 2), *LAW_OF_DP_SE.axes[1:3]], BEYOND
    ),
    "dist-dp-se": Law(DistDPSE, paths.dist_dp_se, [over_t(1e8, 1e14), *LAW_OF_DP_SE.axes[1:]], BEYOND),
    "shuffled-se": Law(
        ShuffledSE,
        paths.shuffled_se,
        [
            over_t(1e8, 1e14),
            over_k(),
            Axis("epsilon", halves(0.02), -1.0),
            replace(OVER_GAP, values=halves(0.4, 5), at={"epsilon": 30.0}),
            Axis(
                "delta",
                tuple(10 ** -(3 * 2 ** (j / 2)) for j in range(9)),
                0.5,
                x=lambda d: math.log(1 / d),
                words="log(1/delta)",
                at={"epsilon": 0.001},
            ),
        ],
        BEYOND,
    ),
    "adap-ucb": private(AdaPUCB, paths.adap_ucb),
    "adap-klucb": private(AdaPKLUCB, paths.adap_klucb),
    "adac-ucb": Law(
        AdaCUCB,
        paths.adac_ucb,
        [over_t(), over_k(), Axis("rho", tuple(4.0**-j * 1e-4 for j in range(7)), -0.5), OVER_GAP],
        {"rho": 1.0},
    ),
    "dp-klucb": private(DPKLUCB, paths.dp_klucb),
    "dp-imed": private(DPIMED, paths.dp_imed),
    "dp-ucb": Law(
        DPUCB,
        paths.dp_ucb,
        [
            replace(over_t(1e6, 1e10, 3), margin=0.06),
            over_k(3, 5, 7, 9),
            Axis("epsilon", halves(0.5, 5), -1.0),
            Axis(
                "gamma",
                (1e-1, 1e-4, 1e-8, 1e-16, 1e-32),
                1.0,
                parameter="gamma",
                x=lambda gamma: math.log(3e9 * math.log(1e9) / gamma),
                words="log(KT log T/gamma)",
            ),
            replace(OVER_GAP, values=roots(0.8, 7), at={"epsilon": 1e4, "horizon": 10**7}, margin=0.15),
        ],
        {"n_arms": 3, "horizon": 10**9, "epsilon": 0.1, "gap": 0.8, "budget": "per-arm"},
        share=0.4,
    ),
    "dp-robust-se": Law(
        DPRobustSE,
        paths.dp_robust_se,
        [
            *heavy(1.0, 1e9),
            Axis("u", tuple(4.0**j for j in range(5)), 1.0),
            OVER_GAP,
            Axis("beta", tuple(10.0 ** -(8 * 2**j) for j in range(5)), 1.0, x=_of_beta, words="log(K/beta)"),
        ],
        {"epsilon": 0.25, "u": 1.0, "v": 1.0},
    ),
    "ldp-robust-se": Law(
        LDPRobustSE,
        paths.ldp_robust_se,
        [
            *heavy(2.0, 1e11),
            Axis("u", tuple(2.0**j for j in range(5)), 2.0),
            replace(OVER_GAP, values=halves(0.4, 6), exponent=-3.0, at={"horizon": 4 * 10**18}, margin=0.15),
        ],
        {"epsilon": 0.5, "u": 1.0, "v": 1.0, "gap": 0.8, "horizon": 10**14},
    ),
    "robust-ucb": Law(RobustUCB, paths.robust_ucb, [over_heavy_t(1), *HEAVY], INDEX, share=0.5),
    "dp-robust-ucb": Law(
        DPRobustUCB,
        paths.dp_robust_ucb,
        [
            over_heavy_t(3.5),
            Axis("epsilon", halves(160_000.0, 5), -1.0, margin=0.2),
            *index_for_heavy_tails(18.0, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, logs=True),
        ],
        {**INDEX, "epsilon": 20_000.0},
        share=0.5,
    ),
    "linear-elimination": Law(
        LinearElimination, paths.linear_elimination, OVER_DIRECTIONS, {"n_arms": 8}, directions
    ),
    "adac-gope": Law(
        AdaCGOPE, paths.adac_gope, [*OVER_DIRECTIONS, OVER_RHO], {"n_arms": 8, "rho": 1.0}, directions
    ),
    "dp-adversarial exp3": adversarial("exp3", paths.exp3, 30_000, 0.8),
    "dp-adversarial tsallis-inf": adversarial("tsallis-inf", paths.tsallis_inf, 10_000, 0.2, 0.1),
    "lazy-dp-ts": Law(
        LazyDPTS,
        paths.lazy_dp_ts,
        [
            over_t(),
            over_k(3, 4, 5, 7, 9, 13),
            Axis("epsilon", halves(0.5, 5), -1.0),
            replace(OVER_GAP, values=halves(0.8, 5), at={"epsilon": 20.0, "horizon": 10**12}, margin=0.3),
        ],
        {"n_arms": 3, "horizon": 10**9, "gap": 0.8, "epsilon": 0.5},
    ),
    "ldp-ucb": Law(
        LDPUCB,
        paths.ldp_ucb,
        [
            replace(over_t(1e5, 2e6), margin=0.15),
            replace(over_k(3, 5, 7, 9, 11), margin=0.15),
            Axis("epsilon", roots(3.2, 9), 2.0, x=lambda e: 1 + 4 / e, words="1 + 4/epsilon", margin=0.3),
            replace(OVER_GAP, values=roots(0.8, 6), at={"epsilon": 4.0}, margin=0.15),
        ],
        LOCAL,
        share=0.4,
    ),
}


def _cell(law: Law, point: Mapping[str, float | str], runs: int) -> Cell:
    """The algorithm at a point."""
    given = {**POINT, **law.point, **point}
    gap = float(given.pop("gap"))
    if law.place is None:
        where = arms(int(given["n_arms"]), gap)
    else:
        where, more = law.place(int(given.pop("n_arms")), gap, int(given.pop("n_actions", 0)))
        given = {**given, **more}
    return Cell(law.kind(**given), where, max(2, round(law.share * runs)), points=2)


def _grows(axis: Axis, words: str) -> str:
    """The claimed rate in words."""
    base = "log T" if axis.log_power else words.removeprefix("horizon ").removeprefix("gap ")
    exponent = axis.log_power or axis.exponent
    if exponent == 0:
        return f"does not depend on {base}"
    if exponent == 1:
        return f"is proportional to {base}"
    if exponent == -1:
        return f"is proportional to 1/{base}"
    if axis.log_power:
        return f"is proportional to log^{exponent:g} T"
    return f"is proportional to {f'({base})' if ' ' in base else base}^{exponent:.3g}"


def rate(name: str, law: Law, axis: Axis, runs: int) -> Rate:
    """A statement of the study."""
    words = axis.words or {"T": "horizon T", "Delta": "gap Delta"}.get(axis.symbol, axis.symbol)
    parameter = axis.parameter or axis.symbol
    cells = {
        axis.x(value): {
            f"{name} {axis.symbol} {value:.4g}{which}": _cell(
                law, {**more, **axis.at, parameter: value}, runs
            )
            for which, more in ([(f" gap {gap:.3g}", {"gap": gap}) for gap in law.gaps] or [("", {})])
        }
        for value in axis.values
    }
    fixed = ", ".join(
        f"{key} {value if isinstance(value, str) else format(value, '.3g')}"
        for key, value in {**POINT, **law.point, **axis.at}.items()
        if key != parameter
    )
    return Rate(
        f"{name}-{axis.symbol}",
        f"{name}: regret {_grows(axis, words)}, and is at most {ROOM:g} times that of a run in which every "
        "estimate is exact.",
        words,
        cells,
        axis.exponent,
        axis.margin,
        fixed,
        Source(OURS, name, f"ours; with {fixed}", Basis.OURS),
        *near(law.path),
        axis.log_power,
    )


def rates(runs: int) -> list[Rate]:
    """All, by algorithm and axis."""
    return [rate(name, law, axis, runs) for name, law in LAWS.items() for axis in law.axes]


# ---------------------------------------------------------------- which private bandit?

CHOICE_T, CHOICE_ARMS, CHOICE_EPSILON = 10**7, 5, 1.0
CHOICE_EPSILONS = tuple(float(e) for e in np.geomspace(0.01, 10, 7))
CHOICE_TS = (10**5, 10**6, 10**7, 10**8, 10**9)
CHOICE_KS = (2, 5, 10, 20)
SHORT_T = 10**4  # for those that are played round by round
DEAR = ("dp-ucb", "ldp-ucb")  # up to `CHOICE_T` and `CHOICE_ARMS`


def on_axes(kind: Function[Listed]) -> Function[Listed]:
    """A linear bandit on the unit vectors of R^K, so that its actions are arms."""
    return lambda n_arms, epsilon, horizon: kind(tuple(map(tuple, np.eye(n_arms).tolist())), epsilon, horizon)


CHOICE: Mapping[str, Function[Listed]] = {
    "dp-imed": DPIMED,
    "dp-klucb": DPKLUCB,
    "lazy-dp-ts": LazyDPTS,
    "adap-klucb": AdaPKLUCB,
    "adap-ucb": AdaPUCB,
    "adap-tt": AdaPTT,
    "dp-se": DPSE,
    "dist-dp-se": DistDPSE,
    "dp-se-doubling": DPSEDoubling,
    "dp-ucb": functools.partial(DPUCB, budget="per-arm"),
    "adac-ucb": lambda n_arms, epsilon, horizon: AdaCUCB(n_arms, rho_of(epsilon), horizon, DELTA),
    "adac-gope": on_axes(lambda actions, e, horizon: AdaCGOPE(actions, rho_of(e), horizon, DELTA)),
    "shuffled-se": ShuffledSE,
    "dp-robust-se": functools.partial(DPRobustSE, u=1.0, v=1.0),
    "dp-robust-elimination": DPRobustElimination,
    "dp-linear": on_axes(DPLinear),
    "shuffled-linear": on_axes(ShuffledLinear),
    "ldp-ucb": LDPUCB,
    "ldp-linear": on_axes(LDPLinear),
    "ldp-robust-se": functools.partial(LDPRobustSE, u=1.0, v=1.0),
    "ucb1": lambda n_arms, epsilon, horizon: UCB1(n_arms, horizon),
}
SLOW: Mapping[str, Function[Listed]] = {
    "dp-imed": DPIMED,
    "dp-klucb": DPKLUCB,
    "dp-adversarial": DPAdversarial,
    "dp-robust-ucb": functools.partial(DPRobustUCB, u=1.0, v=1.0),
    "gaussian-ts": lambda n_arms, epsilon, horizon: GaussianTS(n_arms, horizon),
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
    caption = (
        "Mean regret against epsilon on C2, K = 5. On the right are bandits that are played round by round, "
        "so T is 1e4 there. The promise of gaussian-ts does not depend on epsilon and is far weaker."
    )
    return Figure("choice", caption, panels, ("dp-imed-least",))


def _least(outcomes: Mapping[str, StudyOutcome]) -> list[Check]:
    """Against each rival with the same promise, at each epsilon from .1 on."""

    def at(name: str, epsilon: float) -> list[str]:
        return [choice(name, CHOICE_ARMS, epsilon, CHOICE_T)]

    return [
        compare(f"{rival}, epsilon={e:.3g}", outcomes, at("dp-imed", e), at(rival, e), 2.0, rival=rival)
        for rival in ("adap-klucb", "adap-ucb", "dp-se")
        for e in CHOICE_EPSILONS
    ]


LEAST = Statement(
    "dp-imed-least",
    "On C2 the regret of AdaP-UCB, AdaP-KLUCB and DP-SE is at least twice that of DP-IMED, for epsilon from "
    ".01 to 10 at T = 1e7.",
    Source(OURS, "which private bandit", "ours", Basis.OURS),
    _least,
)

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
    caption = f"Mean regret against {symbol}; each statement says where its algorithm is played."
    return Figure(f"over-{symbol}", caption, tuple(panels), tuple(f"rate-{r.name}" for r in drawn))


def plan(scale: float) -> StudyPlan:
    """Everything with 30 runs, or fewer."""
    runs = fewer(RUNS, scale)
    found = rates(runs)
    cells = choices(runs)
    for each in found:
        cells |= each.plan
    figures = [_figure(symbol, found) for symbol in ("T", "K", "epsilon", "Delta")]
    statements = [statement for each in found for statement in each.statements()]
    return StudyPlan(cells, [*figures, _choice_figure()], [*statements, LEAST], NOTES)


NOTES = (
    "All of this is ours: no paper has these experiments.",
    "We play each algorithm at long horizons, where the term with the varied symbol dominates its claim, "
    "so its regret should follow the claimed rate. We say nothing about other points.",
    "dp-ucb has the whole budget for each arm; adac-ucb and adac-gope have the rho that gives "
    "(epsilon, 1e-5) by epsilon = rho + 2 sqrt(rho log(1/delta)).",
)
STUDY = Study("S5", "Every claimed rate along its symbols, and the choice of a private bandit", OURS, plan)
