"""Numbers that stand for any reward in bounds, and for noise that was not looked at yet.

A `Term` is a sum of a constant, of multiples of *atoms* (rewards, and what was computed from them) and of
multiples of *draws*. Every atom knows how far it moves when one unit of the data changes, so that a sum of
them does. Nothing that a term does not define can be done with it: the bound ends there, with the line.
"""

from __future__ import annotations

import dis
import functools
import itertools
import math
import os
import random
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, NamedTuple

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.doors import is_own_class
from verifiable_dp.evidence.judge.replay import Key
from verifiable_dp.evidence.tracing.ledger import Place, caller
from verifiable_dp.evidence.tracing.python_operators import OF_NUMBERS, answers

Moves = Mapping[int, tuple[float, float]]
Spot = tuple[Foreign, int, int | None]  # an instruction of the traced code, and a side of it
MOST_EVENTS = 150_000
PREFIX = "verifiable_dp__"  # of names that are put into the traced code
_TINY = 1e-9
_LARGEST, _SMALLEST = 709.0, -744.0  # of which there are exponentials
ARITHMETIC = {
    **OF_NUMBERS,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}


class Ends(StrEnum):
    """What ends a bound."""

    OTHER = "other"
    DATA = "data"  # raw data enter something for which there is no bound
    BRANCH = "branch"  # they decide a branch
    POSITION = "position"  # or which position is chosen
    ENDLESS = "endless"  # a run takes too long
    SEEDS = "seeds"  # noise takes few values, for its seed does

    @property
    def raw(self) -> bool:
        """Whether raw data are what ends it."""
        return self in (Ends.DATA, Ends.BRANCH, Ends.POSITION)


SETS_SCALE = "raw {data} set the scale of noise"


class Summed(StrEnum):
    """What is added to data without noise, or done with them."""

    BARE = "bare"  # whatever it is
    HIDDEN = "hidden"  # noise
    AGAIN = "again"  # what is in it already
    TOLD = "told"  # nothing: they say how a draw comes out


class Failure(str):
    """Why there is no bound, in words and as an id; ``{data}`` in the words stands for what is raw."""

    why: Ends
    words: str

    def __new__(cls, words: str = "", why: Ends = Ends.OTHER) -> Failure:
        """The words about rewards, with the id."""
        made = super().__new__(cls, words.replace("{data}", "rewards"))
        made.why, made.words = why, words
        return made

    def __getnewargs__(self) -> tuple[str, Ends]:  # type: ignore[override]
        return self.words, self.why

    def said(self, data: str) -> str:
        """The words about other data than rewards."""
        return self.words.replace("{data}", data)


class Unbounded(Exception):
    """The traced code did something for which there is no bound."""

    def __init__(self, words: str, why: Ends = Ends.OTHER) -> None:
        super().__init__(words)
        self.failure = Failure(words, why)


@dataclass(eq=False, slots=True)
class Atom:
    """A number that depends on the data, of which only bounds are known.

    Attributes
    ----------
    value
        In the run that is traced.
    low, high
        Bounds whatever the data are.
    moving
        Gives how far it can move when a unit of the data changes, by unit: (least, most), around 0. The
        opposite change moves it by the opposite.
    whole
        Whether it is a whole number.
    largest_of
        The numbers of which it is the largest, if it is.
    log_of
        The numbers of whose exponentials it is the logarithm of the sum, if it is.
    of, factors, norm_of
        Of users with contexts: whose entry or reward it is, of which two it is the product, and of which
        vector it is the norm; see `users`.
    cell
        Of an indicator of which others are exclusive, what they share: at most one of them is 1.
    """

    value: float
    low: float
    high: float
    moving: Callable[[], Moves]
    whole: bool = False
    largest_of: tuple[Foreign, ...] = ()
    log_of: tuple[Foreign, ...] = ()
    of: Foreign = None
    factors: tuple[Atom, ...] = ()
    norm_of: Foreign = None
    cell: Foreign = None
    _moves: Moves | None = field(default=None, init=False)

    @property
    def moves(self) -> Moves:
        """See `moving`."""
        if self._moves is None:
            self._moves = self.moving()
        return self._moves


@dataclass(frozen=True)
class Origin:
    """Where the number of a draw comes from, so that a plain run can be given another one.

    Attributes
    ----------
    key
        Which draw of which generator, see `judge.replay`.
    through, uniform, scale
        The function of a uniform number that it is, with that number, and how far it moves for a shift by 1;
        None where the draw itself is the noise.
    """

    key: Key
    through: Callable[[Foreign], Foreign] | None = None
    uniform: float = 0.5
    scale: float = 1.0


@dataclass(eq=False)
class SymbolicDraw:
    """A draw of a generator at scale 1.

    Attributes
    ----------
    kind
        Its law, see `judge.laws`; others have no price.
    value
        In the run that is traced.
    step
        Of a geometric draw, what one step costs; of Student's law, its degrees of freedom.
    used
        Whether something about it was seen.
    met
        What it was added to, per unit of the draw.
    of
        The random matrix whose entry it is, see `matrices`; its law, see `samplers`.
    shape
        Of a negative binomial draw, how many geometric ones it is the sum of; they may be parts of one.
    origin
        Where its number comes from; None if that is not one draw of a generator.
    """

    kind: str
    value: float
    step: float = 0.0
    used: bool = False
    met: Mapping[Atom, float] = field(default_factory=dict)
    of: Foreign = None
    shape: float = 1.0
    origin: Origin | None = None


@dataclass(frozen=True)
class Part:
    """A unit of the data that counts only if a coin says so.

    Attributes
    ----------
    unit
        The unit.
    source
        The draw of the coin.
    low
        Whether it counts where the draw is low.
    chance
        That it counts.
    """

    unit: int
    source: Foreign
    low: bool
    chance: float

    def __mod__(self, size: int) -> int:
        return self.unit % size


@dataclass(frozen=True, eq=False)
class Row:
    """What is seen of a sum: its value (``=``) or that it is at least 0 (``>``).

    Attributes
    ----------
    place
        Where.
    relation
        ``=`` or ``>``.
    raw, noise
        Coefficients of atoms and draws.
    """

    place: Place
    relation: str
    raw: Mapping[Atom, float]
    noise: Mapping[SymbolicDraw, float]


@dataclass(frozen=True, eq=False)
class Winner:
    """That one of several sums is the largest.

    Attributes
    ----------
    place
        Where.
    rows
        Its lead over each of the others, each at least 0.
    own
        Coefficients of draws of the winner.
    """

    place: Place
    rows: tuple[Row, ...]
    own: Mapping[SymbolicDraw, float]


@dataclass(frozen=True, eq=False)
class Charge:
    """An outcome that was drawn with chances that depend on the data.

    Attributes
    ----------
    place
        Where.
    costs
        By unit, the loss if the unit moves one way and if it moves the other.
    ratio
        The chance as a quotient of sums of exponentials, if it is one.
    rho
        By unit, zero-concentrated differential privacy of what is paid besides.
    bit, loss
        The exclusive indicator (`Atom.cell`) that sets the chance alone, if one does, and the logarithm of
        how much likelier the outcome is where it is 1.
    """

    place: Place
    costs: Mapping[int, tuple[float, float]]
    ratio: Ratio | None = None
    rho: Mapping[int, float] = field(default_factory=dict)
    bit: Atom | None = None
    loss: float = 0.0


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
        What is done with arrays, and with some of their entries: the modules `boxes` and `subsets`.
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
    normals: Callable[[Term, Term], Foreign] | None = None
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

    def holds(self, side: int, term: Term) -> None:
        """Note data with noise that a public number scales, on a side of an operation."""
        at = self.here(side)
        if at is not None:
            row = Row(self.place(), "=", term.raw, term.noise)
            self.held.append((row, frozenset((at,)), False))

    def holds_sum(self, made: Term, parts: Iterable[Foreign]) -> None:
        """Note a sum of noise and of data that were scaled without it."""
        terms = [part for part in parts if type(part) is Term]
        if any(not one.noise and not self.weighed.isdisjoint(one.raw) for one in terms):
            draws = [draw for one in terms if not one.raw for draw in one.noise]
            spots = frozenset[Spot]().union(*(self.scaling.get(draw, ()) for draw in draws))
            if spots:
                row = Row(self.place(), "=", made.raw, made.noise)
                self.held.append((row, spots, True))

    def met(self, summands: Iterable[Term]) -> None:
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

    def doubt(self, *terms: Foreign) -> None:
        """Note raw numbers of which it counts whether they are above 0."""
        self.doubts += [term.value() for term in terms if is_term(term) and not term.noise]

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


