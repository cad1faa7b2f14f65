"""What privacy costs where the choice among arms has no cells: as printed, with users, and of samples."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.contextual._shared import linear_users
from verifiable_dp.auditors.studies import over
from verifiable_dp.core.environments import Environment, two_point
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import Function, JsonDict
from verifiable_dp.registry import entries
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import REGRET, SAMPLES, Cell, Figure, Panel
from verifiable_dp.registry.wrapped import Listed

LONG, SHORT = 10**12, 10**6
USERS: JsonDict = {"n_arms": 2, "dimension": 2, "horizon": 10**4}
STOPPING: JsonDict = {"alpha": 0.5, "beta": 0.08, "horizon": 1 << 20}
HEAVY: JsonDict = {"u": 1.0, "v": 1.0}
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


def _free(name: str, **given: object) -> Listed:
    return entries.auditor(name).algorithm(**given)


def listings(sheet: Sheet, n_arms: int, runs: int) -> list[Place]:
    """Listings as printed and as mended on C2; that which plays round by round has a shorter horizon."""
    places = []
    for horizon, epsilons, kinds in (
        (LONG, sheet.grid("epsilons"), {"dp-robust-elimination": WIDE, "ldp-robust-se": HEAVY}),
        (SHORT, sheet.grid("index_epsilons"), {"dp-robust-ucb": HEAVY}),
    ):
        fixed: JsonDict = {"n_arms": n_arms, "horizon": horizon}
        private = {
            f"{name} {variant}": _made(name, variant=variant, **fixed, **more)
            for name, more in kinds.items()
            for variant in ("corrected", "printed")
        }
        label, place = f"listing T={horizon:.0e}", s1("C2", n_arms)
        places.append(Place(label, place, private, _free("ucb1", **fixed), epsilons, runs))
    return places


def users(sheet: Sheet, delta: float, rho_of: Callable[[float], float], runs: int) -> Place:
    """Bandits with contexts, whose users come from one population."""
    private = {name: _made(name, delta=delta, **USERS) for name in sheet.grid("with_users")}
    concentrated: Function[Listed] = entries.auditor("adac-oful").algorithm
    private["adac-oful"] = lambda epsilon: concentrated(rho=rho_of(epsilon), delta=delta, **USERS)
    free = _free("lin-ucb-contextual", **USERS)
    place = linear_users(USERS["n_arms"], USERS["dimension"])
    return Place("users", place, private, free, sheet.grid("user_epsilons"), runs)


def samples(sheet: Sheet, runs: int) -> Place:
    """Stopping rules on samples -1 or 1 of mean .5."""
    private = {name: _made(name, **STOPPING) for name in ("dp-nas", "dp-exponential-nas")}
    place = two_point(0.5, 1.0)
    return Place("samples", place, private, _free("nas", **STOPPING), sheet.grid("epsilons"), runs)


def figures(sheet: Sheet, listed: Sequence[Place], met: Place, taken: Place) -> list[Figure]:
    """One for each kind of place."""
    panels = [place.panel(place.label.removeprefix("listing ")) for place in listed]
    return [
        sheet.figure("listings", panels),
        sheet.figure("users", [met.panel(met.environment.name)]),
        sheet.figure("samples", [taken.panel(taken.environment.name, measured=SAMPLES)]),
    ]
