"""What is asked in one piece where the traced code asks step by step; see `rewriting`.

A loop that keeps the best of several numbers tells which of them led on the way, though the last one alone
is used; a condition tells how a coin fell, though only the answer is used; a list tells at which proposed
position it was looked up. Each function here takes the place of such a step, and leaves to the code what it
does not know.
"""

from __future__ import annotations

import math
import operator
import sys
import types
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from verifiable_dp.core.validate import PLAIN_NUMBERS, Foreign, Function
from verifiable_dp.evidence.symbolic import (
    accept_reject,
    adding,
    answers,
    boxes,
    comparing,
    draws,
    multiplying,
    samplers,
)
from verifiable_dp.evidence.symbolic.ends import Ends, Unbounded
from verifiable_dp.evidence.symbolic.terms import Lazy, Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World

# ---------------------------------------------------------------- the best of several numbers


class Race:
    """Sums with noise of which the best is kept, in the order of their coming, with what goes with them."""

    def __init__(
        self, world: World, entries: list[tuple[Foreign, tuple[Foreign, ...]]], kind: tuple[int, bool]
    ) -> None:
        self.world, self.entries, self.kind = world, entries, kind
        self.told: int | None = None

    def best(self) -> tuple[Foreign, tuple[Foreign, ...]]:
        """The best one, at the price of telling which one it is."""
        if self.told is None:
            (sign, latest), places = self.kind, range(len(self.entries))
            order = [*reversed(places)] if latest else [*places]
            values = [multiplying.multiply(self.entries[i][0], sign) for i in order]
            self.told = order[comparing.largest(self.world, values)]
        return self.entries[self.told]


