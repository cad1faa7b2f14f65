"""Certificates of traced code: what a bound is made from, as plain values of version 1.

A *frame* is a group of what is seen that shares draws: its draws, at scale 1, and rows over them. A row ``=``
shows a number: data part + sum of weight * draw. A row ``>`` shows that such a number is at least 0. A
*pattern* is what one unit of the data does in a frame: entries of the data part, with the weight that they
have in each row and how far each can move when the unit changes one way (``up``; ``down`` is the opposite
change), and how the draws move so that all rows stay. A *profile* is all that a unit pays on a path:
patterns, and *charges*, which are costs that no row stands for. A path lists the profiles of its units.

Equal groups of equal units have one pattern, however often they occur. Here are the types; the JSON Schema is
made of them, and `arithmetic` says what follows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.validate import InputError, Json, JsonDict

T = TypeVar("T")
FORM: Literal["paths"] = "paths"
VERSION: Literal[1] = 1
EQUAL, LEAST = "=", ">"
MOST_ENTRIES = 10  # of a box whose corners are listed
_LARGEST = 1e300
Finite = Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Size = Annotated[float, Meta(ge=0, le=_LARGEST)]
Place = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Weights = tuple[tuple[Place, Finite], ...]  # by draw, by row or by entry


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Values of a certificate."""


class Belief(StrEnum):
    """What a charge is for: what the arithmetic of rows does not cover."""

    OUTCOME = "outcome"  # a choice whose chances follow from data
    BITS = "bits"  # coins about places of which one holds
    PLACES = "places"  # a value that leaves one place of a histogram and enters another
    LAW = "law"  # a shift of noise whose law was read off code
    SUBSAMPLED = "subsampled"  # a unit that a hidden coin may leave out
    USERS = "users"  # all releases of a user's context together
    MATRICES = "matrices"  # Wishart noise
    LIBRARY = "library"  # what a mechanism of a library costs


class Frame(Values, frozen=True):
    """A group of what is seen that shares draws.

    Parameters
    ----------
    draws
        Law and its parameter (`laws.law_of`) of each.
    rows
        Relation, and weights of draws.
    maximum
        Whether the rows are one decision: the leads of the largest of several numbers over the others.
    """

    draws: tuple[tuple[str, Finite], ...]
    rows: tuple[tuple[Literal["=", ">"], Weights], ...]
    maximum: bool = False

    @property
    def is_compared(self) -> bool:
        """Whether it is a comparison alone: on another path it comes out the other way."""
        return len(self.rows) == 1 and self.rows[0][0] == LEAST

    def turned(self) -> Frame:
        """With the other answer to a comparison."""
        rows = tuple((relation, tuple((d, -w) for d, w in noise)) for relation, noise in self.rows)
        return Frame(self.draws, rows, self.maximum)


class MovedEntry(Values, frozen=True, array_like=True):
    """A number that a unit moves: least and most, weights in rows, and whether it moves by whole numbers."""

    low: Finite
    high: Finite
    weights: Weights
    whole: bool = False

    def turned(self) -> MovedEntry:
        """For the opposite change."""
        return MovedEntry(-self.high, -self.low, self.weights, self.whole)

    def negated(self) -> MovedEntry:
        """In rows with the other answer."""
        return MovedEntry(self.low, self.high, tuple((r, -w) for r, w in self.weights), self.whole)


class LinearShifts(Values, frozen=True, tag="linear"):
    """Draws that move by a constant and a multiple of each entry: (draw, constant, weights of entries)."""

    terms: tuple[tuple[Place, Finite, Weights], ...] = ()


class Corners(Values, frozen=True, tag="corners"):
    """Where draws move to at each corner of the box of entries, in the order of `itertools.product`."""

    values: tuple[Weights, ...]


Shifts = LinearShifts | Corners


class Pattern(Values, frozen=True):
    """What a unit does in a frame.

    Parameters
    ----------
    frame, entries
        The number of the frame, and what moves in it.
    up, down
        How draws move if the unit changes one way, and the other.
    otherwise
        The same for the other answer to a comparison that is alone in its frame; else None.
    """

    frame: Place
    entries: tuple[MovedEntry, ...]
    up: LinearShifts | Corners
    down: LinearShifts | Corners
    otherwise: tuple[LinearShifts | Corners, LinearShifts | Corners] | None = None


class Believed(Values, frozen=True):
    """A charge.

    Parameters
    ----------
    what, line
        What it is for, and where.
    up, down, squared, rho
        Loss if the unit changes one way, and the other; squared shift of normal noise in standard deviations;
        zero-concentrated differential privacy.
    matrices
        Released with Wishart noise: (change, degrees of freedom, rows, times).
    """

    what: Belief
    line: Place
    up: Size = 0.0
    down: Size = 0.0
    squared: Size = 0.0
    rho: Size = 0.0
    matrices: tuple[tuple[Size, Place, Count, Count], ...] = ()

    def releases(self) -> tuple[wishart.WishartRelease, ...]:
        """With Wishart noise."""
        return tuple(wishart.WishartRelease(*each) for each in self.matrices)


