"""hypothesis strategies for neighbouring inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import tosses, validate
from verifiable_dp.core.adversaries import (
    FEATURES,
    Strategy,
    alternate,
    balance,
    flatter,
    learnt,
    punish,
    restless,
    tease,
)
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours.games import ContextPair, InteractivePair
from verifiable_dp.core.neighbours.pairs import GroupPair, StreamPair, TablePair, UserPair
from verifiable_dp.core.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def _entries(bounds: tuple[float, float], levels: int) -> SearchStrategy[float]:
    low, high = validate.bounds("bounds", bounds)
    grid: list[float] = np.linspace(low, high, validate.integer("levels", levels, least=2)).tolist()
    return tosses.one_of(grid)


def _rows(
    n_arms: int, bounds: tuple[float, float], levels: int, pattern: int
) -> SearchStrategy[list[list[float]]]:
    from hypothesis import strategies as st

    row = st.lists(_entries(bounds, levels), min_size=n_arms, max_size=n_arms)
    return st.lists(row, min_size=1, max_size=pattern)


def _tile(rows: Sequence[npt.ArrayLike], horizon: int) -> FloatArray:
    repeats = -(-horizon // len(rows))
    return np.tile(np.array(rows, dtype=np.float64), (repeats, 1))[:horizon]


def _farthest(was: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return high if was - low <= high - was else low


def tables(
    *, n_arms: int, horizon: int, bounds: tuple[float, float] = (0.0, 1.0), levels: int = 3, pattern: int = 8
) -> SearchStrategy[TablePair]:
    """Strategy for `TablePair` of shape (horizon, n_arms).

    Rows repeat a pattern of at most `pattern` rows, entries lie on a grid of `levels` values, and the
    changed entry moves to the farther bound. Shrinks to a table of lows whose first entry differs.
    """
    from hypothesis import strategies as st

    validate.integer("horizon", horizon, least=1)

    def pair(drawn: tuple[list[list[float]], int, int]) -> TablePair:
        table = _tile(drawn[0], horizon)
        return TablePair(table, drawn[1], drawn[2], _farthest(table[drawn[1], drawn[2]], bounds), bounds)

    rows = _rows(n_arms, bounds, levels, min(pattern, horizon))
    return st.tuples(rows, tosses.below(horizon), tosses.below(n_arms)).map(pair)


def streams(
    *,
    horizon: int,
    n_arms: int = 1,
    bounds: tuple[float, float] = (0.0, 1.0),
    levels: int = 3,
    pattern: int = 8,
) -> SearchStrategy[StreamPair]:
    """Strategy for `StreamPair` of length `horizon`; otherwise like `tables`."""
    from hypothesis import strategies as st

    validate.integer("horizon", horizon, least=1)

    def pair(drawn: tuple[list[list[float]], int]) -> StreamPair:
        stream = _tile(drawn[0], horizon)[:, 0]
        return StreamPair(stream, drawn[1], _farthest(stream[drawn[1]], bounds), n_arms, bounds)

    rows = _rows(1, bounds, levels, min(pattern, horizon))
    return st.tuples(rows, tosses.below(horizon)).map(pair)


def _moved(table: FloatArray, rounds: IntArray, bounds: tuple[float, float]) -> FloatArray:
    """The rows `rounds` of a table with every entry at the farther bound."""
    low, high = bounds
    return np.where(table[rounds] - low <= high - table[rounds], high, low)


def groups(
    *,
    n_arms: int,
    horizon: int,
    size: int,
    bounds: tuple[float, float] = (0.0, 1.0),
    levels: int = 3,
    pattern: int = 8,
) -> SearchStrategy[GroupPair]:
    """Strategy for `GroupPair`: 1 to `size` rounds of one arm differ; otherwise like `tables`."""
    from hypothesis import strategies as st

    validate.integer("horizon", horizon, least=1)
    most = validate.integer("size", size, least=1, most=horizon)

    def pair(drawn: tuple[list[list[float]], list[int], int]) -> GroupPair:
        table, arm = _tile(drawn[0], horizon), drawn[2]
        return GroupPair(
            table, [(when, arm, _farthest(table[when, arm], bounds)) for when in drawn[1]], bounds
        )

    rows = _rows(n_arms, bounds, levels, min(pattern, horizon))
    rounds = st.lists(tosses.below(horizon), min_size=1, max_size=most, unique=True)
    return st.tuples(rows, rounds, tosses.below(n_arms)).map(pair)


def users(
    *,
    n_arms: int,
    horizon: int,
    size: int,
    bounds: tuple[float, float] = (0.0, 1.0),
    levels: int = 3,
    pattern: int = 8,
) -> SearchStrategy[UserPair]:
    """Strategy for `UserPair`: round t belongs to user t mod n, who has at most `size` rounds.

    All rewards of one user move to the farther bound; otherwise like `tables`.
    """
    from hypothesis import strategies as st

    validate.integer("horizon", horizon, least=1)
    everyone = -(-horizon // validate.integer("size", size, least=1, most=horizon))

    def pair(drawn: tuple[list[list[float]], int]) -> UserPair:
        table, owner = _tile(drawn[0], horizon), np.arange(horizon) % everyone
        rounds = np.flatnonzero(owner == drawn[1])
        return UserPair(table, owner, drawn[1], _moved(table, rounds, bounds), bounds)

    rows = _rows(n_arms, bounds, levels, min(pattern, horizon))
    return st.tuples(rows, tosses.below(everyone)).map(pair)


def contexts(
    form: Contexts, horizon: int, *, pattern: int = 4, reward_only: bool = False
) -> SearchStrategy[ContextPair]:
    """Strategy for `ContextPair`: rows repeat a pattern of long contexts and of extreme rewards.

    Another user may be in the place of one: along another axis, or with equal entries, and with rewards at
    the other bound.
    """
    from hypothesis import strategies as st

    validate.integer("horizon", horizon, least=1)
    low, high = form.bounds
    signed = st.tuples(tosses.below(form.dimension + 1), tosses.one_of([1.0, -1.0, 0.5]))
    row = st.tuples(signed, st.lists(st.booleans(), min_size=form.n_arms, max_size=form.n_arms))

    def vector(drawn: tuple[int, float]) -> FloatArray:
        axis, sign = drawn
        return np.ravel(sign * (form.unit(axis) if axis < form.dimension else form.even()))

    def made(drawn: tuple[tuple[int, float], list[bool]]) -> FloatArray:
        return np.concatenate([np.where(drawn[1], high, low), vector(drawn[0])])

    def pair(
        drawn: tuple[list[tuple[tuple[int, float], list[bool]]], int, tuple[int, float], bool],
    ) -> ContextPair:
        table = _tile([made(one) for one in drawn[0]], horizon)
        other, when = table[drawn[1]].copy(), drawn[1]
        if not reward_only:
            other[form.n_arms :] = vector(drawn[2])
        if drawn[3] or (other == table[when]).all():
            other[: form.n_arms] = np.where(other[: form.n_arms] == high, low, high)
        return ContextPair.of_tables(form, table, when, other)

    rows = st.lists(row, min_size=1, max_size=min(pattern, horizon))
    return st.tuples(rows, tosses.below(horizon), signed, st.booleans()).map(pair)


def interactive(
    *, n_arms: int, horizon: int, bounds: tuple[float, float] = (0.0, 1.0)
) -> SearchStrategy[InteractivePair]:
    """Strategy for `InteractivePair`: a built-in adversary, any challenge round, either direction.

    Of the kind ``learnt`` the weights are drawn. Shrinks to an adversary that flatters arm 0.
    """
    from hypothesis import strategies as st

    weight = tosses.one_of([0, *(sign * size for size in range(1, 5) for sign in (1, -1))])
    places = tosses.below(horizon)
    fixed = [balance(bounds), punish(bounds), restless(bounds)]
    ready: list[SearchStrategy[Strategy]] = [
        tosses.below(n_arms).map(lambda arm: flatter(bounds, arm)),
        tosses.one_of(fixed),
        st.tuples(weight, tosses.below(5)).map(lambda drawn: tease(bounds, *drawn)),
        tosses.below(8).map(lambda shorter: alternate(bounds, shorter + 1)),
        st.tuples(places, st.tuples(*[weight] * len(FEATURES))).map(
            lambda drawn: learnt(bounds, horizon, drawn[0], drawn[1])
        ),
    ]

    def pair(drawn: tuple[Strategy, int, bool]) -> InteractivePair:
        low, high = bounds[::-1] if drawn[2] else bounds
        return InteractivePair(drawn[0], drawn[1], low, high, bounds)

    kind = tosses.below(len(ready)).flatmap(ready.__getitem__)
    return st.tuples(kind, places, st.booleans()).map(pair)
