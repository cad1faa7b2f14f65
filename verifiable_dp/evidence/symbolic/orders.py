"""Functions that toss a coin for one arm after another in a random order, as permute-and-flip does.

Such a function has no effect but its answer. It is run for orders and places at which a coin comes up for
an arm: the coin's chance and the answer must follow from that arm alone, whatever came before. Then the
answer is that of permute-and-flip, if the chances are its own (see `contests`).
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic import contests, terms
from verifiable_dp.evidence.symbolic.answers import Oracle, asking
from verifiable_dp.evidence.symbolic.tables import flat, harmless, is_plain, settings, without_effects
from verifiable_dp.evidence.symbolic.terms import Ends, Term, Unbounded, World, is_term

_ORDERS = frozenset(("permutation", "shuffle"))
_DRAWS = _ORDERS | {"random", "rand", "uniform"}
_OF_MODULES, _METHODS = frozenset(("exp", "argmax")), frozenset(("keys", "values", "items"))
_FEW = 6


class _InOrder(Oracle):
    """Says in which order arms come, and at which place a coin comes up.

    Parameters
    ----------
    order, place
        Of the arms, and where a coin comes up; None to follow the generator.
    """

    def __init__(self, order: tuple[int, ...] | None = None, place: int = 0) -> None:
        super().__init__(natural=order is None)
        self.arms, self._place = order, place
        self.tossed: list[Any] = []

    def order(self, natural: list[int]) -> list[int]:
        """See `Oracle.order`."""
        if self.natural:
            return natural
        arms, self.arms = self.arms, None
        if arms is None or len(arms) != len(natural):
            raise Unbounded("arms come in an order that is not followed")
        return [*arms]

    def choose(self, chances: list[Any], natural: int) -> int:
        """See `Oracle.choose`."""
        self.tossed.append(chances[0])
        return natural if self.natural else int(len(self.tossed) != self._place + 1)

    def raw(self, world: World, values: range, natural: int, units: Any) -> int:
        """See `Oracle.raw`: nothing else is decided."""
        raise Unbounded("raw {data} decide something where arms come in order", why=Ends.DATA)

    def fits(self, chance: Term) -> bool:
        """See `Oracle.fits`: whether it is the chance of permute-and-flip is asked later."""
        return chance.ratio is not None and chance.ratio.is_exponential


@functools.lru_cache(maxsize=1 << 12)
def goes_in_order(code: Any) -> bool:
    """Whether a function has no effect but its answer, and draws orders and coins only."""
    return bool(_ORDERS & {*code.co_names}) and without_effects(code, _is_allowed)


def _is_allowed(call: ast.Call) -> bool:
    made = call.func
    if not isinstance(made, ast.Attribute) or call.keywords:
        return harmless(call)
    of_module = isinstance(made.value, ast.Name) and made.value.id in ("np", "numpy", "math")
    return made.attr in (_OF_MODULES if of_module else _DRAWS | _METHODS) or harmless(call)


def flipping(world: World, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose answer is paid for if it is that of permute-and-flip."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        size = next((len(flat(a)) for a in args if any(is_term(v) and v.raw for v in flat(a))), 0)
        used = settings(function)
        followed = world.oracle is None and not kwargs and used is not None and all(map(is_plain, args))
        if not followed or not 2 <= size <= _FEW:
            world.ended[function.__code__] = False
            return function(*args, **kwargs)
        before = world.failure, world.at, len(world.seen), len(world.charges), len(world.finishing)
        state = world.states()
        ask = functools.partial(_asked, world, function, args, state)
        given = flat(list(args))
        try:
            logs, answers = _contest(world, size, ask)
            natural = ask(_InOrder())
            found = list(answers).index(natural)
        except (Unbounded, ValueError):
            logs = []
        now = flat(list(args))
        alike = len(now) == len(given) and all(a is b for a, b in zip(now, given, strict=True))
        if (len(world.seen), len(world.charges), len(world.finishing)) != before[2:] or not alike:
            raise world.stop("coins that are tossed in order give away more than an answer")
        if not logs:
            world.failure, world.at = before[:2]
            world.restore(state)
            world.ended[function.__code__] = False
            return function(*args, **kwargs)
        world.ended.setdefault(function.__code__, True)  # the last coin is certain
        winner = world.chooser.winner(found, range(size))
        contests.won(world, logs, winner)
        return natural if winner == found else answers[winner]

    return call


def _asked(world: World, function: Callable[..., Any], args: Any, state: Any, oracle: _InOrder) -> Any:
    """The answer, as an oracle wants it."""
    world.restore(state)
    with asking(world, oracle):
        found = function(*args)
    if not isinstance(found, int | str | np.integer) or is_term(found) or terms.nature(found):
        raise Unbounded("an answer is not plain")
    return found


def _contest(world: World, size: int, ask: Callable[[_InOrder], Any]) -> tuple[list[Any], list[Any]]:
    """Logarithms of the chances, and the answers, arm by arm."""
    logs: dict[int, Any] = {}
    answers: dict[int, Any] = {}
    orders = list(itertools.permutations(range(size)))
    if not world.chooser.natural:  # the natural paths go through all of them
        orders = [*orders[:: max(1, len(orders) // (2 * size))], orders[-1]]
    for order in orders:
        for place, arm in enumerate(order):
            oracle = _InOrder(order, place)
            answer = ask(oracle)
            chances = [contests.log_of(world, chance) for chance in oracle.tossed]
            if len(chances) != place + 1 or answers.setdefault(arm, answer) != answer:
                raise Unbounded("an answer does not follow from the arm whose coin came up")
            for other, chance in zip(order, chances, strict=False):
                if not terms.alike(logs.setdefault(other, chance), chance):
                    raise Unbounded("coins in order are tossed with chances that change")
    found = [answers[arm] for arm in range(size)]
    made = [logs[arm] for arm in range(size)]
    if len({*found}) < size or not contests.is_flip(made):
        raise Unbounded("coins in order have chances that are not those of permute-and-flip")
    return made, found


def orders_of(scope: Mapping[str, Any]) -> Iterator[tuple[Any, str, Callable[..., Any], Any]]:
    """Functions of a module that may toss coins in order: owner, name, function, and its stand-in."""
    for name, value in list(scope.items()):
        own = inspect.isfunction(value) and value.__module__ == scope.get("__name__")
        if own and goes_in_order(value.__code__):
            yield scope, name, value, flipping
