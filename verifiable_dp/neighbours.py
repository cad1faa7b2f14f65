"""Neighbouring inputs: the pairs that a privacy promise speaks of, and hypothesis strategies for them.

Three views of one input, after Sajed & Sheffet (table), Wu et al. (stream) and the interactive game.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import FloatArray, InputError, IntArray

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Adversary = Callable[[IntArray, IntArray, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class TablePair:
    """Two reward tables that differ in one entry.

    Parameters
    ----------
    left
        Rewards (T, K): `left[t, a]` is what arm a pays in round t (from 0).
    round, arm
        The entry that differs.
    value
        Its value in the other table.
    bounds
        Declared range of the rewards.

    Raises
    ------
    InputError
        If an entry lies outside the bounds or is NaN, if the place is outside the table, or if the
        value is the one that already stands there.
    """

    left: FloatArray
    round: int
    arm: int
    value: float
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        low, high = _validate.bounds("bounds", self.bounds)
        table = _validate.rewards("rewards", self.left, (low, high), ndim=2)
        table.setflags(write=False)
        object.__setattr__(self, "left", table)
        _validate.integer("round", self.round, least=0, most=table.shape[0] - 1)
        _validate.integer("arm", self.arm, least=0, most=table.shape[1] - 1)
        _validate.rewards("value", self.value, (low, high), ndim=0)
        if table[self.round, self.arm] == self.value:
            raise InputError(f"value must differ from the entry it replaces, got {self.value!r} twice")

    @property
    def right(self) -> FloatArray:
        """The neighbouring table, (T, K)."""
        other = self.left.copy()
        other[self.round, self.arm] = self.value
        return other

    def worlds(self) -> tuple[FloatArray, FloatArray]:
        """Both tables."""
        return self.left, self.right

    def describe(self) -> str:
        """The difference in one line."""
        was = self.left[self.round, self.arm]
        return f"round {self.round + 1}, arm {self.arm}: reward {was:g} against {self.value:g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values; equal consecutive rounds are written once, as [repeats, rewards]."""
        return {
            "type": "table",
            "rows": _run_lengths(self.left),
            "round": self.round,
            "arm": self.arm,
            "value": self.value,
            "bounds": list(self.bounds),
            "words": self.describe(),
        }


@dataclass(frozen=True, eq=False)
class StreamPair:
    """Two reward streams x_1..x_T that differ in one round; every arm would pay the round's reward.

    Parameters
    ----------
    left
        Rewards (T,).
    round
        The round that differs, from 0.
    value
        Its reward in the other stream.
    n_arms
        K, the number of arms that pay the stream's reward.
    bounds
        Declared range of the rewards.

    Raises
    ------
    InputError
        As `TablePair`.
    """

    left: FloatArray
    round: int
    value: float
    n_arms: int = 1
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        low, high = _validate.bounds("bounds", self.bounds)
        stream = _validate.rewards("rewards", self.left, (low, high), ndim=1)
        stream.setflags(write=False)
        object.__setattr__(self, "left", stream)
        _validate.integer("n_arms", self.n_arms, least=1)
        _validate.integer("round", self.round, least=0, most=len(stream) - 1)
        _validate.rewards("value", self.value, (low, high), ndim=0)
        if stream[self.round] == self.value:
            raise InputError(f"value must differ from the entry it replaces, got {self.value!r} twice")

    @property
    def right(self) -> FloatArray:
        """The neighbouring stream, (T,)."""
        other = self.left.copy()
        other[self.round] = self.value
        return other

    def worlds(self) -> tuple[FloatArray, FloatArray]:
        """Both inputs as tables (T, K)."""
        return (
            np.repeat(self.left[:, None], self.n_arms, axis=1),
            np.repeat(self.right[:, None], self.n_arms, axis=1),
        )

    def describe(self) -> str:
        """The difference in one line."""
        return f"round {self.round + 1}: reward {self.left[self.round]:g} against {self.value:g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values; equal consecutive rounds are written once, as [repeats, [reward]]."""
        return {
            "type": "stream",
            "rows": _run_lengths(self.left[:, None]),
            "round": self.round,
            "value": self.value,
            "n_arms": self.n_arms,
            "bounds": list(self.bounds),
            "words": self.describe(),
        }


@dataclass(frozen=True, eq=False)
class InteractivePair:
    """An adversary that picks each reward after seeing the actions so far; one round is the challenge.

    Parameters
    ----------
    adversary
        `adversary(t, arm, pulls) -> rewards (n,)` with round t (n,), chosen arm (n,) and earlier pulls
        by arm (n, K): the reward of the coming round, the same in both worlds.
    challenge
        The round, from 0, in which the two worlds differ.
    low, high
        Reward of the challenge in the one and in the other world.
    bounds
        Declared range of the rewards.

    Raises
    ------
    InputError
        If the two rewards are equal or out of bounds.
    """

    adversary: Adversary
    challenge: int
    low: float = 0.0
    high: float = 1.0
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        limits = _validate.bounds("bounds", self.bounds)
        _validate.integer("challenge", self.challenge, least=0)
        _validate.rewards("low", self.low, limits, ndim=0)
        _validate.rewards("high", self.high, limits, ndim=0)
        if self.low == self.high:
            raise InputError(f"high must differ from low, got {self.high!r} for both")

    def reward(self, world: int, t: IntArray, arm: IntArray, pulls: IntArray) -> FloatArray:
        """Rewards (n,) of round `t` in `world` 0 or 1."""
        chosen = _validate.rewards("adversary's rewards", self.adversary(t, arm, pulls), self.bounds)
        return np.where(t == self.challenge, self.high if world else self.low, chosen)

    def describe(self) -> str:
        """The difference in one line."""
        return f"round {self.challenge + 1}, chosen adaptively: reward {self.low:g} against {self.high:g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values; the adversary by its name."""
        return {
            "type": "interactive",
            "adversary": str(getattr(self.adversary, "__name__", self.adversary)),
            "challenge": self.challenge,
            "low": self.low,
            "high": self.high,
            "bounds": list(self.bounds),
            "words": self.describe(),
        }


