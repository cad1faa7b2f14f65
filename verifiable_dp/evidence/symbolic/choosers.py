"""What random outcomes come out on a path."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from verifiable_dp.core.validate import FloatArray, Foreign, Function
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.world import World

NATURAL = 3  # paths that are compared with plain runs
_CROWDED = 12
_PATIENCE = 400  # public draws of a path that come out alike
_MANY = 4000  # values of a public draw, of which the ends are looked at


class Chooser:
    """What random outcomes come out on a path.

    Parameters
    ----------
    number
        Of the path: the first few take what the generator gives.
    n_arms
        Units are counted arm by arm.
    failures
        Proposals that are turned down before one is accepted (`contests`).
    """

    def __init__(self, number: int, n_arms: int, failures: int = 0) -> None:
        self.failures, self.number = failures, number
        self._rng = np.random.default_rng([20260101, number])
        self.natural = number < NATURAL
        self.rounds = not self.natural and number % 8 == 5  # whether chances may add up to less than 1
        self.returned = False  # whether the program has
        self._n_arms = n_arms
        self._favourite = number % (n_arms + 1)
        self._follow = (1.0, 0.5, 0.0)[number % 3]
        self._truth = (0.5, 0.02, 0.98)[number // 3 % 3]
        self._size = float(self._rng.choice([0.0, 1.0, 30.0, 1e3, 1e6]))

    @property
    def luck(self) -> Foreign:
        """What it goes by, which can be put back."""
        return self._rng.bit_generator.state

    @luck.setter
    def luck(self, state: Foreign) -> None:
        self._rng.bit_generator.state = state

    def crowded(self, world: World) -> bool:
        """Whether so much was seen that what is used again is better shown."""
        return len(world.seen) > _CROWDED

    @property
    def disturbs(self) -> bool:
        """Whether noise comes out larger than it ever is."""
        return not self.natural and bool(self._size)

    def disturb(self, term: Term) -> None:
        """Move what is about to be shown, by a draw of which nothing was seen."""
        if not self.disturbs:
            return
        draw, weight = next((d, w) for d, w in term.noise.items() if not d.used)
        if draw.of is not None and draw.kind != "law":
            return  # an entry of a matrix alone would leave it indefinite
        arms = [unit % self._n_arms for atom in term.raw for unit in atom.moves]
        sign = 1.0 if self._rng.random() < 0.5 else -1.0
        if arms and self._favourite < self._n_arms:
            sign = 1.0 if arms[-1] == self._favourite else -1.0
        size = self._size * self._rng.random()
        if draw.kind in ("laplace", "normal", "logistic", "cauchy", "hypsecant"):
            draw.value += math.copysign(size, sign * weight)
        elif draw.kind == "law":
            way = math.copysign(1.0, sign * weight)
            draw.value += way * math.ceil(size) if math.isfinite(draw.of.price(way)) else 0.0
        elif sign * weight > 0:
            draw.value += math.ceil(size) if draw.kind == "geometric" else size

    def opens(self) -> None:
        """Public randomness is used that no question here settles."""

    def order(self, natural: Foreign) -> Foreign:
        """An order, as an array of numbers."""
        return natural

    tightens = False  # whether comparisons are made close ones

    def tighten(self, lead: Term) -> None:
        """Make a comparison a close one, by a draw of which nothing was seen."""

    def shown(self, term: Term) -> float:
        """The value of what is shown."""
        return term.value()

    def compared(self, natural: bool) -> bool:
        """Of a comparison of noise that can come out both ways."""
        return self.answer(natural)

    def leader(self, natural: int, rivals: Sequence[int]) -> int:
        """The largest of several numbers with noise, each of which can be it."""
        return self.winner(natural, rivals)

    def answer(self, natural: bool) -> bool:
        """Of a comparison or a coin that can come out both ways."""
        if self.natural or self._rng.random() < self._follow:
            return natural
        return bool(self._rng.random() < self._truth)

    def winner(self, natural: int, rivals: Sequence[int]) -> int:
        """Of several, each of which can win."""
        if self.natural or self._rng.random() < self._follow:
            return natural
        if self._favourite < len(rivals) and self._truth == 0.98:
            return int(rivals[self._favourite])
        return int(rivals[int(self._rng.integers(len(rivals)))])

    def seldom(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """What was drawn, or one of those that are hardly ever drawn."""
        if self.natural or self._rng.random() < max(self._follow, 0.1):  # else a loop may never end
            return natural
        found = others()
        return found[int(self._rng.integers(len(found)))]

    def several(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """As `seldom`, of an array."""
        return natural

    def level(self, natural: float) -> float:
        """A uniform draw that is used as a number."""
        return natural

    def ends(self, draw: Function[Foreign]) -> tuple[Foreign, Foreign]:
        """The smallest and the largest of many values that `draw(generator, size)` gives."""
        many = draw(self._rng, _MANY)
        return many.min(), many.max()

    def one_of(self, values: FloatArray) -> float:
        """One of these."""
        return float(self._rng.choice(values))


class Extreme(Chooser):
    """What comes out where all public draws are alike: the lowest each time, the highest, or both in turn.

    What is computed of them, the scale of noise say, may be of use only there, and chance hardly ever gets
    there. Of many draws it gives up, for a loop may never end else.
    """

    WAYS = 3

    def __init__(self, number: int, n_arms: int, way: int) -> None:
        super().__init__(number, n_arms)
        self._way, self._asked = way, 0

    def _turn(self) -> int | None:
        """0 for the lowest, -1 for the highest; None for what comes."""
        self._asked += 1
        if self._asked > _PATIENCE:
            return None
        return -(self._way if self._way < 2 else self._asked % 2)

    def answer(self, natural: bool) -> bool:
        """As `Chooser`'s."""
        turn = self._turn()
        return natural if turn is None else turn == -1

    def winner(self, natural: int, rivals: Sequence[int]) -> int:
        """As `Chooser`'s; in turn each of them."""
        turn = self._turn()
        if turn is None or not len(rivals):
            return natural
        return int(rivals[turn if self._way < 2 else self._asked % len(rivals)])

    def seldom(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """As `Chooser`'s."""
        turn = self._turn()
        return natural if turn is None else others()[:2][turn]

    def several(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """As `Chooser`'s."""
        found = np.array([self.seldom(one, others) for one in natural.ravel()], natural.dtype)
        return found.reshape(natural.shape)

    def order(self, natural: Foreign) -> Foreign:
        """As `Chooser`'s: the smallest first, or the largest."""
        turn = self._turn()
        return natural if turn is None else np.sort(natural)[:: 1 if turn == 0 else -1]

    def level(self, natural: float) -> float:
        """As `Chooser`'s."""
        turn = self._turn()
        return natural if turn is None else abs(turn + 1e-12)


class Coinciding(Chooser):
    """Takes what comes, but for public numbers that it is told.

    Parameters
    ----------
    number, n_arms
        As of `Chooser`.
    told
        What those come out as, by their order.

    Attributes
    ----------
    came
        What came out, with the least and the largest that could have.
    """

    def __init__(self, number: int, n_arms: int, told: Mapping[int, float]) -> None:
        super().__init__(number, n_arms)
        self.natural, self.rounds, self._told = True, False, told
        self.came: list[tuple[float, float, float]] = []

    def _came(self, natural: float, least: float, largest: float) -> float:
        found = self._told.get(len(self.came), natural)
        found = round(found) if type(natural) is int else found
        self.came.append((found, least, largest))
        return found

    def seldom(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """As it is told."""
        ends = others()
        if type(ends) is not tuple or not all(isinstance(end, int | np.integer) for end in (natural, *ends)):
            return natural
        return type(natural)(self._came(int(natural), int(min(ends)), int(max(ends))))

    def several(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """As `seldom`, entry by entry."""
        found = np.array([self.seldom(one, others) for one in natural.ravel()], natural.dtype)
        return found.reshape(natural.shape)

    def order(self, natural: Foreign) -> Foreign:
        """As it is told: each place holds what is so many further, going round."""
        size = len(natural)
        if size < 2 or not np.array_equal(np.sort(natural), np.arange(size)):
            return natural
        return (natural + self._came(0, 0, size - 1)) % size

    def level(self, natural: float) -> float:
        """As it is told, of a uniform number."""
        return self._came(float(natural), 0.0, 1.0 - 2.0**-53)


class Deciding(Chooser):
    """Decides as it is told, and in the first way from there on.

    Attributes
    ----------
    options
        In how many ways each decision could come out.
    closed
        Whether nothing but decisions has made a number plain before what is returned.
    """

    def __init__(self, number: int, n_arms: int, taken: Sequence[int]) -> None:
        super().__init__(number, n_arms)
        self.natural, self.rounds, self._taken = True, False, taken
        self.options: list[int] = []
        self.closed = True

    def _decided(self, ways: int) -> int:
        at = len(self.options)
        self.options.append(ways)
        return self._taken[at] if at < len(self._taken) else 0

    def answer(self, natural: bool) -> bool:
        """Either way."""
        return bool(self._decided(2))

    def winner(self, natural: int, rivals: Sequence[int]) -> int:
        """Any of them."""
        return int(rivals[self._decided(len(rivals))])

    def shown(self, term: Term) -> float:
        """As it is: only what is returned may be shown."""
        self.closed = self.closed and self.returned
        return term.value()

    def crowded(self, world: World) -> bool:
        """Nothing is shown to make it simpler."""
        return False

    def opens(self) -> None:
        """Then not all paths are known."""
        self.closed = False

    def seldom(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """One of many numbers."""
        self.opens()
        return natural

    def several(self, natural: Foreign, others: Callable[[], Sequence[Foreign]]) -> Foreign:
        """One of many arrays."""
        self.opens()
        return natural

    def order(self, natural: Foreign) -> Foreign:
        """One of many orders."""
        self.opens()
        return natural

    def level(self, natural: float) -> float:
        """One of many numbers."""
        self.opens()
        return natural

    def ends(self, draw: Function[Foreign]) -> tuple[Foreign, Foreign]:
        """Of one of many numbers."""
        self.opens()
        return super().ends(draw)
