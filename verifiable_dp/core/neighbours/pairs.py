"""Pairs of fixed inputs: tables and streams that differ in one entry, in a group, or in a user's rounds.

Views of one input after Sajed & Sheffet (table) and Wu et al. (stream).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, JsonDict, JsonValue


class Neighbours(Protocol):
    """Any two neighbouring inputs, with their description for records."""

    def describe(self) -> str:
        """In one line."""
        ...

    def as_dict(self) -> JsonDict:
        """Plain values."""
        ...


@dataclass(frozen=True, eq=False)
class Pair:
    """Two reward tables that differ in some entries.

    `TablePair`, `StreamPair`, `GroupPair` and `UserPair` make them from what their relation needs.

    Parameters
    ----------
    left
        Rewards (T, K): `left[t, a]` is what arm a pays in round t (from 0).
    changes
        (round, arm, value) of every entry that differs, with its value in the other table. Entries of one
        round are one event: a run sees at most one of them.
    relation
        ``table``, ``stream``, ``group`` or ``user``.
    bounds
        Declared range of the rewards.

    Raises
    ------
    InputError
        If an entry lies outside the bounds or is NaN, if a place is outside the table or changed twice, or if
        a value is the one that already stands there.
    """

    left: FloatArray
    changes: Sequence[tuple[int, int, float]]
    relation: str
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        limits = validate.bounds("bounds", self.bounds)
        table = validate.rewards("rewards", self.left, limits, ndim=2)
        table.setflags(write=False)
        changes = []
        for when, arm, value in self.changes:
            when = validate.integer("round", when, least=0, most=table.shape[0] - 1)
            arm = validate.integer("arm", arm, least=0, most=table.shape[1] - 1)
            value = float(validate.rewards("value", value, limits, ndim=0))
            if table[when, arm] == value:
                raise InputError(f"value must differ from the entry it replaces, got {value!r} twice")
            changes.append((when, arm, value))
        if not changes:
            raise InputError("changes must contain at least one entry that differs, got none")
        if len({(when, arm) for when, arm, _ in changes}) < len(changes):
            raise InputError("changes: each entry may be changed only once")
        object.__setattr__(self, "left", table)
        object.__setattr__(self, "changes", tuple(sorted(changes)))

    @property
    def right(self) -> FloatArray:
        """The other table, (T, K)."""
        other = self.left.copy()
        for when, arm, value in self.changes:
            other[when, arm] = value
        return other

    def worlds(self) -> tuple[FloatArray, FloatArray]:
        """Both tables."""
        return self.left, self.right

    @property
    def round(self) -> int:
        """The first round that differs."""
        return self.changes[0][0]

    @property
    def arm(self) -> int:
        """The arm of the first entry that differs."""
        return self.changes[0][1]

    @property
    def value(self) -> float:
        """Value of the first entry that differs, in the other table."""
        return self.changes[0][2]

    @property
    def size(self) -> int:
        """Number of events that may differ."""
        return len({when for when, _, _ in self.changes})

    def steps(self) -> list[Pair]:
        """A chain of pairs from the one table to the other, one event at a time."""
        found, left = list[Pair](), self.left
        for _, same in itertools.groupby(self.changes, key=lambda change: change[0]):
            found.append(GroupPair(left, list(same), self.bounds))
            left = found[-1].right
        return found

    def describe(self) -> str:
        """The difference in one line."""
        shown = [
            f"round {when + 1}, arm {arm}: {self.left[when, arm]:g} against {value:g}"
            for when, arm, value in self.changes[:3]
        ]
        more = f"; {len(self.changes) - 3} more entries" if len(self.changes) > 3 else ""
        return f"group of {self.size}: {'; '.join(shown)}{more}"

    def as_dict(self) -> JsonDict:
        """Plain values; equal consecutive rounds are written once, as [repeats, rewards]."""
        return {
            "type": self.relation,
            **self._plain(),
            "bounds": list(self.bounds),
            "words": self.describe(),
        }

    def _plain(self) -> JsonDict:
        return {"rows": run_lengths(self.left), "changes": [list(change) for change in self.changes]}


class GroupPair(Pair):
    """Two reward tables that differ in several rounds: a group of events.

    Parameters
    ----------
    left, changes, bounds
        See `Pair`.

    Raises
    ------
    InputError
        See `Pair`.
    """

    def __init__(
        self,
        left: FloatArray,
        changes: Sequence[tuple[int, int, float]],
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(left, changes, "group", bounds)


class TablePair(Pair):
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
        See `Pair`.
    """

    def __init__(
        self, left: FloatArray, round: int, arm: int, value: float, bounds: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        super().__init__(left, [(round, arm, value)], "table", bounds)

    def describe(self) -> str:
        """The difference in one line."""
        was = self.left[self.round, self.arm]
        words = f"round {self.round + 1}, arm {self.arm}: reward {was:g} against {self.value:g}"
        return words + _others(self.left, self.round, self.arm)

    def _plain(self) -> JsonDict:
        entry = {"round": self.round, "arm": self.arm, "value": self.value}
        return {"rows": run_lengths(self.left), **entry}


class StreamPair(Pair):
    """Two reward streams x_1..x_T that differ in one round; every arm pays the round's reward.

    Parameters
    ----------
    left
        Rewards (T,); the attribute is the table (T, K) of all arms.
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
        See `Pair`.
    """

    def __init__(
        self,
        left: FloatArray,
        round: int,
        value: float,
        n_arms: int = 1,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        stream = validate.rewards("rewards", left, validate.bounds("bounds", bounds), ndim=1)
        arms = range(validate.integer("n_arms", n_arms, least=1))
        table = np.repeat(stream[:, None], n_arms, axis=1)
        super().__init__(table, [(round, arm, value) for arm in arms], "stream", bounds)

    def describe(self) -> str:
        """The difference in one line."""
        words = f"round {self.round + 1}: reward {self.left[self.round, 0]:g} against {self.value:g}"
        return words + _others(self.left[:, :1], self.round, 0)

    def _plain(self) -> JsonDict:
        entry = {"round": self.round, "value": self.value, "n_arms": self.left.shape[1]}
        return {"rows": run_lengths(self.left[:, :1]), **entry}


class UserPair(Pair):
    """Two reward tables that may differ in all rounds of one user.

    Parameters
    ----------
    left
        Rewards (T, K).
    users
        Whose round each is, (T,) whole numbers.
    user
        Whose rewards differ.
    values
        That user's rewards in the other table, (m, K) for its m rounds in order.
    bounds
        Declared range of the rewards.

    Raises
    ------
    InputError
        If a reward is out of bounds, the user has no round, or nothing differs.
    """

    users: IntArray
    user: int

    def __init__(
        self,
        left: FloatArray,
        users: IntArray,
        user: int,
        values: FloatArray,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        limits = validate.bounds("bounds", bounds)
        table = validate.rewards("rewards", left, limits, ndim=2)
        owners = np.array(users)
        if owners.shape != table.shape[:1] or owners.dtype.kind not in "iu":
            raise InputError(f"users must be {table.shape[0]} whole numbers, got shape {owners.shape}")
        mine = np.flatnonzero(owners == validate.integer("user", user, least=0))
        if not len(mine):
            raise InputError(f"user must be one of those in users, got {user!r}")
        others = validate.rewards("values", values, limits, ndim=2)
        if others.shape != (len(mine), table.shape[1]):
            raise InputError(f"values must have shape {(len(mine), table.shape[1])}, got {others.shape}")
        places = np.argwhere(table[mine] != others).tolist()
        changes = [(int(mine[row]), arm, float(others[row, arm])) for row, arm in places]
        super().__init__(table, changes, "user", bounds)
        object.__setattr__(self, "users", owners.astype(np.int64))
        object.__setattr__(self, "user", int(user))
        self.users.setflags(write=False)

    @classmethod
    def of(
        cls,
        left: FloatArray,
        owner: Mapping[int, int],
        user: int,
        values: FloatArray,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> UserPair:
        """From a mapping round -> user; rounds that it leaves out belong to nobody (-1)."""
        users = np.array([owner.get(t, -1) for t in range(len(left))], np.int64)
        return cls(left, users, user, values, bounds)

    @property
    def rounds(self) -> IntArray:
        """Rounds of the user, (m,)."""
        return np.flatnonzero(self.users == self.user)

    @property
    def size(self) -> int:
        """Number of the user's rounds: events that may differ."""
        return len(self.rounds)

    def describe(self) -> str:
        """The difference in one line."""
        rounds = [str(t + 1) for t in self.rounds[:4].tolist()] + (["…"] if self.size > 4 else [])
        differ = len({when for when, _, _ in self.changes})
        return f"user {self.user}: {differ} of {self.size} rewards differ, rounds {', '.join(rounds)}"

    def _plain(self) -> JsonDict:
        return {
            "rows": run_lengths(self.left),
            "users": [[n, int(user[0])] for n, user in run_lengths(self.users[:, None])],
            "user": self.user,
            "values": run_lengths(self.right[self.rounds]),
        }


def run_lengths(table: FloatArray | IntArray) -> list[list[JsonValue]]:
    """[[repeats, rewards], …] of consecutive equal rows."""
    changes = np.flatnonzero((table[1:] != table[:-1]).any(axis=1)) + 1
    starts = np.concatenate([[0], changes, [len(table)]]).astype(int)
    return [[int(b - a), table[a].tolist()] for a, b in itertools.pairwise(starts)]


PARTS, ARMS = 3, 4  # that are described


def neighbour(
    kind: str,
    table: FloatArray,
    place: tuple[int, int],
    values: tuple[float, float],
    bounds: tuple[float, float],
) -> TablePair | GroupPair:
    """Tables that neighbour `table` under one of `units.ADJACENCIES`; `table` is not changed.

    Parameters
    ----------
    kind
        ``replace``: the reward takes both values. ``zero-out``: the first value that is not 0, and 0.
        ``add-remove``: a table with the first value and the same one without that round: later rounds move
        up, and after them comes another one like the last of `table`; with the second value where that
        changes nothing.
    table, place
        Rewards (T, K), and the round and arm of the reward.
    values
        Of the reward in the one and in the other world.
    bounds
        Of rewards; widened to 0 where a reward is zeroed out.

    Raises
    ------
    InputError
        If nothing differs.
    """
    (when, arm), (first, second) = place, values
    base = table.copy()
    base[when, arm] = first
    if kind == "replace":
        return TablePair(base, when, arm, second, bounds)
    if kind == "zero-out":
        base[when, arm] = first or second
        return TablePair(base, when, arm, 0.0, (min(bounds[0], 0.0), max(bounds[1], 0.0)))
    rest = np.concatenate([table[:when], table[when + 1 :], table[-1:]])
    if np.array_equal(base, rest):
        base[when, arm] = second
    places = np.argwhere(base != rest).tolist()
    return GroupPair(base, [(t, a, float(rest[t, a])) for t, a in places], bounds)


def _others(table: FloatArray, when: int, arm: int) -> str:
    """Rewards other than the entry that differs, where they change: pairs that differ there look alike."""
    if len(table) == 1:
        return ""
    rows, beside = table.copy(), [t for t in (when + 1, when - 1) if 0 <= t < len(table)]
    alike = [t for t in beside if (np.delete(table[t], arm) == np.delete(table[when], arm)).all()]
    rows[when, arm] = table[(alike or beside)[0], arm]
    starts = np.append(0, np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1)
    parts = [_row(rows[start]) + (f" from round {start + 1}" if start else "") for start in starts[:PARTS]]
    return f"; other rewards {', '.join(parts)}{', …' if len(starts) > PARTS else ''}"


def _row(rewards: FloatArray) -> str:
    if (rewards == rewards[0]).all():
        return f"{rewards[0] + 0.0:.4g}"
    return "/".join([*(f"{reward + 0.0:.4g}" for reward in rewards[:ARMS]), *["…"] * (len(rewards) > ARMS)])
