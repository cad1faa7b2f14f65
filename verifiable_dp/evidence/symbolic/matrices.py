"""Wishart noise on matrices: where it comes from, and what one user moves beneath it.

A draw W of the law with k degrees of freedom and scale S is G'G of k normal rows with covariance S, or what
`scipy.stats.wishart` gives. The user's item is z z' for a vector z of entries of the context, the reward and
constants; the law of the loss depends on |S^(-1/2) z|^2 and k alone (`core.mechanisms.wishart`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.mechanisms import wishart
from verifiable_dp.core.validate import FloatArray, Foreign
from verifiable_dp.evidence.symbolic.atoms import Atom, SymbolicDraw
from verifiable_dp.evidence.symbolic.boxes import Box, objects, plain
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.users import Vector
from verifiable_dp.evidence.symbolic.world import World, unseen

KIND = "wishart"
_TINY = 1e-9
Entries = Mapping[tuple[int, int], Mapping[Atom, float]]


@dataclass(eq=False)
class MatrixNoise:
    """A random matrix of the law.

    Attributes
    ----------
    freedom, floor
        Degrees of freedom, and the least eigenvalue of the scale.
    draws
        Of its entries on and above the diagonal.
    """

    freedom: int
    floor: float
    draws: dict[tuple[int, int], SymbolicDraw]

    @property
    def size(self) -> int:
        """Number of rows."""
        return max(row for row, _ in self.draws) + 1


def made(world: World, values: FloatArray, freedom: int, floor: float) -> Foreign:
    """An array of the entries of a draw."""
    size = len(values)
    whole = MatrixNoise(freedom, floor, {})
    terms: dict[tuple[int, int], Term] = {}
    for i, j in zip(*np.triu_indices(size), strict=True):
        draw = whole.draws[int(i), int(j)] = SymbolicDraw(KIND, float(values[i, j]), of=whole)
        terms[int(i), int(j)] = terms[int(j), int(i)] = Term(world, 0.0, {}, {draw: 1.0})
    entries = [terms[i, j] for i in range(size) for j in range(size)]
    return Box.of(world, objects(entries, (size, size)))


def squared(world: World, left: Foreign, right: Foreign) -> Foreign:
    """G'G of fresh normal draws, independent rows of one law; None of anything else."""
    if left.ndim != 2 or right.ndim != 2 or left.shape != right.shape[::-1] or right.shape[1] < 2:
        return None
    rows = right.tolist()
    if not all(
        a is b
        for one, other in zip(left.T.tolist(), rows, strict=True)
        for a, b in zip(one, other, strict=True)
    ):
        return None
    scales = [_scale(value) for value in rows[0]] if rows else []
    if not scales or not all(_scale(v) == s != 0 for row in rows for v, s in zip(row, scales, strict=True)):
        return None
    draws = {draw for row in rows for value in row for draw in value.noise}
    if len(draws) < right.size:
        return None
    for draw in draws:
        draw.used = True
    world.finishing.append(functools.partial(unseen, world, *draws))
    plain = np.array([[value.value() for value in row] for row in rows])
    return made(world, plain.T @ plain, len(rows), min(scales) ** 2)


def _scale(value: Foreign) -> float:
    """The size of a fresh normal draw; 0 of anything else."""
    if type(value) is not Term or value.raw or value.const or len(value.noise) != 1:
        return 0.0
    draw, weight = next(iter(value.noise.items()))
    return abs(weight) if draw.kind == "normal" and not draw.used and not draw.met else 0.0


class MatrixLaw:
    """Stands in for ``scipy.stats.wishart``.

    Parameters
    ----------
    real, world
        SciPy's, and the run.
    fixed
        Degrees of freedom, scale and generator, if they were given before.
    """

    def __init__(self, real: Foreign, world: World, fixed: tuple[Foreign, ...] = ()) -> None:
        self._real, self._world, self._fixed = real, world, fixed

    def __call__(self, df: Foreign = None, scale: Foreign = None, seed: Foreign = None) -> MatrixLaw:
        """With parameters."""
        return MatrixLaw(self._real, self._world, (df, scale, seed))

    def rvs(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As SciPy's: one draw or several."""
        names = ("size", "random_state") if self._fixed else ("df", "scale", "size", "random_state")
        given = dict(zip(names, args, strict=False)) | kwargs
        df, scale, seed = self._fixed or (given.get("df"), given.get("scale"), None)
        source = given.get("random_state")
        source = seed if source is None else source
        world, follow = self._world, getattr(type(source), "own_stream", None)
        if follow is None:
            raise world.stop("Wishart noise is drawn from a generator other than the one that we pass")
        freedom, scale, count = (
            plain(world, value, "raw {data} set the distribution of a draw")
            for value in (df, 1.0 if scale is None else scale, given.get("size") or 1)
        )
        drawn = np.asarray(self._real.rvs(freedom, scale, count, follow(source)))
        matrix = np.atleast_2d(np.diag(scale) if np.ndim(scale) == 1 else scale)
        if drawn.ndim < 2 or float(freedom) != round(float(freedom)):
            raise world.stop(
                "Wishart noise has only one row, or degrees of freedom that are not a whole number"
            )
        floor = float(np.linalg.eigvalsh(matrix)[0]) * (1 - 1e-12)
        each = [made(world, one, int(freedom), floor) for one in drawn.reshape(-1, *drawn.shape[-2:])]
        if drawn.ndim == 2:
            return each[0]
        data = np.stack([one.data for one in each]).reshape(drawn.shape)
        return Box.of(world, data)

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._real, name)


