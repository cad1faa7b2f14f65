"""Neighbouring inputs: the pairs that a privacy promise is about, and hypothesis strategies for them.

Three views of one input, after Sajed & Sheffet (table), Wu et al. (stream) and the interactive game.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import tosses, validate
from verifiable_dp.core.adversaries import (
    FEATURES,
    History,
    Strategy,
    alternate,
    balance,
    flatter,
    learnt,
    punish,
    restless,
    tease,
)
from verifiable_dp.core.contexts import Contexts, Unfolding
from verifiable_dp.core.reactions import Guests, Reaction
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, Json, JsonDict, JsonValue

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@runtime_checkable
class Observer(Protocol):
    """An adversary that looks at more than the pulls."""

    def pay(self, history: History) -> FloatArray:
        """Rewards (n,) of the coming round."""
        ...


Adversary = Callable[[IntArray, IntArray, IntArray], FloatArray] | Observer


OwnPair = Any  # type: ignore[explicit-any]  # neighbours of the kinds that a sampler takes, which narrows it


class Neighbours(Protocol):
    """Any two neighbouring inputs: what a record says about them."""

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
            raise InputError("changes must hold at least one entry that differs, got none")
        if len({(when, arm) for when, arm, _ in changes}) < len(changes):
            raise InputError("changes: each entry may be changed once only")
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
        return {"rows": _run_lengths(self.left), "changes": [list(change) for change in self.changes]}


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
        return {"rows": _run_lengths(self.left), **entry}


class StreamPair(Pair):
    """Two reward streams x_1..x_T that differ in one round; every arm would pay the round's reward.

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
        return {"rows": _run_lengths(self.left[:, :1]), **entry}


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
            "rows": _run_lengths(self.left),
            "users": [[n, int(user[0])] for n, user in _run_lengths(self.users[:, None])],
            "user": self.user,
            "values": _run_lengths(self.right[self.rounds]),
        }


