"""What one user with a context can move: vectors in a ball, and products of their entries.

The entries of a context move together: its norm is bounded, not each entry. So what a user pays for all
releases is bounded at once, over all contexts and rewards: with Laplace noise by the largest weighted sum of
|x_i x_j|, |r x_i| and |x_i|, with normal noise by the largest Euclidean distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.validate import FloatArray, Foreign
from verifiable_dp.evidence.symbolic.atoms import Atom
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.world import World

_MARGIN = 1 + 1e-12  # eigenvalues and norms are computed


@dataclass(eq=False)
class Vector:
    """A context of one user.

    Attributes
    ----------
    unit
        The user.
    radius
        Its largest norm.
    size
        Number of entries.
    moves
        Whether another user may bring another one.
    """

    unit: int
    radius: float
    size: int
    moves: bool = True

    def entries(self, world: World, values: Sequence[float]) -> list[Foreign]:
        """Terms of its entries."""
        moved = {self.unit: (-2 * self.radius, 2 * self.radius)} if self.moves else {}
        atoms = [Atom(value, -self.radius, self.radius, lambda: moved, of=self) for value in values]
        return [Term(world, 0.0, {atom: 1.0}, {}) for atom in atoms]


@dataclass(eq=False)
class Number:
    """A reward of one user; `width` is how far it can move."""

    unit: int
    width: float
    largest: float


def base(value: Foreign) -> Atom | None:
    """The atom that a term consists of, if it is an entry of a context or a reward; else None."""
    if type(value) is not Term or value.noise or value.const:
        return None
    found = [(atom, weight) for atom, weight in value.raw.items() if weight]
    return found[0][0] if len(found) == 1 and found[0][1] == 1.0 and found[0][0].of is not None else None


def vector_of(values: Iterable[Foreign]) -> Vector | None:
    """The context whose entries these are, all of them; else None."""
    atoms = [base(value) for value in values]
    owners = {id(atom.of) if atom else 0 for atom in atoms}
    first = atoms[0].of if atoms and atoms[0] else None
    whole = type(first) is Vector and len(owners) == 1 and len({*map(id, atoms)}) == first.size == len(atoms)
    return first if whole else None


def shortened(left: Foreign, right: Foreign) -> Foreign:
    """An entry of a context over max(c, s |x|), whose norm is at most 1 / s; None if it is something else."""
    atom = base(left)
    if atom is None or type(atom.of) is not Vector or type(right) is not Term or len(right.raw) != 1:
        return None
    (largest, weight), vector = next(iter(right.raw.items())), atom.of
    parts = largest.largest_of
    if len(parts) != 2 or right.const or right.noise or weight != 1.0:
        return None
    limit, length = parts if type(parts[1]) is Term else parts[::-1]
    if type(limit) is Term or type(length) is not Term or length.const or length.noise or float(limit) <= 0:
        return None
    ((norm, by),) = length.raw.items() if len(length.raw) == 1 else ((largest, 0.0),)
    if norm.norm_of is not vector or by <= 0:
        return None
    world = left.world
    made = world.kept.setdefault((vector, largest), Vector(vector.unit, 1 / by, vector.size, vector.moves))
    key = (atom, largest)
    if key not in world.kept:
        world.kept[key] = made.entries(world, [left.value() / right.value()])[0]
    return world.kept[key]


def own_choice(world: World, position: Foreign, box: Foreign) -> Foreign:
    """What a user's own choice, of which no other sees anything, picks from what the user brings."""
    Box, objects = world.arrays.Box, world.arrays.objects
    rows = box.data.tolist() if box.ndim <= 2 else []
    if position.value >= len(rows):
        return position.plain()
    picked: Foreign = rows[position.value]
    if box.ndim == 2:
        vectors = [vector_of(row) for row in rows]
        first = vectors[0] if vectors else None
        if first is not None and all(v is not None and {v.unit} == position.moved for v in vectors):
            radius = max(v.radius for v in vectors if v is not None)
            made = Vector(first.unit, radius, first.size, first.moves or len({*map(id, vectors)}) > 1)
            made.moves = True  # another context, or another choice
            return Box.of(world, objects(made.entries(world, [v.value() for v in picked]), (first.size,)))
    atoms = [base(value) for value in rows] if box.ndim == 1 else []
    if atoms and all(a is not None and {a.of.unit} == position.moved for a in atoms):
        low, high = min(a.low for a in atoms if a), max(a.high for a in atoms if a)
        moved = {atoms[0].of.unit: (low - high, high - low)} if atoms[0] else {}
        owner = Number(next(iter(position.moved)), high - low, max(abs(low), abs(high)))
        return Term(world, 0.0, {Atom(picked.value(), low, high, lambda: moved, of=owner): 1.0}, {})
    return position.plain()


def form_range(term: Term) -> tuple[float, float] | None:
    """Bounds of a constant and a quadratic form in one context, by its eigenvalues; else None."""
    matrix: dict[tuple[Atom, Atom], float] = {}
    owners = set()
    for atom, weight in term.raw.items():
        if weight:
            if len(atom.factors) != 2:
                return None
            owners |= {one.of for one in atom.factors}
            matrix[atom.factors[0], atom.factors[1]] = weight
    vector = next(iter(owners)) if len(owners) == 1 else None
    if type(vector) is not Vector:
        return None
    values = np.linalg.eigvalsh(_symmetric(matrix))
    least, most = min(float(values[0]), 0.0), max(float(values[-1]), 0.0)
    least = 0.0 if -least < 1e-12 * most else least  # it is computed
    return term.const + least * vector.radius**2, term.const + most * vector.radius**2


