"""What a traced run gives away: the least cost of moving its noise so that the neighbour shows the same.

For every unit of the data and both directions of its change we look for shifts h of the draws such that all
that was seen is seen again: a shown sum q + N z needs dq + N h = 0, a comparison or a maximum that leads by
q + N z needs dq + N h >= 0. Shifting a Laplace draw of scale b by h costs |h| / b, and draws that nothing
else depends on stay where they are. Any such shift bounds the loss of this outcome, for it maps every noise
that leads to it onto noise that leads to it on the neighbour (randomness alignment); the best one is a linear
program. What several draws hide together and no shift can follow has no bound.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.evidence.symbolic import matrices
from verifiable_dp.evidence.symbolic.terms import (
    Atom,
    Charge,
    Part,
    Row,
    SymbolicDraw,
    Winner,
    World,
    moves_of,
    telescoped,
)
from verifiable_dp.evidence.symbolic.users import UserRelease
from verifiable_dp.evidence.symbolic.users import paid as paid_together
from verifiable_dp.evidence.tracing.ledger import Place

# Cost of shifting a draw of scale 1 up or down by 1; inf where the density has no bound for that.
LAWS = {
    "laplace": (1.0, 1.0),
    "logistic": (1.0, 1.0),
    "cauchy": (1.0, 1.0),
    "hypsecant": (1.0, 1.0),
    "exponential": (1.0, math.inf),
    "gumbel": (1.0, math.inf),
    "geometric": (1.0, math.inf),
    "law": (math.inf, math.inf),  # see `_price`
    "normal": (math.inf, math.inf),
    "gamma": (math.inf, math.inf),
    "polya": (math.inf, math.inf),
    "student": (math.inf, math.inf),  # see `_prices`
    "product": (math.inf, math.inf),
    "square": (math.inf, math.inf),
    "root": (math.inf, math.inf),
    "uniform": (math.inf, math.inf),
    matrices.KIND: (math.inf, math.inf),
}


def _prices(draw: SymbolicDraw) -> tuple[float, float]:
    """Cost of shifting a draw of scale 1 up or down by 1."""
    if (
        draw.kind == "student"
    ):  # the steepest slope of the logarithm of its density, at sqrt(degrees of freedom)
        steepest = (draw.step + 1) / (2 * math.sqrt(draw.step))
        return steepest, steepest
    return LAWS[draw.kind]


_SYMMETRIC = {kind for kind, prices in LAWS.items() if prices == (1.0, 1.0)}
_IN_STEPS = ("geometric", "law")  # no shift of these by a part costs that part
_FEW_ROWS, _MOST_ROWS, _MOST_PROGRAMS, _MOST_CORNERS = 12, 60, 400, 10
_TINY = 1e-9
_STILL = (0.0, 0.0)


@dataclass(frozen=True)
class Cost:
    """What a unit pays.

    Attributes
    ----------
    place
        The line at which it does.
    up, down
        Loss if the unit changes one way, and the other.
    squared
        Squared shift of normal noise in standard deviations.
    matrices
        Released with Wishart noise.
    rho
        Zero-concentrated differential privacy of what a library drew.
    """

    place: Place
    up: float
    down: float
    squared: float = 0.0
    matrices: tuple[wishart.WishartRelease, ...] = ()
    rho: float = 0.0


Costs = dict[int, list[Cost]]


def costs_of(world: World) -> Costs:
    """What each unit pays in a traced run, for every group of draws that depend on one another."""
    found: Costs = {}
    bits: dict[tuple[int, Any], list[Charge]] = {}
    for charge in telescoped(world.charges):
        if charge.bit is not None:
            for unit in charge.costs:
                bits.setdefault((unit, charge.bit.cell), []).append(charge)
            continue
        for unit, (up, down) in charge.costs.items():
            found.setdefault(unit, []).append(Cost(charge.place, up, down))
        for unit, rho in charge.rho.items():
            found.setdefault(unit, []).append(Cost(charge.place, 0.0, 0.0, rho=rho))
    for (unit, _), charges in bits.items():
        found.setdefault(unit, []).append(_of_bits(charges))
    alone: Costs = {}
    places: dict[tuple[int, Any], dict[Atom, list[Cost]]] = {}
    releases: list[UserRelease] = []
    seen = [item for item in world.seen if not _of_matrices(item)]
    for unit, cost in _beneath([item for item in world.seen if _of_matrices(item)]):
        found.setdefault(unit, []).append(cost)
    for group in groups_of(seen):
        place, own = group[-1].place, _releases(rows_of(group))
        releases += own
        told = bool(own) and any(atom.of or atom.factors for row in rows_of(group) for atom in row.raw)
        for unit, (up, down, squared) in _paid(group, told).items():
            cost, atom = Cost(place, up, down, squared), _place_of(group, unit)
            if atom is not None:
                places.setdefault((unit, atom.cell), {}).setdefault(atom, []).append(cost)
            elif up or down or squared:
                (alone if own else found).setdefault(unit, []).append(cost)
    for (unit, _), each in places.items():
        found.setdefault(unit, []).append(_of_two(list(each.values())))
    together = (
        paid_together(releases)
        if any(atom.of or atom.factors for r in releases for atom in r.weights)
        else {}
    )
    for unit, costs in alone.items():
        found.setdefault(unit, []).extend(_cheaper(costs, together.get(unit)))
    return _amplified(found)


def _place_of(group: Sequence[Row | Winner], unit: Any) -> Atom | None:
    """The place of a histogram, if its release is all of the group and the unit moves nothing else there."""
    rows = rows_of(group)
    if len(group) != 1 or len(rows) != 1 or rows[0].relation != "=" or not isinstance(unit, int):
        return None
    moved = [atom for atom in rows[0].raw if unit in atom.moves]
    return moved[0] if len(moved) == 1 and moved[0].cell is not None else None


def _of_two(places: Sequence[Sequence[Cost]]) -> Cost:
    """What is paid at two places together: a value that is replaced leaves one and enters another."""
    pure = sorted(math.fsum(max(cost.up, cost.down) for cost in costs) for costs in places)
    squared = sorted(math.fsum(cost.squared for cost in costs) for costs in places)
    return Cost(places[0][0].place, sum(pure[-2:]), sum(pure[-2:]), sum(squared[-2:]))


def _of_bits(charges: Sequence[Charge]) -> Cost:
    """What coins about exclusive bits come to: at most one of them is 1, before and after a change."""
    losses: dict[Atom | None, float] = {None: 0.0}
    for charge in charges:
        losses[charge.bit] = losses.get(charge.bit, 0.0) + charge.loss
    most = max(losses.values()) - min(losses.values())
    return Cost(charges[-1].place, most, most)


def _of_matrices(item: Row | Winner) -> bool:
    return any(draw.kind == matrices.KIND for row in rows_of([item]) for draw in row.noise)


def _beneath(seen: Sequence[Row | Winner]) -> Iterator[tuple[int, Cost]]:
    """What users pay for matrices with Wishart noise, each of which moves with what it was added to."""
    rows = rows_of(seen)
    if not rows:
        return
    draws = {draw for row in rows for draw in row.noise}
    found, met = None, None
    if all(draw.kind == matrices.KIND for draw in draws):
        known = _companions(rows, ()) is not None
        met = {draw: draw.met for draw in draws} if known else _of_groups(seen)
    if met is not None:
        found = matrices.paid(met)
    if found is None:
        yield from ((unit, Cost(rows[-1].place, math.inf, math.inf)) for unit in _without(rows))
        return
    yield from ((unit, Cost(rows[-1].place, 0.0, 0.0, 0.0, (*each,))) for unit, each in found.items())


def _of_groups(seen: Sequence[Row | Winner]) -> dict[SymbolicDraw, Mapping[Atom, float]] | None:
    """What each draw moves with so that all that is seen stays, of each group that shares draws."""
    found: dict[SymbolicDraw, Mapping[Atom, float]] = {}
    for group in groups_of(seen):
        rows = rows_of(group)
        each = _together(rows, {draw for row in rows for draw in row.noise})
        if each is None:
            return None
        found |= each
    return found


def _amplified(found: dict[Any, list[Cost]]) -> Costs:
    """What units pay that count with a chance only (see `Part`).

    A unit that counts with probability p where nothing else shows the coin, and whose coming, going and
    change cost at most c, pays log(1 + p (e^c - 1)) (Balle, Barthe & Gaboardi, 2018). Of parts with coins of
    their own each may be changed after the other, so that their costs add up, and with what counts always.
    """
    parts: dict[int, list[Part]] = {}
    for key in found:
        if isinstance(key, Part):
            parts.setdefault(key.unit, []).append(key)
    for unit, keys in parts.items():
        each, whole = {key: found.pop(key) for key in keys}, found.pop(unit, [])
        rows = [cost for costs in each.values() for cost in costs]
        squared = any(cost.squared or cost.matrices or cost.rho for cost in (*rows, *whole))
        if squared and (len(keys) > 1 or whole):  # shifts of normal noise add up before they are squared
            found[unit] = [Cost(rows[0].place, math.inf, math.inf)]
            continue
        coins = Counter(key.source for key in keys)
        found[unit] = whole
        for key, costs in each.items():
            alone = not squared and key.source.hidden and coins[key.source] == 1
            found[unit] = found[unit] + ([_counted(key, costs)] if alone else costs)
    return found


def _counted(part: Part, costs: Sequence[Cost]) -> Cost:
    """What a unit pays that counts if a coin says so which nothing else shows."""
    most = max(math.fsum(cost.up for cost in costs), math.fsum(cost.down for cost in costs))
    paid = math.log1p(part.chance * math.expm1(most)) if most < 700 else math.inf
    return Cost(costs[0].place, paid, paid)


def _releases(rows: Sequence[Row]) -> list[UserRelease]:
    """What each draw hides, if the draws of a group move with what they hide; else none."""
    draws = {draw for row in rows for draw in row.noise}
    kinds = {draw.kind for draw in draws}
    if any(row.relation != "=" for row in rows) or not (kinds == {"normal"} or kinds <= _SYMMETRIC):
        return []
    if len(rows) == len(draws) == 1:
        ((draw, weight),) = rows[0].noise.items()
        return [UserRelease({a: own / weight for a, own in rows[0].raw.items()}, draw.kind == "normal")]
    if _companions(rows, ()) is not None:
        return [UserRelease(draw.met, draw.kind == "normal") for draw in draws if draw.met]
    found = _together(rows, draws) if kinds == {"normal"} else None
    return [UserRelease(weights, True) for weights in (found or {}).values()]


def _cheaper(costs: list[Cost], together: tuple[float, float] | None) -> list[Cost]:
    """What a user pays release by release, or for all of them together if that is less."""
    if together is None:
        return costs
    plain, squared = together
    if any(cost.up > 0 or cost.down > 0 for cost in costs) and any(cost.squared for cost in costs):
        return costs
    each = max(math.fsum(cost.up for cost in costs), math.fsum(cost.down for cost in costs))
    if plain < each or squared < math.fsum(cost.squared for cost in costs):
        return [Cost(costs[-1].place, plain, plain, squared)]
    return costs


def rows_of(seen: Iterable[Row | Winner]) -> list[Row]:
    """The rows of what is seen."""
    return [row for item in seen for row in (item.rows if isinstance(item, Winner) else (item,))]


def groups_of(seen: Sequence[Row | Winner]) -> list[list[Row | Winner]]:
    """What is seen, split so that no draw stands in two groups."""
    parents: dict[int, int] = {}

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    owner: dict[SymbolicDraw, int] = {}
    for i, item in enumerate(seen):
        parents[i] = i
        for row in rows_of([item]):
            for draw in row.noise:
                if draw in owner:
                    parents[root(i)] = root(owner[draw])
                owner[draw] = root(i)
    found: dict[int, list[Row | Winner]] = {}
    for i, item in enumerate(seen):
        found.setdefault(root(i), []).append(item)
    return list(found.values())


Paid = dict[int, tuple[float, float, float]]


def _paid(group: Sequence[Row | Winner], told: bool = False) -> Paid:
    """Loss up, loss down and squared shift of normal noise, by unit.

    What users with contexts pay is `told` by the draws' companions: all of it is bounded together.
    """
    rows = rows_of(group)
    draws = {draw for row in rows for draw in row.noise}
    if any(draw.kind == "normal" for draw in draws):
        return _normal(rows, draws)
    companions = _companions(rows, draws) if told and len(rows) > 1 else None
    if companions is not None:
        return companions
    bounds: list[Paid | None] = [_one_row(rows[0])] if len(rows) == 1 else []
    if len(group) == 1 and isinstance(group[0], Winner):
        bounds.append(_either_way(_one_winner(group[0])))
    if len(rows) > 1:
        bounds += [_companions(rows, draws), _of_one(rows, draws)]
    best = _least([b for b in bounds if b is not None])
    simple = len(rows) == 1 or (best is not None and (len(group) == 1 or _single(rows)))
    if simple or len(rows) > _MOST_ROWS or any(draw.kind in _IN_STEPS for draw in draws):
        return best if best is not None else _without(rows)
    # Of one shared draw the best move is known, and what moves with its own noise is rarely dearer.
    known = best is not None and (len(rows) > _FEW_ROWS or len(_shared_by(rows)) == 1)
    solved = None if known else _programs(rows, sorted(draws, key=id))
    return _least([b for b in (best, solved) if b is not None]) or _without(rows)


def _shared_by(rows: Sequence[Row]) -> list[SymbolicDraw]:
    """The draws that stand in more than one row."""
    often = Counter(draw for row in rows for draw in row.noise)
    return [draw for draw, times in often.items() if times > 1]


def _single(rows: Sequence[Row]) -> bool:
    """Whether every unit moves one sum alone, so that no shift is cheaper than one of its own noise."""
    return all(row.relation == "=" and len(row.noise) == 1 for row in rows)


def _least(bounds: Sequence[Paid]) -> Paid | None:
    """The least of several bounds, unit by unit and direction by direction."""
    if not bounds:
        return None
    found = dict(bounds[0])
    for other in bounds[1:]:
        for unit in found.keys() | other.keys():
            a, b = found.get(unit, (0.0, 0.0, 0.0)), other.get(unit, (0.0, 0.0, 0.0))
            found[unit] = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]))
    return found


def _without(rows: Sequence[Row]) -> Paid:
    """No bound for any unit that moves anything."""
    units = {unit for row in rows for unit, move in moves_of(row.raw).items() if move != _STILL}
    return dict.fromkeys(units, (math.inf, math.inf, 0.0))


# ---------------------------------------------------------------- closed forms


def _price(draw: SymbolicDraw, weight: float, move: float, row: Row, exact: bool) -> float:
    """Cost of moving weight * draw by `move`."""
    if abs(move) <= _TINY * abs(weight) * 1e-3:
        return 0.0
    if weight == 0:  # masks that cancel
        return math.inf
    shift = move / weight
    if draw.kind in _IN_STEPS:
        if draw.kind == "law" and not draw.of.whole:
            return float(draw.of.price(shift))
        if exact and not _on_lattice(row, weight):
            return math.inf
        shift = round(shift) if exact else math.copysign(math.ceil(abs(shift) - _TINY), shift)
        if draw.kind == "law":
            return float(draw.of.price(shift))
        return shift * draw.step if shift > 0 else math.inf
    up, down = _prices(draw)
    return abs(shift) * (up if shift > 0 else down)


def _on_lattice(row: Row, weight: float) -> bool:
    steps = ((atom, w / weight) for atom, w in row.raw.items() if w)
    return all(atom.whole and abs(by - round(by)) <= _TINY * abs(by) for atom, by in steps)


def _cheapest(row: Row, draws: Mapping[SymbolicDraw, float], move: float) -> float:
    """Cost of moving the sum of a row by `move` with one of these draws."""
    if move == 0:
        return 0.0
    exact = row.relation == "="
    return min((_price(draw, w, move, row, exact) for draw, w in draws.items()), default=math.inf)


def _one_row(row: Row) -> Paid:
    """The best shift of one draw, which is the best of all for one row."""
    found = {}
    turned = {draw: -weight for draw, weight in row.noise.items()}
    for unit, (low, high) in moves_of(row.raw).items():
        if row.relation == ">":
            # Its noise serves nothing else: on another path it comes out otherwise. The dearer answer.
            least, most = max(-low, 0.0), max(high, 0.0)
            up = max(_cheapest(row, row.noise, least), _cheapest(row, turned, most))
            down = max(_cheapest(row, row.noise, most), _cheapest(row, turned, least))
        else:
            ends = [_cheapest(row, row.noise, -low), _cheapest(row, row.noise, -high)]
            back = [_cheapest(row, row.noise, low), _cheapest(row, row.noise, high)]
            up, down = max(ends), max(back)
        found[unit] = (up, down, 0.0)
    return found


def _one_winner(winner: Winner) -> Paid | None:
    """Shift the winner's noise by what the others gain most, or each of the others' by what it gains."""
    theirs = [{d: w for d, w in row.noise.items() if d not in winner.own} for row in winner.rows]
    several = [draw for noise in theirs for draw in noise]
    alike = all(row.noise.get(d) == w for row in winner.rows for d, w in winner.own.items())
    if len(set(several)) != len(several) or not alike:
        return None
    gains: dict[int, list[tuple[float, float]]] = {}
    for i, row in enumerate(winner.rows):
        for unit, (low, high) in moves_of(row.raw).items():
            each = gains.setdefault(unit, [_STILL] * len(winner.rows))
            each[i] = (max(-low, 0.0), max(high, 0.0))
    found = {}
    for unit, each in gains.items():
        costs = []
        for way in (0, 1):
            needs = [need[way] for need in each]
            # The cost is convex and bends only where the winner's shift suffices for one more of the others.
            costs.append(min(_shared(winner, theirs, needs, own) for own in {0.0, *needs}))
        found[unit] = (costs[0], costs[1], 0.0)
    return found


def _either_way(found: Paid | None) -> Paid | None:
    """The dearer way for both: on another path another one wins, and what rose has to fall."""
    if found is None:
        return None
    return {unit: (max(up, down), max(up, down), squared) for unit, (up, down, squared) in found.items()}


def _shared(
    winner: Winner, theirs: Sequence[Mapping[SymbolicDraw, float]], needs: Sequence[float], own: float
) -> float:
    """Cost of shifting the winner's sum by `own`, and each of the others by what it still needs."""
    others = sum(
        _cheapest(row, noise, max(need - own, 0.0))
        for row, noise, need in zip(winner.rows, theirs, needs, strict=True)
    )
    return _cheapest(winner.rows[0], winner.own, own) + others


