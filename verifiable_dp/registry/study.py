"""Studies: the experiments of a paper, as cells to simulate, figures to draw and statements to test.

A package registers its studies with entry points of group ``verifiable_dp.studies``, one name each.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verifiable_dp.core import plugins, validate
from verifiable_dp.core.algorithm import Algorithm, Query
from verifiable_dp.core.algorithm import play as play_blocks
from verifiable_dp.core.claims import Source
from verifiable_dp.core.contextual import ContextualAlgorithm, UserTable
from verifiable_dp.core.environments import Environment
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.populations import Population
from verifiable_dp.core.simulation import Simulation, simulate
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, IntArray, JsonValue
from verifiable_dp.evidence.check import Check

GROUP = "verifiable_dp.studies"
REGRET, SAMPLES = "mean pseudo-regret", "mean number of samples"
# What a simulation is made of; a change in one of these makes finished cells worthless.
_SOURCES = (
    "algorithms",
    "core/algorithm.py",
    "core/environments",
    "core/mechanisms",
    "core/noise.py",
    "core/philox.py",
    "core/query.py",
    "core/simulation.py",
)
# What runs with users are made of besides.
_MEETING = ("algorithms/contextual", "core/contexts.py", "core/contextual.py", "core/symmetric.py")


@dataclass(frozen=True)
class Cell:
    """Independent runs of one algorithm in one environment.

    Parameters
    ----------
    algorithm, environment
        What is played where; a bandit with contexts meets the users of a population.
    runs
        At least 2, so that there is a spread.
    points
        Recorded times of the curve.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    algorithm: Algorithm
    environment: Environment | Population
    runs: int
    points: int = 120

    def __post_init__(self) -> None:
        validate.integer("runs", self.runs, least=2)
        validate.integer("points", self.points, least=2)

    @property
    def arms(self) -> Environment:
        """The environment, of which one arm is best.

        Raises
        ------
        InputError
            If that depends on the user.
        """
        if isinstance(self.environment, Population):
            raise InputError(f"{self.environment.name}: the best arm depends on the user")
        return self.environment

    @property
    def gaps(self) -> FloatArray:
        """Suboptimality gaps of the arms, (K,)."""
        return self.arms.gaps

    @property
    def measured(self) -> str:
        """What a run costs: pseudo-regret, or the samples that a stopping rule took."""
        return SAMPLES if self.algorithm.n_arms == 1 else REGRET


@dataclass(frozen=True)
class StudyOutcome:
    """What a cell came to.

    Attributes
    ----------
    regret : (runs,) float
        Pseudo-regret at the horizon; see `Cell.measured`.
    times : (C,) int
        Recorded rounds.
    regrets : (runs, C) float
        The same after those rounds.
    pulls : (runs, K) int
        Pulls by arm.
    active : (runs, K) bool or None
        Arms not eliminated at the end.
    seconds : float
        CPU time that it took.
    """

    regret: FloatArray
    times: IntArray
    regrets: FloatArray
    pulls: IntArray
    active: BoolArray | None
    seconds: float = 0.0


@dataclass(frozen=True)
class Line:
    """One line of a panel: the curve of some cells together, or a point for each cell.

    Parameters
    ----------
    label
        For the legend.
    cells
        Names of cells. Without `xs` their runs are taken together as one curve over time.
    xs
        One value a cell: the line is then mean regret at the horizon over that value, with equal weights
        of the cells that share one.
    worst
        The largest mean of the cells that share a value instead.
    """

    label: str
    cells: tuple[str, ...]
    xs: tuple[float, ...] | None = None
    worst: bool = False

    def __post_init__(self) -> None:
        if not self.cells or (self.xs is not None and len(self.xs) != len(self.cells)):
            raise InputError(f"line {self.label!r} must have cells, and either no xs or as many xs as cells")


@dataclass(frozen=True)
class StudyBound:
    """A theorem's line: `value(x)` over the panel's axis; `line` is the label of what it is about, if any."""

    label: str
    value: Callable[[float], float]
    line: str = ""