# ---------------------------------------------------------------- what a user pays for all releases


@dataclass(frozen=True)
class UserRelease:
    """Sums of atoms that one draw of symmetric noise hides: weights per unit of the draw."""

    weights: Mapping[Atom, float]
    normal: bool


def paid(releases: Sequence[UserRelease]) -> dict[int, tuple[float, float]]:
    """Loss of Laplace noise and squared shift of normal noise, by user; without those that have no bound."""
    by_unit: dict[int, list[tuple[UserRelease, dict[Atom, float]]]] = {}
    for release in releases:
        split: dict[int, dict[Atom, float]] = {}
        for atom, weight in release.weights.items():
            for unit in atom.moves if weight else ():
                split.setdefault(unit, {})[atom] = abs(weight)
        for unit, weights in split.items():
            by_unit.setdefault(unit, []).append((release, weights))
    found = {}
    for unit, parts in by_unit.items():
        plain: dict[Atom, float] = {}
        squares: dict[Atom, float] = {}
        single = True
        for release, weights in parts:
            single = single and (len(weights) == 1 or not release.normal)
            for atom, weight in weights.items():
                into, size = (squares, weight**2) if release.normal else (plain, weight)
                into[atom] = into.get(atom, 0.0) + size
        if single:
            found[unit] = _sums(plain), _squares(squares)
    return {unit: both for unit, both in found.items() if all(map(math.isfinite, both))}


def _kinds(weights: Mapping[Atom, float]) -> dict[Foreign, dict[Foreign, float]] | None:
    """Weights by what they weigh: entries (x), numbers (r) and products of two; None if there is another."""
    found: dict[Foreign, dict[Foreign, float]] = {}
    for atom, weight in weights.items():
        owners = sorted((a.of for a in atom.factors or (atom,)), key=lambda o: type(o) is Vector)
        if any(type(owner) not in (Vector, Number) for owner in owners):
            return None
        names = tuple("x" if type(owner) is Vector else "r" for owner in owners)
        key = (names, *owners)
        factors = frozenset(a for a in atom.factors or (atom,) if type(a.of) is Vector)
        into = found.setdefault(key, {})
        spot = factors if factors else atom
        into[spot] = into.get(spot, 0.0) + weight
    return found


def _sums(weights: Mapping[Atom, float]) -> float:
    """At most what the weighted absolute changes add up to."""
    kinds, total = _kinds(weights), 0.0
    if kinds is None:
        return math.inf
    for (names, *owners), each in kinds.items():
        size = math.sqrt(math.fsum(w * w for w in each.values()))
        if names == ("x", "x") and owners[0] is owners[1]:
            if owners[0].moves:
                total += 2 * _eigenvalue(each) * owners[0].radius ** 2
        elif names == ("x",):
            total += 2 * size * owners[0].radius * owners[0].moves
        elif names == ("r", "x"):
            reward, vector = owners
            most = 2 * reward.largest if vector.moves else reward.width
            total += size * most * vector.radius
        elif names == ("r",):
            total += math.fsum(each.values()) * owners[0].width
        elif names == ("r", "r") and owners[0] is owners[1]:
            total += math.fsum(w * _square_move(atom, owners[0]) for atom, w in each.items())
        else:
            return math.inf
    return total * _MARGIN if total else 0.0


def _square_move(atom: Atom, reward: Number) -> float:
    """How far the square of a reward can move."""
    return min(2 * reward.largest * reward.width, (atom.high - atom.low) * (reward.width > 0))


def _eigenvalue(weights: Mapping[frozenset[Atom], float]) -> float:
    """The largest sum of w_ij |x_i x_j| over the unit ball."""
    matrix = {((tuple(pair) * 2)[0], (tuple(pair) * 2)[1]): weight for pair, weight in weights.items()}
    return float(np.linalg.eigvalsh(_symmetric(matrix))[-1])


def _symmetric(weights: Mapping[tuple[Atom, Atom], float]) -> FloatArray:
    """The symmetric matrix of a quadratic form."""
    place = {atom: i for i, atom in enumerate({atom: 0 for pair in weights for atom in pair})}
    matrix: FloatArray = np.zeros((len(place), len(place)))
    for (one, other), weight in weights.items():
        i, j = place[one], place[other]
        matrix[i, j] += weight / 2
        matrix[j, i] += weight / 2
    return matrix


def _squares(weights: Mapping[Atom, float]) -> float:
    """At most what the weighted squares of changes add up to."""
    kinds, total = _kinds(weights), 0.0
    if kinds is None:
        return math.inf
    for (names, *owners), each in kinds.items():
        top = max(each.values())
        if names == ("x", "x") and owners[0] is owners[1]:
            # |xx' - yy'|_F^2 <= 2 R^4, in which entries off the diagonal stand twice.
            top = max(weight if len(pair) == 1 else weight / 2 for pair, weight in each.items())
            total += 2 * top * owners[0].radius ** 4 * owners[0].moves
        elif names == ("x",):
            total += 4 * top * owners[0].radius ** 2 * owners[0].moves
        elif names == ("r", "x"):
            reward, vector = owners
            most = 2 * reward.largest if vector.moves else reward.width
            total += top * (most * vector.radius) ** 2
        elif names == ("r",):
            total += math.fsum(each.values()) * owners[0].width ** 2
        elif names == ("r", "r") and owners[0] is owners[1]:
            total += math.fsum(w * _square_move(atom, owners[0]) ** 2 for atom, w in each.items())
        else:
            return math.inf
    return total * _MARGIN