def _companions(rows: Sequence[Row], draws: Iterable[SymbolicDraw]) -> Paid | None:
    """Every draw moves with what it was first added to, if that leaves all that is seen in place."""
    for row in rows:
        left = dict(row.raw)
        sizes = {atom: abs(weight) for atom, weight in left.items()}
        for draw, weight in row.noise.items():
            for atom, own in draw.met.items():
                left[atom] = left.get(atom, 0.0) - weight * own
                sizes[atom] = max(sizes.get(atom, 0.0), abs(weight * own))
        # Atom by atom, for they may move by very different amounts.
        if any(abs(weight) > _TINY * sizes[atom] for atom, weight in left.items()):
            return None
    found: Paid = {}
    for draw in draws:
        row = Row(Place("", 0), "=", draw.met, {draw: 1.0})
        for unit, paid in (_one_row(row) if draw.met else {}).items():
            known = found.get(unit, (0.0, 0.0, 0.0))
            found[unit] = (known[0] + paid[0], known[1] + paid[1], 0.0)
    return found


def _of_one(rows: Sequence[Row], draws: Iterable[SymbolicDraw]) -> Paid | None:
    """One draw that several rows share moves, as a sparse vector's threshold does, and each row's own."""
    often = Counter(draw for row in rows for draw in row.noise)
    shared = _shared_by(rows)
    if not shared or len(shared) > _MOST_CORNERS or any(draw.kind in _IN_STEPS for draw in draws):
        return None
    signatures = _signatures(rows)
    equal = np.array([row.relation == "=" for row in rows])
    prices = np.array([_own_prices(row, often) for row in rows]).T
    prices[1, ~equal] = 0.0  # whatever leads may lead by more
    found = []
    for draw in shared:
        weights = np.array([row.noise.get(draw, 0.0) for row in rows])
        if signatures is None:
            found.append(_at_ends(rows, _prices(draw), weights, prices))
        else:
            found.append(_at_corners(signatures, partial(_moved, _prices(draw), weights, prices), len(rows)))
    return _least(found)


