"""What a certificate says of one neighbour of one run: how far each draw moves, and what that costs at most.

A replay (`replay`) needs numbers: these draws of the run by so much. They are taken from the certificate of
the run's own path, so that what is tried on the plain code is what the bound was made from. Who says which
entry and which draw of the certificate is which of the run is not trusted: if that is wrong the replay fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifiable_dp.evidence.judge.arithmetic import TOLERANCE, Paid, both, moved, totals
from verifiable_dp.evidence.judge.certificate import MovedEntry, Pattern, TracedCertificate
from verifiable_dp.evidence.judge.replay import Key, Move

_NOTHING = Paid()


@dataclass(frozen=True)
class MovedGroup:
    """A group of what a run has shown, in which the neighbour moves something.

    Parameters
    ----------
    pattern
        Of the certificate.
    deltas
        How far its entries move.
    draws
        Which draws of the run those of its frame are; None where that is not known.
    """

    pattern: int
    deltas: tuple[float, ...]
    draws: tuple[Key | None, ...]


@dataclass(frozen=True)
class Hiding:
    """How noise hides a neighbour.

    Attributes
    ----------
    wrong
        What the certificate does not say; empty if it says all that is needed.
    moves
        Draws that move; None if it is not known how.
    most
        What these moves may cost.
    """

    wrong: str = ""
    moves: dict[Key, Move] | None = None
    most: Paid = _NOTHING


def hidden(
    certificate: TracedCertificate,
    unit: int,
    groups: Sequence[MovedGroup],
    move: Callable[[Key, float], Move | None],
) -> Hiding:
    """How the certificate of a run's path hides that `unit` moves these groups.

    Parameters
    ----------
    certificate
        Of one path.
    unit
        Which changes.
    groups
        All in which it moves anything that a pattern stands for.
    move
        What becomes of a draw that moves so far; None if that is not known.
    """
    (path,) = certificate.paths
    own = [certificate.profiles[at] for at, units in path.units if unit in units]
    listed = Counter[int]()
    for profile in own:
        for at, _, times in profile.groups:
            listed[at] += times
    if any(times > listed[at] for at, times in Counter(group.pattern for group in groups).items()):
        return Hiding("the certificate leaves out values that change on a neighbouring input")
    known = [key for group in groups for key in group.draws if key is not None]
    if len({*known}) < len(known):
        return Hiding("the certificate counts a draw twice")
    patterns = [certificate.patterns[group.pattern] for group in groups]
    way = next((way for way in (0, 1) if _reaches(way, patterns, groups)), None)
    if way is None:
        return Hiding("a neighbouring input changes a value by more than the certificate says")
    moves: dict[Key, Move] = {}
    for pattern, group in zip(patterns, groups, strict=True):
        entries = _way(pattern.entries, way)
        shifts = pattern.down if way else pattern.up
        for draw, shift in moved(entries, shifts, group.deltas).items():
            key = group.draws[draw]
            made = None if key is None else move(key, shift)
            if shift and (key is None or made is None):
                return Hiding()
            if key is not None and made is not None and shift:
                moves[key] = made
    paid = [both(certificate.frames[pattern.frame], pattern) for pattern in certificate.patterns]
    return Hiding("", moves, totals(own[0], paid)[way] if own else _NOTHING)


def _way(entries: Sequence[MovedEntry], way: int) -> Sequence[MovedEntry]:
    return [one.turned() for one in entries] if way else entries


def _reaches(way: int, patterns: Sequence[Pattern], groups: Sequence[MovedGroup]) -> bool:
    """Whether all that moves stays within the boxes of a change in this direction."""
    return all(
        one.low - TOLERANCE * abs(one.low) <= delta <= one.high + TOLERANCE * abs(one.high)
        for pattern, group in zip(patterns, groups, strict=True)
        for one, delta in zip(_way(pattern.entries, way), group.deltas, strict=True)
    )
