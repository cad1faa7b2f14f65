"""What a traced run gives away: the least cost of moving its noise so that the neighbour shows the same.

For every unit of the data and both directions of its change we look for shifts h of the draws such that all
that was seen is seen again: a shown sum q + N z needs dq + N h = 0, a comparison or a maximum that leads by
q + N z needs dq + N h >= 0. Shifting a Laplace draw of scale b by h costs |h| / b, and draws that nothing
else depends on stay where they are. Any such shift bounds the loss of this outcome, for it maps every noise
that leads to it onto noise that leads to it on the neighbour (randomness alignment); the best one is a linear
program. What several draws hide together and no shift can follow has no bound.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import laws
from verifiable_dp.evidence.judge.certificate import MOST_ENTRIES, Belief, Frame, MovedEntry, Pattern, Weights
from verifiable_dp.evidence.symbolic import matrices, shifts
from verifiable_dp.evidence.symbolic.atoms import Atom, Charge, Part, Row, SymbolicDraw, Winner, moves_of
from verifiable_dp.evidence.symbolic.chances import telescoped
from verifiable_dp.evidence.symbolic.pooled_noise import TwoSided
from verifiable_dp.evidence.symbolic.shifts import MOST_ROWS, READ, FrameNoise
from verifiable_dp.evidence.symbolic.users import UserRelease
from verifiable_dp.evidence.symbolic.users import paid as paid_together
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.ledger import Place

_TINY = 1e-9
_MOST_PROGRAMS = 400  # corners of all units of a group at which linear programs are solved
_STILL = (0.0, 0.0)


def _is_symmetric(draw: SymbolicDraw) -> bool:
    return laws.law_of(draw.kind, draw.step)[:2] == (1.0, 1.0) and draw.kind != "geometric"


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
    what
        What is believed of it where no pattern stands for it.
    pattern
        How noise moves so that all that is seen stays: the judge finds the cost from that alone.
    """

    place: Place
    up: float
    down: float
    squared: float = 0.0
    matrices: tuple[wishart.WishartRelease, ...] = ()
    rho: float = 0.0
    what: Belief = Belief.OUTCOME
    pattern: tuple[Frame, Pattern] | None = None


Costs = dict[int, list[Cost]]
Moved = dict[Foreign, list[tuple[Atom, MovedEntry]]]  # entries by unit


def costs_of(world: World) -> Costs:
    """What each unit pays in a traced run, for every group of draws that depend on one another."""
    found, hiding = _costs(world, world.seen)
    world.scales |= {at for draw in hiding for at in world.scaling.get(draw, ())}
    return found


def costs_held(world: World) -> Costs | None:
    """As `costs_of`, if sums that public numbers scale stay as they are; None if that is the same.

    Then all that is made of their multiples stays, whatever the numbers are, and costs the same. The least
    cost may be less than that, and may be that of other noise where other numbers scale them.
    """
    known, rows = {_ray(row) for row in rows_of(world.seen) if row.relation == "="}, list[Row]()
    for row, *_ in world.held:
        if (ray := _ray(row)) not in known:
            known.add(ray)
            rows.append(row)
    return _costs(world, [*world.seen, *rows])[0] if rows else None


def _ray(row: Row) -> Foreign:
    """The same of all multiples of a row."""
    parts = [*row.raw.items(), *row.noise.items()]
    by = next(iter(row.noise.values()), 1.0)
    return frozenset((one, float(f"{weight / by:.9g}")) for one, weight in parts if weight)


def _costs(world: World, every: Sequence[Row | Winner]) -> tuple[Costs, set[SymbolicDraw]]:
    """What each unit pays where all of that is seen, and the draws that hide data."""
    found: Costs = {}
    bits: dict[tuple[int, Foreign], list[Charge]] = {}
    for charge in telescoped(world.charges):
        if charge.bit is not None:
            for unit in charge.costs:
                bits.setdefault((unit, charge.bit.cell), []).append(charge)
            continue
        for unit, (up, down) in charge.costs.items():
            found.setdefault(unit, []).append(Cost(charge.place, up, down))
        for unit, rho in charge.rho.items():
            found.setdefault(unit, []).append(Cost(charge.place, 0.0, 0.0, rho=rho, what=Belief.LIBRARY))
    for (unit, _), charges in bits.items():
        found.setdefault(unit, []).append(_of_bits(charges))
    alone: Costs = {}
    places: dict[tuple[int, Foreign], dict[Atom, list[Cost]]] = {}
    releases: list[UserRelease] = []
    seen = [item for item in every if not _of_matrices(item)]
    for unit, cost in _beneath([item for item in every if _of_matrices(item)]):
        found.setdefault(unit, []).append(cost)
    hiding = set[SymbolicDraw]()
    for group in groups_of(seen):
        shared = SharedGroup.of(group)
        own = shared.releases
        releases += own
        hiding |= shared.hiding
        for unit, cost in shared.costs.items():
            atom = _place_of(group, unit)
            if atom is not None:
                places.setdefault((unit, atom.cell), {}).setdefault(atom, []).append(cost)
            else:
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
    return _amplified(found), hiding


