"""One traced run: what its adversary sees, and what it does with data and noise."""

from __future__ import annotations

import dis
import functools
import math
import os
import random
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.atoms import Atom, Charge, Combination, Part, Row, SymbolicDraw, Winner
from verifiable_dp.evidence.symbolic.ends import Ends, Failure, Unbounded
from verifiable_dp.evidence.tracing.ledger import Place, caller

Spot = tuple[Foreign, int, int | None]  # an instruction of the traced code, and a side of it
MOST_EVENTS = 150_000


class Summed(StrEnum):
    """What is added to data without noise, or done with them."""

    BARE = "bare"  # whatever it is
    HIDDEN = "hidden"  # noise
    AGAIN = "again"  # what is in it already
    TOLD = "told"  # nothing: they say how a draw comes out


class Scaling(NamedTuple):
    """Where public numbers scale a sum of data and noise; what is traced takes its code for the user's.

    Attributes
    ----------
    spots
        Instructions, and on which side of them the number is.
    divided
        Whether they scale data and noise one by one, see `judge.factors`.
    """

    spots: frozenset[Spot]
    divided: bool


_NUMERICAL = ("verifiable_dp", "numpy", "scipy", "pandas", "opendp", "diffprivlib")
_FOR_THE_CODE = os.path.join(os.path.dirname(__file__), "calls.py")  # which calls what the code calls