def _at_ends(rows: Sequence[Row], law: tuple[float, float], weights: Any, prices: Any) -> Paid:
    """As `_moved` at corners, with a move of the shared draw that does for all that a unit can do at once.

    Each row is taken to move within its range, whatever the others do: what units pay is no less for that.
    """
    ranges: dict[int, Any] = {}
    for i, row in enumerate(rows):
        for unit, move in moves_of(row.raw).items():
            if move != _STILL:
                ranges.setdefault(unit, np.zeros((2, len(rows))))[:, i] = move
    found: Paid = {}
    for unit, (low, high) in ranges.items():
        ways = ((low, high), (-high, -low))
        up, down = (_cheapest_for_all(least, most, law, weights, prices) for least, most in ways)
        found[unit] = (up, down, 0.0)
    return found


def _cheapest_for_all(least: Any, most: Any, law: tuple[float, float], weights: Any, prices: Any) -> float:
    moved = weights != 0
    own = np.unique(np.concatenate([-least[moved] / weights[moved], -most[moved] / weights[moved], [0.0]]))
    each = np.zeros((len(own), len(weights)))
    for shift in (least, most):
        left = -(shift + own[:, None] * weights)
        left[np.abs(left) < _TINY * 1e-3 * (1 + max(np.abs(least).max(), np.abs(most).max()))] = 0.0
        with np.errstate(invalid="ignore"):
            cost = np.where(left > 0, left * prices[0], np.where(left < 0, -left * prices[1], 0.0))
        each = np.maximum(each, cost)
    with np.errstate(invalid="ignore"):
        first = np.where(own > 0, own * law[0], np.where(own < 0, -own * law[1], 0.0))
    return float((each.sum(axis=1) + first).min())