class RunningMax(Lazy):
    """A number that the best one of a race brings: its value, or what goes with it."""

    __array_priority__ = 3500.0
    nature = "lead"

    def __init__(self, race: Race, at: int) -> None:
        self.race, self.at = race, at

    @property
    def world(self) -> World:
        """The run it belongs to."""
        return self.race.world

    @property
    def kind(self) -> Foreign:
        """That of what goes with the first one."""
        return np.float64 if self.at < 0 else type(self.race.entries[-1][1][self.at])

    def plain(self) -> Foreign:
        """The number; from here on it is known which one is the best."""
        value, kept = self.race.best()
        return number(value) if self.at < 0 else kept[self.at]

    term = plain

    def __array_ufunc__(self, ufunc: Foreign, method: str, *inputs: Foreign, **kwargs: Foreign) -> Foreign:
        return getattr(ufunc, method)(*map(told, inputs), **kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        return function(*map(told, args), **kwargs)


def told(value: Foreign) -> Foreign:
    """A number of a race as it is, anything else unchanged."""
    return value.plain() if type(value) is RunningMax else value


def _define(name: str, function: Function[Foreign], turned: bool = False) -> None:
    def operate(self: Foreign, *others: Foreign) -> Foreign:
        values = (*map(told, others), self.plain()) if turned else (self.plain(), *map(told, others))
        return function(*values)

    setattr(RunningMax, name, operate)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"):
    _define(f"__{_name}__", getattr(operator, _name))
    if len(_name) > 2:
        _define(f"__r{_name}__", getattr(operator, _name), turned=True)
_ONES: dict[str, Function[Foreign]] = {"round": round, "str": str, "neg": operator.neg, "abs": abs}
for _name, _one in _ONES.items():
    _define(f"__{_name}__", _one)


def _is_noisy(value: Foreign) -> bool:
    return is_term(value) and bool(value.noise)


def race(
    world: World,
    kind: tuple[int, bool],
    value: Foreign,
    best: Foreign,
    new: tuple[Foreign, ...],
    old: tuple[Foreign, ...],
) -> tuple[Foreign, ...] | None:
    """What is kept after `value` came, if that has noise; None for the code to look by itself.

    Which of the values is the best is told when what is kept is used, and only of those that came until then:
    what led in between is not.

    Parameters
    ----------
    world
        The run.
    kind
        1 to keep the largest, -1 the smallest; whether the latest of equal ones is kept.
    value, best
        What is compared: a number that comes, and the best one before.
    new, old
        What is kept if it is better, and what was kept before; Ellipsis stands for the value.
    """
    value = value.term() if nature(value) == "uniform" else number(value)
    if world.oracle is not None or not _is_noisy(value):
        return None
    places = [i for i, v in enumerate(new) if v is not ...]
    kept, earlier = tuple(told(new[i]) for i in places), [old[i] for i in places]
    own = best.race if type(best) is RunningMax and best.at < 0 else None
    if own is not None:
        if (
            own.told is not None
            or own.kind != kind
            or any(getattr(v, "race", None) is not own for v in earlier)
        ):
            return None
        before = [(v, tuple(values[lead.at] for lead in earlier)) for v, values in own.entries]
    else:
        best, earlier = number(told(best)), [told(v) for v in earlier]
        if best is not None and not _is_noisy(best) and not isinstance(best, int | float):
            return None
        # Nothing is worse than that: what goes with it is never kept.
        never = best is None or (not is_term(best) and float(best) == -kind[0] * math.inf)
        before = [] if never else [(best, tuple(earlier))]
    entries = [*before, (value, kept)]
    # Of one kind, and never None: whether it is, is not asked of a number that stands for several.
    kinds = [{type(values[i]) for _, values in entries} for i in range(len(kept))]
    if any(len(types) > 1 or not types <= _KEPT for types in kinds):
        return None
    made = Race(world, entries, kind)
    return tuple(RunningMax(made, places.index(i) if i in places else -1) for i in range(len(new)))


_KEPT = frozenset((int, np.int64, float, np.float64))


# ---------------------------------------------------------------- conditions, lists


def choose(
    world: World,
    places: tuple[Foreign, ...],
    answer: Function[Foreign],
    test: Foreign,
    rest: Foreign,
    given: tuple[Foreign, ...],
) -> Foreign:
    """One of two expressions, as a coin falls: an answer (see `answers`), or a number that stays raw.

    Parameters
    ----------
    world
        The run.
    places
        Of the condition.
    answer, test, rest
        Functions of what is given: the whole expression, its condition, and what follows from that.
    given
        What the names in it stand for.
    """
    if world.oracle is not None:
        return answer(*given)
    found = _answered(world, answer, given)
    if found is not None:
        return found[0]
    condition = test(*given)
    condition = number(condition) if type(condition) is Term else condition
    raw = _is_bit(condition)
    if raw or nature(condition) == "coin":
        sides = [number(rest(side, *given)) for side in (True, False)] if raw else []
        if raw and all(map(_is_plain, sides)):
            return adding.add(multiplying.multiply(condition, sides[0] - sides[1]), sides[1])
        made = None if raw else _by_coin(world, condition, lambda side: rest(side, *given))
        if made is not None:
            _note(world, places)
            return made
    return rest(condition, *given)


def respond(world: World, answer: Function[Foreign], given: tuple[Foreign, ...]) -> Foreign:
    """What an expression with a coin in it comes to: an answer, if it can be one."""
    found = _answered(world, answer, given) if world.oracle is None else None
    return answer(*given) if found is None else found[0]


def _answered(world: World, answer: Function[Foreign], given: tuple[Foreign, ...]) -> tuple[Foreign] | None:
    """An answer that raw numbers among what is given get, if it has a price; else None."""
    if not any(map(answers.is_raw, map(number, given))):
        return None
    before, state = (world.failure, world.at, len(world.charges)), world.states()
    try:
        found = answers.answered(world, answer, given)
    except Unbounded:
        found = None
    made = world.charges[before[2] :]
    if found is not None and all(
        math.isfinite(end) for c in made for ends in c.costs.values() for end in ends
    ):
        return found
    del world.charges[before[2] :]
    world.failure, world.at = before[:2]
    world.restore(state)
    return None


def _by_coin(world: World, coin: Foreign, rest: Callable[[bool], Foreign]) -> Foreign:
    """A number or noise with a random sign, or a raw number that counts as a coin falls; else None."""
    if coin.chance is None:
        return None
    before, state = (world.failure, world.at), world.states()
    try:
        sides = [number(rest(True)), number(rest(False))]
    except Exception:  # on the side that the code may not take
        sides = []
        world.failure, world.at = before
    if not sides or repr(world.states()) != repr(state):
        world.restore(state)
        return None
    signed = draws.signed(coin, *sides) if coin.chance == 0.5 else None
    return _counted(coin, sides) if signed is None else signed


def _counted(coin: Foreign, sides: Sequence[Foreign]) -> Foreign:
    """One of two numbers as a coin falls, one of which is raw at least; None if that is not followed."""
    raw = [is_term(v) and bool(v.raw) and not v.noise for v in sides]
    if not any(raw) or not all(own or _is_plain(v) for own, v in zip(raw, sides, strict=True)):
        return None
    return adding.either(coin.mixed(*sides), sides)


def switch(
    world: World, coin: Foreign, one: Callable[[], Foreign], other: Callable[[], Foreign], rest: Foreign
) -> Foreign:
    """One of two raw numbers as a coin falls, or `rest`."""
    if world.oracle is None and nature(coin) == "coin" and coin.chance is not None:
        before = world.failure, world.at
        try:
            sides = [number(one()), number(other())]
        except Unbounded:
            world.failure, world.at = before
            return rest(coin)
        found = _counted(coin, sides)
        if found is not None:
            return found
    return rest(coin)


def opposite(world: World, value: Foreign) -> Foreign:
    """The opposite of a truth value, which may be raw."""
    value = number(value)
    bit = is_term(value) and not value.noise and value.whole and value.range() == (0.0, 1.0)
    return adding.subtract(1, value) if bit else not value


def mix(
    world: World,
    places: tuple[Foreign, ...],
    condition: Foreign,
    values: Sequence[Callable[[], Foreign]],
    others: Sequence[Callable[[], Foreign]],
    spots: Sequence[Callable[[], Foreign]],
) -> list[Foreign] | None:
    """Numbers that count only if a condition holds, and those that count only if not.

    None for the code to look by itself: only coins that count raw numbers, and raw conditions, are followed,
    and only where no entry of a dictionary comes into being: whether it is there may be seen. `spots` give
    the containers and keys of the entries that change. `places` tell where the condition stands, of which
    both sides are looked at then.
    """
    raw, coin = _is_bit(condition), nature(condition) == "coin" and condition.chance is not None
    if world.oracle is not None or not (raw or (coin and not others)):
        return None
    if any(isinstance(kept, Mapping) and key not in kept for kept, key in (spot() for spot in spots)):
        return None
    found = [number(value()) for value in (*values, *others)]
    if raw and all(_is_plain(v) or (is_term(v) and not v.noise) for v in found):
        sides = [condition] * len(values) + [comparing.negated(condition)] * len(others)
        _note(world, places)
        return [multiplying.multiply(side, v) for side, v in zip(sides, found, strict=True)]
    if raw or len(found) > 1 or not (is_term(found[0]) and found[0].raw and not found[0].noise):
        return None
    mixed = condition.mixed(found[0], 0)
    if mixed is None:
        return None
    _note(world, places)
    return [mixed]


def _note(world: World, places: tuple[Foreign, ...]) -> None:
    """Note that both sides of a condition were followed."""
    file = sys._getframe(2).f_code.co_filename
    world.mixed.update((file, place) for place in places)


def _is_bit(value: Foreign) -> bool:
    """Whether a condition is raw."""
    return is_term(value) and not value.noise and value.whole and value.range() == (0.0, 1.0)


def _is_plain(value: Foreign) -> bool:
    return isinstance(value, PLAIN_NUMBERS) and not is_term(value) and not nature(value)


def blended(value: Foreign) -> bool:
    """Whether a condition is raw, so that two numbers are mixed."""
    return _is_bit(number(value) if type(value) is Term else value)


def blend(
    world: World, places: tuple[Foreign, ...], condition: Foreign, *sides: Callable[[], Foreign]
) -> Foreign:
    """One of two numbers, as a raw condition says."""
    values = [number(side()) for side in sides]
    if world.oracle is not None or not all(_is_plain(v) or (is_term(v) and not v.noise) for v in values):
        raise world.stop("raw {data} decide a branch", why=Ends.BRANCH)
    _note(world, places)
    world.scaled()
    return adding.either(comparing.mixed(condition, *values), values)


def decides(value: Foreign) -> bool:
    """Whether it is one public truth value."""
    return type(value) in (bool, np.bool_)


def turned(world: World, at: int, loop: bool, value: Foreign) -> Foreign:
    """What a condition comes out as, if it may be turned about."""
    return world.flips.turned(at, value, loop=loop)


def entry(world: World, values: Foreign, key: Foreign) -> Foreign:
    """The entry of a list; at a proposed position, as of an array; at a raw one, as what may stand there."""
    if is_term(key) and type(values) in (list, tuple, np.ndarray) and comparing.is_place(key, len(values)):
        found = boxes.looked_up(world, np.asarray(values), key)
        if found is not None:
            return found
    listed = nature(key) == "pick" and type(values) in (list, tuple) and boxes.has_terms(values)
    if listed and all(is_term(v) or _is_plain(v) for v in values):
        return boxes.wrapped(world, values)[key]
    return values[key]


def tally(world: World, values: Foreign, key: Foreign, amount: Foreign) -> Foreign:
    """Values to an entry of which this was added; at a raw place, to each as far as it may be the one."""
    plain = type(values) is list or (type(values) is boxes.Box and values.ndim == 1 and values.narrow is None)
    if plain and is_term(key) and comparing.is_place(key, len(values)):
        kept = values if type(values) is list else values.data
        for i, value in enumerate(kept):
            kept[i] = adding.add(value, multiplying.multiply(comparing.equal(key, i), amount))
    else:
        values[key] += amount
    return values


_KNOWN = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type, np.ufunc, str, int, float)


def disclosed(world: World, value: Foreign) -> Foreign:
    """The same, of which the adversary is told every number: whatever is done with it tells no more."""
    kind = type(value)  # a tracked number claims to be of another
    if kind is dict:
        disclosed(world, [*value.values()])
    elif kind in (list, tuple):
        for part in value:
            disclosed(world, part)
    elif boxes.has_own(value) or kind is boxes.Box:
        boxes.plain(world, value, "raw {data} are disclosed")
    elif not (value is None or issubclass(kind, (*_KNOWN, np.generic, np.ndarray))):
        raise world.stop("we do not know what is disclosed")
    return value


def picked(world: World, values: Foreign, key: Foreign) -> Foreign:
    """An entry of a table that is disclosed, or of which the law says all (`contests`) until it is used."""
    found = entry(world, values, key)
    if type(found) is accept_reject.Veiled:
        found.told = True
        return found
    disclosed(world, values)
    return found


def inner(world: World, function: Function[Foreign]) -> Function[Foreign]:
    """A function that another one makes: what stands in for it, as for those of a module."""
    made = answers.answering(world, function) if answers.is_answer(function) else function
    return samplers.drawing(world, function, made) if samplers.draws_noise(function.__code__) else made
