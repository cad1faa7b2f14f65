"""Two worlds as a user declares them: whether they are neighbouring inputs of a claim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifiable_dp.core.units import Plays
from verifiable_dp.core.validate import JsonValue
from verifiable_dp.evidence.words import digits
from verifiable_dp.record.model import Claim, Record

_USUAL = [0.0, 1.0]


def range_of(record: Record) -> list[float] | None:
    """Range of the rewards or of the data; None if the record does not say."""
    target = record.target
    found = target.bounds or target.parameters.get("bounds")
    return [float(value) for value in found] if found else None


def ranged(record: Record) -> str:
    """The range of the inputs of a user's code, begun with a space, for a sentence that rests on it.

    Empty for an algorithm: its range is part of it.
    """
    found = None if record.target.bounds else range_of(record)
    if not found:
        return ""
    usual = " (our default; --bounds sets another range)" if found == _USUAL else ""
    what = "data" if record.target.plays is Plays.DATA else "rewards"
    return f" for {what} in [{', '.join(map(digits, found))}]{usual}"


def neighbouring(
    world_0: JsonValue,
    world_1: JsonValue,
    claim: Claim,
    bounds: Sequence[float] | None = None,
) -> tuple[bool | None, str]:
    """Whether two declared worlds are neighbouring inputs of a claim, and why.

    Parameters
    ----------
    world_0, world_1
        Words, rewards (T,), or a table of rewards (T, K).
    claim
        Of the record.
    bounds
        Range of the rewards, if it is known.

    Returns
    -------
    bool or None
        None where it cannot be checked.
    str
        The reason.
    """
    if isinstance(world_0, str) or isinstance(world_1, str):
        return None, "given in words, so nothing was checked"
    left, right = np.array(world_0, dtype=float), np.array(world_1, dtype=float)
    if left.shape != right.shape:
        return False, f"shapes {left.shape} and {right.shape}: neighbouring inputs have equal length"
    if bounds is not None and not all(bounds[0] <= w.min() and w.max() <= bounds[1] for w in (left, right)):
        return False, f"a reward lies outside [{bounds[0]:g}, {bounds[1]:g}], so it is not an input"
    apart = left != right
    entries = int(apart.sum())
    if not entries:
        return False, "the two worlds are the same"
    rounds = np.flatnonzero(apart.reshape(len(left), -1).any(axis=1))
    where = f"{_few(rounds + 1)} differ{'s' if len(rounds) == 1 else ''}"
    return _within(claim, entries, len(rounds), where)


def _within(claim: Claim, entries: int, rounds: int, where: str) -> tuple[bool | None, str]:
    size = claim.size
    # A client of the shuffle model holds the rewards of all actions of its round.
    whole_rounds = claim.unit.of_rounds
    differ = rounds if whole_rounds else entries
    covers = f"the claim covers {size} {'round' if whole_rounds else 'reward'}{'s' if size > 1 else ''}"
    if differ > size:
        return False, f"{where}; {covers}"
    if claim.relation and claim.relation.kind == "user":
        return None, f"{where}; {covers}, if they are one user's, which the numbers do not show"
    return True, f"{where}; {covers}"


def _few(numbers: JsonValue) -> str:
    """Rounds in words, the first few of many."""
    shown = ", ".join(str(int(n)) for n in numbers[:5])
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"round{'s' if len(numbers) > 1 else ''} {shown}{more}"
