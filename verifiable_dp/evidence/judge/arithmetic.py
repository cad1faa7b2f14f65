"""The arithmetic of certificates: which upper bound follows from one; nothing else makes that number.

**Claim.** Let a run show rows ``sum_e r_e x_e + sum_d n_d z_d`` (their values, or that they are at least 0)
of data x and noise z. If for each change delta of the entries of a unit within its box there is a shift
h(delta) of the noise with r . delta + n . h = 0 in each row ``=`` and >= 0 in each row ``>``, then the
neighbour with noise z + h shows the same, and epsilon is at most the largest price of h(delta)
(docs/trusted-base.md).

**Proof that the checks below give such shifts.** *Linear*: h is a constant plus multiples c of delta. A row
``=`` then moves by a linear function of delta, which is 0 if its constant and each of its coefficients are;
the least value of a row ``>`` over a box is found entry by entry. h_d lies between the ends of a range, and
prices are convex, so that the dearer end bounds them. *Corners*: each delta in a box is an average of its
corners; rows are linear and prices convex, so that the same average of the corners' shifts keeps all rows and
costs no more than the dearest of them. *Whole numbers*: a law on whole numbers moves by whole numbers. Linear
shifts do so if their constant and coefficients are whole and the entries move by whole numbers. Averages need
not: there is one entry, delta = t * end with whole delta, the shift t * h(end) keeps all rows as well, and it
is whole if h(end) / end is.

Groups have no draw in common, so that losses of groups add up, and so do squared shifts of normal noise. A
comparison that is alone in its group says how either answer stays, and the dearer one counts: on another path
it comes out the other way. For the same reason a maximum counts the dearer of the two directions for both.

Floats: a number is taken for 0 if it is below `TOLERANCE` times the size of what was added up to it. The rows
are then exact for sums whose data weigh, or whose noise moves, by so much more or less: rounding in the
program does no less, and costs change by that factor, which comparisons with a claim allow for.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.judge import laws
from verifiable_dp.evidence.judge.certificate import (
    EQUAL,
    Corners,
    Frame,
    LinearShifts,
    MovedEntry,
    Pattern,
    Profile,
    Shifts,
    TracedCertificate,
)

TOLERANCE = 1e-9
Price = Callable[[int, float], tuple[float, float]]  # of a draw of the frame and how far it moves
Entries = Sequence[MovedEntry]


class Paid(NamedTuple):
    """Pure loss, and squared shift of normal noise."""

    loss: float = 0.0
    squared: float = 0.0

    def dearer(self, other: Paid) -> Paid:
        """At least either."""
        return Paid(max(self.loss, other.loss), max(self.squared, other.squared))


def priced(frame: Frame) -> Price:
    """By the table of laws."""

    def price(draw: int, shift: float) -> tuple[float, float]:
        law, parameter = frame.draws[draw]
        return laws.price(law, shift, parameter)

    return price


def is_zero(number: float, size: float) -> bool:
    """Whether what was added up of numbers of this size is 0."""
    return abs(number) <= TOLERANCE * size


def corners(entries: Entries) -> Iterator[tuple[float, ...]]:
    """Of the box of entries."""
    return itertools.product(*((one.low, one.high) for one in entries))


def cost(frame: Frame, entries: Entries, shifts: Shifts, price: Price) -> Paid:
    """What shifts cost at most; the rows are not looked at."""
    if isinstance(shifts, LinearShifts):
        ranges = (_range(constant, by, entries) for _, constant, by in shifts.terms)
        each = [
            [price(draw, low), price(draw, high)]
            for (draw, *_), (low, high) in zip(shifts.terms, ranges, strict=True)
        ]
        return Paid(
            math.fsum(max(low[0], high[0]) for low, high in each),
            math.fsum(max(low[1], high[1]) for low, high in each),
        )
    found = Paid()
    for corner in shifts.values:
        paid = [price(draw, shift) for draw, shift in corner]
        found = found.dearer(Paid(math.fsum(loss for loss, _ in paid), math.fsum(two for _, two in paid)))
    return found


def _range(constant: float, by: Sequence[tuple[int, float]], entries: Entries) -> tuple[float, float]:
    low = high = constant
    for entry, weight in by:
        ends = weight * entries[entry].low, weight * entries[entry].high
        low, high = low + min(ends), high + max(ends)
    return low, high


def wrong(frame: Frame, entries: Entries, shifts: Shifts) -> str:
    """What does not hold of shifts: a row moves, or noise on whole numbers by a part; empty if all holds."""
    if isinstance(shifts, LinearShifts):
        return _moves_linearly(frame, entries, shifts) or _not_whole(frame, entries, shifts)
    return _moves_at_corners(frame, entries, shifts) or _not_whole(frame, entries, shifts)


def _moves_linearly(frame: Frame, entries: Entries, shifts: LinearShifts) -> str:
    """A row ``=`` that moves, or one ``>`` that falls below 0."""
    moved = {draw: (constant, by) for draw, constant, by in shifts.terms}
    columns = [dict(one.weights) for one in entries]
    for number, (relation, noise) in enumerate(frame.rows):
        # Of the constant (place -1) and of each entry: what is added up, and the size of its parts.
        totals, sizes = defaultdict[int, float](float), defaultdict[int, float](float)
        for entry, column in enumerate(columns):
            totals[entry] += column.get(number, 0.0)
            sizes[entry] += abs(column.get(number, 0.0))
        for draw, weight in noise:
            constant, by = moved.get(draw, (0.0, ()))
            for entry, own in ((-1, constant), *by):
                totals[entry] += weight * own
                sizes[entry] += abs(weight * own)
        left = {entry: total for entry, total in totals.items() if not is_zero(total, sizes[entry])}
        if relation == EQUAL and left:
            return f"constraint {number} changes"
        low, _ = _range(left.pop(-1, 0.0), [*left.items()], entries)
        if low < 0 and not is_zero(low, _reach(sizes, entries)):
            return f"constraint {number} falls below 0"
    return ""


def _reach(sizes: Mapping[int, float], entries: Entries) -> float:
    return math.fsum(
        size * (max(abs(entries[entry].low), abs(entries[entry].high)) if entry >= 0 else 1.0)
        for entry, size in sizes.items()
    )


def _moves_at_corners(frame: Frame, entries: Entries, shifts: Corners) -> str:
    """As `_moves_linearly`, at a corner."""
    columns = [dict(one.weights) for one in entries]
    for corner, values in zip(corners(entries), shifts.values, strict=True):
        moved = dict(values)
        for number, (relation, noise) in enumerate(frame.rows):
            parts = [column.get(number, 0.0) * delta for column, delta in zip(columns, corner, strict=True)]
            parts += [weight * moved.get(draw, 0.0) for draw, weight in noise]
            total = math.fsum(parts)
            still = is_zero(total, math.fsum(map(abs, parts)))
            if not still and (relation == EQUAL or total < 0):
                what = "changes" if relation == EQUAL else "falls below 0"
                return f"constraint {number} {what} at a corner of the bounds"
    return ""


def _not_whole(frame: Frame, entries: Entries, shifts: Shifts) -> str:
    """A draw on whole numbers that may move by a part of one."""
    said = "noise that takes whole numbers is shifted by a fraction"
    lattice = {i for i, (law, parameter) in enumerate(frame.draws) if laws.law_of(law, parameter).whole}
    if isinstance(shifts, LinearShifts):
        for draw, constant, by in shifts.terms:
            right = float(constant).is_integer() and all(
                entries[entry].whole and float(weight).is_integer() for entry, weight in by
            )
            if draw in lattice and not right:
                return said
        return ""
    for (end, *more), values in zip(corners(entries), shifts.values, strict=True) if entries else ():
        for draw, shift in values:
            rays = not more and entries[0].whole and (not shift or (end and (shift / end).is_integer()))
            if draw in lattice and not rays:
                return said
    return ""


def both(frame: Frame, pattern: Pattern) -> tuple[Paid, Paid]:
    """What a unit pays in a frame if it changes one way, and the other.

    Raises
    ------
    InputError
        If a row does not stay.
    """
    found = [
        _checked(frame, entries, shifts)
        for entries, shifts in zip(_ways(pattern.entries), (pattern.up, pattern.down), strict=True)
    ]
    if pattern.otherwise is not None:
        negated = [one.negated() for one in pattern.entries]
        other = [
            _checked(frame.turned(), entries, shifts)
            for entries, shifts in zip(_ways(negated), pattern.otherwise, strict=True)
        ]
        found = [one.dearer(two) for one, two in zip(found, other, strict=True)]
    if frame.maximum:
        found = [found[0].dearer(found[1])] * 2
    return found[0], found[1]


def _ways(entries: Entries) -> tuple[Entries, Entries]:
    return entries, [one.turned() for one in entries]


def _checked(frame: Frame, entries: Entries, shifts: Shifts) -> Paid:
    if reason := wrong(frame, entries, shifts):
        raise InputError(f"certificate: {reason}")
    return cost(frame, entries, shifts, priced(frame))


def moved(entries: Entries, shifts: Shifts, deltas: Sequence[float]) -> dict[int, float]:
    """How far draws move when entries move by `deltas`, which lie in their box."""
    if isinstance(shifts, LinearShifts):
        return {
            draw: constant + math.fsum(weight * deltas[entry] for entry, weight in by)
            for draw, constant, by in shifts.terms
        }
    if len(entries) == 1:  # a part of the way to one end, as in the proof for whole numbers
        ((low, high), (delta,)) = corners(entries), deltas
        (end,), values = (high, shifts.values[1]) if delta * high[0] > 0 else (low, shifts.values[0])
        return {draw: shift * delta / end for draw, shift in values} if delta else {}
    shares = [_shares(one, delta) for one, delta in zip(entries, deltas, strict=True)]
    found = defaultdict[int, float](float)
    for share, values in zip(itertools.product(*shares), shifts.values, strict=True):
        for draw, shift in values:
            found[draw] += math.prod(share) * shift
    return dict(found)


def _shares(entry: MovedEntry, delta: float) -> tuple[float, float]:
    """How much of each end of its range an entry is."""
    width = entry.high - entry.low
    up = (delta - entry.low) / width if width else 1.0
    return 1.0 - up, up


# ---------------------------------------------------------------- what a path comes to


class Counted(NamedTuple):
    """What is in a certificate: rows of patterns, which are checked, and charges, which are believed."""

    rows: int
    charges: int


def counted(certificate: TracedCertificate) -> Counted:
    """Rows of all patterns, and charges of all profiles, each once."""
    charges = {charge for profile in certificate.profiles for charge in profile.charges}
    rows = sum(len(certificate.frames[pattern.frame].rows) for pattern in certificate.patterns)
    return Counted(rows, len(charges))


def judged(certificate: TracedCertificate, delta: float) -> float:
    """The bound that follows, at `delta`: the largest of all units of all paths; infinite without a path.

    Raises
    ------
    InputError
        If a row does not stay.
    """
    return _largest(certificate, functools.partial(_epsilon, delta=delta))


def curved(certificate: TracedCertificate, name: str) -> float:
    """The ``rho`` of zero-concentrated or the ``mu`` of Gaussian differential privacy that follows.

    Both add up over adaptive steps, mu as squares. Normal noise moved by h deviations has mu = h and rho =
    h^2/2; a pure loss has what `laws.of_pure` says, and no more in parts: rho and mu^2 are convex in it.
    Of Wishart noise neither is known, and of what is charged as rho no mu.

    Raises
    ------
    InputError
        If a row does not stay.
    """
    return _largest(certificate, functools.partial(_curved, name=name))


Prices = Sequence[tuple[Paid, Paid]]  # by pattern


def _largest(certificate: TracedCertificate, summed: Callable[[Profile, Prices], float]) -> float:
    """What the unit pays that pays most on any path, summed up; infinite without a path."""
    paid = [both(certificate.frames[pattern.frame], pattern) for pattern in certificate.patterns]
    each = [summed(profile, paid) for profile in certificate.profiles]
    found = [max((each[at] for at, _ in path.units), default=0.0) for path in certificate.paths]
    return max(found, default=math.inf)


def _curved(profile: Profile, paid: Prices, name: str) -> float:
    rest = math.fsum(charge.rho for charge in profile.charges)
    if any(charge.releases() for charge in profile.charges) or (rest and name == "mu"):
        return math.inf
    if name == "rho":
        return max(rest + laws.of_pure(loss, name) + squared / 2 for loss, squared in totals(profile, paid))
    return max(math.sqrt(laws.of_pure(loss, name) ** 2 + squared) for loss, squared in totals(profile, paid))


def _epsilon(profile: Profile, paid: Prices, delta: float) -> float:
    """The dearer of both changes of a unit."""
    releases = tuple(release for charge in profile.charges for release in charge.releases())
    rho = math.fsum(charge.rho for charge in profile.charges)
    return max(laws.epsilon_of(*total, delta, releases, rho) for total in totals(profile, paid))


def totals(profile: Profile, paid: Prices) -> tuple[Paid, Paid]:
    """What a unit pays in all, if it changes one way, and the other."""
    found = []
    for way, name in enumerate(("up", "down")):
        each = [(paid[pattern][way], times) for pattern, _, times in profile.groups]
        loss = [*(one.loss * times for one, times in each), *(getattr(c, name) for c in profile.charges)]
        squared = [*(one.squared * times for one, times in each), *(c.squared for c in profile.charges)]
        found.append(Paid(math.fsum(loss), math.fsum(squared)))
    return found[0], found[1]
