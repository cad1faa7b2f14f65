"""Loops that propose an outcome and toss a coin for it until one is accepted: together they are one decision.

Two forms are known. Proposals that are drawn anew each time are accepted with chances exp(x_i): outcome i has
a chance in proportion to exp(x_i). Proposals in the order of a random permutation with chances
exp(c (s_i - max s)) are permute-and-flip, whose outcome is that of the largest c s_i with exponential noise
(Ding, Kifer, Saghaian & Wang, 2021). Both hold if nothing but the outcome is seen: a proposal that was turned
down must not be used, and how many there were must not show, which is tried with different numbers of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.validate import PLAIN_NUMBERS, Foreign
from verifiable_dp.evidence.symbolic.adding import Ratio, alike, minus
from verifiable_dp.evidence.symbolic.atoms import Charge, Row, SymbolicDraw, Winner
from verifiable_dp.evidence.symbolic.multiplying import multiply
from verifiable_dp.evidence.symbolic.terms import Lazy, Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.ledger import Place
from verifiable_dp.evidence.tracing.python_operators import ARITHMETIC, COMPARING

_TINY = 1e-9


@dataclass(eq=False)
class Proposals:
    """Where proposals come from: a permutation, or draws that are made anew.

    Attributes
    ----------
    world, size
        The run, and the number of outcomes.
    permuted
        Whether they come in the order of a permutation.
    logs
        Logarithms of the chances, once a coin was tossed.
    failed
        Coins that came up against a proposal.
    done
        Whether one was accepted.
    shown
        Whether a proposal was used for anything else.
    planned, state
        The outcome, and the states of the generators and of the chooser when the first coin was tossed, of a
        path that is forced.
    """

    world: World
    size: int
    permuted: bool
    logs: list[Foreign] | None = None
    place: Place | None = None
    failed: int = 0
    done: bool = False
    shown: bool = False
    planned: int = -1
    state: Foreign = field(default=None)

    def toss(self, pick: Pick, chances: list[Foreign], natural: float) -> bool:
        """Whether a proposal is accepted."""
        world = self.world
        if pick.is_public or (self.permuted and self.shown):
            raise world.stop("a proposal is used before the coin that accepts it is tossed")
        logs = [log_of(world, chance) for chance in chances]
        if self.logs is None:
            self._begin(logs)
        elif self.done or not all(alike(a, b) for a, b in zip(self.logs, logs, strict=True)):
            raise world.stop("proposals are accepted with probabilities that change")
        wanted = world.chooser.failures
        if world.chooser.natural:
            value = chances[pick.value]
            accepted = natural < (value.value() if is_term(value) else float(value))
        else:
            most = self.size - 1 if self.permuted else wanted
            accepted = self.failed >= min(wanted, most)
            pick.value = self.planned if accepted else pick.value
        if not accepted:
            self.failed += 1
            pick.is_dead = True
            if self.permuted and self.failed >= self.size:
                raise world.stop("no proposal is accepted")
            return False
        pick.is_accepted = True
        self._accepted(pick.value)
        return True

    def _begin(self, logs: list[Foreign]) -> None:
        self.logs, self.place = logs, self.world.place()
        self.planned = self.world.chooser.winner(0, range(self.size))
        self.state = self.world.states(), self.world.chooser.luck
        self.world.finishing.append(self.finish)
        if self.permuted and not is_flip(logs):
            raise self.world.stop(
                "coins are tossed for a permutation with probabilities that are not those of permute-and-flip"
            )
        if not self.permuted and any((x.range()[1] if is_term(x) else x) > _TINY for x in logs):
            raise self.world.stop("proposals are accepted with probabilities that may exceed 1")

    def _accepted(self, index: int) -> None:
        """Charge the outcome."""
        self.done = True
        if not self.world.chooser.natural:
            # What follows must not tell how many were turned down, nor what is forced in it.
            states, self.world.chooser.luck = self.state
            self.world.restore(states)
        logs, place = self.logs or [], self.world.place()
        if self.permuted:
            won(self.world, logs, index)
            return
        moves = Ratio((logs[index],), tuple(logs)).moves()
        costs = {unit: (max(-a, 0.0), max(b, 0.0)) for unit, (a, b) in moves.items()}
        self.world.charge(Charge(place, costs))

    def finish(self) -> None:
        """A contest must have a winner."""
        if not self.done:
            raise self.world.stop("an outcome was proposed and rejected, and none was accepted", self.place)


def won(world: World, logs: list[Foreign], index: int) -> None:
    """Charge the outcome of permute-and-flip."""
    place, noise = world.place(), [{SymbolicDraw("exponential", 0.0): 1.0} for _ in logs]
    leads = [(i, minus(logs[index], x)) for i, x in enumerate(logs) if i != index]
    rows = [
        Row(
            place,
            ">",
            lead.raw if is_term(lead) else {},
            {**noise[index], **dict.fromkeys(noise[i], -1.0)},
        )
        for i, lead in leads
    ]
    world.sees(Winner(place, tuple(rows), noise[index]))


def log_of(world: World, chance: Foreign) -> Foreign:
    """The logarithm of a chance that is an exponential."""
    chance = number(chance)
    if is_term(chance) and chance.noise:
        chance = chance.settle()
    if not is_term(chance):
        if not 0 < float(chance) <= 1:
            raise world.stop("a proposal is accepted with a probability of 0 or above 1")
        return math.log(float(chance))
    if chance.ratio is None or not chance.ratio.is_exponential:
        raise world.stop(
            "proposals are accepted with probabilities that depend on raw data but are not exponentials"
        )
    return chance.ratio.above[0]


def is_flip(logs: list[Foreign]) -> bool:
    """Whether the terms are c (s_i - max s), of all the s_i."""
    first = next((x for x in logs if is_term(x)), None)
    if first is None:
        return False
    for atom, weight in first.raw.items():
        if not atom.largest_of or weight >= 0 or len(atom.largest_of) != len(logs):
            continue
        top = Term(first.world, 0.0, {atom: 1.0}, {})
        left = [multiply(minus(value, top), -weight) for value in atom.largest_of]
        for x in logs:
            found = next((i for i, value in enumerate(left) if alike(x, value)), None)
            if found is None:
                break
            del left[found]
        else:
            return True
    return False


class Pick(Lazy):
    """A proposed position, public once it is used for anything but looking up its chance."""

    __array_priority__ = 3500.0
    nature = "pick"

    def __init__(self, source: Proposals, value: int) -> None:
        self.source, self.value = source, value
        self.is_dead = self.is_public = self.is_accepted = self.is_handed = False

    @property
    def seeds(self) -> float:
        """How many seeds it may be; one that a caller hands over counts as secret, which is a premise."""
        return math.inf if self.is_handed else self.source.size

    @property
    def world(self) -> World:
        """The run it belongs to."""
        return self.source.world

    def plain(self) -> Foreign:
        """The position."""
        source = self.source
        tossed = source.logs is not None and (source.permuted or not source.done)
        if self.is_dead or (tossed and not self.is_accepted):
            raise self.world.stop("a rejected proposal is used")
        if not self.is_accepted:
            self.is_public = source.shown = True
        return np.int64(self.value)

    term = plain

    def told(self, ufunc: Foreign, values: tuple[Foreign, Foreign]) -> Foreign:
        """A comparison with a public number, which may come out as it hardly ever does."""
        other = next(v for v in values if v is not self)
        if self.is_free and isinstance(other, PLAIN_NUMBERS) and np.isfinite(other):
            natural, near = self.value, {0, self.source.size - 1, *(int(other) + i for i in (-1, 0, 1))}

            def answer(value: int) -> bool:
                return bool(ufunc(*(value if v is self else v for v in values)))

            against = [v for v in near if 0 <= v < self.source.size and answer(v) != answer(natural)]
            if against:
                self.value = int(self.world.chooser.seldom(natural, lambda: against))
        return ufunc(*(self.plain() if v is self else v for v in values))

    @property
    def is_free(self) -> bool:
        """Whether it can still be any of the positions."""
        source = self.source
        used = self.is_dead or self.is_public or source.logs is not None or source.permuted
        return not used and self.world.oracle is None

    def chosen(self, box: Foreign) -> Foreign:
        """The entry of an array at this position."""
        if self.is_free and box.ndim == 1 and not self.world.arrays.has_terms(box):
            entries = box.data[: self.source.size].tolist()
            ends = [entries.index(end(entries)) for end in (min, max)]
            self.value = int(self.world.chooser.seldom(self.value, lambda: ends))
        if (
            self.is_dead
            or self.is_public
            or self.source.done
            or len(box) != self.source.size
            or box.ndim != 1
        ):
            return box[int(self.plain())]
        return Veiled(self, box)


class Veiled(Lazy):
    """The entry of an array at a proposed position."""

    __array_priority__ = 5000.0
    nature = "veiled"
    kind = np.float64

    def __init__(self, pick: Pick, box: Foreign, told: bool = False) -> None:
        self.pick, self.box = pick, box
        self.told = told  # whether all entries are disclosed before the position is public

    @property
    def world(self) -> World:
        """The run it belongs to."""
        return self.pick.world

    def plain(self) -> Foreign:
        """The entry itself: the position is public from here on."""
        if self.told:
            self.world.arrays.plain(self.world, self.box, "raw {data} are disclosed")
        return self.box[int(self.pick.plain())]

    def under(self, ufunc: Foreign, *values: Foreign) -> Foreign:
        """A function of it."""
        inputs = [v.box if v is self else v for v in values]
        others = [v for v in inputs if v is not self.box]
        noisy = any(is_term(v) and v.noise for v in map(number, others))  # which is added to one entry only
        if noisy or any(type(v) is Veiled or np.ndim(v) > 0 for v in others):
            return self.world.arrays.on_arrays(
                self.world,
                ufunc,
                "__call__",
                [v.plain() if type(v) is Veiled else v for v in values],
                None,
                {},
            )
        made = self.world.arrays.on_arrays(self.world, ufunc, "__call__", inputs, None, {})
        return Veiled(self.pick, made, self.told)

    def toss(self, source: Foreign) -> bool:
        """Whether a uniform draw lies below it."""
        source.take()
        return self.pick.source.toss(self.pick, self.box.data.tolist(), source.value)

    def __array_ufunc__(
        self, ufunc: Foreign, method: str, *inputs: Foreign, out: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        if method == "__call__" and out is None and not kwargs:
            return self.under(ufunc, *inputs)
        values = [v.plain() if type(v) is Veiled else v for v in inputs]
        return self.world.arrays.on_arrays(self.world, ufunc, method, values, out, kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        return function(*[v.plain() if type(v) is Veiled else v for v in args], **kwargs)


_ORDER = (np.less, np.less_equal, np.greater, np.greater_equal)


def _define(kind: Foreign, of_pick: bool) -> None:
    """Operators: of a position the plain number's, of an entry those of all entries."""
    for name, ufunc in (*ARITHMETIC.items(), *COMPARING.items()):
        for form in (f"__{name}__", f"__r{name}__"):

            def operate(
                self: Foreign, other: Foreign, _ufunc: Foreign = ufunc, _turned: bool = form.startswith("__r")
            ) -> Foreign:
                if other is None or isinstance(other, str):
                    return NotImplemented
                if not of_pick and nature(other) == "uniform" and _ufunc in _ORDER:
                    return NotImplemented
                values = (other, self) if _turned else (self, other)
                if of_pick and _ufunc in COMPARING.values() and not issubclass(type(other), Lazy):
                    return self.told(_ufunc, values)
                if of_pick:
                    values = tuple(v.plain() if issubclass(type(v), Pick) else v for v in values)
                    return self.world.arrays.on_arrays(self.world, _ufunc, "__call__", values, None, {})
                return self.under(_ufunc, *values)

            if form == f"__{name}__" or name in ARITHMETIC:
                setattr(kind, form, operate)
    for name, one in {"neg": np.negative, "abs": np.abs, "pos": np.positive}.items():
        setattr(
            kind,
            f"__{name}__",
            lambda self, _u=one: _u(self.plain()) if of_pick else self.under(_u, self),
        )


_define(Pick, True)
_define(Veiled, False)
