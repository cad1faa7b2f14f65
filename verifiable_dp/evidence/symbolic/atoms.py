"""What sums are made of, atoms of data and draws of noise, and what is seen of such sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge.replay import Key
from verifiable_dp.evidence.tracing.ledger import Place

Moves = Mapping[int, tuple[float, float]]


@dataclass(eq=False, slots=True)
class Atom:
    """A number that depends on the data, of which only bounds are known.

    Attributes
    ----------
    value
        In the run that is traced.
    low, high
        Bounds whatever the data are.
    moving
        Gives how far it can move when a unit of the data changes, by unit: (least, most), around 0. The
        opposite change moves it by the opposite.
    whole
        Whether it is a whole number.
    largest_of
        The numbers of which it is the largest, if it is.
    log_of
        The numbers of whose exponentials it is the logarithm of the sum, if it is.
    of, factors, norm_of
        Of users with contexts: whose entry or reward it is, of which two it is the product, and of which
        vector it is the norm; see `users`.
    cell
        Of an indicator of which others are exclusive, what they share: at most one of them is 1.
    """

    value: float
    low: float
    high: float
    moving: Callable[[], Moves]
    whole: bool = False
    largest_of: tuple[Foreign, ...] = ()
    log_of: tuple[Foreign, ...] = ()
    of: Foreign = None
    factors: tuple[Atom, ...] = ()
    norm_of: Foreign = None
    cell: Foreign = None
    _moves: Moves | None = field(default=None, init=False)

    @property
    def moves(self) -> Moves:
        """See `moving`."""
        if self._moves is None:
            self._moves = self.moving()
        return self._moves


@dataclass(frozen=True)
class Origin:
    """Where the number of a draw comes from, so that a plain run can be given another one.

    Attributes
    ----------
    key
        Which draw of which generator, see `judge.replay`.
    through, uniform, scale
        The function of a uniform number that it is, with that number, and how far it moves for a shift by 1;
        None where the draw itself is the noise.
    """

    key: Key
    through: Callable[[Foreign], Foreign] | None = None
    uniform: float = 0.5
    scale: float = 1.0


@dataclass(eq=False)
class SymbolicDraw:
    """A draw of a generator at scale 1.

    Attributes
    ----------
    kind
        Its law, see `judge.laws`; others have no price.
    value
        In the run that is traced.
    step
        Of a geometric draw, what one step costs; of Student's law, its degrees of freedom.
    used
        Whether something about it was seen.
    met
        What it was added to, per unit of the draw.
    of
        The random matrix whose entry it is, see `matrices`; its law, see `samplers`.
    shape
        Of a negative binomial draw, how many geometric ones it is the sum of; they may be parts of one.
    origin
        Where its number comes from; None if that is not one draw of a generator.
    """

    kind: str
    value: float
    step: float = 0.0
    used: bool = False
    met: Mapping[Atom, float] = field(default_factory=dict)
    of: Foreign = None
    shape: float = 1.0
    origin: Origin | None = None


@dataclass(frozen=True)
class Part:
    """A unit of the data that counts only if a coin says so.

    Attributes
    ----------
    unit
        The unit.
    source
        The draw of the coin.
    low
        Whether it counts where the draw is low.
    chance
        That it counts.
    """

    unit: int
    source: Foreign
    low: bool
    chance: float

    def __mod__(self, size: int) -> int:
        return self.unit % size


class Combination(Protocol):
    """A sum of a constant, multiples of atoms and multiples of draws, as `terms.Term` is one."""

    raw: Mapping[Atom, float]
    noise: Mapping[SymbolicDraw, float]

    def value(self) -> float:
        """In the run that is traced."""


@dataclass(frozen=True, eq=False)
class Row:
    """What is seen of a sum: its value (``=``) or that it is at least 0 (``>``).

    Attributes
    ----------
    place
        Where.
    relation
        ``=`` or ``>``.
    raw, noise
        Coefficients of atoms and draws.
    """

    place: Place
    relation: str
    raw: Mapping[Atom, float]
    noise: Mapping[SymbolicDraw, float]


@dataclass(frozen=True, eq=False)
class Winner:
    """That one of several sums is the largest.

    Attributes
    ----------
    place
        Where.
    rows
        Its lead over each of the others, each at least 0.
    own
        Coefficients of draws of the winner.
    """

    place: Place
    rows: tuple[Row, ...]
    own: Mapping[SymbolicDraw, float]


@dataclass(frozen=True, eq=False)
class Charge:
    """An outcome that was drawn with chances that depend on the data.

    Attributes
    ----------
    place
        Where.
    costs
        By unit, the loss if the unit moves one way and if it moves the other.
    ratio
        The chance as a quotient of sums of exponentials, an `adding.Ratio`, if it is one.
    rho
        By unit, zero-concentrated differential privacy of what is paid besides.
    bit, loss
        The exclusive indicator (`Atom.cell`) that sets the chance alone, if one does, and the logarithm of
        how much likelier the outcome is where it is 1.
    """

    place: Place
    costs: Mapping[int, tuple[float, float]]
    ratio: Foreign = None
    rho: Mapping[int, float] = field(default_factory=dict)
    bit: Atom | None = None
    loss: float = 0.0


def merged(
    left: Mapping[Foreign, float], right: Mapping[Foreign, float], by: float = 1.0
) -> dict[Foreign, float]:
    """The sum of multiples; what cancels stays, with weight 0."""
    found = dict(left)
    for key, weight in right.items():
        found[key] = found.get(key, 0.0) + by * weight
    return found


def merged_draws(
    left: Mapping[SymbolicDraw, float], right: Mapping[SymbolicDraw, float], by: float = 1.0
) -> dict[SymbolicDraw, float]:
    """The sum of multiples of draws; noise that cancels is gone."""
    return {draw: weight for draw, weight in merged(left, right, by).items() if weight != 0}


def moves_of(raw: Mapping[Atom, float]) -> dict[int, tuple[float, float]]:
    """How far a sum of atoms can move, by unit."""
    found: dict[int, tuple[float, float]] = {}
    for atom, weight in raw.items():
        for unit, (least, most) in atom.moves.items():
            one, other = weight * least, weight * most
            if one > other:
                one, other = other, one
            known = found.get(unit)
            found[unit] = (one, other) if known is None else (known[0] + one, known[1] + other)
    return found