def _is_standard(frame: Foreign) -> bool:
    """Whether code of the standard library runs in a frame."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in sys.stdlib_module_names


@functools.lru_cache(maxsize=1 << 12)
def is_numerical(file: str) -> bool:
    """Whether a file belongs to a library that computes with any kind of numbers."""
    homes = (os.path.dirname(getattr(sys.modules.get(name), "__file__", None) or "") for name in _NUMERICAL)
    return any(home and file.startswith(os.path.join(home, "")) for home in homes)


_FEW = 32  # values of a public draw, each of which is seen on some of the paths


def nothing_known(number: int) -> str:
    """Why the generator with this identity hides nothing: nobody says that it does."""
    return ""


@dataclass
class World:
    """One traced run.

    Attributes
    ----------
    files
        Whose lines are named.
    chooser
        What random outcomes come out; see `choosers.Chooser`.
    arrays, subsets
        What is done with arrays, and with some of their entries: the modules `array_protocol` and
        `subsets`.
    seen, charges
        What the adversary learns.
    unseen
        Whether that was a question about the object that stands for a number.
    failure, at
        Why there is no bound, and where; the first reason counts.
    events
        Operations on terms.
    finishing
        What remains to be done when the run ends.
    proposals
        By the number of outcomes, where proposals come from that are drawn one by one.
    generators
        Those that the run draws from: NumPy's bit generators and Python's.
    python
        What stands in for the generator of Python's module ``random``.
    system
        What stands in for the generator of the module ``secrets``, once something draws from it.
    sources
        What stands in for NumPy's generators other than the given one.
    known
        Says why another generator hides nothing, of its identity; empty if it may.
    oracle
        Says how coins come out while the chances of an answer are looked for (`answers`).
    pooling
        Makes one draw of known law of several whose sum has it; None before there are any.
    normals
        Makes one draw of a product of two normal ones; None before there are any.
    flips
        Conditions that are turned about (`forcing`); None in an ordinary run.
    joint
        Whether nobody sees what a user with a context chooses from what the same user brings.
    kept
        Products and shortened vectors that were made before.
    enumerated
        Functions by their code that were called, and whether all their branches were tried each time.
    beyond
        Whether a uniform draw came out above chances that add up to 1, as it does where they are rounded.
    compared
        By the instruction, how often comparisons with a uniform draw could have one answer only, and both.
    bare
        Whether the generators give plain numbers for now.
    mixed
        Where conditions stand both sides of which were followed at once.
    weights
        What data are multiplied with that no noise hides.
    sums
        Where the traced code adds data up, or lets them say how a draw comes out.
    wide
        Where whole numbers are drawn of which paths see but a few.
    scales
        Instructions that set how much noise there is, and on which side of them: None for any.
    scaling
        As `scales`, of draws that count only if they hide data, or others were made of them.
    held
        Sums of data and noise that public numbers scale, as if they were seen, with fields of `Scaling`.
    weighed
        What is multiplied with public numbers before it has noise.
    drawn
        Functions whose code was read as a law of noise, each with names that it follows from; None for those
        of others that it looks up.
    disclosed
        Expressions, by file and position, of which the adversary is told all numbers that they are made of.
    local
        Whether what noise hides has to be a report of one unit's data (`reports`).
    asserts
        Whether asserts are there: `python -O` leaves them out.
    given
        The atoms of the data themselves, which are floats.
    mixes_types
        Whether data decided of some number whether it is a float.
    largest
        Above it lies no summand that was made of data or noise.
    doubts
        Raw numbers that were asked whether they are above 0, in order (`doubts`).
    extra, instead
        What stands in for builtins, and a function that gives what stands in for another function, or None.
    """

    files: frozenset[str]
    chooser: Foreign
    arrays: Foreign
    seen: list[Row | Winner] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    failure: Failure = field(default_factory=Failure)
    unseen: bool = False
    at: Place | None = None
    events: int = 0
    finishing: list[Callable[[], None]] = field(default_factory=list)
    proposals: dict[int, Foreign] = field(default_factory=dict)
    generators: list[Foreign] = field(default_factory=list)
    python: Foreign = None
    system: Foreign = None
    sources: Foreign = None
    known: Callable[[int], str] = nothing_known
    oracle: Foreign = None
    pooling: Callable[[Mapping[SymbolicDraw, float]], Mapping[SymbolicDraw, float]] | None = None
    normals: Callable[[Foreign, Foreign], Foreign] | None = None
    fixed: Foreign = None
    flips: Foreign = None
    subsets: Foreign = None
    joint: bool = False
    kept: dict[Foreign, Foreign] = field(default_factory=dict)
    enumerated: dict[Foreign, bool] = field(default_factory=dict)
    beyond: bool = False
    compared: dict[tuple[Foreign, int], list[int]] = field(default_factory=dict)
    bare: bool = False
    mixed: set[Foreign] = field(default_factory=set)
    scales: set[Spot] = field(default_factory=set)
    scaling: dict[SymbolicDraw, set[Spot]] = field(default_factory=dict)
    weights: set[Spot] = field(default_factory=set)
    held: list[tuple[Row, frozenset[Spot], bool]] = field(default_factory=list)
    weighed: set[Atom] = field(default_factory=set)
    sums: set[tuple[Foreign, int, Summed]] = field(default_factory=set)
    wide: set[tuple[Foreign, int]] = field(default_factory=set)
    drawn: set[tuple[Foreign, frozenset[str] | None]] = field(default_factory=set)
    disclosed: frozenset[tuple[str, Foreign]] = frozenset()
    local: bool = False
    asserts: bool = True
    given: frozenset[Atom] = frozenset()
    mixes_types: bool = False
    largest: float = 0.0
    doubts: list[float] = field(default_factory=list)
    extra: dict[Foreign, Foreign] = field(default_factory=dict)
    instead: Callable[[Foreign], Foreign] | None = None

    def note(self, code: Foreign, *, tried: bool) -> None:
        """Note a call of a function, and whether all its branches were tried; nothing while one is."""
        if self.oracle is None:
            self.enumerated[code] = tried and self.enumerated.get(code, True)
            for part in code.co_consts:
                if isinstance(part, types.CodeType):  # of a function in it
                    self.note(part, tried=tried)

    def here(self, side: int | None) -> Spot | None:
        """The instruction of the user's code that runs, and a side of it."""
        frame: Foreign = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename not in self.files:
            frame = frame.f_back
        return None if frame is None else (frame.f_code, frame.f_lasti, side)

    def scaled(
        self, side: int | None = None, *, raw: bool = False, noise: Iterable[SymbolicDraw] = ()
    ) -> None:
        """Note where a public number, on a side of an operation, sets how much noise there is, or data.

        Of `noise` alone it counts if the draws hide data in the end, or others were made of them.
        """
        at = self.here(side)
        if at is None:
            return
        for draw in (noise := [*noise]):
            self.scaling.setdefault(draw, set()).add(at)
        if not noise:
            (self.weights if raw else self.scales).add(at)

    def holds(self, side: int, term: Combination) -> None:
        """Note data with noise that a public number scales, on a side of an operation."""
        at = self.here(side)
        if at is not None:
            row = Row(self.place(), "=", term.raw, term.noise)
            self.held.append((row, frozenset((at,)), False))

    def holds_sum(self, made: Combination, terms: Sequence[Combination]) -> None:
        """Note a sum of noise and of data that were scaled without it."""
        if any(not one.noise and not self.weighed.isdisjoint(one.raw) for one in terms):
            draws = [draw for one in terms if not one.raw for draw in one.noise]
            spots = frozenset[Spot]().union(*(self.scaling.get(draw, ()) for draw in draws))
            if spots:
                row = Row(self.place(), "=", made.raw, made.noise)
                self.held.append((row, spots, True))

    def met(self, summands: Iterable[Combination]) -> None:
        """Note where data are added up, those without noise are given noise, or some are there already."""
        summands = sorted(summands, key=lambda one: len(one.raw))
        bare = any(one.raw and not one.noise for one in summands)
        at = self.here(None) if bare else None
        if at is None:
            return
        self.sums.add((*at[:2], Summed.BARE))
        if any(one.noise and not one.raw for one in summands):
            self.sums.add((*at[:2], Summed.HIDDEN))
        *rest, most = summands
        seen = dict[Atom, float]()
        for one in rest:
            for atom, weight in one.raw.items():
                if (most.raw.get(atom, 0.0) + seen.get(atom, 0.0)) * weight > 0:
                    self.sums.add((*at[:2], Summed.AGAIN))
                seen[atom] = seen.get(atom, 0.0) + weight

    def charge(self, charge: Charge) -> None:
        """What the adversary learns by a draw whose law follows from data: no noise hides them again."""
        at = self.here(None)
        if at is not None and any(high > 0 for _, high in charge.costs.values()):
            self.sums.add((*at[:2], Summed.TOLD))
        self.is_report({unit for unit, costs in charge.costs.items() if any(costs)} | charge.rho.keys())
        self.charges.append(charge)

    def is_report(self, units: Iterable[Foreign]) -> None:
        """End the bound in the local model where what noise hides is not of one unit alone."""
        if self.local and len({unit.unit if type(unit) is Part else unit for unit in units}) > 1:
            raise self.stop_raw("{data} of several rounds are combined before noise hides them")

    def widely(self, many: Foreign) -> None:
        """Note a public draw of so many values that paths see but a few of them."""
        at = self.here(None) if type(many) is int and many > _FEW else None
        if at is not None:
            self.wide.add(at[:2])

    def compare(self, *, certain: bool, public: bool = False) -> None:
        """Note that a uniform draw is compared, and whether the answer is certain.

        That a public number makes it certain counts only where the code says which one: another run may have
        another number.
        """
        at = self.here(None)
        if at is not None:
            certain = certain and not (public and _compared_with(*at[:2]) != "LOAD_CONST")
            self.compared.setdefault(at[:2], [0, 0])[not certain] += 1

    def states(self) -> list[tuple[Foreign, Foreign]]:
        """The generators that the run draws from, with their states."""
        return [
            (source, source.getstate() if isinstance(source, random.Random) else source.state)
            for source in self.generators
        ]

    def restore(self, states: list[tuple[Foreign, Foreign]]) -> None:
        """Put the generators back into these states."""
        for source, state in states:
            if isinstance(source, random.Random):
                source.setstate(state)
            else:
                source.state = state

    def stop(self, words: str, at: Place | None = None, why: Ends = Ends.OTHER) -> Unbounded:
        """End the bound: raise what this returns. Traced code cannot undo it by catching the exception."""
        if not self.failure:
            self.failure, self.at = Failure(words, why), at or caller(self.files)
        return Unbounded(words, why)

    def stop_raw(self, words: str) -> Unbounded:
        """As `stop`, where raw data enter something for which there is no bound."""
        return self.stop(words, why=Ends.DATA)

    def hidden(self, words: str, at: Place | None = None) -> Unbounded:
        """As `stop`, of a question that replays do not show either: it is open what it decides."""
        self.unseen = True
        return self.stop(words, at)

    def reaches(self, size: float) -> None:
        """Note how large a number that depends on data or noise becomes where noise is as it usually is."""
        if not self.chooser.disturbs:
            self.largest = max(self.largest, size)

    def doubt(self, *terms: Combination) -> None:
        """Note raw numbers of which it counts whether they are above 0."""
        self.doubts += [term.value() for term in terms if not term.noise]

    def sees(self, item: Row | Winner) -> None:
        """Note what is seen; the bound ends where floats are too coarse for the noise that hides it."""
        for row in item.rows if isinstance(item, Winner) else (item,):
            self.is_report(unit for atom, weight in row.raw.items() if weight for unit in atom.moves)
            if row.raw and row.noise:
                floats = [atom for atom in row.raw if not atom.whole]
                ends = (end for atom in floats for end in (atom.low, atom.high) if math.isfinite(end))
                size = max(self.largest, *map(abs, ends), 0.0)
                if size * _COARSE > min(map(abs, row.noise.values())) or size > _OVERFLOW:
                    raise self.stop_raw(
                        f"noise is added to numbers of up to {size:.1g}, where floats are too coarse"
                    )
        self.seen.append(item)

    def count(self) -> None:
        """Note an operation."""
        self.events += 1
        if self.events > MOST_EVENTS:
            raise self.stop("a run has too many operations for us to follow", why=Ends.ENDLESS)

    def claims(self, kind: type) -> type:
        """The class that a tracked number says it has; the traced code itself may ask by `calls` only.

        Who asks through the standard library (`inspect`, `abc`) is who called it: `calls` does for that code.
        """
        frame: Foreign = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename not in self.files and _is_standard(frame):
            frame = frame.f_back
        file = "" if frame is None else frame.f_code.co_filename
        if file in (*self.files, _FOR_THE_CODE) or not is_numerical(file):
            raise self.hidden("the code asks for the type of data or noise")
        return kind

    back: Place | None = None  # where the traced code has returned

    def place(self) -> Place:
        """The line of the traced code; of what it has returned, where it did."""
        return self.back or caller(self.files)


# A float that is n times as large as noise rounds away n 2^-53 of it; what a few hundred sums do to that
# costs less than a ten thousandth of what the noise does.
_COARSE, _OVERFLOW = 2.0**-46 * 1e4, 1e300


@functools.lru_cache(maxsize=1 << 10)
def _compared_with(code: Foreign, offset: int) -> str:
    """The instruction before a comparison, which brings its right side."""
    before = [step.opname for step in dis.get_instructions(code) if step.offset < offset]
    return before[-1] if before else ""


def unseen(world: World, *draws: SymbolicDraw) -> None:
    """Nothing but the noise that they were made into, which may hide data, may be seen."""
    gone = {*draws}
    world.scales |= {at for draw in draws for at in world.scaling.get(draw, ())}
    if any(not gone.isdisjoint(row.noise) for row in rows_of(world)):
        raise world.stop("a draw that is part of other noise is used on its own", Place("", 0))


def rows_of(world: World) -> list[Row]:
    """All that is seen."""
    return [row for item in world.seen for row in (item.rows if isinstance(item, Winner) else (item,))]