def _own_prices(row: Row, often: Mapping[SymbolicDraw, int]) -> tuple[float, float]:
    """Cost of moving a row up or down by 1 with a draw that stands in no other row."""
    best = [math.inf, math.inf]
    for draw, weight in row.noise.items():
        if often[draw] == 1:
            prices = _prices(draw) if weight > 0 else _prices(draw)[::-1]
            best = [min(b, price / abs(weight)) for b, price in zip(best, prices, strict=True)]
    return best[0], best[1]


def _moved(law: tuple[float, float], weights: Any, prices: Any, shift: Any) -> float:
    """The least cost of undoing a shift of the rows by one shared draw, and what is left by each row's own.

    That is convex in the draw's move and bends where a row needs no more, so that one of these is best.
    """
    own = np.unique(np.append(-shift[weights != 0] / weights[weights != 0], 0.0))
    left = -(shift + own[:, None] * weights)
    left[np.abs(left) < _TINY * 1e-3 * (1 + np.abs(shift).max())] = 0.0
    with np.errstate(invalid="ignore"):
        each = np.where(left > 0, left * prices[0], np.where(left < 0, -left * prices[1], 0.0)).sum(axis=1)
        first = np.where(own > 0, own * law[0], np.where(own < 0, -own * law[1], 0.0))
    return float((each + first).min())