# ---------------------------------------------------------------- what a user moves


def paid(met: Mapping[SymbolicDraw, Mapping[Atom, float]]) -> dict[int, list[wishart.WishartRelease]] | None:
    """What each user pays for the matrices with these entries, which move with this, per unit.

    None if what a user moves is no item of known norm: there is no bound.
    """
    found: dict[int, list[wishart.WishartRelease]] = {}
    for noise in {id(draw.of): draw.of for draw in met}.values():
        by_unit: dict[int, dict[tuple[int, int], dict[Atom, float]]] = {}
        for place, draw in noise.draws.items():
            for atom, weight in met.get(
                draw, draw.met
            ).items():  # of an entry that is not seen, either will do
                owners = {a.of.unit for a in atom.factors or (atom,) if a.of is not None}
                for unit in owners | {*atom.moves} if weight else ():
                    by_unit.setdefault(unit, {}).setdefault(place, {})[atom] = weight
        for unit, entries in by_unit.items():
            moves = (atom.moves.get(unit, (0.0, 0.0)) for atoms in entries.values() for atom in atoms)
            if all(move == (0.0, 0.0) for move in moves):
                continue
            length = squared_norm(entries, noise.size)
            if length is None:
                return None
            found.setdefault(unit, []).append(
                wishart.WishartRelease(length / noise.floor, noise.freedom, noise.size)
            )
    return found


def squared_norm(entries: Entries, size: int) -> float | None:
    """The largest |z|^2 of a user's vector z, if these are the moving entries of z z'; else None."""
    if any(len(atoms) != 1 for atoms in entries.values()):
        return None
    single = {place: next(iter(atoms.items())) for place, atoms in entries.items()}
    known: dict[int, tuple[Atom, float]] = {}
    for i in range(size):
        atom, weight = single.get((i, i), (None, 0.0))
        if atom is not None:
            if weight <= 0 or len(atom.factors) != 2 or atom.factors[0] is not atom.factors[1]:
                return None
            known[i] = atom.factors[0], math.sqrt(weight)
    fixed: dict[int, float] = {}
    for i in range(size):
        for j in range(i + 1, size):
            atom, weight = single.get((i, j), (None, 0.0))
            if i in known and j in known:
                expected, factors = known[i][1] * known[j][1], {known[i][0], known[j][0]}
                if atom is None or {*atom.factors} != factors or abs(weight - expected) > _TINY * expected:
                    return None
            elif i in known or j in known:
                mine, other = (known[i], j) if i in known else (known[j], i)
                if atom is not None and atom is not mine[0]:
                    return None
                value = weight / mine[1]
                if abs(fixed.setdefault(other, value) - value) > _TINY * abs(value):
                    return None
            elif atom is not None:
                return None
    return _length(known, fixed)


def _length(known: Mapping[int, tuple[Atom, float]], fixed: Mapping[int, float]) -> float | None:
    shares: dict[Atom, float] = {}
    for atom, weight in known.values():
        shares[atom] = shares.get(atom, 0.0) + weight**2
    if len({atom.of.unit for atom in shares if atom.of is not None}) != 1:
        return None
    owners: dict[Foreign, float] = {}
    for atom, share in shares.items():
        owners[atom.of] = max(owners.get(atom.of, 0.0), share)
    sizes = (share * (o.radius if type(o) is Vector else o.largest) ** 2 for o, share in owners.items())
    return (math.fsum(sizes) + math.fsum(value**2 for value in fixed.values())) * (1 + 1e-12)


__all__: tuple[str, ...] = (
    "KIND",
    "MatrixLaw",
    "MatrixNoise",
    "made",
    "paid",
    "squared",
    "squared_norm",
)