@dataclass(frozen=True)
class Guide:
    """A line of slope x^exponent (log x)^log_power through the middle of the line that it is about."""

    label: str
    exponent: float
    log_power: float = 0.0
    line: str = ""


@dataclass(frozen=True)
class Panel:
    """Some lines on the same axes.

    Parameters
    ----------
    title
        Above it.
    lines, bounds
        What is drawn.
    axis
        What x is: ``t`` for curves over time.
    logx, logy
        Whether the axes are logarithmic.
    measured
        What y is.
    """

    title: str
    lines: tuple[Line, ...]
    bounds: tuple[StudyBound | Guide, ...] = ()
    axis: str = "t"
    logx: bool = True
    logy: bool = True
    measured: str = REGRET


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or our own.

    Parameters
    ----------
    name
        Such as ``figure-1``.
    caption
        What is seen, in our words, with everything that was chosen here.
    panels
        From left to right.
    statements
        Names of the statements whose verdicts stand under it.
    """

    name: str
    caption: str
    panels: tuple[Panel, ...]
    statements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Statement:
    """What the paper says, or what we claim, and how it is tested.

    Parameters
    ----------
    name
        Unique within the study.
    words
        The statement.
    source
        Where it stands; for our own, a note says so.
    checks
        `checks(outcomes)` with the outcomes of all cells by name.
    expected
        The verdict that is known: ``consistent``, or ``contradicted`` where the paper is wrong.
    """

    name: str
    words: str
    source: Source
    checks: Callable[[Mapping[str, StudyOutcome]], Sequence[Check]]
    expected: str = "consistent"


@dataclass(frozen=True)
class StudyPlan:
    """A study at one scale.

    Parameters
    ----------
    cells
        By name.
    figures, statements
        In the paper's order.
    notes
        What the paper leaves open and was chosen here, a sentence each.
    """

    cells: Mapping[str, Cell]
    figures: Sequence[Figure]
    statements: Sequence[Statement]
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        lines = [line for figure in self.figures for panel in figure.panels for line in panel.lines]
        for name in dict.fromkeys(cell for line in lines for cell in line.cells):
            if name not in self.cells:
                raise InputError(f"figures: unknown cell {name!r}")
        for kind, items in (("figure", self.figures), ("statement", self.statements)):
            names = [item.name for item in items]
            if len(set(names)) < len(names):
                raise InputError(f"{kind}s must have different names, got {', '.join(names)}")


@dataclass(frozen=True)
class Study:
    """All experiments of a paper.

    Parameters
    ----------
    name
        Such as ``S1``.
    title, paper
        What it is, and the paper's reference.
    plan
        `plan(scale)`: at scale 1 the full size; below, horizons and runs shrink.
    settings
        The paper's environments by name, each a function of the number of arms.
    """

    name: str
    title: str
    paper: str
    plan: Callable[[float], StudyPlan] = field(compare=False)
    settings: Mapping[str, Callable[[int], Environment]] = field(default_factory=dict, compare=False)


# ---------------------------------------------------------------- cells


def described(thing: object) -> JsonValue:
    """JSON values from which a cell's identity is computed: classes with their fields, arrays by content."""
    if isinstance(thing, np.ndarray):
        whole = np.ascontiguousarray(thing)
        return ["array", whole.dtype.str, list(whole.shape), hashlib.sha256(whole.tobytes()).hexdigest()]
    if isinstance(thing, np.generic):
        return described(thing.item())
    if isinstance(thing, float):
        return thing.hex()
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, Mapping):
        return {str(key): described(value) for key, value in sorted(thing.items())}
    if isinstance(thing, list | tuple):
        return [described(item) for item in thing]
    if dataclasses.is_dataclass(thing):
        values = {f.name: described(getattr(thing, f.name)) for f in dataclasses.fields(thing) if f.init}
        return [type(thing).__module__, type(thing).__qualname__, values]
    raise InputError(f"cell: {type(thing).__name__} cannot be described: give a dataclass of plain values")