def _place_of(group: Sequence[Row | Winner], unit: Foreign) -> Atom | None:
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
    most = sum(pure[-2:])
    return Cost(places[0][0].place, most, most, sum(squared[-2:]), what=Belief.PLACES)


def _of_bits(charges: Sequence[Charge]) -> Cost:
    """What coins about exclusive bits come to: at most one of them is 1, before and after a change."""
    losses: dict[Atom | None, float] = {None: 0.0}
    for charge in charges:
        losses[charge.bit] = losses.get(charge.bit, 0.0) + charge.loss
    most = max(losses.values()) - min(losses.values())
    return Cost(charges[-1].place, most, most, what=Belief.BITS)


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
        known = _offsets(rows) is not None
        met = {draw: draw.met for draw in draws} if known else _of_groups(seen)
    if met is not None:
        found = matrices.paid(met)
    if found is None:
        yield from ((unit, Cost(rows[-1].place, math.inf, math.inf)) for unit in _movers(rows))
        return
    yield from (
        (unit, Cost(rows[-1].place, 0.0, 0.0, 0.0, (*each,), what=Belief.MATRICES))
        for unit, each in found.items()
    )


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


def _amplified(found: dict[Foreign, list[Cost]]) -> Costs:
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
    return Cost(costs[0].place, paid, paid, what=Belief.SUBSAMPLED)


def _releases(rows: Sequence[Row]) -> list[UserRelease]:
    """What each draw hides, if the draws of a group move with what they hide; else none."""
    draws = {draw for row in rows for draw in row.noise}
    kinds = {draw.kind for draw in draws}
    if any(row.relation != "=" for row in rows) or not (
        kinds == {"normal"} or all(map(_is_symmetric, draws))
    ):
        return []
    if len(rows) == len(draws) == 1:
        ((draw, weight),) = rows[0].noise.items()
        return [UserRelease({a: own / weight for a, own in rows[0].raw.items()}, draw.kind == "normal")]
    if _offsets(rows) is not None:
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
        return [Cost(costs[-1].place, plain, plain, squared, what=Belief.USERS)]
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


@dataclass(frozen=True)
class SharedGroup:
    """What is seen of some draws.

    Attributes
    ----------
    draws
        In the order of the frame.
    releases
        What each of them hides, if they move with what they hide.
    moved
        What each unit moves.
    costs
        What it pays.
    hiding
        The draws that move.
    """

    draws: tuple[SymbolicDraw, ...]
    releases: list[UserRelease]
    moved: Moved
    costs: dict[Foreign, Cost]
    hiding: frozenset[SymbolicDraw]

    @classmethod
    def of(cls, group: Sequence[Row | Winner]) -> SharedGroup:
        """Of a group.

        What users with contexts pay is told by what draws were first added to: all of it is bounded together.
        """
        rows, releases = rows_of(group), _releases(rows_of(group))
        told = bool(releases) and any(atom.of or atom.factors for row in rows for atom in row.raw)
        index = {draw: i for i, draw in enumerate({draw: 0 for row in rows for draw in row.noise})}
        noise = _noise(
            tuple(map(_law_of, index)),
            tuple((row.relation, tuple((index[d], w) for d, w in row.noise.items())) for row in rows),
            len(rows) > 1 and len(group) == 1,
            tuple((i, draw.of) for draw, i in index.items() if _is_believed(draw)),
        )
        units = _of_one_row(rows[0]) if len(rows) == 1 else _entries(rows)
        roles = _roles(units, _offsets(rows) if len(rows) > 1 else None, index)
        number = sum(2 ** len(entries) for entries, _ in roles)
        few = number <= _MOST_PROGRAMS and all(len(entries) <= MOST_ENTRIES for entries, _ in roles)
        costs: dict[Foreign, Cost] = {}
        draws, hiding = tuple(index), set[SymbolicDraw]()
        for (entries, offsets), alike in roles.items():
            found = shifts.found(noise, entries, offsets, few, told)
            squared = max(found.up.squared, found.down.squared)
            kept = None if found.read or found.pattern is None else (noise.frame, found.pattern)
            place = group[-1].place
            cost = Cost(place, found.up.loss, found.down.loss, squared, what=Belief.LAW, pattern=kept)
            costs |= dict.fromkeys(alike, cost)
            hiding |= {draws[i] for i in found.moving}
        return cls(draws, releases, units, costs, frozenset(draws if releases and units else hiding))


