"""What one traced run writes down: releases, coins, and the places where raw data decided something."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.validate import BoolArray, FloatArray, Foreign, IntArray, JsonDict
from verifiable_dp.evidence.tracing.laws import Law

_HERE = os.path.dirname(os.path.abspath(__file__))
_OWN = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "")  # what is ours is no line of anybody's code
_START = (os.path.join(_HERE, "trace.py"), "run")  # it calls the traced code
SAME = 1e-9  # relative difference of two numbers that count as one

# What a lead says of its line.
WORDS = {
    "branch": "raw {data} decide a branch",
    "index": "raw {data} are used as an index",
    "argmax": "raw {data} decide which position is chosen",
    "output": "raw {data} are returned",
    "chance": "raw {data} set the probabilities of a draw",
    "text": "raw {data} are converted to text",
    "number": "raw {data} become a plain number, which we cannot track further",
    "unsettled": "noise may or may not hide the values that decide here; replays on neighbouring inputs "
    "cannot tell",
    "unfollowed": "we cannot follow this line: in rare runs, it may reveal more than replays show",
    "seeds": "noise takes few values here, because its generator has few possible seeds",
    "shared": "{data} of several rounds are combined before noise hides them, so this is not a report of "
    "one reward",
}
DATA, OF_USERS = "rewards", "contexts or rewards"  # what is raw


def words_of(what: str, data: str = DATA) -> str:
    """What a lead of this kind says of its line."""
    return WORDS[what].format(data=data) if what in WORDS else what


class NoteKind(StrEnum):
    """What a note is about."""

    UNREPEATABLE = "unrepeatable"  # draws that the seed does not repeat
    UNFOLLOWED_DRAWS = "unfollowed-draws"
    COMPILED = "compiled"  # code whose own draws would not be seen
    UNFOLLOWED = "unfollowed"  # where rewards go
    FIXED = "fixed"  # noise that is the same for another epsilon


class Note(NamedTuple):
    """Something that a reader has to know of a line."""

    kind: NoteKind
    words: str


# Kinds that decide something there and then; what a plain number does is seen by the replay alone.
DECISIVE = ("branch", "index", "argmax", "output", "chance", "text")


@dataclass(frozen=True)
class Place:
    """A line of the traced code."""

    file: str
    line: int

    def words(self) -> str:
        """As linters write it."""
        return f"{self.file}:{self.line}"


def caller(files: frozenset[str]) -> Place:
    """The innermost line of one of `files` on the stack; of anything that is not ours if there is none."""
    frame, nearest = sys._getframe(1), None
    while frame is not None:
        name = frame.f_code.co_filename
        if name in files:
            return Place(name, frame.f_lineno)
        if nearest is None and not name.startswith(_OWN):
            nearest = Place(name, frame.f_lineno)
        if (name, frame.f_code.co_name) == _START:
            files = frozenset()  # a test that audits a class of its own file is not part of the class
        frame = frame.f_back  # type: ignore[assignment]
    return nearest or Place("", 0)


@dataclass(frozen=True)
class Release:
    """Numbers that met noise and are public from then on.

    Attributes
    ----------
    place
        Where data met noise.
    law
        Of the noise.
    draws : (m,) int
        Numbers of the draws; a draw that meets data twice is one.
    exact, out : (m,) float
        Before and after.
    at
        Where the sum was first used, and thereby released.
    spoilt
        Whether a draw was used before as the second half of a two-sided one, so that it is not fresh.
    pure
        Whether no raw data met it: it is randomness that other values may have been made with.
    """

    place: Place
    law: Law
    draws: IntArray
    exact: FloatArray
    out: FloatArray
    at: Place
    spoilt: bool = False
    pure: bool = False


@dataclass(frozen=True)
class Chosen:
    """An outcome that was drawn with chances that follow from raw rewards, public from then on.

    Attributes
    ----------
    place
        Where it happened.
    chances : (m, k) float
        Of the k outcomes of each draw.
    outcome : (m,) int
        Numbers of those that were drawn.
    draws : int array
        Numbers of the uniform draws that showed it; none where it is no such draw.
    """

    place: Place
    chances: FloatArray
    outcome: IntArray
    draws: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def at(self) -> Place:
        """Where it was released."""
        return self.place


@dataclass(frozen=True)
class Flips:
    """Coins that uniform draws show.

    Attributes
    ----------
    draws : int array
        Their numbers.
    chances : float array
        Of coming out true.
    """

    draws: IntArray
    chances: FloatArray


@dataclass(frozen=True)
class Told:
    """Raw bits that are public from then on, each of them turned or not by a coin.

    Attributes
    ----------
    place
        Where it happened.
    flips
        The coins, (m,).
    truth : (m,) bool
        How they came out.
    out : (m,)
        What was told.
    """

    place: Place
    flips: Flips
    truth: BoolArray
    out: Foreign

    @property
    def at(self) -> Place:
        """Where it was released."""
        return self.place


@dataclass(frozen=True)
class Coin:
    """A draw that met no data.

    Attributes
    ----------
    kind
        Method of the generator.
    place
        Where it happened.
    value
        What came out.
    """

    kind: str
    place: Place
    value: object = None


@dataclass(frozen=True)
class RawDecision:
    """A question about raw data that was answered.

    Attributes
    ----------
    what, place
        As of the lead.
    outcome
        The answer.
    compared
        Number of coins that had been compared before.
    about
        Digest of the raw data; equal data have equal ones.
    """

    what: str
    place: Place
    outcome: object
    compared: int
    about: int = 0


@dataclass
class Lead:
    """A line where raw data was used for something that noise should have come before.

    Attributes
    ----------
    what
        One of `WORDS`.
    place
        The line.
    count
        How often it happened there.
    order
        Number among the leads of the run, by first occurrence.
    """

    what: str
    place: Place
    count: int = 1
    order: int = 0


@dataclass(frozen=True)
class ReplayEnd:
    """Why a run could not be traced or replayed to its end, and where, if that is known."""

    words: str
    place: Place | None = None

    def said(self) -> str:
        """With the line, as linters write it."""
        return f"{self.place.words()}: {self.words}" if self.place else self.words

    def as_dict(self) -> JsonDict:
        """As it stands in a record."""
        place = self.place or Place("", 0)
        return {"what": self.words, "file": place.file, "line": place.line}


class DivergedError(Exception):
    """The replay asked for something that the recorded run had not: raw data decided before a release did."""

    def __init__(self, place: Place, words: str) -> None:
        super().__init__(words)
        self.ended = ReplayEnd(words, place)


@dataclass
class Ledger:
    """One traced run; with `forced`, the replay of another one.

    Attributes
    ----------
    files
        Files of the traced code.
    forced
        The recorded run whose releases are given out again; None while recording.
    flips
        Numbers of the coin comparisons that are answered the other way round.
    releases, coins, leads, decided, compared, notes
        What happened, in order; coins are draws that met no data, `compared` holds place and chance of
        comparisons of a coin with a public number.
    rows
        Rows of the table in the order in which they are read, with the number of releases made by then.
    reads
        Lines of the traced code at which rewards enter, with how often.
    draws, events
        Number of draws that may meet data, and of tracked operations.
    halves, merged
        Draws that are parts of others, and the numbers of sums of two draws: what makes noise symmetric.
    left
        Where rewards go where they are not followed.
    public
        Numbers of the draws that were given out.
    uniforms, asked, shown, picked
        Number of uniform draws in arrays; those that were compared, or decided what is told; those that were
        used for anything else; and coins that picked entries, which they may still turn.
    """

    files: frozenset[str]
    forced: Ledger | None = None
    flips: frozenset[int] = frozenset()
    releases: list[Release | Chosen | Told] = field(default_factory=list)
    rows: list[tuple[int, int]] = field(default_factory=list)
    coins: list[Coin] = field(default_factory=list)
    leads: dict[tuple[str, Place], Lead] = field(default_factory=dict)
    decided: list[RawDecision] = field(default_factory=list)
    compared: list[tuple[Place, float]] = field(default_factory=list)
    notes: dict[Note, Place] = field(default_factory=dict)
    left: dict[Note, Place] = field(default_factory=dict)
    reads: dict[Place, int] = field(default_factory=dict)
    draws: int = 0
    events: int = 0
    halves: set[int] = field(default_factory=set)
    merged: dict[tuple[int, int], int] = field(default_factory=dict)
    public: set[int] = field(default_factory=set)
    uniforms: int = 0
    asked: set[tuple[str, int]] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)
    picked: dict[int, Foreign] = field(default_factory=dict)

    def lead(self, what: str, outcome: object = None, data: npt.ArrayLike | None = None) -> None:
        """Note that raw data was used, what came of it, and of which data."""
        place = caller(self.files)
        known = self.leads.get((what, place))
        if known is None:
            self.leads[what, place] = Lead(what, place, 1, len(self.leads))
        else:
            known.count += 1
        if outcome is not None:
            about = 0 if data is None else hash(np.asarray(data).tobytes())
            self.decided.append(RawDecision(what, place, outcome, len(self.compared), about))

    def read(self) -> bool:
        """Note that rewards enter, and tell whether the traced code took them, not one who calls it."""
        place = caller(self.files)
        if place.file not in self.files:
            return False
        self.reads[place] = self.reads.get(place, 0) + 1
        return True

    def reach(self, key: Foreign) -> None:
        """Note which row of the table is read, the last one of several."""
        rows = np.ravel(key[0] if isinstance(key, tuple) else key)
        if rows.dtype.kind in "iu" and rows.size and (not self.rows or self.rows[-1][0] != rows[-1]):
            self.rows.append((int(rows[-1]), len(self.releases)))

    def note(self, words: str, kind: NoteKind = NoteKind.UNREPEATABLE) -> None:
        """Note something that tracing does not follow, once, with its first place."""
        if Note(kind, words) not in self.notes:
            self.notes[Note(kind, words)] = caller(self.files)

    def leave(self, to: str = "") -> None:
        """Note that raw rewards go where they are not followed: to a function, or as plain memory."""
        words = f"we cannot follow the rewards from here on: they go to {to or 'other code as plain memory'}"
        self.left.setdefault(Note(NoteKind.UNFOLLOWED, words), caller(self.files))

    def coin(self, kind: str, value: object = None) -> None:
        """Note a draw that decides by itself."""
        self.coins.append(Coin(kind, caller(self.files), value))

    def compare(self, chance: float, outcome: bool) -> bool:
        """The answer to a comparison of a coin with a public number that holds with this chance."""
        self.compared.append((caller(self.files), chance))
        return outcome != (len(self.compared) - 1 in self.flips)

    def number(self, shape: tuple[int, ...]) -> IntArray:
        """Numbers of fresh draws."""
        first = self.draws
        self.draws += int(np.prod(shape, dtype=np.int64))
        return np.arange(first, self.draws, dtype=np.int64).reshape(shape)

    def sum_of(self, one: int, other: int) -> int:
        """Number of the draw that two draws of equal spread add up to, in either order."""
        key = (min(one, other), max(one, other))
        if key not in self.merged:
            self.merged[key] = int(self.number(()))
            self.halves.update(key)
        return self.merged[key]

    def joined(self, mine: IntArray, theirs: IntArray) -> IntArray:
        """Numbers of the draws that fresh draws and as many others add up to."""
        self.halves.update(mine.ravel().tolist(), theirs.ravel().tolist())
        return self.number(mine.shape)

    def released(self, draws: IntArray) -> bool:
        """Whether one of these draws was given out already."""
        return not self.public.isdisjoint(draws.ravel().tolist())

    def _recorded(self, place: Place) -> Release | Chosen | Told | None:
        """What the recorded run gave out here; None while recording."""
        if self.forced is None:
            return None
        if len(self.releases) >= len(self.forced.releases):
            raise DivergedError(place, "one more release than on the neighbouring input")
        there = self.forced.releases[len(self.releases)]
        if there.at != place:
            raise _elsewhere(place, there.at)
        return there

    def release(
        self, law: Law, draws: IntArray, exact: FloatArray, noise: FloatArray, met: Place | None = None
    ) -> FloatArray:
        """Give out `exact` with noise, or what the recorded run gave out here, (m,); they met at `met`."""
        self.events += 1
        place, out = caller(self.files), exact + noise
        there = self._recorded(place)
        if there is not None:
            fits = isinstance(there, Release) and there.draws.shape == draws.shape
            if not isinstance(there, Release) or not fits or there.law.kind != law.kind:
                raise _elsewhere(place, there.at)
            out = there.out
        spoilt = bool(self.halves) and any(draw in self.halves for draw in draws.tolist())
        self.releases.append(Release(met or place, law, draws, exact, out, place, spoilt, met is None))
        self.public.update(draws.tolist())
        return out

    def choose(self, chances: FloatArray, outcome: IntArray, draws: IntArray | None = None) -> IntArray:
        """Give out outcomes (m,) drawn with raw chances (m, k), or those that were recorded here.

        Uniform `draws` that showed them must be used for nothing else.
        """
        self.events += 1
        place = caller(self.files)
        there = self._recorded(place)
        if there is not None:
            if not isinstance(there, Chosen) or there.chances.shape != chances.shape:
                raise _elsewhere(place, there.at)
            outcome = there.outcome
        draws = np.zeros(0, np.int64) if draws is None else np.ravel(draws)
        self.releases.append(Chosen(place, chances, outcome, draws))
        return outcome

    def tell(self, flips: Flips, truth: BoolArray, out: Foreign, other: Foreign) -> tuple[Foreign, BoolArray]:
        """Give out bits, or those that were recorded here, and the coins that lead to them.

        `out` comes out with the coins as they are, `other` with each of them turned.
        """
        self.events += 1
        place = caller(self.files)
        there = self._recorded(place)
        draws, chances = flips.draws.ravel(), np.ascontiguousarray(flips.chances, dtype=np.float64).ravel()
        if there is not None:
            fits = isinstance(there, Told) and np.array_equal(there.flips.draws, draws)
            if not isinstance(there, Told) or not fits or not np.array_equal(there.flips.chances, chances):
                raise _elsewhere(place, there.at)
            told = there.out.reshape(out.shape)
            turned = out != told
            if (other != told)[turned].any():
                raise DivergedError(place, "this report cannot occur on the neighbouring input")
            out, truth = told, truth ^ turned
        if not self.once(draws, "told"):
            self.show(draws)
        self.releases.append(Told(place, Flips(draws, chances), truth.ravel().copy(), out.ravel().copy()))
        return out, truth

    def numbered(self, shape: tuple[int, ...]) -> IntArray:
        """Numbers of fresh uniform draws."""
        first = self.uniforms
        self.uniforms += int(np.prod(shape, dtype=np.int64))
        return np.arange(first, self.uniforms, dtype=np.int64).reshape(shape)

    def once(self, draws: IntArray, what: str) -> bool:
        """Whether none of these draws was used for this before."""
        keys = {(what, draw) for draw in draws.ravel().tolist()}
        first = self.asked.isdisjoint(keys)
        self.asked |= keys
        return first

    def show(self, draws: IntArray) -> None:
        """Note that coins are used for something that may be seen."""
        self.shown.update(draws.ravel().tolist())

    @property
    def seen(self) -> set[int]:
        """Numbers of the uniform draws that may be seen."""
        return self.shown.union(*(coins.flips.draws.ravel().tolist() for coins in self.picked.values()))


def _elsewhere(place: Place, there: Place) -> DivergedError:
    return DivergedError(place, f"a different release than on the neighbouring input ({there.words()})")


def same(a: Foreign, b: Foreign) -> bool:
    """Whether two outputs are one, up to rounding where they are floats."""
    left, right = np.asarray(a), np.asarray(b)
    if left.shape != right.shape:
        return False
    if left.dtype.kind in "fc" or right.dtype.kind in "fc":
        return bool(np.allclose(left, right, rtol=SAME, atol=SAME, equal_nan=True))
    return bool(np.array_equal(left, right))


def same_answer(a: object, b: object) -> bool:
    """Whether two answers to a question about raw data are one."""
    if type(a) is type(b) and isinstance(a, int | float | str):
        return a == b or (a != a and b != b)
    return same(a, b)


def in_order(leads: Iterable[Lead]) -> list[Lead]:
    """What decides before what only leaves tracking, each in the order of first occurrence.

    Where raw data decides something on a line, that it becomes a plain number there says nothing more.
    """
    found = list(leads)
    decided = {lead.place for lead in found if lead.what in DECISIVE}
    kept = [lead for lead in found if lead.what in DECISIVE or lead.place not in decided]

    return sorted(kept, key=lambda one: (one.what not in DECISIVE, one.order, one.place.file, one.place.line))