@functools.cache
def _sources(names: tuple[str, ...] = _SOURCES) -> str:
    """Digest over code: by default that which every simulation runs."""
    whole = hashlib.sha256()
    root = Path(__file__).parents[1]
    for name in names:
        place = root / name
        for path in sorted(place.glob("*.py")) if place.is_dir() else [place]:
            whole.update(f"{name}/{path.name}\n".encode() + path.read_bytes())
    return whole.hexdigest()


def _code_of(thing: object) -> str:
    """Digest of the file of a class that is not of this package."""
    path = inspect.getsourcefile(type(thing))
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else ""


def cell_seed(name: str, seed: int) -> int:
    """The seed of a cell: cells have independent runs, whatever else is in the study."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:6], "big")


def fingerprint(name: str, cell: Cell, seed: int) -> str:
    """What a stored outcome is found by: code, parameters, runs and seed."""
    parts = [
        _sources(),
        _code_of(cell.algorithm),
        _code_of(cell.environment),
        described(cell.algorithm),
        described(cell.environment),
        cell.runs,
        cell.points,
        cell_seed(name, seed),
        *([_sources(_MEETING)] if isinstance(cell.environment, Population) else []),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def play(name: str, cell: Cell, seed: int) -> StudyOutcome:
    """Simulate a cell in this process."""
    started = time.process_time()
    if isinstance(cell.environment, Population):
        done = meet(cell.algorithm, cell.environment, cell.runs, cell_seed(name, seed))
    else:
        done = simulate(
            cell.algorithm, cell.environment, runs=cell.runs, seed=cell_seed(name, seed), points=cell.points
        )
    if cell.measured == SAMPLES:
        done = dataclasses.replace(
            done,
            regret=done.pulls[:, 0].astype(np.float64),
            regrets=np.minimum(done.times, done.pulls).astype(np.float64),
        )
    return StudyOutcome(
        done.regret, done.times, done.regrets, done.pulls, done.active, time.process_time() - started
    )


@dataclass
class _Missed:
    """Adds up what the best arm of each user would have paid more, by run."""

    gaps: FloatArray
    regret: FloatArray

    def block(self, position: IntArray, query: Query) -> None:
        arm = query.active.argmax(axis=1)
        self.regret[position] += self.gaps[position, query.start, arm]


def meet(algorithm: Algorithm, population: Population, runs: int, seed: int) -> Simulation:
    """Runs of a catalogue bandit with contexts, each with users of its own; the horizon alone is recorded.

    Raises
    ------
    InputError
        If the algorithm does not choose by contexts of this form.
    """
    if not isinstance(algorithm, ContextualAlgorithm) or algorithm.form.shape != population.shape:
        raise InputError(
            f"{algorithm.name} cannot play for {population.name}, whose contexts have a different form"
        )
    users = [population.draw(np.random.default_rng([seed, run]), algorithm.horizon) for run in range(runs)]
    tables = np.stack([population.form.table(each.contexts, each.rewards) for each in users])
    missed = _Missed(np.stack([each.gaps for each in users]), np.zeros(runs))
    data = UserTable(algorithm.form, tables)
    outcome = play_blocks(algorithm, data, Seeded(seed), np.arange(runs), keep=(), watch=missed)
    return Simulation(
        missed.regret,
        outcome.pulls,
        np.array([algorithm.horizon]),
        missed.regret[:, None],
        None,
        outcome.output,
    )


# ---------------------------------------------------------------- registry


def names() -> list[str]:
    """Names of all registered studies, sorted."""
    return list(plugins.names(GROUP))


def study(name: str) -> Study:
    """The study registered under `name`, whatever its case.

    Raises
    ------
    InputError
        If the name is unknown or what is registered is not a `Study`.
    """
    known = {known.upper(): known for known in names()}
    if name.upper() not in known:
        raise InputError(f"study: unknown name {name!r}; known names are {', '.join(known.values())}")
    return plugins.registered(GROUP, known[name.upper()], Study)


def settings() -> dict[str, Callable[[int], Environment]]:
    """The environments of all registered studies by name."""
    return {key: make for name in names() for key, make in study(name).settings.items()}
