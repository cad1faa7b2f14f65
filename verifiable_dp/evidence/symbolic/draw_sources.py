"""What a uniform draw was used for, and the law of a function of it."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import enclosures
from verifiable_dp.evidence.symbolic.adding import minus
from verifiable_dp.evidence.symbolic.atoms import Origin
from verifiable_dp.evidence.symbolic.chances import log_moves, outcome
from verifiable_dp.evidence.symbolic.comparing import above
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.world import World

GRID = np.concatenate(
    [
        np.geomspace(2**-53, 1e-3, 400),
        np.linspace(0.001, 0.999, 3001) + 1e-5 * np.pi,
        1 - np.geomspace(1e-3, 2**-53, 400),
    ]
)


# Quantile functions of the laws at scale 1, at u and at 1 - u.
_QUANTILES: dict[str, Callable[[Foreign], Foreign]] = {
    "laplace": lambda u: np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))),
    "exponential": lambda u: -np.log1p(-u),
    "gumbel": lambda u: -np.log(-np.log(u)),
    "logistic": lambda u: np.log(u) - np.log1p(-u),
    "normal": special.ndtri,
    "cauchy": lambda u: np.tan(np.pi * (u - 0.5)),
    "hypsecant": lambda u: np.log(np.tan(np.pi * u / 2)),
}


SIGNS = {operator.mul: 1, operator.truediv: -1}


HALVES = (np.arange(4096) + 0.5) / 4096


FINE = np.concatenate([HALVES, GRID])  # with values that hardly ever come


_SORTED = np.unique(np.append(FINE, [0.0, 1 - 2.0**-53]))


def shows(function: Callable[[Foreign], Foreign], bound: float) -> bool:
    """Whether the values that are looked at show on which sides of a bound a function can be."""
    with np.errstate(all="ignore"):
        values = np.broadcast_to(np.asarray(function(_SORTED), np.float64), _SORTED.shape)
    below = values < bound
    if below.any() and not below.all():
        return True
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def itself(u: Foreign) -> Foreign:
    """The same."""
    return u


_TOGETHER = 3  # coins of one draw that are looked at together with the next one


def _joint(
    coins: Sequence[Callable[[Foreign], Foreign]], way: Sequence[bool]
) -> Callable[[Foreign], Foreign]:
    """1 where coins fall in a way, 0 elsewhere."""
    return lambda u: math.prod(
        1.0 * coin(u) if bit else 1.0 - 1.0 * coin(u) for coin, bit in zip(coins, way, strict=True)
    )


def _is_rare(coins: Sequence[Callable[[Foreign], Foreign]]) -> bool:
    """Whether coins of one draw can fall together as at no value that is looked at."""
    with np.errstate(all="ignore"):
        falls = np.array([np.broadcast_to(each(FINE), FINE.shape) for each in coins], bool).T
    shown = {tuple(row) for row in np.unique(falls, axis=0).tolist()}
    ways = [way for way in itertools.product((False, True), repeat=len(coins)) if way not in shown]
    return any(not enclosures.chance_of(_joint(coins, way), 1.0) <= 0 for way in ways)


class DrawSource:
    """A uniform draw, and what of it was used.

    Attributes
    ----------
    world
        The run it belongs to.
    value
        In the run that is traced.
    is_public
        Whether it was shown.
    noise
        The function of it that was added to data, with the term that it became.
    state
        Chances between which it is known to lie, once it was compared with one.
    oracle, asked
        That was asked when it was drawn, and the raw number that it was compared with, or where it lies.
    thins
        Units of the data that count only where it falls for them.
    is_beyond
        Whether it came out above all chances.
    origin
        Where its number comes from; None if that is not one draw of a generator.
    """

    def __init__(self, world: World, value: float, origin: Origin | None = None) -> None:
        self.world, self.value, self.origin = world, value, origin
        self.is_public = self.taken = self.is_beyond = False
        self.noise: tuple[Foreign, Term | Plane] | None = None
        self.state: list[Foreign] | None = None
        self.asked: Foreign = None
        self.oracle = world.oracle
        self.thins: set[Foreign] = set()
        self._shapes: set[Foreign] = set()
        self._coins: list[Callable[[Foreign], Foreign]] = []

    def shape(self, side: int | None) -> None:
        """Note where a public number, on which side of an operation, has a part in what becomes of it."""
        self._shapes.add(self.world.here(side))

    def tosses(self, coin: Callable[[Foreign], Foreign]) -> None:
        """Make one more coin of it; the bound ends if coins can fall together as at no value looked at."""
        self._coins = coins = [*self._coins[-_TOGETHER:], coin]
        if len(coins) > 1 and enclosures.known("rare", coins, 0.0, lambda: _is_rare(coins)):
            raise self.world.stop("coins made from one draw may fall in a rare combination")

    def count(self) -> None:
        """What has shaped it sets how much noise there is, as it meets the data."""
        self.world.scales |= self._shapes - {None}

    def through(self, function: Callable[[Foreign], Foreign], scale: float) -> Origin | None:
        """Where the number of noise comes from that is a function of it."""
        if self.origin is None:
            return None
        return replace(self.origin, through=function, uniform=self.value, scale=scale)

    def become_noise(self) -> None:
        """It is noise of a known law from here on."""
        self.taken = True
        self.count()

    @property
    def hidden(self) -> bool:
        """Whether nothing was seen of it but whether one unit counts."""
        return len(self.thins) == 1 and not self.is_public and self.state is None and self.noise is None

    @property
    def is_unused(self) -> bool:
        """Whether nothing has become of it."""
        return not (self.is_public or self.taken or self.thins or self.state or self.noise or self.asked)

    def spend(self) -> None:
        """Show it."""
        if self.world.oracle is not None:
            raise self.world.stop("an answer reveals a uniform draw")
        if self.state is not None:
            raise self.world.stop(
                "a uniform draw that was compared with probabilities from raw data is used again"
            )
        if self.noise is not None:
            self.noise[1].settle()
        self.is_public = True

    def take(self) -> None:
        """Use it for one coin and nothing else."""
        if self.is_public or self.noise is not None or self.state is not None or self.thins:
            raise self.world.stop(
                "a uniform draw that was used before is compared with probabilities from raw data"
            )
        self.state = [0.0, 1.0]

    def below_chance(self, chance: Term) -> Foreign:
        """Whether it is below a chance that depends on the data: an outcome, which is paid for.

        What no price would do for stays raw, as a reward that is rounded to 0 or 1 by a coin does.
        """
        if self.is_public or self.noise is not None or self.thins:
            raise self.world.stop(
                "a uniform draw that was used before is compared with probabilities from raw data"
            )
        self.count()
        if self.world.oracle is not None:
            known = self.oracle is self.world.oracle and 0 <= chance.range()[0] <= chance.range()[1] <= 1
            if self.asked is not None or not known:
                raise self.world.stop("a coin is tossed in a way that leaves its probability unknown")
            self.asked = chance
            chances = [chance, minus(1.0, chance)]
            return bool(self.world.oracle.choose(chances, int(self.value >= chance.value())) == 0)
        if self.state is None and tells_all(chance):
            # Both worlds draw the same number: given that, the answer is raw data that moves by 1 at most.
            self.is_public = True
            return above(chance, self.value, strict=True)
        if self.state is None:
            self.state = [0.0, None]
            self.world.finishing.append(self.finish)
        low, high = self.state
        if self.is_beyond:
            return False
        if high is not None:
            gap = minus(chance, high)
            if _positive(gap) if type(gap) is Term else gap >= 0:
                return True
            raise self.world.stop(
                "a uniform draw is compared with probabilities from raw data that are not sorted"
            )
        natural = self.value < chance.value()
        if type(low) is Term and not _at_most_one(chance):
            raise self.world.stop("a uniform draw is compared with probabilities that may exceed 1")
        between = minus(chance, low)
        if not (type(between) is Term and _positive(between)):
            raise self.world.stop(
                "a uniform draw is compared with probabilities from raw data that may not increase"
            )
        certain = chance.ratio is not None and chance.ratio.is_one
        self.world.compare(certain=certain)
        if certain and self.world.chooser.rounds:
            self.is_beyond = self.world.beyond = True
            return False
        if certain or self.world.chooser.answer(natural):
            self.state[1] = chance
            outcome(self.world, between)
            return True
        self.state[0] = chance
        return False

    def rest_is(self, index: int) -> int:
        """It lies below 1: what is left of the chances is the last outcome."""
        if self.state is not None:
            self.finish()
            self.state[1] = 1.0
        return index

    def finish(self) -> None:
        """What is known of it when the run ends, if it lay above all chances."""
        if self.state is not None and self.state[1] is None and not self.is_beyond:
            rest = minus(1.0, self.state[0])
            if type(rest) is Term:
                outcome(self.world, rest)


def _positive(chance: Term) -> bool:
    return chance.ratio is not None or chance.range()[0] >= 0


def tells_all(chance: Term) -> bool:
    """Whether no price would do for a coin of this chance, as it may be 0 or 1 on neighbouring data."""
    moves = (*log_moves(chance).values(), *log_moves(minus(1.0, chance)).values())
    return any(math.isinf(end) for move in moves for end in move)


def _at_most_one(chance: Term) -> bool:
    return chance.range()[1] <= 1 + 1e-9 or (chance.ratio is not None and chance.ratio.is_part)


@functools.lru_cache(maxsize=1024)
def is_line(function: Callable[[Foreign], Foreign]) -> bool:
    """Whether a function of a uniform draw is a straight line."""
    try:
        values = np.broadcast_to(np.asarray(function(FINE), np.float64), FINE.shape)
    except (TypeError, ValueError):
        return False
    slope = 2 * (values[3072] - values[1024])
    gaps = np.abs(values - values[1024] - slope * (FINE - FINE[1024]))
    fits = slope != 0 and (gaps <= 1e-12 * (abs(slope) + np.abs(values))).all()
    return bool(fits) and enclosures.is_like(function, itself, float(slope))


def _turned(quantile: Callable[[Foreign], Foreign], sign: float, above: bool) -> Callable[[Foreign], Foreign]:
    return lambda u: sign * quantile(1 - u if above else u)


@functools.cache
def _laws() -> list[tuple[str, float, Foreign, Callable[[Foreign], Foreign]]]:
    """Kind, sign and values of the laws at scale 1, and the function that gives them."""
    # Those without a sign are symmetric: with the other sign they are their own laws at 1 - u.
    laws = [
        (kind, sign, _turned(quantile, sign, above))
        for kind, quantile in _QUANTILES.items()
        for above in (False, True)
        for sign in ((1.0, -1.0) if kind in ("exponential", "gumbel") else (1.0,))
    ]
    return [(kind, sign, law(GRID), law) for kind, sign, law in laws]


@functools.lru_cache(maxsize=4096)
def law_of(function: Callable[[Foreign], Foreign]) -> tuple[str, float, float] | None:
    """Kind, center and scale of a function of a uniform draw; None if unknown.

    It is recognised at 3801 of its values, and then enclosed in between. Clipped or rounded noise has another
    law, and so do functions that bend where a law does not.
    """
    with np.errstate(all="ignore"):
        try:
            values = np.broadcast_to(np.asarray(function(GRID), np.float64), GRID.shape)
        except (TypeError, ValueError):
            return None
        if not np.isfinite(values).all():
            return None
        for kind, sign, law, rising in _laws():
            scale = (values[1200] - values[800]) / (law[1200] - law[800])
            center = values[1000] - scale * law[1000]
            if not scale > 0 or abs(center + scale * law[2000] - values[2000]) > 1e-6 * (scale + abs(center)):
                continue
            size = np.abs(values) + np.abs(center) + np.abs(scale)
            # What rounding does to 1 - u, and a logarithm or a tangent to that.
            rounding = 1e-15 / np.minimum(GRID, 1 - GRID) * (size if kind == "cauchy" else scale)
            if (np.abs(center + scale * law - values) <= 1e-9 * size + rounding).all():
                if not enclosures.is_like(function, rising, float(scale)):
                    return None
                center = 0.0 if abs(center) <= 1e-9 * scale else float(center)
                return kind, center, sign * float(scale)
    return None


class Plane:
    """What one size and one angle have become: one normal draw, or two that stand upright on each other."""

    def __init__(self, axis: tuple[float, float], made: Term) -> None:
        self.axis, self.made = axis, [made]

    def settle(self) -> None:
        """Both are public."""
        for term in self.made:
            term.settle()
