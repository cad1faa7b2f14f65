"""Contexts: what a bandit receives about a user before it chooses, and how they travel with the rewards.

Contexts and rewards of a run are held in one table (T, K + entries of a context): rewards come first. A
bandit's code is handed both apart, see `Contexts.split`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from verifiable_dp.core import validate
from verifiable_dp.core.validate import FloatArray, Given, InputError, IntArray

_SLACK = 1e-9  # relative; norms are computed


@dataclass(frozen=True)
class Contexts:
    """The form of the contexts of a bandit.

    Parameters
    ----------
    n_arms
        K.
    shape
        ``(d,)``: a round has one context; ``(K, d)``: one for each arm.
    norm
        Largest Euclidean norm of a context.
    bounds
        Range of the rewards.

    Raises
    ------
    InputError
        If one is out of range, or the shape is not of K arms.
    """

    n_arms: int
    shape: tuple[int, ...]
    norm: float = 1.0
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        validate.integer("n_arms", self.n_arms, least=1)
        shape = shape_of(self.shape)
        if len(shape) == 2 and shape[0] != self.n_arms:
            raise InputError(
                f"contexts must be D, or {self.n_arms}xD with a context for each of {self.n_arms} arms, got "
                f"{words_of(shape)}"
            )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "norm", validate.positive("context_norm", self.norm))
        object.__setattr__(self, "bounds", validate.bounds("bounds", self.bounds))

    @property
    def dimension(self) -> int:
        """Number of entries of a vector, d."""
        return self.shape[-1]

    @property
    def width(self) -> int:
        """Columns of a table."""
        return self.n_arms + int(np.prod(self.shape))

    def table(self, contexts: npt.ArrayLike, rewards: npt.ArrayLike) -> FloatArray:
        """Contexts (T, …) and rewards (T, K) as one table.

        Raises
        ------
        InputError
            If their shapes do not fit, or an entry is out of range.
        """
        paid = validate.rewards("rewards", rewards, self.bounds, ndim=2)
        given = np.array(contexts, dtype=np.float64)
        if paid.shape[1] != self.n_arms:
            raise InputError(f"rewards must have {self.n_arms} columns, got {paid.shape[1]}")
        if given.shape != (len(paid), *self.shape):
            raise InputError(f"contexts must have shape {(len(paid), *self.shape)}, got {given.shape}")
        most = float(np.linalg.norm(given, axis=-1).max(initial=0.0))
        if not most <= self.norm * (1 + _SLACK):  # also if it is NaN
            raise InputError(f"contexts must have a norm of at most {self.norm:g}, got {most:g}")
        return np.hstack([paid, given.reshape(len(given), -1)])

    def split(self, table: Given) -> tuple[Given, Given]:
        """Contexts (T, …) and rewards (T, K) of a table, or of some of its rounds; tracked tables stay so."""
        if isinstance(table, Unfolding):
            return table.contexts, table.rewards
        contexts = table[:, self.n_arms :]
        return contexts.reshape(len(table), *self.shape), table[:, : self.n_arms]

    def unit(self, axis: int) -> FloatArray:
        """A longest context along an axis; with one for each arm they point along different ones."""
        if len(self.shape) == 1:
            return np.array(self.norm * np.eye(self.dimension)[axis % self.dimension])
        axes = (np.arange(self.n_arms) + axis) % self.dimension
        return np.array(self.norm * np.eye(self.dimension)[axes])

    def even(self) -> FloatArray:
        """A longest context all of whose entries are equal: that whose products add up to most."""
        # Shorter by a rounding: the norm is computed.
        return np.full(self.shape, (1 - _SLACK) * self.norm / self.dimension**0.5)

    def apart(self, context: FloatArray) -> FloatArray:
        """A context that is far from this one: that of the arms in reverse order, or along other axes."""
        if len(self.shape) == 2 and (context != context[::-1]).any():
            return np.array(context[::-1])
        if self.dimension == 1 or len(self.shape) == 2:
            return np.array(-context)
        return np.roll(context, 1, axis=-1)


def shape_of(given: Given) -> tuple[int, ...]:
    """``(d,)`` or ``(K, d)`` from a number, two numbers, or a text such as ``5`` or ``10x5``.

    Raises
    ------
    InputError
        If it is none of these.
    """
    parts: Given = given
    if isinstance(given, str):
        parts = given.split("x") if re.fullmatch(r"\d{1,6}(x\d{1,6})?", given.strip()) else None
        parts = None if parts is None else [int(part) for part in parts]
    elif not isinstance(given, Sequence):
        parts = [given]
    if parts is None or len(parts) not in (1, 2):
        raise InputError(
            f"contexts must be a dimension such as 5, or arms and dimension such as 10x5, got {given!r}"
        )
    return tuple(validate.integer("contexts", part, least=1) for part in parts)


def words_of(shape: Sequence[int]) -> str:
    """As it is typed."""
    return "x".join(str(part) for part in shape)


class AheadError(InputError):
    """Code asks for users who are not there yet: an adversary sends each by what was played before."""

    @classmethod
    def of(cls, why: str) -> AheadError:
        """With the reason as a sentence about the code."""
        return cls(f"an adversary cannot send users to this code one by one: {why}")


_AT_ONCE = "it takes the users of all rounds at once"
_SEVERAL = "it reads the rewards of several arms in one round"
_UNEARNED = "it does not read, round by round, the reward of the arm that it returns"
_EARLY = "it reads a user's context before it has played for all earlier users"


class Sender(Protocol):
    """Sends the users of a run one by one; see `reactions.Guests`."""

    def rows(self, t: int) -> FloatArray:
        """The user of round t, (1, width)."""
        ...

    def saw(self, t: int, rows: FloatArray, arm: IntArray) -> None:
        """Note what was played in round t."""
        ...


class Unfolding:
    """Contexts and rewards of one run as a table whose users come one by one, as an adversary sends them.

    The arm of a round is known from the reward that is read there. It has what code needs that goes through
    the rounds in their order: lengths and shapes, contexts of rounds up to the next one, rewards of the arms
    that were played.

    Parameters
    ----------
    form, horizon
        Of the contexts, and T.
    make
        Makes a fresh sender.
    """

    def __init__(self, form: Contexts, horizon: int, make: Callable[[], Sender]) -> None:
        self.form, self.horizon, self._make = form, horizon, make
        self._sender, self._arms, self._sent = make(), list[int](), 0
        self._table = np.zeros((horizon, form.width))
        self._error: AheadError | None = None
        # Views: what is sent shows in them.
        self._parts = form.split(self._table)
        self.contexts = _Contexts(self, (horizon, *form.shape), _AT_ONCE)
        self.rewards = _Rewards(self, (horizon, form.n_arms), _AT_ONCE)

    def __len__(self) -> int:
        return self.horizon

    def copy(self) -> Unfolding:
        """The same from the first round on."""
        return Unfolding(self.form, self.horizon, self._make)

    def check(self, arms: npt.ArrayLike) -> None:
        """Refuse a run that got its users by other arms than those it returns.

        Raises
        ------
        AheadError
            If it did, or asked for a user too soon, even if it caught the error.
        """
        if self._error is not None:
            raise self._error
        known = len(self._arms)
        if known < self.horizon - 1 or np.ravel(arms)[:known].tolist() != self._arms:
            raise AheadError.of(_UNEARNED)

    def ahead(self, why: str) -> AheadError:
        """The error, which is kept: code may catch it."""
        self._error = self._error or AheadError.of(why)
        return self._error

    def context(self, t: int) -> Given:
        """Of round t, an array of its own."""
        self._reach(t)
        return self._parts[0][t].copy()

    def reward(self, t: int, arm: int) -> Given:
        """Of an arm in round t, which is thereby played."""
        self._reach(t)
        if t == len(self._arms):
            self._sender.saw(t, self._table[t : t + 1], np.array([arm]))
            self._arms.append(arm)
        elif self._arms[t] != arm:
            raise self.ahead(_SEVERAL)
        return self._parts[1][t, arm]

    def past(self, index: Given, part: int) -> Given:
        """Contexts (part 0) or rewards (part 1) of several rounds whose arms are known."""
        rounds = np.arange(self.horizon)[index[0] if isinstance(index, tuple) else index]
        last = int(np.max(rounds, initial=-1))
        if last >= 0:
            self._reach(last)
        if part == 1 and last >= len(self._arms):
            raise self.ahead(_SEVERAL)
        return np.array(self._parts[part][index])

    def _reach(self, t: int) -> None:
        if t > len(self._arms):
            raise self.ahead(_EARLY)
        if t == self._sent:
            self._table[t], self._sent = self._sender.rows(t)[0], t + 1


class _Lazy(NDArrayOperatorsMixin):
    """A part of an `Unfolding` that is read as an array is, one element of its first axis at a time."""

    def __init__(self, run: Unfolding, shape: tuple[int, ...], why: str) -> None:
        self._run, self._why, self.shape = run, why, shape
        self.ndim, self.size, self.dtype = len(shape), int(np.prod(shape)), np.dtype(np.float64)

    def __len__(self) -> int:
        return self.shape[0]

    def _place(self, index: Given) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of bounds for an axis of {len(self)}")
        return int(index) % len(self)

    def _whole(self, *_: Given, **__: Given) -> Given:
        raise self._run.ahead(self._why)

    __array__ = __array_ufunc__ = __array_function__ = _whole

    def __getattr__(self, name: str) -> Given:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._whole()


class _Contexts(_Lazy):
    """The contexts."""

    def __getitem__(self, index: Given) -> Given:
        first, rest = (index[0], index[1:]) if isinstance(index, tuple) else (index, ())
        if not isinstance(first, int | np.integer):
            return self._run.past(index, 0)
        found = self._run.context(self._place(first))
        return found[rest] if rest else found


class _Rewards(_Lazy):
    """The rewards."""

    def __getitem__(self, index: Given) -> Given:
        first, rest = (index[0], index[1:]) if isinstance(index, tuple) else (index, ())
        if not isinstance(first, int | np.integer):
            return self._run.past(index, 1)
        t = self._place(first)
        if rest and isinstance(rest[0], int | np.integer) and 0 <= rest[0] < self.shape[1]:
            return self._run.reward(t, int(rest[0]))
        row = _Row(self._run, t)
        return row[rest[0]] if rest else row


class _Row(_Lazy):
    """The rewards of one round, of which the arm that is played is read."""

    def __init__(self, run: Unfolding, t: int) -> None:
        super().__init__(run, (run.form.n_arms,), _SEVERAL)
        self._t = t

    def __getitem__(self, arm: Given) -> Given:
        if np.ndim(arm) or isinstance(arm, slice):
            return self._whole()
        return self._run.reward(self._t, self._place(arm))