Offsets = Mapping[Atom, Sequence[tuple[SymbolicDraw, float]]]


def _roles(
    units: Moved, offsets: Offsets | None, index: Mapping[SymbolicDraw, int]
) -> dict[tuple[tuple[MovedEntry, ...], tuple[Weights, ...] | None], list[Foreign]]:
    """Units by what they move, with what draws were added to of that."""
    roles: dict[tuple[tuple[MovedEntry, ...], tuple[Weights, ...] | None], list[Foreign]] = {}
    for unit, moved in units.items():
        own = None
        if offsets is not None:
            own = tuple(tuple((index[d], w) for d, w in offsets.get(atom, ())) for atom, _ in moved)
        roles.setdefault((tuple(entry for _, entry in moved), own), []).append(unit)
    return roles


@functools.lru_cache(maxsize=1 << 10)
def _noise(
    draws: tuple[tuple[str, float], ...],
    rows: tuple[tuple[Literal["=", ">"], Weights], ...],
    maximum: bool,
    read: tuple[tuple[int, Foreign], ...],
) -> FrameNoise:
    return FrameNoise(Frame(draws, rows, maximum), read)


def _law_of(draw: SymbolicDraw) -> tuple[str, float]:
    """For the judge."""
    if type(draw.of) is TwoSided:
        return "two_sided_geometric", float(draw.of.step)
    if draw.kind == READ and draw.of.whole:
        return "unpriced", 0.0
    known = math.isfinite(draw.step)  # what is always the same has no price
    return draw.kind, float(draw.step) if known else 0.0


def _is_believed(draw: SymbolicDraw) -> bool:
    """Whether the judge has no price for a law that was read off code."""
    return draw.kind == READ and type(draw.of) is not TwoSided


def _entries(rows: Sequence[Row]) -> Moved:
    """What each unit moves in some rows."""
    columns: dict[Atom, list[tuple[int, float]]] = {}
    for number, row in enumerate(rows):
        for atom, weight in row.raw.items():
            if weight:
                columns.setdefault(atom, []).append((number, weight))
    found: Moved = {}
    for atom, weights in columns.items():
        column = tuple(weights)
        for unit, (low, high) in atom.moves.items():
            if low or high:
                found.setdefault(unit, []).append((atom, MovedEntry(low, high, column, atom.whole)))
    return found


def _of_one_row(row: Row) -> Moved:
    """What each unit moves in one row, as one number: in steps of the noise, if that has steps."""
    steps = [abs(weight) for draw, weight in row.noise.items() if laws.law_of(*_law_of(draw)).whole]
    by, found = (steps or [1.0])[0], {}
    whole = bool(steps) and all(
        atom.whole and abs(w / by - round(w / by)) <= _TINY * abs(w / by) for atom, w in row.raw.items() if w
    )
    for unit, (low, high) in moves_of(row.raw).items():
        if low or high:
            ends = (low / by, high / by)
            low, high = (float(round(end)) for end in ends) if whole else ends
            found[unit] = [(next(iter(row.raw)), MovedEntry(low, high, ((0, by),), whole))]
    return found


def _offsets(rows: Sequence[Row]) -> Offsets | None:
    """What each draw was first added to, by atom, if moving with that leaves all that is seen in place."""
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
    found: dict[Atom, list[tuple[SymbolicDraw, float]]] = {}
    for draw in {draw: 0 for row in rows for draw in row.noise}:
        for atom, own in draw.met.items():
            found.setdefault(atom, []).append((draw, own))
    return found


def _movers(rows: Sequence[Row]) -> set[Foreign]:
    """Units that move anything."""
    return {unit for row in rows for unit, move in moves_of(row.raw).items() if move != _STILL}


def _solved(rows: Sequence[Row], draws: Sequence[SymbolicDraw]) -> tuple[list[Atom], Foreign] | None:
    """The least shifts of draws, per unit of each atom, that leave all that is seen; None if none do."""
    if len(rows) > 4 * MOST_ROWS:
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
