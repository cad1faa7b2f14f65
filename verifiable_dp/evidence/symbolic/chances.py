"""What outcomes cost that are drawn with chances which depend on the data."""

from __future__ import annotations

import math
from collections.abc import Sequence

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.adding import Ratio, counts_of, quiet
from verifiable_dp.evidence.symbolic.atoms import Charge, Moves, moves_of
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.world import World


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
    chance = quiet(chance)
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
                ends[frozenset(counts_of(charge.ratio.below).items())] = charge
        for one in left:
            other = ends.get(frozenset(counts_of(one.ratio.above).items())) if one.ratio is not None else None
            if one.ratio is not None and other is not None and other.ratio is not None and one is not other:
                both = Ratio(other.ratio.above, one.ratio.below)
                left = [charge for charge in left if charge is not one and charge is not other]
                left.append(Charge(other.place, _losses(both.moves()), both))
                break
        else:
            return left