class ContextPair(Pair):
    """Contexts and rewards of two runs that differ in the round of one user.

    Parameters
    ----------
    form
        Of the contexts, with the bounds of the rewards.
    contexts, rewards
        Of the one run: (T, …) and (T, K).
    round
        The user's, from 0.
    context, reward
        Its context and its rewards (K,) in the other run; None: as in the one.
    joint
        Of an algorithm of the catalogue: whether nobody else sees the action of this user. The claim says it
        in a record.

    Raises
    ------
    InputError
        If a value is out of range, or nothing differs.
    """

    form: Contexts
    joint: bool = False

    def __init__(
        self,
        form: Contexts,
        contexts: npt.ArrayLike,
        rewards: npt.ArrayLike,
        round: int,
        context: npt.ArrayLike | None = None,
        reward: npt.ArrayLike | None = None,
        joint: bool = False,
    ) -> None:
        table = form.table(contexts, rewards)
        when = validate.integer("round", round, least=0, most=len(table) - 1)
        given, paid = form.split(table[when : when + 1])
        other = form.table(
            given if context is None else np.asarray(context, np.float64)[None],
            paid if reward is None else np.asarray(reward, np.float64)[None],
        )[0]
        places = np.flatnonzero(other != table[when])
        if not len(places):
            raise InputError("context and reward must not both be those that they replace")
        table.setflags(write=False)
        for name, value in (
            ("form", form),
            ("left", table),
            ("changes", tuple((when, int(at), float(other[at])) for at in places)),
            ("relation", "context"),
            ("bounds", form.bounds),
            ("joint", joint),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def of_tables(
        cls, form: Contexts, table: FloatArray, round: int, row: FloatArray, joint: bool = False
    ) -> ContextPair:
        """From a table as `Contexts.table` makes it, and the row of the user in the other one."""
        context, reward = form.split(np.asarray(row)[None])
        return cls(form, *form.split(np.array(table)), round, context[0], reward[0], joint)

    def under(self, model: str) -> ContextPair:
        """The same pair where this user's action is unseen, ``joint``, or seen, ``central``."""
        other = copy.copy(self)
        object.__setattr__(other, "joint", model == "joint")
        return other

    def _differing(self) -> str:
        """Whose round it is, and what differs."""
        here, there = (self.form.split(world[self.round : self.round + 1]) for world in self.worlds())
        parts = [
            f"{what} {_entries_of(a[0])} against {_entries_of(b[0])}"
            for what, a, b in (("context", here[0], there[0]), ("rewards", here[1], there[1]))
            if (a != b).any()
        ]
        return f"user of round {self.round + 1}: {', '.join(parts)}"

    def describe(self) -> str:
        """The difference in one line."""
        last = self.form.split(self.left[-1:])[0][0]
        return f"{self._differing()}; the last context is {_entries_of(last)}"

    def _plain(self) -> JsonDict:
        arms, row = self.form.n_arms, self.right[self.round]
        return {
            "rows": _run_lengths(self.left[:, :arms]),
            "contexts": _run_lengths(self.left[:, arms:]),
            "shape": list(self.form.shape),
            "norm": self.form.norm,
            "round": self.round,
            "context": row[arms:].tolist(),
            "rewards": row[:arms].tolist(),
        }


class ContextGame(ContextPair):
    """An adversary who sends the users of a run one by one, choosing each from the actions seen so far.

    The two worlds differ in the user of one round. That user's own action is not seen where the model is
    joint. `left` and `right` are the users if nobody reacted.

    Parameters
    ----------
    pair
        The user who is replaced, and who comes where the adversary does not say otherwise.
    reaction
        What the adversary does, see `reactions.KINDS`.
    """

    reaction: Reaction

    def __init__(self, pair: ContextPair, reaction: Reaction) -> None:
        for name, value in {**vars(pair), "relation": "context_game", "reaction": reaction}.items():
            object.__setattr__(self, name, value)

    def guests(self, world: int, runs: int = 1, *, joint: bool | None = None) -> Guests:
        """The users of `runs` runs in world 0 or 1; `joint` as the pair says if it is None."""
        unseen = self.joint if joint is None else joint
        protected = self.round, self.left[self.round]
        return Guests(self.reaction, self.form, self.worlds()[world], protected, runs, joint=unseen)

    def unfolding(self, world: int, *, joint: bool) -> Unfolding:
        """The users of one run, as a table that is read round by round."""
        return Unfolding(self.form, len(self.left), functools.partial(self.guests, world, joint=joint))

    def describe(self) -> str:
        """The difference, and what the adversary does, in one line."""
        return f"{self._differing()}; {self.reaction.describe()}"

    def _plain(self) -> JsonDict:
        own = {"reaction": self.reaction.name, "spiteful": self.reaction.spiteful}
        return {**super()._plain(), **own}


def _entries_of(values: FloatArray) -> str:
    """Numbers of a context or of rewards, the first few; rows apart by semicolons."""
    rows = ["/".join(f"{x + 0.0:.3g}" for x in row[:_ARMS]) for row in np.atleast_2d(values)[:_PARTS]]
    more = "/…" if values.shape[-1] > _ARMS else ""
    cut = ["…"] if len(np.atleast_2d(values)) > _PARTS else []
    return f"({'; '.join([*(row + more for row in rows), *cut])})"


@dataclass(frozen=True, eq=False)
class InteractivePair:
    """An adversary that picks each reward after seeing the actions so far; one round is the challenge.

    Parameters
    ----------
    adversary
        `adversary(t, arm, pulls) -> rewards (n,)` with round t (n,), chosen arm (n,) and earlier pulls
        by arm (n, K): the reward of the coming round, the same in both worlds. It must remember nothing.
        An object with a method `pay(history)` is shown a whole `adversaries.History`.
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
        limits = validate.bounds("bounds", self.bounds)
        validate.integer("challenge", self.challenge, least=0)
        validate.rewards("low", self.low, limits, ndim=0)
        validate.rewards("high", self.high, limits, ndim=0)
        if self.low == self.high:
            raise InputError(f"high must differ from low, got {self.high!r} for both")

    def reward(self, world: int, t: IntArray, arm: IntArray, pulls: IntArray) -> FloatArray:
        """Rewards (n,) of round `t` in `world` 0 or 1, where nothing but the pulls is known."""
        history = History.of(t, arm, pulls)
        return np.where(t == self.challenge, self.high if world else self.low, self.chosen(history))

    def chosen(self, history: History) -> FloatArray:
        """Rewards (n,) that the adversary chooses, the same in both worlds.

        Raises
        ------
        InputError
            If they are not n numbers within the bounds.
        """
        adversary = self.adversary
        if isinstance(adversary, Observer):
            found = adversary.pay(history)
        else:
            found = adversary(history.t, history.arm, history.pulls)
        rewards = validate.rewards("adversary's rewards", found, self.bounds)
        if rewards.shape != history.arm.shape:
            raise InputError(f"adversary's rewards must have shape {history.arm.shape}, got {rewards.shape}")
        return rewards

    @property
    def middle(self) -> float:
        """What the adversary remembers of its challenge, in either world."""
        return (self.low + self.high) / 2

    @property
    def name(self) -> str:
        """Of the adversary."""
        if isinstance(self.adversary, Strategy):
            return self.adversary.describe()
        return str(getattr(self.adversary, "__name__", type(self.adversary).__name__))

    def describe(self) -> str:
        """The difference in one line."""
        return (
            f"adversary {self.name}, challenge in round {self.challenge + 1}: "
            f"reward {self.low:g} against {self.high:g}"
        )

    def as_dict(self) -> JsonDict:
        """Plain values; a built-in adversary with its parameters, another one by its name alone."""
        ready = self.adversary if isinstance(self.adversary, Strategy) else None
        return {
            "type": "interactive",
            "adversary": ready.name if ready else self.name,
            **({"parameters": list(ready.parameters)} if ready else {}),
            "challenge": self.challenge,
            "low": self.low,
            "high": self.high,
            "bounds": list(self.bounds),
            "words": self.describe(),
        }


AnyPair = Pair | InteractivePair


def _run_lengths(table: FloatArray | IntArray) -> list[list[JsonValue]]:
    """[[repeats, rewards], …] of consecutive equal rows."""
    changes = np.flatnonzero((table[1:] != table[:-1]).any(axis=1)) + 1
    starts = np.concatenate([[0], changes, [len(table)]]).astype(int)
    return [[int(b - a), table[a].tolist()] for a, b in itertools.pairwise(starts)]


_PARTS, _ARMS = 3, 4  # that are described


def neighbour(
    kind: str,
    table: FloatArray,
    place: tuple[int, int],
    values: tuple[float, float],
    bounds: tuple[float, float],
) -> TablePair | GroupPair:
    """Neighbouring tables around `table`, which is not changed, under one of `units.ADJACENCIES`.

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
    parts = [_row(rows[start]) + (f" from round {start + 1}" if start else "") for start in starts[:_PARTS]]
    return f"; other rewards {', '.join(parts)}{', …' if len(starts) > _PARTS else ''}"


def _row(rewards: FloatArray) -> str:
    if (rewards == rewards[0]).all():
        return f"{rewards[0] + 0.0:.4g}"
    return "/".join([*(f"{reward + 0.0:.4g}" for reward in rewards[:_ARMS]), *["…"] * (len(rewards) > _ARMS)])


def _unrolled(rows: JsonValue) -> list[JsonValue]:
    """What `_run_lengths` wrote, once for each repeat."""
    return [row for repeats, row in rows for _ in range(int(repeats))]


def _interactive_of(plain: Json) -> InteractivePair:
    name, limits = str(plain["adversary"]), (float(plain["bounds"][0]), float(plain["bounds"][1]))
    if "parameters" not in plain:
        raise InputError(f"pair: the adversary {name!r} is a Python function, which a record cannot hold")
    ready = Strategy(name, tuple(plain["parameters"]), limits)
    return InteractivePair(ready, plain["challenge"], plain["low"], plain["high"], limits)


def pair_of(plain: Json) -> AnyPair:
    """The pair that `as_dict` wrote.

    Raises
    ------
    InputError
        If it is malformed, or its adversary is a function of the user's, which cannot be read back.
    """
    try:
        if plain["type"] == "interactive":
            return _interactive_of(plain)
        rows = _unrolled(plain["rows"])
        limits = (float(plain["bounds"][0]), float(plain["bounds"][1]))
        if plain["type"] in ("context", "context_game"):
            arms, shape = len(plain["rewards"]), tuple(plain["shape"])
            form = Contexts(arms, shape, float(plain["norm"]), limits)
            given = np.array(_unrolled(plain["contexts"]), np.float64).reshape(len(rows), *shape)
            context = np.array(plain["context"], np.float64).reshape(shape)
            joint = bool(plain.get("joint", False))  # of a checkpoint
            pair = ContextPair(form, given, rows, plain["round"], context, plain["rewards"], joint)
            if plain["type"] == "context":
                return pair
            return ContextGame(pair, Reaction(str(plain["reaction"]), plain["spiteful"]))
        if plain["type"] == "group":
            return GroupPair(np.array(rows, np.float64), [(r, a, v) for r, a, v in plain["changes"]], limits)
        if plain["type"] == "user":
            users, values = _unrolled(plain["users"]), _unrolled(plain["values"])
            left, other = np.array(rows, np.float64), np.array(values, np.float64)
            return UserPair(left, np.array(users, np.int64), plain["user"], other, limits)
        if plain["type"] == "stream":
            flat = np.array(rows, dtype=np.float64)[:, 0]
            return StreamPair(flat, plain["round"], plain["value"], plain["n_arms"], limits)
        return TablePair(
            np.array(rows, dtype=np.float64), plain["round"], plain["arm"], plain["value"], limits
        )
    except (KeyError, TypeError, IndexError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"pair: not as written in a record ({error})") from None


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
    """Strategy for `InteractivePair`: a built-in adversary, any challenge round, in either direction.

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
