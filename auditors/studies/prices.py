"""What privacy costs, as regret or samples against epsilon, of bandits that no other study plays so."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.contextual._shared import linear_users
from verifiable_dp.auditors.studies import compared, fewer, over
from verifiable_dp.auditors.studies.beyond import CHOICE_ARMS, CHOICE_T, DELTA, OURS, RUNS, SHORT_T, rho_of
from verifiable_dp.core.environments import Environment, two_point
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import Function, JsonDict
from verifiable_dp.registry import entries
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import REGRET, SAMPLES, Cell, Panel, Study, StudyPlan
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, OURS)
EPSILONS = SHEET.grid("epsilons")
LONG, SHORT = 10**12, 10**6  # a listing that is played round by round has the shorter horizon
USERS: JsonDict = {"n_arms": 2, "dimension": 2, "horizon": 10**4}
STOPPING: JsonDict = {"alpha": 0.5, "beta": 0.08, "horizon": 1 << 20}
HEAVY: JsonDict = {"u": 1.0, "v": 1.0, "constants": 0.2}
WIDE: JsonDict = {"moments": "central", "radius": 7.0}  # two bins at least, as printed


@dataclass(frozen=True)
class Place:
    """Private algorithms at several epsilons, and one without privacy, in one environment.

    Parameters
    ----------
    label
        Of its cells.
    environment
        Where they play.
    private
        Each is a function of epsilon.
    free
        Without privacy.
    epsilons
        Values.
    runs
        Of each cell.
    """

    label: str
    environment: Environment | Population
    private: Mapping[str, Function[Listed]]
    free: Listed
    epsilons: Sequence[float]
    runs: int

    def name(self, algorithm: str, epsilon: float) -> str:
        """Of a cell."""
        return f"{self.label} {algorithm} epsilon={epsilon:.3g}"

    @property
    def cells(self) -> dict[str, Cell]:
        """By name."""
        rules = {f"{self.label} {self.free.name}": self.free}
        pairs = itertools.product(self.private.items(), self.epsilons)
        rules |= {self.name(each, e): make(epsilon=e) for (each, make), e in pairs}
        return {name: Cell(rule, self.environment, self.runs, points=2) for name, rule in rules.items()}

    def panel(self, title: str, measured: str = REGRET) -> Panel:
        """Of all; the one without privacy from end to end."""
        lines = [over(each, {e: self.name(each, e) for e in self.epsilons}) for each in self.private]
        ends = dict.fromkeys((min(self.epsilons), max(self.epsilons)), f"{self.label} {self.free.name}")
        return Panel(title, (*lines, over(self.free.name, ends)), axis="epsilon", measured=measured)


def _made(name: str, **fixed: object) -> Function[Listed]:
    return functools.partial(entries.auditor(name).algorithm, **fixed)


def _of_rho(name: str, **fixed: object) -> Function[Listed]:
    """A function of epsilon, of what promises rho."""
    made = _made(name, delta=DELTA, **fixed)
    return lambda epsilon: made(rho=rho_of(epsilon))


def listings(runs: int) -> list[Place]:
    """Listings as printed and as corrected."""
    places = []
    for horizon, epsilons, kinds in (
        (LONG, EPSILONS, {"dp-robust-elimination": WIDE, "ldp-robust-se": HEAVY}),
        (SHORT, SHEET.grid("index_epsilons"), {"dp-robust-ucb": HEAVY}),
    ):
        fixed: JsonDict = {"n_arms": CHOICE_ARMS, "horizon": horizon}
        private = {
            f"{name} {variant}": _made(name, variant=variant, **fixed, **more)
            for name, more in kinds.items()
            for variant in ("corrected", "printed")
        }
        label, free = f"listing T={horizon:.0e}", _made("ucb1", **fixed)()
        places.append(Place(label, s1("C2", CHOICE_ARMS), private, free, epsilons, runs))
    return places


def users(runs: int) -> Place:
    """Bandits with contexts, whose users come from one population."""
    private = {name: _made(name, delta=DELTA, **USERS) for name in SHEET.grid("with_users")}
    private["adac-oful"] = _of_rho("adac-oful", ridge=1.0, **USERS)
    free, place = _made("lin-ucb-contextual", **USERS)(), linear_users(USERS["n_arms"], USERS["dimension"])
    return Place("users", place, private, free, SHEET.grid("user_epsilons"), runs)


def samples(runs: int) -> Place:
    """Stopping rules on samples -1 or 1 of mean .5."""
    private = {name: _made(name, **STOPPING) for name in ("dp-nas", "dp-exponential-nas")}
    return Place("samples", two_point(0.5, 1.0), private, _made("nas", **STOPPING)(), EPSILONS, runs)


def others(runs: int) -> list[Place]:
    """A linear bandit whose actions are arms, and one for rewards that an adversary chooses."""
    where = s1("C2", CHOICE_ARMS)
    axes: JsonDict = {"actions": tuple(map(tuple, np.eye(CHOICE_ARMS).tolist())), "horizon": CHOICE_T}
    arms: JsonDict = {"n_arms": CHOICE_ARMS, "horizon": SHORT_T}
    concentrated = {"adac-gope": _of_rho("adac-gope", **axes)}
    drawn = {"dp-adversarial": _made("dp-adversarial", **arms)}
    return [
        Place("actions", where, concentrated, _made("linear-elimination", **axes)(), EPSILONS, runs),
        Place("drawn", where, drawn, _made("ucb1", **arms)(), EPSILONS, runs),
    ]


def plan(scale: float) -> StudyPlan:
    """Everything with 30 runs, or fewer."""
    runs = fewer(RUNS, scale)
    listed, met, taken, rest = listings(runs), users(runs), samples(runs), others(runs)
    figures = [
        SHEET.figure("listings", [place.panel(place.label.removeprefix("listing ")) for place in listed]),
        SHEET.figure("users", [met.panel(met.environment.name)]),
        SHEET.figure("samples", [taken.panel(taken.environment.name, SAMPLES)]),
        SHEET.figure("others", [place.panel(next(iter(place.private))) for place in rest]),
    ]
    cells = [cell for place in (*listed, met, taken, *rest) for cell in place.cells.items()]
    return StudyPlan(dict(cells), figures, [compared(SHEET, "privacy-costs")], SHEET.notes())


STUDY = Study(
    "S6", "What privacy costs: regret and samples against epsilon, compared with no privacy", OURS, plan
)