Pair = TablePair | StreamPair | InteractivePair


def _run_lengths(table: FloatArray) -> list[list[Any]]:
    """[[repeats, rewards], …] of consecutive equal rows."""
    changes = np.flatnonzero((table[1:] != table[:-1]).any(axis=1)) + 1
    starts = np.concatenate([[0], changes, [len(table)]]).astype(int)
    return [[int(b - a), table[a].tolist()] for a, b in itertools.pairwise(starts)]


def pair_of(plain: Mapping[str, Any]) -> TablePair | StreamPair:
    """The pair that `as_dict` wrote.

    Raises
    ------
    InputError
        If it is malformed, or interactive (an adversary is a function and cannot be read back).
    """
    try:
        rows = [row for repeats, row in plain["rows"] for _ in range(int(repeats))]
        limits = (float(plain["bounds"][0]), float(plain["bounds"][1]))
        if plain["type"] == "stream":
            flat = np.array(rows, dtype=np.float64)[:, 0]
            return StreamPair(flat, plain["round"], plain["value"], plain["n_arms"], limits)
        return TablePair(
            np.array(rows, dtype=np.float64), plain["round"], plain["arm"], plain["value"], limits
        )
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"pair: not a table or stream pair as written in a record ({error})") from None


def _entries(bounds: tuple[float, float], levels: int) -> Any:
    from hypothesis import strategies as st

    low, high = _validate.bounds("bounds", bounds)
    grid = np.linspace(low, high, _validate.integer("levels", levels, least=2)).tolist()
    return st.sampled_from(grid)


def _rows(n_arms: int, bounds: tuple[float, float], levels: int, pattern: int) -> Any:
    from hypothesis import strategies as st

    row = st.lists(_entries(bounds, levels), min_size=n_arms, max_size=n_arms)
    return st.lists(row, min_size=1, max_size=pattern)


def _tile(rows: list[list[float]], horizon: int) -> FloatArray:
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

    _validate.integer("horizon", horizon, least=1)

    def pair(drawn: tuple[list[list[float]], int, int]) -> TablePair:
        table = _tile(drawn[0], horizon)
        return TablePair(table, drawn[1], drawn[2], _farthest(table[drawn[1], drawn[2]], bounds), bounds)

    place = st.integers(0, horizon - 1)
    return st.tuples(
        _rows(n_arms, bounds, levels, min(pattern, horizon)), place, st.integers(0, n_arms - 1)
    ).map(pair)


def streams(
    *,
    horizon: int,
    n_arms: int = 1,
    bounds: tuple[float, float] = (0.0, 1.0),
    levels: int = 3,
    pattern: int = 8,
) -> SearchStrategy[StreamPair]:
    """Strategy for `StreamPair` of length `horizon`; as `tables`."""
    from hypothesis import strategies as st

    _validate.integer("horizon", horizon, least=1)

    def pair(drawn: tuple[list[list[float]], int]) -> StreamPair:
        stream = _tile(drawn[0], horizon)[:, 0]
        return StreamPair(stream, drawn[1], _farthest(stream[drawn[1]], bounds), n_arms, bounds)

    place = st.integers(0, horizon - 1)
    return st.tuples(_rows(1, bounds, levels, min(pattern, horizon)), place).map(pair)


def flatter(bounds: tuple[float, float], favourite: int) -> Adversary:
    """Adversary that pays `favourite` the high reward and every other arm the low one."""
    low, high = bounds

    def reward(t: IntArray, arm: IntArray, pulls: IntArray) -> FloatArray:
        return np.where(arm == favourite, high, low)

    reward.__name__ = f"flatter arm {favourite}"
    return reward


def balance(bounds: tuple[float, float]) -> Adversary:
    """Adversary that pays high to the arms pulled least so far: it keeps the indices close."""
    low, high = bounds

    def reward(t: IntArray, arm: IntArray, pulls: IntArray) -> FloatArray:
        mine = np.take_along_axis(pulls, arm[:, None], axis=1)[:, 0]
        return np.where(mine <= pulls.min(axis=1), high, low)

    reward.__name__ = "balance"
    return reward


def interactive(
    *, n_arms: int, horizon: int, bounds: tuple[float, float] = (0.0, 1.0)
) -> SearchStrategy[InteractivePair]:
    """Strategy for `InteractivePair`: one of the ready adversaries and any challenge round."""
    from hypothesis import strategies as st

    adversaries = [flatter(bounds, arm) for arm in range(n_arms)] + [balance(bounds)]

    def pair(drawn: tuple[int, int]) -> InteractivePair:
        return InteractivePair(adversaries[drawn[0]], drawn[1], bounds[0], bounds[1], bounds)

    places = st.tuples(st.integers(0, len(adversaries) - 1), st.integers(0, horizon - 1))
    return places.map(pair)