# ---------------------------------------------------------------- normal noise


def _normal(rows: Sequence[Row], draws: Iterable[SymbolicDraw]) -> Paid:
    """Squared shift of normal noise, all that depends on it being shown."""
    draws = sorted(draws, key=id)
    solved = _solved(rows, draws) if all(draw.kind == "normal" for draw in draws) else None
    if solved is None:
        return _without(rows)
    shifts: dict[int, Any] = {}
    for atom, shift in zip(solved[0], np.abs(solved[1]).T, strict=True):
        for unit, move in atom.moves.items():
            shifts[unit] = shifts.get(unit, 0.0) + shift * max(map(abs, move))
    return {unit: (0.0, 0.0, float(shift @ shift)) for unit, shift in shifts.items()}


def _solved(rows: Sequence[Row], draws: Sequence[SymbolicDraw]) -> tuple[list[Atom], Any] | None:
    """The least shifts of draws, per unit of each atom, that leave all that is seen; None if none do."""
    if len(rows) > 4 * _MOST_ROWS:
        return None
    atoms = sorted({atom for row in rows for atom in row.raw}, key=id)
    matrix = np.array([[row.noise.get(draw, 0.0) for draw in draws] for row in rows])
    inverse = matrix.T / (matrix @ matrix.T) if len(rows) == 1 else np.linalg.pinv(matrix)
    exact = np.array([[row.raw.get(atom, 0.0) for atom in atoms] for row in rows])
    shifts = inverse @ exact
    missed = np.abs(matrix @ shifts - exact)
    return None if (missed > _TINY * np.abs(exact).max(axis=0, initial=0.0)).any() else (atoms, shifts)