class Profile(Values, frozen=True):
    """What a unit pays on a path: (pattern, line, how often), and charges."""

    groups: tuple[tuple[Place, Place, Count], ...]
    charges: tuple[Believed, ...] = ()


class TracedPath(Values, frozen=True):
    """A path: its number, and its units by profile."""

    path: int
    units: tuple[tuple[Place, tuple[int, ...]], ...]


class TracedCertificate(Values, frozen=True):
    """What all paths come to; see the module. A bound of `play_many` names the sizes of its `calls`."""

    form: Literal["paths"]
    version: Literal[1]
    frames: tuple[Frame, ...]
    patterns: tuple[Pattern, ...]
    profiles: tuple[Profile, ...]
    paths: tuple[TracedPath, ...]
    calls: tuple[Count, ...] = ()

    def as_dict(self) -> JsonDict:
        """As plain values."""
        found: JsonDict = msgspec.json.decode(msgspec.json.encode(self))
        return found

    @classmethod
    def of(cls, values: Json) -> TracedCertificate:
        """From plain values.

        Raises
        ------
        InputError
            If they are not of this form: the first thing that is wrong.
        """
        if values.get("version") != VERSION:
            raise InputError(
                f"certificate: version must be {VERSION}, got {values.get('version')!r}; older versions "
                "do not verify the costs that they add up; audit again"
            )
        try:
            found = msgspec.convert(dict(values), cls)
        except msgspec.ValidationError as error:
            raise InputError(f"certificate: {error}"[:200]) from None
        if reason := found.misfit():
            raise InputError(f"certificate: {reason}")
        return found

    def misfit(self) -> str:
        """What names a frame, a pattern, a row or a draw that is not there, or twice; empty if nothing."""
        for i, frame in enumerate(self.frames):
            if not all(_fits(noise, len(frame.draws)) for _, noise in frame.rows):
                return f"frames.{i}: each row must name draws of its frame, each once"
        for i, pattern in enumerate(self.patterns):
            if pattern.frame >= len(self.frames):
                return f"patterns.{i}: there is no frame {pattern.frame}"
            if reason := _misfit(pattern, self.frames[pattern.frame]):
                return f"patterns.{i}: {reason}"
        for i, profile in enumerate(self.profiles):
            if any(pattern >= len(self.patterns) for pattern, *_ in profile.groups):
                return f"profiles.{i}: a pattern is missing"
        for i, path in enumerate(self.paths):
            units = [unit for _, each in path.units for unit in each]
            if len({*units}) < len(units) or any(at >= len(self.profiles) for at, _ in path.units):
                return f"paths.{i}: each unit must have one profile that exists"
        return ""


def _fits(weights: Weights, below: int) -> bool:
    places = [place for place, _ in weights]
    return len({*places}) == len(places) and all(place < below for place in places)


def _misfit(pattern: Pattern, frame: Frame) -> str:
    if not all(one.low <= one.high and _fits(one.weights, len(frame.rows)) for one in pattern.entries):
        return "an entry must have least <= most, and name rows of the frame, each at most once"
    if (pattern.otherwise is not None) is not frame.is_compared:
        return "shifts for the other answer are required for a comparison, and not allowed otherwise"
    for shifts in (pattern.up, pattern.down, *(pattern.otherwise or ())):
        if isinstance(shifts, LinearShifts):
            whole = tuple((draw, constant) for draw, constant, _ in shifts.terms)
            right = all(_fits(by, len(pattern.entries)) for *_, by in shifts.terms)
            if not (right and _fits(whole, len(frame.draws))):
                return "shifts must name draws and entries that exist, each once"
        elif len(pattern.entries) > MOST_ENTRIES or len(shifts.values) != 2 ** len(pattern.entries):
            return f"corners must be all corners of at most {MOST_ENTRIES} entries"
        elif not all(_fits(values, len(frame.draws)) for values in shifts.values):
            return "shifts must name draws that exist, each once"
    return ""


class TracedTable(Generic[T]):
    """Values that are listed once."""

    def __init__(self) -> None:
        self.rows: list[T] = []
        self._places: dict[T, int] = {}

    def place(self, one: T) -> int:
        """Where a value stands; it is added if it is new."""
        if one not in self._places:
            self._places[one] = len(self.rows)
            self.rows.append(one)
        return self._places[one]


def schema() -> JsonDict:
    """The JSON Schema of certificates."""
    (_,), made = msgspec.json.schema_components([TracedCertificate], ref_template="#/$defs/{name}")
    whole = made.pop(TracedCertificate.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:verifiable-dp:certificate:{VERSION}",
        **whole,
        "title": "Certificate of an upper bound of traced code",
        "$defs": made,
    }