def _merged(
    left: Mapping[Foreign, float], right: Mapping[Foreign, float], by: float = 1.0
) -> dict[Foreign, float]:
    """The sum of multiples; what cancels stays, with weight 0."""
    found = dict(left)
    for key, weight in right.items():
        found[key] = found.get(key, 0.0) + by * weight
    return found


def _mixed(
    left: Mapping[SymbolicDraw, float], right: Mapping[SymbolicDraw, float], by: float = 1.0
) -> dict[SymbolicDraw, float]:
    """The sum of multiples of draws; noise that cancels is gone."""
    return {draw: weight for draw, weight in _merged(left, right, by).items() if weight != 0}


def moves_of(raw: Mapping[Atom, float]) -> dict[int, tuple[float, float]]:
    """How far a sum of atoms can move, by unit."""
    found: dict[int, tuple[float, float]] = {}
    for atom, weight in raw.items():
        for unit, (least, most) in atom.moves.items():
            one, other = weight * least, weight * most
            if one > other:
                one, other = other, one
            known = found.get(unit)
            found[unit] = (one, other) if known is None else (known[0] + one, known[1] + other)
    return found


_DRAWS = ("uniform", "coin")
_ROUNDS = 1e-9  # relative, more than floats round in any run


class ForNumPy:
    """What NumPy asks to compute with it."""

    __slots__ = ()
    world: Foreign

    def __array_ufunc__(
        self, ufunc: Foreign, method: str, *inputs: Foreign, out: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        return self.world.arrays.on_arrays(self.world, ufunc, method, inputs, out, kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        return self.world.arrays.calling(self.world, function, args, kwargs)


def _by_bits(ufunc: np.ufunc) -> Foreign:
    return lambda self, other: self.__array_ufunc__(ufunc, "__call__", self, other)


class Term(ForNumPy):
    """A number of the traced code; see the module.

    Attributes
    ----------
    world
        The run it belongs to.
    const, raw, noise
        Of the sum.
    ratio
        Sums of exponentials that it is the quotient of, or None.
    whole
        Whether it is a whole number.
    type
        ``truth`` of a truth value, ``either`` where data decide whether it is a float, ``narrow`` of a number
        of less than 64 bits; else "", see `whole`.
    loose
        1 if floats may have rounded it, 2 if numbers may have cancelled, too: plain code may find it on the
        other side of an edge. Else 0.
    """

    __slots__ = ("_shown", "const", "loose", "noise", "ratio", "raw", "type", "whole", "world")
    __array_priority__ = 2000.0

    def __init__(
        self,
        world: World,
        const: float,
        raw: Mapping[Atom, float],
        noise: Mapping[SymbolicDraw, float],
        whole: bool = False,
        ratio: Ratio | None = None,
    ) -> None:
        self.world, self.const, self.raw, self.noise = world, const, raw, noise
        self.whole, self.ratio, self.type, self.loose = whole, ratio, "", 0
        self._shown: float | None = None
        world.count()

    # ------------------------------------------------------------ what is known of it

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """That of a number: code that asks whether it has a float is told so."""
        return self.world.claims(np.int64 if self.whole else np.float64)

    def value(self) -> float:
        """In the run that is traced: not for the traced code."""
        if self._shown is not None:
            return self._shown
        found = self.const + math.fsum(w * a.value for a, w in self.raw.items())
        return found + math.fsum(w * d.value for d, w in self.noise.items())

    def range(self) -> tuple[float, float]:
        """Bounds of a term without noise, whatever the data are."""
        low = high = self.const
        for atom, weight in self.raw.items():
            if weight == 0:
                continue
            ends = weight * atom.low, weight * atom.high
            low, high = low + min(ends), high + max(ends)
        return low, high

    def edges(self) -> tuple[float, float]:
        """The bounds, as far beyond them as rounding may have taken it."""
        low, high = self.range()
        known = self.loose < 2 and self.const == 0
        slack = _ROUNDS * max(abs(low), abs(high), 1.0) if self.loose else 0.0
        # To add up numbers of one sign, and to scale them, does not change it.
        return low if known and low == 0 else low - slack, high if known and high == 0 else high + slack

    @property
    def is_still(self) -> bool:
        """Whether it follows from data that nobody replaces: public, whatever it is."""
        # No unit at all: what moves by 0 here, having weight 0, may have another weight on another path.
        return not self.noise and not any(atom.moves for atom in self.raw)

    def now(self) -> Foreign:
        """The number that was shown, if it was; else itself."""
        return self if self._shown is None else self._number(self._shown)

    def _number(self, value: float) -> Foreign:
        return np.int64(round(value)) if self.whole and math.isfinite(value) else np.float64(value)

    def settle(self) -> Foreign:
        """A public number, if noise hides the data; the bound ends if there is none."""
        return self.public("raw {data} are used where only public numbers are allowed")

    def public(self, what: str, why: Ends = Ends.DATA) -> Foreign:
        """A public number, if noise hides the data or nobody replaces them; else the bound ends."""
        if self._shown is None:
            if not self.noise and not self.is_still:
                raise self.world.stop(what, why=why)
            self._shown = show(self) if self.noise else self.value()
        return self._number(self._shown)

    # ------------------------------------------------------------ arithmetic

    def __add__(self, other: Foreign) -> Foreign:
        if self.type == "truth" and (type(other) is np.bool_ or getattr(other, "type", "") == "truth"):
            raise self.world.stop("truth values are added, which gives a truth value instead of a count")
        return _operate(add, self, other)

    def __radd__(self, other: Foreign) -> Foreign:
        return self + other if type(other) is np.bool_ else _operate(lambda a, b: add(b, a), self, other)

    def __sub__(self, other: Foreign) -> Foreign:
        return _operate(subtract, self, other)

    def __rsub__(self, other: Foreign) -> Foreign:
        return _operate(lambda a, b: subtract(b, a), self, other)

    def __mul__(self, other: Foreign) -> Foreign:
        # A draw knows what it means to be a sign of noise.
        return other.__mul__(self) if nature(other) in _DRAWS else _operate(multiply, self, other, 1)

    def __rmul__(self, other: Foreign) -> Foreign:
        return other.__mul__(self) if nature(other) in _DRAWS else _operate(_turned, self, other, 0)

    def __truediv__(self, other: Foreign) -> Foreign:
        return _operate(divide, self, other, 1)

    def __rtruediv__(self, other: Foreign) -> Foreign:
        return _operate(lambda a, b: divide(b, a), self, other, 0)

    def __pow__(self, other: Foreign, modulus: Foreign = None) -> Foreign:
        return _operate(power, self, other, 1)

    def __rpow__(self, other: Foreign, modulus: Foreign = None) -> Foreign:
        return _operate(lambda a, b: power(b, a), self, other, 0)

    def __floordiv__(self, other: Foreign) -> Foreign:
        return _operate(lambda a, b: rounded(divide(a, b), np.floor), self, other)

    def __divmod__(self, other: Foreign) -> Foreign:
        return self // other, self % other

    def __xor__(self, other: Foreign) -> Foreign:
        if nature(other) == "coin":
            return other.__xor__(self)
        return self.__array_ufunc__(np.bitwise_xor, "__call__", self, other)

    __rxor__ = __xor__
    __and__ = __rand__ = _by_bits(np.bitwise_and)
    __or__ = __ror__ = _by_bits(np.bitwise_or)

    def __mod__(self, other: Foreign) -> Foreign:
        return _operate(remainder, self, other)

    def __neg__(self) -> Foreign:
        return opposite(self)

    def __pos__(self) -> Foreign:
        return self

    def __abs__(self) -> Foreign:
        return absolute(self)

    def __round__(self, digits: int | None = None) -> Foreign:
        return (
            rounded(self, np.rint)
            if not digits
            else self.public("raw {data} are rounded to a number of digits")
        )

    def __floor__(self) -> Foreign:
        return rounded(self, np.floor)

    def __ceil__(self) -> Foreign:
        return rounded(self, np.ceil)

    def __trunc__(self) -> Foreign:
        return rounded(self, np.trunc)

    def __lt__(self, other: Foreign) -> Foreign:
        return _compared(lambda a, b: above(b, a, strict=True), self, other)

    def __le__(self, other: Foreign) -> Foreign:
        return _compared(lambda a, b: above(b, a, strict=False), self, other)

    def __gt__(self, other: Foreign) -> Foreign:
        return _compared(lambda a, b: above(a, b, strict=True), self, other)

    def __ge__(self, other: Foreign) -> Foreign:
        return _compared(lambda a, b: above(a, b, strict=False), self, other)

    def __eq__(self, other: Foreign) -> Foreign:
        if nature(other) == "coin":
            return other.__eq__(self)
        return _operate(equal, self, other)

    def __ne__(self, other: Foreign) -> Foreign:
        if nature(other) == "coin":
            return other.__ne__(self)
        return _operate(lambda a, b: negated(equal(a, b)), self, other)

    # ------------------------------------------------------------ questions that need public numbers

    def __bool__(self) -> bool:
        return bool(self.public("raw {data} decide a branch", Ends.BRANCH))

    def __float__(self) -> float:
        return float(self.public("raw {data} become a plain number, which we cannot trace further"))

    def __int__(self) -> int:
        return int(self.public("raw {data} become a plain number, which we cannot trace further"))

    def __index__(self) -> int:
        found: int = self.public("raw {data} are used as an index").__index__()
        return found

    def __hash__(self) -> int:
        return hash(self.public("raw {data} are used as a key"))

    def __format__(self, spec: str) -> str:
        return format(self.public("raw {data} are converted to text"), spec)

    def __repr__(self) -> str:
        return repr(self.public("raw {data} are converted to text"))

    __str__ = __repr__

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, memo: Foreign) -> Term:
        return self

    def __reduce_ex__(self, protocol: Foreign) -> Foreign:
        raise self.world.stop("numbers are written out")

    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    nbytes = 8

    @property
    def dtype(self) -> Foreign:
        """As a number's."""
        return np.dtype(np.int64 if self.whole else np.float64)

    @property
    def real(self) -> Foreign:
        """As a number's."""
        return self

    def item(self) -> Foreign:
        """As a number's."""
        return self.now()

    tolist = copy = sum = mean = max = min = item

    def astype(self, dtype: Foreign, **kwargs: Foreign) -> Foreign:
        """As a number's."""
        made = self.world.arrays.Box.of(self.world, self.world.arrays.objects([self], ())).astype(dtype)
        return made.data[()]

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_") or not hasattr(np.float64, name):
            raise AttributeError(name)
        return getattr(self.public(f"we cannot bound how much .{name} of raw {{data}} changes"), name)


class Lazy(ForNumPy):
    """A random number that is public once it is used for anything but what it was drawn for.

    Attributes
    ----------
    nature, kind
        What it is, and the class that it says it has.
    """

    nature: ClassVar[str] = ""
    kind: Foreign = np.int64
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    dtype = property(lambda self: np.dtype(self.kind))

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """That of a number."""
        return self.world.claims(self.kind)

    def plain(self) -> Foreign:
        """The number itself: it is public from here on."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.plain(), name)


answers(Lazy, "plain")


def nature(value: Foreign) -> str:
    """What kind of lazy number it is: uniform, coin, pick or veiled; empty if it is none."""
    kind = type(value)
    return kind.nature if issubclass(kind, Lazy) else ""


def is_term(value: Foreign) -> bool:
    """Whether `value` is a number that was not shown."""
    return type(value) is Term and value._shown is None


def number(value: Foreign) -> Foreign:
    """A term, if it was not shown, else a plain number."""
    return value.now() if type(value) is Term else value


_PLAIN = (int, float, np.integer, np.floating, np.bool_)
_KNOWN = {int, float, bool, *np.sctypeDict.values()}  # Python asks a subclass first what an operation gives


def _operate(
    function: Callable[[Foreign, Foreign], Foreign], left: Foreign, right: Foreign, side: int | None = None
) -> Foreign:
    """What an operation makes of a term and a number; if it sets how much raw data count, on which side."""
    if side is not None and type(right) is not Term and isinstance(right, _PLAIN):
        weighed(left, side)
    lazy = nature(right)  # first, for they say that they are numbers
    if lazy:
        return function(left, right.term()) if lazy in ("uniform", "coin") else NotImplemented
    if isinstance(right, _PLAIN) and type(right) not in _KNOWN and not is_own_class(type(right)):
        raise left.world.stop("data or noise are combined with a number of one of the code's own classes")
    return function(left, right) if type(right) is Term or isinstance(right, _PLAIN) else NotImplemented


def weighed(term: Term, side: int) -> None:
    """Note that a public number, on this side of an operation, says how much raw data count."""
    told = term.world.oracle is not None  # raw numbers
    low, high = (0.0, 0.0) if told or term.noise else term.range()
    if low < high:
        term.world.scaled(side)


def _compared(function: Callable[[Foreign, Foreign], Foreign], left: Foreign, right: Foreign) -> Foreign:
    """A comparison; a uniform draw knows what it means to be compared."""
    return NotImplemented if nature(right) == "uniform" else _operate(function, left, right)


def _term(
    world: World,
    const: float,
    raw: Foreign,
    noise: Foreign,
    whole: bool,
    ratio: Foreign = None,
    *,
    pools: bool = True,
) -> Foreign:
    """A term, or a plain number where nothing is unknown."""
    if world.pooling is not None and pools:
        noise = world.pooling(noise)
    if pools and not whole:  # a lead is taken by nobody but us, and whole numbers are not rounded
        world.reaches(abs(const))
    if not raw and not noise:
        return np.int64(const) if whole else np.float64(const)
    if raw and len(noise) == 1:
        # What a draw hides first is what it moves with in the neighbouring world.
        draw, weight = next(iter(noise.items()))
        if not draw.used:
            draw.met = {atom: own / weight for atom, own in raw.items()}
    made = Term(world, const, raw, noise, whole, ratio)
    made.loose = 0 if whole else 2
    return made


def _loosened(made: Foreign, loose: int) -> Foreign:
    """What an operation made, which is as loose as that (`Term.loose`)."""
    if type(made) is Term:
        made.loose = 0 if made.whole else loose
    return made


def _looseness(left: Foreign, right: Foreign, sign: float = 1.0) -> int:
    """How loose a sum of two numbers is, or a difference (`Term.loose`)."""
    loose = max(_loose(left), _loose(right))
    if any(type(value) is not Term and value == 0 for value in (left, right)):
        return loose
    return max(loose, 1 if _is_above(left, 1.0) and _is_above(right, sign) else 2)


def _loose(value: Foreign) -> int:
    return value.loose if type(value) is Term else 0


def _is_above(value: Foreign, sign: float) -> bool:
    """Whether nothing in a number, or in what is the opposite, is below 0."""
    const, raw, _ = _parts(value)
    ends = (sign * weight * end for atom, weight in raw.items() if weight for end in (atom.low, atom.high))
    return sign * const >= 0 and all(end >= 0 for end in ends)


def _whole(value: Foreign) -> bool:
    return value.whole if type(value) is Term else isinstance(value, int | np.integer | np.bool_)


def _world(*values: Foreign) -> World:
    worlds: list[World] = [value.world for value in values if type(value) is Term]
    if any(world is not worlds[0] for world in worlds):
        raise worlds[0].stop("a run uses numbers of another run: the code keeps state between runs")
    return worlds[0]


def _parts(value: Foreign) -> tuple[float, Mapping[Atom, float], Mapping[SymbolicDraw, float]]:
    return (value.const, value.raw, value.noise) if type(value) is Term else (float(value), {}, {})


def either(made: Foreign, values: Iterable[Foreign]) -> Foreign:
    """One of several numbers as Python has it: a float, or a whole number if that one is."""
    values = list(values)
    if is_term(made) and not made.whole and any(map(_may_be_whole, values)):
        made = Term(made.world, made.const, made.raw, made.noise, False, made.ratio)
        made.type, made.world.mixes_types, made.loose = "either", True, max(map(_loose, values))
    return made


def _may_be_whole(value: Foreign) -> bool:
    return _whole(value) or (type(value) is Term and value.type == "either")


def _typed(made: Foreign, left: Foreign, right: Foreign) -> Foreign:
    """What a sum, difference or product makes of two numbers has the type that follows from theirs."""
    if type(made) is not Term:
        return made
    if any(type(v) is Term and v.type == "narrow" for v in (left, right)):
        if made.noise:
            raise made.world.stop(
                "noise is added to numbers with fewer than 64 bits, which have too few digits"
            )
        wide = any(type(v) is np.float64 for v in (left, right))
        made.type = "" if wide else "narrow"
        return made
    if made.whole:
        return made
    if _may_be_whole(left) and _may_be_whole(right):
        made.type = "either"
    return made


def add(left: Foreign, right: Foreign) -> Foreign:
    """The sum, as the traced code makes it."""
    left, right = _met(left, right)
    return _holding(plus(left, right), left, right)


def _holding(made: Foreign, *parts: Foreign) -> Foreign:
    """What the traced code has made of parts by adding them up."""
    if type(made) is Term:
        made.world.holds_sum(made, parts)
    return made


def _met(*values: Foreign) -> tuple[Foreign, ...]:
    """Numbers that the traced code adds up."""
    numbers = tuple(map(number, values))
    found = [value for value in numbers if type(value) is Term]
    if found:
        _world(*numbers).met(found)
    return numbers


def plus(left: Foreign, right: Foreign) -> Foreign:
    """The sum, as an argument about chances makes it."""
    left, right = number(left), number(right)
    if type(left) is not Term and type(right) is not Term:
        return left + right
    world = _world(left, right)
    (a, raw, noise), (b, more, others) = _parts(left), _parts(right)
    made = _term(
        world,
        a + b,
        _merged(raw, more) if more else raw,
        _mixed(noise, others) if others else noise,
        _whole(left) and _whole(right),
        Ratio.sum(left, right),
    )
    return _typed(_loosened(made, _looseness(left, right)), left, right)


def total(values: Iterable[Foreign]) -> Foreign:
    """The sum of many."""
    terms, const, whole = [], 0.0, True
    for value in values:
        value = number(value)
        whole = whole and _whole(value)
        if type(value) is Term:
            terms.append(value)
            const += value.const
        else:
            const += float(value)
    if not terms:
        return np.int64(const) if whole else np.float64(const)
    raw: dict[Atom, float] = {}
    noise: dict[SymbolicDraw, float] = {}
    terms[0].world.met(terms)
    for term in terms:
        for atom, weight in term.raw.items():
            raw[atom] = raw.get(atom, 0.0) + weight
        for draw, weight in term.noise.items():
            noise[draw] = noise.get(draw, 0.0) + weight
    plain = const - math.fsum(term.const for term in terms)
    above = plain >= 0 and all(_is_above(term, 1.0) for term in terms)
    loose = max(*map(_loose, terms), 1 if above else 2)
    made = _loosened(_term(_world(*terms), const, raw, noise, whole, Ratio.sum(*terms, plain)), loose)
    return _holding(made, *terms)


def subtract(left: Foreign, right: Foreign, *, pools: bool = True) -> Foreign:
    """The difference, as the traced code makes it."""
    left, right = _met(left, right)
    return _holding(minus(left, right, pools=pools), left, right)


def minus(left: Foreign, right: Foreign, *, pools: bool = True) -> Foreign:
    """As `plus`; of two draws that nothing else uses their noise may become one, if it `pools`."""
    left, right = number(left), number(right)
    if type(left) is not Term and type(right) is not Term:
        return left - right
    world = _world(left, right)
    (a, raw, noise), (b, more, others) = _parts(left), _parts(right)
    made = _term(
        world,
        a - b,
        _merged(raw, more, -1.0) if more else raw,
        _mixed(noise, others, -1.0) if others else noise,
        _whole(left) and _whole(right),
        Ratio.difference(left, right),
        pools=pools,
    )
    return _typed(_loosened(made, _looseness(left, right, -1.0)), left, right)


def _quiet(value: Foreign) -> Foreign:
    """A number without noise: what has noise is shown."""
    value = number(value)
    return value.settle() if type(value) is Term and value.noise else value


def _turned(right: Foreign, left: Foreign) -> Foreign:
    """The product, of which the other factor comes first."""
    return multiply(left, right)


def multiply(left: Foreign, right: Foreign) -> Foreign:
    """The product."""
    left, right = number(left), number(right)
    if type(left) is Term and type(right) is Term:
        made = left.world.normals(left, right) if left.world.normals is not None else None
        if made is not None:
            return made
        left, right = _quiet(left), _quiet(right)
        if type(left) is Term and type(right) is Term:
            return _product(left, right)
    if type(left) is not Term and type(right) is not Term:
        return left * right
    side = int(type(left) is Term)
    term, by = (left, float(right)) if side else (right, float(left))
    if term.noise and term.raw:  # data that noise hides are scaled with it
        term.world.holds(side, term)
    else:
        term.world.scaled(side, raw=bool(term.raw), noise=term.noise)
        term.world.weighed.update(term.raw)
    if not math.isfinite(by):
        raise term.world.stop_raw("raw {data} are multiplied by a number that is not finite")
    return _typed(_times(term, by, _whole(left) and _whole(right)), left, right)


def opposite(value: Foreign) -> Foreign:
    """The same below 0, which no number of the traced code scales."""
    value = number(value)
    return _typed(_times(value, -1.0, value.whole), value, -1) if type(value) is Term else -value


def nothing_of(term: Term) -> Foreign:
    """0, made of a term."""
    return _times(term, 0.0, term.whole)


def _times(term: Term, by: float, whole: bool) -> Foreign:
    """A multiple."""
    if not whole:  # whole numbers are not rounded
        term.world.reaches(abs(by) * _size(term))
    made = _term(
        term.world,
        term.const * by,
        {atom: weight * by for atom, weight in term.raw.items()},
        {draw: weight * by for draw, weight in term.noise.items() if weight * by != 0},
        whole,
        term.ratio.times(by) if term.ratio is not None else None,
    )
    exact = abs(math.frexp(by)[0]) in (0.0, 0.5)  # powers of 2 round nothing
    return _loosened(made, max(term.loose, int(not exact)))


_FAR = 40.0  # noise of scale 1 lies within, but for a chance of e^-40


def _size(term: Term) -> float:
    """How large the summands of a term can be; of quotients of exponentials, their weight."""
    known = term.ratio is None
    sizes = (abs(w) * (max(abs(a.low), abs(a.high)) if known else 1.0) for a, w in term.raw.items())
    finite = (size for size in sizes if math.isfinite(size))  # what has no bounds is as large as data are
    return max(max(finite, default=0.0), _FAR * max(map(abs, term.noise.values()), default=0.0))


def opaque(
    term: Term,
    value: float,
    low: float,
    high: float,
    moving: Callable[[], Moves],
    whole: bool = False,
    ratio: Ratio | None = None,
) -> Foreign:
    """A number that follows from the data in a way that only its bounds tell.

    Whatever moves, it stays between its bounds.
    """
    width = high - low

    def bounded() -> Moves:
        return {
            unit: (max(min(least, 0.0), -width), min(max(most, 0.0), width))
            for unit, (least, most) in moving().items()
        }

    if math.isnan(low) or math.isnan(high):
        raise term.world.stop_raw("a result from raw {data} may be undefined")
    over = math.isinf(low) or math.isinf(high)  # quotients of exponentials do not cancel, but overflow
    if (ratio is None or over) and not whole and all(map(math.isfinite, term.range())):
        term.world.reaches(max(abs(low), abs(high)))
    made = Term(term.world, 0.0, {Atom(value, low, high, bounded, whole): 1.0}, {}, whole, ratio)
    made.loose = 0 if whole else max(1, term.loose)
    return term.world.fixed(made) if whole and term.world.oracle is not None else made


def _hull(*products: float) -> tuple[float, float]:
    kept = [0.0 if math.isnan(p) else p for p in products]
    return min(kept), max(kept)


def _products(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """All products of two intervals."""
    return _hull(a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])


def _of_users(term: Term) -> bool:
    """Whether it is a sum of entries of contexts and rewards."""
    return all(atom.of is not None for atom, weight in term.raw.items() if weight)


def _expanded(left: Term, right: Term) -> Foreign:
    """A product of such sums as a sum of products, each of which is the same number wherever it stands."""
    raw: dict[Atom, float] = {}
    for term, by in ((left, right.const), (right, left.const)):
        for atom, weight in term.raw.items() if by else ():
            raw[atom] = raw.get(atom, 0.0) + by * weight
    for one, weight in left.raw.items():
        for other, by in right.raw.items():
            if weight and by:
                atom = _pair(left.world, one, other)
                raw[atom] = raw.get(atom, 0.0) + weight * by
    return _term(left.world, left.const * right.const, raw, {}, False)


def _pair(world: World, one: Atom, other: Atom) -> Atom:
    key = frozenset((one, other))
    if key not in world.kept:
        mine = Term(world, 0.0, {one: 1.0}, {})
        made = _whole_product(mine, mine if other is one else Term(world, 0.0, {other: 1.0}, {}))
        world.kept[key] = next(iter(made.raw))
        world.kept[key].factors = (one, other)
    found: Atom = world.kept[key]
    return found


def _product(left: Term, right: Term) -> Foreign:
    if _of_users(left) and _of_users(right):
        return _expanded(left, right)
    return _whole_product(left, right)


def _whole_product(left: Term, right: Term) -> Foreign:
    mine, theirs = left.range(), right.range()
    low, high = _products(mine, theirs)
    if left is right:
        low = max(low, 0.0)

    def moving() -> Moves:
        # x'y' - xy = x'(y' - y) + y(x' - x)
        a, b = moves_of(left.raw), moves_of(right.raw)
        found = {}
        for unit in a.keys() | b.keys():
            one, other = _products(mine, b.get(unit, (0.0, 0.0))), _products(theirs, a.get(unit, (0.0, 0.0)))
            found[unit] = (one[0] + other[0], one[1] + other[1])
        return found

    ratio = left.ratio.by(right.ratio) if left.ratio is not None and right.ratio is not None else None
    looser = max(left, right, key=_loose)
    return opaque(looser, left.value() * right.value(), low, high, moving, left.whole and right.whole, ratio)


def _reciprocal(term: Term) -> Foreign:
    low, high = term.range()
    if low <= 0 <= high:
        raise term.world.stop_raw("a number is divided by raw {data} that may be 0")

    def moving() -> Moves:
        # 1/y' - 1/y = -(y' - y)/(y y')
        least, most = 1 / max(low * low, high * high), 1 / min(low * low, high * high)
        return {u: _products((-most, -least), move) for u, move in moves_of(term.raw).items()}

    ratio = term.ratio.turned() if term.ratio is not None else None
    return opaque(term, 1 / term.value(), 1 / high, 1 / low, moving, ratio=ratio)


def divide(left: Foreign, right: Foreign) -> Foreign:
    """The quotient."""
    left, right = number(left), number(right)
    if type(right) is Term:
        right = _quiet(right)
        right = right.const if type(right) is Term and not any(right.raw.values()) else right
    if type(right) is not Term:
        if type(left) is not Term:
            return left / right
        if float(right) == 0 or not math.isfinite(float(right)):
            if left.noise:
                return left.settle() / right
            raise left.world.stop_raw("raw {data} are divided by 0 or by a number that is not finite")
        found = multiply(left, 1 / float(right))
        if type(found) is Term:
            found.whole, found.type = False, ""
        return found
    if type(left) is Term:
        left = _quiet(left)
    if type(left) is Term:
        known = left.world.arrays.users.shortened(left, right)
        known = Ratio.quotient(left, right) if known is None else known
        if known is not None:
            return known
    return multiply(left, _reciprocal(right))


def remainder(left: Foreign, right: Foreign) -> Foreign:
    """The remainder by a public number; what has noise is shown."""
    left, right = _quiet(left), number(right)
    right = right.settle() if type(right) is Term else right
    if type(left) is not Term:
        return left % right
    if not left.whole or right != round(right) or not right > 0:
        raise left.world.stop_raw("we cannot follow a remainder (%) of raw {data}")
    low, high = (math.floor(end / right) for end in left.range())
    if low != high:
        raise left.world.stop_raw("we cannot follow a remainder (%) of raw {data}")
    return subtract(left, low * int(right))


def power(left: Foreign, right: Foreign) -> Foreign:
    """The power."""
    if is_term(left) and type(right) is not Term and float(right) == 2:
        return multiply(left, left)
    left, right = _quiet(left), _quiet(right)
    if type(left) is not Term and type(right) is not Term:
        return left**right
    if type(left) is Term and type(right) is not Term:
        if float(right) == 1:
            return left
        if float(right) == 0.5:
            return root(left)
        if float(right) == -1:
            return divide(1.0, left)
    if type(left) is not Term and float(left) > 0:
        return exponential(multiply(math.log(float(left)), right))
    raise _world(left, right).stop_raw("we cannot bound how much a power of raw {data} changes")


def _through(
    term: Foreign, function: Foreign, moving: Callable[[Term], Moves], domain: float, what: str
) -> Foreign:
    """An increasing function of a term that is above `domain`."""
    term = _quiet(term)
    if type(term) is not Term:
        return function(term)
    low, high = term.range()
    if low < domain:
        low, high = term.world.arrays.users.form_range(term) or (low, high)
    if low < domain:
        raise term.world.stop_raw(
            f"we cannot bound how much the {what} of raw {{data}} changes where they may be too small"
        )
    with np.errstate(all="ignore"):
        return opaque(
            term,
            float(function(term.value())),
            float(function(low)),
            float(function(high)),
            lambda: moving(term),
        )


def _steepest(term: Term, slope: Callable[[float], float]) -> Moves:
    """Moves of an increasing function that is steepest at its lower end: `slope(size of the move)`."""
    return {u: (-slope(-a), slope(b)) for u, (a, b) in moves_of(term.raw).items()}


def unseen(world: World, *draws: SymbolicDraw) -> None:
    """Nothing but the noise that they were made into, which may hide data, may be seen."""
    gone = {*draws}
    world.scales |= {at for draw in draws for at in world.scaling.get(draw, ())}
    if any(not gone.isdisjoint(row.noise) for row in rows_of(world)):
        raise world.stop("a draw that is part of other noise is used on its own", Place("", 0))


def rows_of(world: World) -> list[Row]:
    """All that is seen."""
    return [row for item in world.seen for row in (item.rows if isinstance(item, Winner) else (item,))]


def _alone(term: Foreign) -> tuple[SymbolicDraw, float] | None:
    """The exponential draw that a number is, with its scale, if nothing else uses it; it is used up then."""
    if not is_term(term) or term.raw or term.const or len(term.noise) != 1:
        return None
    ((draw, weight),) = term.noise.items()
    if draw.kind != "exponential" or draw.used or draw.met or weight <= 0:
        return None
    draw.used = True
    term.world.finishing.append(functools.partial(unseen, term.world, draw))
    return draw, weight


def root(term: Foreign) -> Foreign:
    """The square root; that of exponential noise, times a normal draw, is Laplace noise."""
    if (alone := _alone(term)) is not None:
        draw, weight = alone
        return Term(term.world, 0.0, {}, {SymbolicDraw("root", math.sqrt(draw.value)): math.sqrt(weight)})

    def moving(term: Term) -> Moves:
        low = max(term.range()[0], 0.0)
        return _steepest(term, lambda move: math.sqrt(low + move) - math.sqrt(low))

    return _through(term, np.sqrt, moving, 0.0, "square root")


def logarithm(term: Foreign) -> Foreign:
    """The logarithm; that of exponential noise is Gumbel noise with the other sign."""
    if (alone := _alone(term)) is not None:
        draw, weight = alone
        return Term(term.world, math.log(weight), {}, {SymbolicDraw("gumbel", -math.log(draw.value)): -1.0})
    term = _quiet(term)
    if type(term) is Term and term.ratio is not None and term.ratio.is_exponential:
        return term.ratio.above[0]

    def moving(term: Term) -> Moves:
        low = term.range()[0]
        found = _steepest(term, lambda move: math.log1p(move / low))
        if term.ratio is None:
            return found
        known = term.ratio.moves()
        return {u: (max(a, known[u][0]), min(b, known[u][1])) for u, (a, b) in found.items() if u in known}

    if type(term) is Term and term.range()[0] <= 0:
        raise term.world.stop_raw(
            "we cannot bound how much the logarithm of raw {data} changes, because they may be 0"
        )
    found = _through(term, np.log, moving, 0.0, "logarithm")
    if type(term) is Term and term.ratio is not None and term.ratio.below is None:
        next(iter(found.raw)).log_of = term.ratio.above
    return found


def _of_exponential(term: Term) -> Ratio:
    """The exponential of a term as a quotient of sums of exponentials."""
    for atom, weight in term.raw.items():
        if atom.log_of and abs(weight) == 1:
            rest = plus(term, Term(term.world, 0.0, {atom: -weight}, {}))
            rest = Term(term.world, rest.const, {a: w for a, w in rest.raw.items() if a is not atom}, {})
            if weight < 0:
                return Ratio((rest,), atom.log_of)
            return Ratio(tuple(plus(rest, t) for t in atom.log_of), None)
    return Ratio((term,), None)


def alike(a: Foreign, b: Foreign) -> bool:
    """Whether two terms are the same whatever the data are."""
    gap = minus(a, b)
    if not is_term(gap):
        return abs(float(gap)) <= _TINY
    return abs(gap.const) <= _TINY and all(abs(weight) <= _TINY for weight in gap.raw.values())


def _is_shifted(term: Foreign) -> bool:
    """Whether it is what one of several numbers is above the largest of them: never above 0."""
    for atom, weight in term.raw.items() if type(term) is Term else ():
        parts = atom.largest_of or (atom.log_of if weight == -1 else ())
        if weight < 0 and parts:
            rest = minus(term, Term(term.world, 0.0, {atom: weight}, {}))
            return any(alike(rest, multiply(part, -weight)) for part in parts)
    return False


def exponential(term: Foreign) -> Foreign:
    """The exponential."""
    term = _quiet(term)
    if type(term) is not Term:
        return np.exp(term)
    if not any((*term.raw.values(), *term.noise.values())):
        return np.exp(term.const)  # of the difference of a number from itself
    low, high = term.range()
    if high > _LARGEST and not _is_shifted(term):
        raise term.world.stop_raw("the exponential of raw {data} may be too large for a float")
    if high > 700:
        high = math.inf

    def moving(term: Term) -> Moves:
        top = math.exp(high) if high < 700 else math.inf
        # At most from the largest value down, or up to it.
        found = {}
        for u, (a, b) in moves_of(term.raw).items():
            down = top * math.expm1(a) if a < 0 else 0.0
            up = top * -math.expm1(-b) if b > 0 else 0.0
            found[u] = (down, up)
        return found

    with np.errstate(all="ignore"):
        return opaque(
            term,
            math.exp(min(term.value(), 709.0)),
            math.exp(max(low, -745.0)) if math.isfinite(low) else 0.0,
            math.exp(high) if high < 700 else math.inf,
            lambda: moving(term),
            ratio=_of_exponential(term),
        )


def limited(term: Foreign, low: Foreign, high: Foreign) -> Foreign:
    """The number kept between two public ones."""
    term, low, high = number(term), _quiet(low), _quiet(high)
    if type(term) is not Term and type(low) is not Term and type(high) is not Term:
        return np.minimum(np.maximum(term, low), high)
    if type(low) is Term or type(high) is Term:
        return least([most([term, low]), high])
    if term.noise:
        return np.minimum(np.maximum(term.settle(), low), high)
    low, high = float(low), float(high)
    bottom, top = term.range()
    if low <= bottom and top <= high:
        return term
    term.world.doubt(*(minus(term, end, pools=False) for end in (low, high) if math.isfinite(end)))
    value = min(max(term.value(), low), high)
    ends = min(max(bottom, low), high), min(max(top, low), high)
    made = opaque(term, value, *ends, lambda: moves_of(term.raw), term.whole and _is_whole(low, high))
    if type(made) is Term:
        made.loose = min(made.loose, 1)  # rounding takes nothing beyond these ends
    return made


def _is_whole(*values: float) -> bool:
    return all(not math.isfinite(value) or value == round(value) for value in values)


def absolute(term: Foreign) -> Foreign:
    """The absolute value."""
    term = _quiet(term)
    if type(term) is not Term:
        return abs(term)
    low, high = term.range()
    if low >= 0:
        return term
    if high <= 0:
        return opposite(term)
    term.world.doubt(term)

    def moving() -> Moves:
        return {u: (-max(-a, b), max(-a, b)) for u, (a, b) in moves_of(term.raw).items()}

    return _typed(opaque(term, abs(term.value()), 0.0, max(-low, high), moving, term.whole), term, 0)


def rounded(term: Foreign, function: Foreign) -> Foreign:
    """Rounded down, up, or to the nearest whole number."""
    term = number(term)
    if type(term) is Term and term.whole:
        return term
    term = _quiet(term)
    if type(term) is not Term:
        return function(term)
    low, high = term.edges()
    slack = _ROUNDS * bool(term.loose)

    def furthest(move: float) -> float:
        # To even: .5 goes to 0 and 1.5 to 2.
        return float(math.floor(move) + 1) if function is np.rint and move > 0 else float(math.ceil(move))

    def moving() -> Moves:
        return {u: (-furthest(slack - a), furthest(b + slack)) for u, (a, b) in moves_of(term.raw).items()}

    return opaque(
        term, float(function(term.value())), float(function(low)), float(function(high)), moving, True
    )


def most(values: Iterable[Foreign]) -> Foreign:
    """The largest of several numbers; what has noise is shown."""
    return _best(list(values), 1)


def least(values: Iterable[Foreign]) -> Foreign:
    """The smallest of several numbers; what has noise is shown."""
    return _best(list(values), -1)


def _best(values: list[Foreign], sign: int) -> Foreign:
    """The largest or smallest: of sums with continuous noise no more is told than which one it is."""
    values = [number(value) for value in values]
    if len(values) < 2 or not all(map(_continuous, values)):
        return _extreme([_quiet(value) for value in values], sign)
    world = _world(*values)
    found = values[largest(world, values if sign > 0 else [opposite(value) for value in values])]
    world.kept["best", id(found)] = found, values
    return found


def _continuous(value: Foreign) -> bool:
    """Whether it has noise that makes it no other sum's equal."""
    return (
        type(value) is Term
        and bool(value.noise)
        and all(d.kind not in ("geometric", "law") for d in value.noise)
    )


def _extreme(values: list[Foreign], sign: int) -> Foreign:
    terms = [value for value in values if type(value) is Term]
    pick: Foreign = max if sign > 0 else min
    if not terms:
        return pick(values)
    if len(values) == 1:
        return values[0]
    ends = [v.range() if type(v) is Term else (float(v), float(v)) for v in values]
    best = pick(end[0] if sign > 0 else end[1] for end in ends)
    for value, end in zip(values, ends, strict=True):
        rest = [other for other, it in zip(values, ends, strict=True) if other is not value]
        others = [it for other, it in zip(values, ends, strict=True) if other is not value]
        above = all((end[0] >= it[1]) if sign > 0 else (end[1] <= it[0]) for it in others)
        if rest and above and (end[0] if sign > 0 else end[1]) == best:
            return value if type(value) is Term else add(value, nothing_of(terms[0]))  # whatever they are
    world = terms[0].world
    for side, value in enumerate(values):
        if type(value) is not Term:
            world.scaled(side)
    key = ("extreme", sign, *map(_key, values))
    if key not in world.kept:
        made = order_statistic(terms, values, lambda found: float(pick(found)), pick)
        if type(made) is not Term:  # an oracle said which number it is
            return made
        world.kept[key] = made, values  # which keeps their atoms, after which the key is named
    return world.kept[key][0]


def order_statistic(
    terms: list[Term], values: list[Foreign], of: Callable[[list[float]], float], pick: Foreign = None
) -> Foreign:
    """A number that lies among `values` and moves no further than the one of them that moves most."""
    plain = [v.value() if type(v) is Term else float(v) for v in values]
    ends = [v.range() if type(v) is Term else (float(v), float(v)) for v in values]
    low = pick(e[0] for e in ends) if pick else min(e[0] for e in ends)
    high = pick(e[1] for e in ends) if pick else max(e[1] for e in ends)

    def moving() -> Moves:
        found: dict[int, tuple[float, float]] = {}
        for term in terms:
            for unit, (a, b) in moves_of(term.raw).items():
                known = found.get(unit, (0.0, 0.0))
                found[unit] = (min(known[0], a), max(known[1], b))
        return found

    terms[0].world.doubts += [b - a for a, b in itertools.pairwise(plain)]
    made = opaque(max(terms, key=_loose), of(plain), low, high, moving, all(_whole(v) for v in values))
    if pick is max and type(made) is Term:
        next(iter(made.raw)).largest_of = tuple(values)
    return made


def cast(value: Foreign, kind: str) -> Foreign:
    """The number as one of a kind of NumPy's."""
    value = number(value)
    if type(value) is not Term:
        return {"f": np.float64, "b": np.bool_}.get(kind, np.int64)(value)
    if kind == "f":
        if not value.whole:
            return value
        made = Term(value.world, value.const, value.raw, value.noise, False, value.ratio)
        made.loose = value.loose
        return made
    if kind in "iu":
        if value.type == "truth":
            return Term(value.world, value.const, value.raw, value.noise, True, value.ratio)
        return value if value.whole else rounded(value, np.trunc)
    if kind == "b":
        return negated(equal(value, 0))
    raise value.world.stop("data or noise are converted to a type that we cannot follow")


# ---------------------------------------------------------------- what is seen


def show(term: Term) -> float:
    """Tell the value of a term that has noise."""
    world = term.world
    if not all(draw.used for draw in term.noise):
        world.chooser.disturb(term)
    for draw in term.noise:
        draw.used = True
    world.sees(Row(world.place(), "=", term.raw, term.noise))
    return float(world.chooser.shown(term))


def indicator(term: Term, value: bool) -> Foreign:
    """Whether something holds of raw data."""

    def moving() -> Moves:
        return dict.fromkeys(moves_of(term.raw), (-1.0, 1.0))

    term.world.doubt(term)
    return _truth(opaque(term, float(value), 0.0, 1.0, moving, True))


def _truth(made: Foreign) -> Foreign:
    if type(made) is Term:
        made.type = "truth"
    return made


def exclusive(value: Foreign, cell: Foreign) -> Foreign:
    """A truth value that holds for at most one of those of the same cell.

    It is a number of its own: what is known of it may be told of nothing else.
    """
    if type(value) is not Term or value.noise or value.const or len(value.raw) != 1:
        return value
    ((atom, weight),) = value.raw.items()
    if weight != 1 or not atom.whole or (atom.low, atom.high) != (0.0, 1.0):
        return value
    made = Atom(atom.value, 0.0, 1.0, lambda: atom.moves, whole=True, cell=cell)
    return _truth(Term(value.world, 0.0, {made: 1.0}, {}, True))


def is_place(value: Foreign, size: int) -> bool:
    """Whether a value is a raw number that is certain to be a place in a list of this size."""
    if type(value) is not Term or value.noise or not value.whole:
        return False
    low, high = value.range()
    return low >= 0 and high <= size - 1


def looked_up(key: Term, values: list[Foreign]) -> Foreign:
    """The number at a raw place of a list of plain ones; where one alone differs, it tells that place."""
    low, high = min(values), max(values)
    if low == high:
        return values[0]
    for rest, other in ((low, high), (high, low)):
        if values.count(rest) == len(values) - 1:
            return add(rest, multiply(equal(key, values.index(other)), other - rest))

    def moving() -> Moves:
        return dict.fromkeys(moves_of(key.raw), (low - high, high - low))

    return opaque(key, values[round(key.value())], low, high, moving, all(map(_whole, values)))


def bit_of(value: Term) -> Atom | None:
    """The exclusive indicator that a raw number is, if it is one."""
    if value.const or len(value.raw) != 1:
        return None
    ((atom, weight),) = value.raw.items()
    return atom if weight == 1 and atom.cell is not None else None


def _compared_loosely(left: Foreign, right: Foreign) -> int:
    """How loose the difference of two numbers is that are compared, which itself rounds nothing."""
    alone = any(type(value) is not Term and value == 0 for value in (left, right))
    loose = max(_loose(left), _loose(right))
    return loose if alone or not loose else 2


def above(left: Foreign, right: Foreign, *, strict: bool) -> Foreign:
    """Whether `left` is above `right`: told at the price of what it tells, if there is noise."""
    left, right = number(left), number(right)
    if nature(left) or nature(right):
        return left > right
    if type(left) is not Term and type(right) is not Term:
        return left > right if strict else left >= right
    infinite = [float(x) for x in (left, right) if type(x) is not Term and not math.isfinite(float(x))]
    if infinite:
        x, y = (0.0 if type(z) is Term else float(z) for z in (left, right))
        return np.bool_(x > y)
    lead = subtract(left, right, pools=False)
    if type(lead) is not Term:
        return lead > 0 if strict else lead >= 0
    if not lead.noise:
        lead.loose = _compared_loosely(left, right)
        low, high = lead.edges()
        if lead.is_still:
            return np.bool_(lead.value() > 0 if strict else lead.value() >= 0)
        if low > 0 or (low >= 0 and not strict):
            return np.True_
        if high < 0 or (high <= 0 and strict):
            return np.False_
        value = lead.value()
        return indicator(lead, value > 0 if strict else value >= 0)
    world = lead.world
    if world.chooser.crowded(world) and any(draw.used and draw.met for draw in lead.noise):
        left, right = _quiet(left), _quiet(right)
        return above(left, right, strict=strict)
    world.chooser.tighten(lead)
    value = lead.value()
    answer = world.chooser.compared(value > 0 if strict else value >= 0)
    for draw in lead.noise:
        draw.used = True
    turned = lead if answer else opposite(lead)
    world.sees(Row(world.place(), ">", turned.raw, turned.noise))
    return np.bool_(answer)


def equal(left: Foreign, right: Foreign) -> Foreign:
    """Whether two numbers are equal; what has noise is shown, if it is not known which one is larger."""
    for one, other in ((left, right), (right, left)):
        if is_term(one) and is_term(other) and ("best", id(one)) in one.world.kept:
            found, values = one.world.kept["best", id(one)]
            if found is one and any(other is value for value in values):
                return np.bool_(one is other)
    left, right = _quiet(left), _quiet(right)
    if type(left) is not Term and type(right) is not Term:
        return left == right
    gap = subtract(left, right)
    gap.loose = _compared_loosely(left, right)
    low, high = gap.edges()
    if low > 0 or high < 0:
        return np.False_
    if gap.noise or gap.loose:
        return indicator(gap, gap.value() == 0)
    # A number equals one constant at most, and is the same bit each time that it is compared with it.
    raw = tuple(gap.raw.items())
    if len(raw) == 1 and raw[0][1] and raw[0][0].cell is not None:
        ((bit, weight),) = raw
        asked = -gap.const / weight
        holds = _truth(Term(gap.world, 0.0, {bit: 1.0}, {}, True))
        return holds if asked == 1 else negated(holds) if asked == 0 else np.False_
    cell = ("equal", *((id(atom), weight) for atom, weight in raw))
    if (cell, gap.const) not in gap.world.kept:
        made = exclusive(indicator(gap, gap.value() == 0), cell)
        gap.world.kept[cell, gap.const] = made, raw  # which keeps the atoms, after which the key is named
    return gap.world.kept[cell, gap.const][0]


def mixed(condition: Term, one: Foreign, other: Foreign) -> Foreign:
    """One of two numbers, as a raw truth value says."""
    lead = subtract(one, other)
    if type(lead) is not Term or not any(lead.raw.values()):
        return add(other, multiply(condition, lead.const if type(lead) is Term else lead))
    return add(multiply(condition, one), multiply(negated(condition), other))


def negated(value: Foreign) -> Foreign:
    """The opposite of a truth value."""
    return _truth(subtract(1, value)) if type(value) is Term else not value


def largest(world: World, values: list[Foreign]) -> int:
    """The position of the largest of several numbers, told at the price of that position."""
    values = [number(value) for value in values]
    if not any(type(value) is Term for value in values):
        return int(np.argmax(values))
    infinite = [i for i, v in enumerate(values) if type(v) is not Term and float(v) == math.inf]
    if infinite:
        return infinite[0]
    rivals = [i for i, v in enumerate(values) if type(v) is Term or float(v) > -math.inf]
    draws = {draw for i in rivals if type(values[i]) is Term for draw in values[i].noise}
    if world.chooser.crowded(world) and any(draw.used and draw.met for draw in draws):
        return largest(world, [_quiet(value) for value in values])
    # Also where it is the only one on this path: on another one there may be two.
    raw = [v for i in rivals if type(v := values[i]) is Term and v.raw and not v.noise]
    if not all(value.is_still for value in raw):
        raise world.stop("raw {data} decide which position is chosen", why=Ends.POSITION)
    if len(rivals) == 1:
        return rivals[0]
    winner = _winner_of(world, values, rivals)
    place, rows = world.place(), []
    for i in rivals:
        lead = subtract(values[winner], values[i], pools=False) if i != winner else None
        if type(lead) is Term:
            rows.append(Row(place, ">", lead.raw, lead.noise))
    for draw in draws:
        draw.used = True
    own = values[winner].noise if type(values[winner]) is Term else {}
    world.sees(Winner(place, tuple(rows), own))
    return winner


def _winner_of(world: World, values: list[Foreign], rivals: list[int]) -> int:
    """Which one is the largest in this run."""
    plain = [v.value() if type(v) is Term else float(v) for v in values]
    if world.chooser.tightens:
        first, second = sorted(rivals, key=lambda i: -plain[i])[:2]
        lead = subtract(values[first], values[second], pools=False)
        if type(lead) is Term:
            world.chooser.tighten(lead)
            plain = [v.value() if type(v) is Term else float(v) for v in values]
    natural = rivals[int(np.argmax([plain[i] for i in rivals]))]
    noisy = [i for i in rivals if type(values[i]) is Term]
    fixed = [i for i in rivals if i not in noisy]
    # Of public numbers only the largest can win.
    can = noisy + ([max(fixed, key=lambda i: plain[i])] if fixed else [])
    return int(world.chooser.leader(natural, can))


# ---------------------------------------------------------------- quotients of sums of exponentials


@dataclass(frozen=True, eq=False)
class Ratio:
    """A positive number as a quotient of sums of exponentials of terms.

    Attributes
    ----------
    above, below
        The terms; None below is 1.
    """

    above: tuple[Foreign, ...]
    below: tuple[Foreign, ...] | None

    @property
    def is_exponential(self) -> bool:
        """Whether it is one exponential."""
        return self.below is None and len(self.above) == 1

    @property
    def is_part(self) -> bool:
        """Whether all that is above stands below, too, so that it is at most 1."""
        return self.below is not None and _rest(self.below, self.above) is not None

    @property
    def is_one(self) -> bool:
        """Whether it is 1 whatever the data are."""
        above, below = ({}, {}) if self.below is None else (_sums(self.above), _sums(self.below))
        return (
            bool(above)
            and above.keys() == below.keys()
            and all(math.isclose(weight, below[raw], rel_tol=1e-6) for raw, weight in above.items())
        )

    @staticmethod
    def sum(*values: Foreign) -> Ratio | None:
        """The sum of ratios and of positive constants, over one denominator."""
        found = [v.ratio for v in values if type(v) is Term]
        ratios = [r for r in found if r is not None]
        if len(ratios) < len(found) or any(type(v) is not Term and float(v) < 0 for v in values):
            return None
        below = ratios[0].below
        if any(r.below is not below for r in ratios):
            return None
        terms = [term for r in ratios for term in r.above]
        for value in values:
            if type(value) is not Term and float(value) > 0:
                shift = math.log(float(value))
                terms += [shift] if below is None else [plus(term, shift) for term in below]
        return Ratio(tuple(terms), below)

    @staticmethod
    def difference(left: Foreign, right: Foreign) -> Ratio | None:
        """What is left of a ratio, or of 1, when some of its terms are taken away."""
        if type(right) is not Term:
            return left.ratio if float(right) == 0 else None
        if right.ratio is None:
            return None
        below = right.ratio.below
        if type(left) is Term:
            if left.ratio is None or left.ratio.below is not below:
                return None
            there = left.ratio.above
        elif below is not None and float(left) == 1:
            there = below
        else:
            return None
        rest = _rest(there, right.ratio.above)
        return Ratio(tuple(rest), below) if rest else None

    def times(self, by: float) -> Ratio | None:
        """Times a positive number; None of others."""
        if by == 1:
            return self
        return Ratio(tuple(plus(t, math.log(by)) for t in self.above), self.below) if by > 0 else None

    def by(self, other: Ratio) -> Ratio | None:
        """The product, if one of them is an exponential."""
        if other.is_exponential:
            return Ratio(tuple(plus(t, other.above[0]) for t in self.above), self.below)
        return other.by(self) if self.is_exponential else None

    def turned(self) -> Ratio:
        """The reciprocal."""
        return Ratio(self.below if self.below is not None else (0.0,), self.above)

    @staticmethod
    def quotient(left: Term, right: Term) -> Foreign:
        """The quotient of two numbers as a term; None if they have no such form."""
        if left.ratio is None or right.ratio is None:
            return None
        if left.ratio.below is not right.ratio.below:
            return None
        made = Ratio(left.ratio.above, right.ratio.above)
        small = all((t.range()[0] if type(t) is Term else t) < _SMALLEST for t in right.ratio.above)
        if small and not any(map(_is_shifted, right.ratio.above)):
            raise left.world.stop_raw("exponentials of raw {data} may all be too small for a float")
        value = left.value() / right.value()

        def moving() -> Moves:
            return {unit: (math.expm1(low), -math.expm1(-high)) for unit, (low, high) in made.moves().items()}

        if made.is_part:
            return opaque(left, value, 0.0, 1.0, moving, ratio=made)
        return opaque(
            left, value, 0.0, math.inf, lambda: dict.fromkeys(made.moves(), (-math.inf, math.inf)), ratio=made
        )

    def moves(self) -> dict[int, tuple[float, float]]:
        """How far its logarithm can move, by unit."""
        below = self.below if self.below is not None else (0.0,)
        rows = [[_log_moves(minus(d, n)) for d in below] for n in self.above]
        units = {unit for row in rows for moves in row for unit in moves}
        still = (0.0, 0.0)
        found = {}
        for unit in units:
            each = [[moves.get(unit, still) for moves in row] for row in rows]
            low = min(-max(m[1] for m in row) for row in each)
            high = max(-min(m[0] for m in row) for row in each)
            found[unit] = (min(low, 0.0), max(high, 0.0))
        return found


def _raw_key(term: Foreign) -> Foreign:
    return frozenset((id(atom), weight) for atom, weight in term.raw.items()) if type(term) is Term else None


def _key(term: Foreign) -> Foreign:
    return _raw_key(term), term.const if type(term) is Term else float(term)


def _weights(terms: Iterable[Foreign]) -> Counter[Foreign]:
    """How often each term is there."""
    return Counter(map(_key, terms))


def _sums(terms: Iterable[Foreign], shift: float = 0.0) -> dict[Foreign, float]:
    """Weights of exponentials of the same multiples of atoms, over e^shift."""
    found: dict[Foreign, float] = {}
    for term in terms:
        raw, const = _key(term)
        found[raw] = found.get(raw, 0.0) + math.exp(const - shift)
    return found


def _rest(terms: Sequence[Foreign], gone: Sequence[Foreign]) -> list[Foreign] | None:
    """What is left of a sum of exponentials without some of them; None if these are not all in it.

    Constants may have been added up before.
    """
    counts, rest = _weights(gone), []
    for term in terms:
        if counts[_key(term)]:
            counts[_key(term)] -= 1
        else:
            rest.append(term)
    if not +counts:
        return rest
    shift = max(_key(term)[1] for term in (*terms, *gone))
    left, away = _sums(terms, shift), _sums(gone, shift)
    if any(weight > (1 + 1e-9) * left.get(raw, 0.0) for raw, weight in away.items()):
        return None
    one = {_key(term)[0]: term for term in terms}
    weights = {raw: weight - away.get(raw, 0.0) for raw, weight in left.items()}
    return [
        plus(one[raw], math.log(weight) + shift - _key(one[raw])[1])
        for raw, weight in weights.items()
        if weight > 1e-6 * left[raw]
    ]


def _log_moves(term: Foreign) -> dict[int, tuple[float, float]]:
    return moves_of(term.raw) if type(term) is Term else {}


def log_moves(term: Foreign) -> dict[int, tuple[float, float]]:
    """How far the logarithm of a number that is never negative can move, by unit."""
    if type(term) is not Term:
        return {}
    found: dict[int, tuple[float, float]] = {}
    low, high = term.range()
    for unit, (a, b) in moves_of(term.raw).items():
        if low > 0:
            found[unit] = (
                math.log(low / min(high, low - a)) if a < 0 else 0.0,
                math.log(min(high, low + b) / low) if b > 0 else 0.0,
            )
        else:
            found[unit] = (-math.inf if a < 0 or b > 0 else 0.0, math.inf if a < 0 or b > 0 else 0.0)
    if term.ratio is not None:
        for unit, (a, b) in term.ratio.moves().items():
            known = found.get(unit, (-math.inf, math.inf))
            found[unit] = (max(a, known[0]), min(b, known[1]))
    return found


def outcome(world: World, chance: Foreign) -> None:
    """An outcome came out that has this chance."""
    chance = _quiet(chance)
    if type(chance) is not Term:
        return
    low, high = chance.range()
    if chance.ratio is None and (low < -1e-9 or high > 1 + 1e-9):
        raise world.stop_raw("raw {data} set probabilities that may be below 0 or above 1")
    bit, loss = None, 0.0
    if chance.ratio is None and len(chance.raw) == 1:
        ((atom, weight),) = chance.raw.items()
        if atom.cell is not None and min(chance.const, chance.const + weight) > 0:
            bit, loss = atom, math.log1p(weight / chance.const)
    costs = _losses(log_moves(chance))
    world.charge(Charge(world.place(), costs, chance.ratio, bit=bit, loss=loss))


def _losses(moves: Moves) -> dict[int, tuple[float, float]]:
    """Losses of an outcome by unit, from the moves of the logarithm of its chance."""
    # The loss is log p - log p': against an increase minus the move, against a decrease the move.
    return {unit: (max(-a, 0.0), max(b, 0.0)) for unit, (a, b) in moves.items()}


def telescoped(charges: Sequence[Charge]) -> list[Charge]:
    """The charges, with a / b and b / c as one, a / c."""
    left = list(charges)
    while True:
        ends = {}
        for charge in left:
            if charge.ratio is not None and charge.ratio.below is not None:
                ends[frozenset(_weights(charge.ratio.below).items())] = charge
        for one in left:
            other = ends.get(frozenset(_weights(one.ratio.above).items())) if one.ratio is not None else None
            if one.ratio is not None and other is not None and other.ratio is not None and one is not other:
                both = Ratio(other.ratio.above, one.ratio.below)
                left = [charge for charge in left if charge is not one and charge is not other]
                left.append(Charge(other.place, _losses(both.moves()), both))
                break
        else:
            return left