def _together(
    rows: Sequence[Row], draws: Iterable[SymbolicDraw]
) -> dict[SymbolicDraw, dict[Atom, float]] | None:
    """What each draw moves with, per unit of the draw; None if all that is seen cannot stay."""
    order = sorted(draws, key=id)
    solved = _solved(rows, order)
    if solved is None:
        return None
    atoms, shifts = solved
    least = _TINY * np.abs(shifts).max(axis=0, initial=0.0)
    return {
        draw: {atom: float(s) for atom, s, small in zip(atoms, row, least, strict=True) if abs(s) > small}
        for draw, row in zip(order, shifts, strict=True)
    }


# ---------------------------------------------------------------- linear programs


Signatures = dict[tuple[Any, ...], list[int]]


def _signatures(rows: Sequence[Row]) -> Signatures | None:
    """Units by what they move: columns of the rows, each with its range; None for too many corners."""
    atoms = sorted({atom for row in rows for atom in row.raw}, key=id)
    moving: dict[int, list[Any]] = {}
    for atom in atoms:
        column = tuple(row.raw.get(atom, 0.0) for row in rows)
        for unit, move in atom.moves.items():
            if move != _STILL:
                moving.setdefault(unit, []).append((column, move))
    found: Signatures = {}
    for unit in {*moving}:
        found.setdefault(tuple(moving[unit]), []).append(unit)
    number = sum(2 ** len(moved) for moved in found)
    few = number <= _MOST_PROGRAMS and all(len(moved) <= _MOST_CORNERS for moved in found)
    return found if few else None


