"""What is bounded, what its paths gave away, and what the judge is handed of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from msgspec import structs

from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.validate import FloatArray, Foreign, Function
from verifiable_dp.evidence.judge.certificate import (
    FORM,
    VERSION,
    Believed,
    Frame,
    Pattern,
    Profile,
    TracedCertificate,
    TracedPath,
    TracedTable,
)
from verifiable_dp.evidence.judge.laws import epsilon_of
from verifiable_dp.evidence.premises import Premise, Taken
from verifiable_dp.evidence.symbolic import boxes
from verifiable_dp.evidence.symbolic.alignments import Cost
from verifiable_dp.evidence.symbolic.atoms import Atom
from verifiable_dp.evidence.symbolic.ends import Failure
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.world import Scaling, World, nothing_known
from verifiable_dp.evidence.tracing.ledger import Place
from verifiable_dp.evidence.upper import Method, UpperBound

_LIBRARY = Premise(Taken.LIBRARIES)


@dataclass(frozen=True)
class Program:
    """What is bounded.

    Parameters
    ----------
    function
        ``function(data, rng)``.
    shape
        Of the data.
    bounds
        Of their entries.
    units
        For each entry the units of data that move it: (unit, least, most). None: each its own, anywhere
        within the bounds.
    furthest
        How far an entry can move at most, if that is less than from bound to bound.
    known
        Says why a generator that the code keeps hides nothing, of its identity; empty if it may.
    disclosed
        Expressions, by file and position, of which the adversary is told what they are made of, too.
    local
        Whether the adversary sees the report of each entry, too (`reports`).
    asserts
        Whether asserts are there, as they are not in `python -O`.
    """

    function: Function[Foreign]
    shape: tuple[int, ...]
    bounds: tuple[float, float]
    units: Mapping[int, Sequence[tuple[int, float, float]]] | None = None
    furthest: float = field(default=math.inf, kw_only=True)
    known: Callable[[int], str] = field(default=nothing_known, kw_only=True)
    disclosed: frozenset[tuple[str, Foreign]] = field(default=frozenset(), kw_only=True)
    local: bool = field(default=False, kw_only=True)
    asserts: bool = field(default=True, kw_only=True)

    def data(self, world: World, values: FloatArray) -> boxes.Box:
        """Data that stand for any in bounds."""
        low, high = self.bounds
        entries = []
        for i, value in enumerate(values.ravel().tolist()):
            atom = Atom(value, low, high, partial(self._moves, i))
            entries.append(Term(world, 0.0, {atom: 1.0}, {}))
        return boxes.Box(world, boxes.objects(entries, self.shape), "f")

    def _moves(self, i: int) -> dict[int, tuple[float, float]]:
        """How far entry i can move, by unit."""
        if self.units is None:
            return {i: (0.0, min(self.furthest, self.bounds[1] - self.bounds[0]))}
        return {unit: (least, most) for unit, least, most in self.units[i]}

    def values(self, number: int) -> FloatArray:
        """Data of a path."""
        rng = np.random.default_rng([20260102, number])
        low, high = (
            end if math.isfinite(end) else side for end, side in zip(self.bounds, (-9.0, 9.0), strict=True)
        )
        made = low + (high - low) * rng.random(self.shape)
        return made if number % 2 else np.where(rng.random(self.shape) < 0.5, low, high)

    def corner(self, number: int) -> FloatArray:
        """All that is least, or most; data of a path where there is no end."""
        end = self.bounds[number % 2]
        return np.full(self.shape, end) if math.isfinite(end) else self.values(number)

    def neighbours(self, values: FloatArray, number: int, most: int) -> Iterator[FloatArray]:
        """Neighbours of data: some entries that move to an end of their bounds or in between."""
        rng = np.random.default_rng([20260105, number])
        low, high = (
            end if math.isfinite(end) else side for end, side in zip(self.bounds, (-9.0, 9.0), strict=True)
        )
        flat = values.ravel()
        for i in rng.permutation(flat.size)[:most].tolist():
            ends = [low, high, low + (high - low) * rng.random(), low + high - flat[i]]
            to = ends[int(rng.integers(len(ends)))]
            if abs(to - flat[i]) < 1e-3 * (high - low):
                to = high if flat[i] - low < high - flat[i] else low
            other = flat.copy()
            other[i] += min(max(to - flat[i], -self.furthest), self.furthest)
            yield other.reshape(values.shape)

    def replaced(self, values: FloatArray, other: FloatArray) -> int | None:
        """Which unit neighbouring data replace; None if it is not one."""
        changed = np.flatnonzero(values.ravel() != other.ravel()).tolist()
        units = set.intersection(*({*self._moves(i)} for i in changed)) if changed else set()
        return min(units, default=None)

    def seen(self, value: Foreign) -> Foreign:
        """What an observer sees of what is returned."""
        return value


@dataclass(frozen=True)
class NeighbourProgram(Program):
    """A program on two data sets that are known: what differs moves together, what does not is public.

    Parameters
    ----------
    left, right
        The data, of one shape.
    """

    left: FloatArray = field(default_factory=lambda: np.zeros(0))
    right: FloatArray = field(default_factory=lambda: np.zeros(0))

    def data(self, world: World, values: FloatArray) -> boxes.Box:
        """See `Program.data`."""
        entries = []
        for value, one, other in zip(values.flat, self.left.flat, self.right.flat, strict=True):
            low, high = sorted((float(one), float(other)))
            moves = {0: (min(0.0, float(other - one)), max(0.0, float(other - one)))}
            atom = Atom(float(value), low, high, partial(dict, moves))
            raw = {atom: 1.0} if low < high else {}
            entries.append(Term(world, 0.0 if raw else low, raw, {}))
        return boxes.Box(world, boxes.objects(entries, self.shape), "f")

    def values(self, number: int) -> FloatArray:
        """See `Program.values`."""
        return (self.right if number % 2 else self.left).reshape(self.shape).copy()

    def corner(self, number: int) -> FloatArray:
        """See `Program.corner`: one of the two."""
        return self.values(number)

    def neighbours(self, values: FloatArray, number: int, most: int) -> Iterator[FloatArray]:
        """See `Program.neighbours`: the other one."""
        yield (self.left if number % 2 else self.right).reshape(self.shape).copy()

    def replaced(self, values: FloatArray, other: FloatArray) -> int | None:
        """See `Program.replaced`: all that differs."""
        return 0


@dataclass(frozen=True)
class Path:
    """What one run gave away.

    Attributes
    ----------
    number
        Of the path.
    costs
        By unit.
    failure, at
        Why there is no bound, and where; empty if there is one.
    events
        Operations on terms.
    output
        What it returned.
    natural
        Whether it takes what the generator gives.
    contested
        Where an outcome was proposed and accepted or turned down; None if nowhere.
    beyond
        Whether a draw came out above chances that add up to 1, so that the path has no chance.
    drawn
        Outputs of mechanisms of libraries.
    crashed
        Whether an exception of the code's ended it, or it took forever.
    unseen
        Whether it ended at a question about the object that stands for a number.
    held
        Costs by unit where sums that public numbers scale stay as they are, see `alignments.costs_held`.
    scaled
        Where that is done.
    """

    number: int
    costs: Mapping[int, list[Cost]]
    failure: Failure = field(default_factory=Failure)
    at: Place | None = None
    events: int = 0
    output: Foreign = None
    natural: bool = False
    contested: Place | None = None
    beyond: bool = False
    drawn: tuple[Foreign, ...] = ()
    crashed: bool = False
    unseen: bool = False
    held: Mapping[int, list[Cost]] | None = None
    scaled: frozenset[Scaling] = frozenset()

    def as_held(self) -> Path:
        """The same, as dear as it is where sums that public numbers scale stay as they are."""
        return self if self.held is None else replace(self, costs=self.held)

    def most(self) -> tuple[float, float]:
        """The largest loss of a unit, and the largest squared shift."""
        each = [*self.costs.values()]
        pure = (math.fsum(getattr(cost, way) for cost in costs) for costs in each for way in ("up", "down"))
        squared = (math.fsum(cost.squared for cost in costs) for costs in each)
        return max(pure, default=0.0), max(squared, default=0.0)


@dataclass(frozen=True)
class PathFound:
    """What the paths came to.

    Attributes
    ----------
    paths
        Those that were run.
    failure, at
        Why there is no bound, and the line; empty if there is one.
    closed
        Lines with a branch whose other way only raises an exception, which plain runs never took.
    outside
        Whether the code lies outside of the language of bounds.
    every
        Whether these are all paths there are (`leaves`).
    replays
        Neighbours that were replayed on plain code (`witness`), and those that could not be.
    taken
        What the bound takes for granted besides.
    """

    paths: tuple[Path, ...]
    failure: Failure = field(default_factory=Failure)
    at: Place | None = None
    closed: tuple[Place, ...] = ()
    outside: bool = False
    every: bool = False
    replays: tuple[int, int] = (0, 0)
    taken: tuple[Taken, ...] = ()

    @property
    def unseen(self) -> bool:
        """Whether it is open what is decided where the bound ends: neither runs nor replays need show it."""
        return self.outside or bool(self.failure and self.paths and self.paths[-1].unseen)

    def words(self, data: str = "rewards") -> str:
        """Why there is no bound, with the line; `data` are what is raw."""
        said = self.failure.said(data)
        return f"{self.at.words()}: {said}" if self.at and self.at.line else said

    def epsilon(self, delta: float = 0.0) -> float:
        """The bound; inf if there is none."""
        if self.failure:
            return math.inf
        return max((_epsilon(path, delta) for path in self.paths), default=math.inf)

    def bound(self, delta: float = 0.0, tested_by: str = "") -> UpperBound | None:
        """The bound with its certificate; None if it is not finite."""
        if not math.isfinite(self.epsilon(delta)):
            return None
        held, missing = self.replays
        return UpperBound.of(
            certified(self.paths).as_dict(),
            scope="every path" if self.every else "n paths",
            paths=len(self.paths),
            delta=delta,
            method=Method.TRACING,
            premises=(
                Premise(Taken.NO_STATE),
                *map(Premise, self.taken),
                *(() if self.every else (Premise(Taken.OTHER_PATHS),)),
                Premise(Taken.AS_TRACED, {"held": held, "open": missing}),
                Premise(Taken.IDEAL_NOISE_OF_CODE),
                *((_LIBRARY,) if any(path.drawn for path in self.paths) else ()),
                *((_closed(self.closed),) if self.closed else ()),
            ),
        )


def _epsilon(path: Path, delta: float) -> float:
    """Epsilon of a path: of the unit and the way that pay most."""
    best = 0.0
    for costs in path.costs.values():
        squared = math.fsum(cost.squared for cost in costs)
        matrices = tuple(release for cost in costs for release in cost.matrices)
        rho = math.fsum(cost.rho for cost in costs)
        for way in ("up", "down"):
            pure = math.fsum(getattr(cost, way) for cost in costs)
            best = max(best, epsilon_of(pure, squared, delta, matrices, rho))
    return best


def certified(paths: Sequence[Path]) -> TracedCertificate:
    """What the judge needs of paths."""
    frames, patterns, profiles = TracedTable[Frame](), TracedTable[Pattern](), TracedTable[Profile]()
    known: dict[int, int] = {}  # patterns are large: units and paths share them

    def pattern_of(cost: Cost) -> int:
        assert cost.pattern is not None
        frame, pattern = cost.pattern
        if id(pattern) not in known:
            known[id(pattern)] = patterns.place(structs.replace(pattern, frame=frames.place(frame)))
        return known[id(pattern)]

    listed = []
    for path in sorted(paths, key=lambda path: path.number):
        units: dict[int, list[int]] = {}
        for unit, costs in sorted(path.costs.items()):
            groups = Counter((pattern_of(cost), cost.place.line) for cost in costs if cost.pattern)
            charges = tuple(_believed(cost) for cost in costs if not cost.pattern)
            profile = Profile(tuple((at, line, times) for (at, line), times in groups.items()), charges)
            units.setdefault(profiles.place(profile), []).append(unit)
        listed.append(TracedPath(path.number, tuple((at, tuple(each)) for at, each in units.items())))
    tables = tuple(frames.rows), tuple(patterns.rows), tuple(profiles.rows)
    return TracedCertificate(FORM, VERSION, *tables, tuple(listed))


def _believed(cost: Cost) -> Believed:
    """A cost that no pattern stands for."""
    matrices = tuple(
        (each.change, each.freedom, each.size, each.times) for each in wishart.counted(cost.matrices)
    )
    return Believed(cost.what, cost.place.line, cost.up, cost.down, cost.squared, cost.rho, matrices)


def _closed(places: Sequence[Place]) -> Premise:
    lines = sorted({place.line for place in places})
    return Premise(Taken.CLOSED_BRANCHES, {"lines": lines, "branches": len(places), "runs": HUNT})


HUNT = 1600  # plain runs