def _at_corners(signatures: Signatures, least: Callable[[Any], float], size: int) -> Paid:
    """What units pay if moving the rows costs `least` of the shift, which is convex: the worst corner."""
    found: Paid = {}
    for moved, alike in signatures.items():
        costs = [0.0, 0.0]
        for corner in itertools.product(*(move for _, move in moved)):
            shift = sum(
                (step * np.array(weights) for step, (weights, _) in zip(corner, moved, strict=True)),
                np.zeros(size),
            )
            if shift.any():
                costs = [max(c, least(way * shift)) for c, way in zip(costs, (1.0, -1.0), strict=True)]
        found |= dict.fromkeys(alike, (costs[0], costs[1], 0.0))
    return found


def _programs(rows: Sequence[Row], draws: Sequence[SymbolicDraw]) -> Paid | None:
    """The best shifts; None if there are too many."""
    signatures = _signatures(rows)
    if signatures is None:
        return None
    return _at_corners(signatures, _Solver.of(rows, draws).least, len(rows))


@dataclass
class _Solver:
    """Linear programs that differ in how far the sums move."""

    matrix: Any
    equal: Any
    prices: Any
    known: dict[bytes, float]

    @classmethod
    def of(cls, rows: Sequence[Row], draws: Sequence[SymbolicDraw]) -> _Solver:
        """For these rows."""
        columns, prices = [], []
        for draw in draws:
            column = np.array([row.noise.get(draw, 0.0) for row in rows])
            for sign, price in zip((1.0, -1.0), _prices(draw), strict=True):
                if math.isfinite(price):
                    columns.append(sign * column)
                    prices.append(price)
        equal = np.array([row.relation == "=" for row in rows])
        return cls(np.array(columns).T.reshape(len(rows), -1), equal, np.array(prices), {})

    def least(self, shift: Any) -> float:
        """The least cost; inf if no shift of the noise follows."""
        key = shift.tobytes()
        if key not in self.known:
            self.known[key] = self._solved(shift)
        return self.known[key]

    def _solved(self, shift: Any) -> float:
        from scipy.optimize import linprog

        if not self.matrix.shape[1]:
            wrong = (self.equal & (shift != 0)) | (shift < 0)
            return math.inf if wrong.any() else 0.0
        equal, above = self.equal, ~self.equal
        found = linprog(
            self.prices,
            A_ub=-self.matrix[above] if above.any() else None,
            b_ub=shift[above] if above.any() else None,
            A_eq=self.matrix[equal] if equal.any() else None,
            b_eq=-shift[equal] if equal.any() else None,
            method="highs",
        )
        return float(found.fun) if found.status == 0 else math.inf
