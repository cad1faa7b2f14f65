"""Adversaries over contexts: who comes next, and what the arms pay, follows from the actions seen so far.

Both worlds have the same adversary. It sends every user but one: in that round the worlds differ, and the
adversary remembers the user of the first world in either of them. Under joint privacy it does not see what
that user did. It is asked for a user before the user's action is known, so that it cannot look ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, IntArray

Values = TypeVar("Values", FloatArray, BoolArray)

KINDS = {
    "repeat": "repeats the protected user's context after each change of the arm, and otherwise sends a "
    "distant one",
    "reverse": "sends contexts that point away from the arm seen last",
    "boundary": "moves the context towards the point where the arm changes, halving the distance each time",
    "aim": "sends the part of the protected user's context that earlier rewards do not determine",
}
_FIRST, _LEAST = 0.25, 1 / 64  # steps of ``boundary``, in parts of the way


@dataclass(frozen=True)
class Reaction:
    """A ready adversary over contexts. It can be written into a record.

    Parameters
    ----------
    name
        One of `KINDS`.
    spiteful
        Whether rewards react, too: low for the arm that was seen last, high for the others. Otherwise they
        are those of the table that the adversary begins with.

    Raises
    ------
    InputError
        If the name is unknown.
    """

    name: str
    spiteful: bool = False

    def __post_init__(self) -> None:
        validate.choice("reaction", self.name, tuple(KINDS))
        if not isinstance(self.spiteful, bool):
            raise InputError(f"spiteful must be True or False, got {self.spiteful!r}")

    def describe(self) -> str:
        """What it does, in one sentence without its end."""
        paid = ", and pays little for the arm seen last and much for the others" if self.spiteful else ""
        return f"the adversary {KINDS[self.name]}{paid}"


def everyone() -> list[Reaction]:
    """All that react where all rewards are alike: to them ``aim`` has to be spiteful."""
    return [
        Reaction(name, spiteful) for spiteful in (False, True) for name in KINDS if spiteful or name != "aim"
    ]


class Guests:
    """The users of n runs in one of the two worlds, sent one by one.

    Parameters
    ----------
    reaction, form
        The adversary, and of what form users are.
    table : (T, width)
        The users of this world if nobody reacted.
    protected : tuple
        The round in which the worlds differ, and the row of the first world, which the adversary remembers.
    runs
        n.
    joint
        Whether the action in that round is unseen.
    """

    def __init__(
        self,
        reaction: Reaction,
        form: Contexts,
        table: FloatArray,
        protected: tuple[int, FloatArray],
        runs: int = 1,
        *,
        joint: bool = False,
    ) -> None:
        self.reaction, self.form, self.table, self.joint = reaction, form, table, joint
        self.round, remembered = protected
        context, _ = form.split(remembered[None])
        self._mine, self._far = context[0], form.apart(context[0])
        self._remembered, self._runs = remembered, runs
        self.last = np.full(runs, -1)  # arm that was seen last, and before it; -1: none
        self.before = np.full(runs, -1)
        self.home = np.full(runs, -1)  # arm that was seen first
        self.place, self.step = np.zeros(runs), np.full(runs, _FIRST)
        self.told = np.zeros((runs, form.n_arms, form.dimension))  # of each arm: sum of reward times context

    def rows(self, t: int) -> FloatArray:
        """Users of round t, (n, width); what was seen of all rounds before it has been told to `saw`."""
        out = np.tile(self.table[t], (self._runs, 1))
        if t == self.round:
            return out
        arms = self.form.n_arms
        context = _WAYS[self.reaction.name](self, self.form.split(out)[0])
        out[:, arms:] = self._within(context).reshape(self._runs, -1)
        if self.reaction.spiteful:
            low, high = self.form.bounds
            seen = self.last[:, None] >= 0
            out[:, :arms] = np.where(seen, np.where(self._was_last, low, high), out[:, :arms])
        return out

    def saw(self, t: int, rows: FloatArray, arm: IntArray) -> None:
        """Note the arms (n,) of round t; nothing is noted of the action that is unseen."""
        if t == self.round and self.joint:
            return
        if self.reaction.name == "aim":
            each = np.arange(self._runs)
            contexts, rewards = self.form.split(self._remembered[None] if t == self.round else rows)
            rewards = np.broadcast_to(rewards, (self._runs, self.form.n_arms))
            contexts = np.broadcast_to(contexts, (self._runs, *self.form.shape))
            brought = contexts if contexts.ndim == 2 else contexts[each, arm]
            self.told[each, arm] += rewards[each, arm][:, None] * brought
        if self.reaction.name == "boundary":
            self.home = np.where(self.home < 0, arm, self.home)
            self.place = np.clip(self.place + np.where(arm == self.home, self.step, -self.step), 0.0, 1.0)
            self.step = np.maximum(self.step / 2, _LEAST)
        self.before, self.last = self.last, arm

    @property
    def _was_last(self) -> BoolArray:
        """(n, K): whether an arm was seen last."""
        return np.asarray(np.arange(self.form.n_arms) == self.last[:, None])

    def _within(self, context: FloatArray) -> FloatArray:
        """Contexts that are too long brought back to the largest norm."""
        length = np.linalg.norm(context, axis=-1, keepdims=True)
        norm = self.form.norm
        # What is not too long stays as it is, to the last bit: code may know a context again.
        long = length > norm * (1 + 1e-12)
        return np.asarray(
            np.where(long, context * (norm * (1 - 1e-12)) / np.where(long, length, 1.0), context)
        )

    def repeat(self, context: FloatArray) -> FloatArray:
        """See `KINDS`."""
        again = _wide((self.last != self.before) | (self.last < 0), context)
        return np.where(again, self._mine, self._far)

    def reverse(self, context: FloatArray) -> FloatArray:
        """See `KINDS`; of one context for all arms it is the odd arms that have it as it is."""
        if context.ndim == 3:
            return np.where(self._was_last[:, :, None], -context, context)
        return np.where(_wide((self.last >= 0) & (self.last % 2 == 0), context), -context, context)

    def boundary(self, context: FloatArray) -> FloatArray:
        """See `KINDS`."""
        angle = _wide(self.place * np.pi / 2, context)
        return np.asarray(np.cos(angle) * self._mine + np.sin(angle) * self._far)

    def aim(self, context: FloatArray) -> FloatArray:
        """See `KINDS`: the part at a right angle to what the two arms ahead were paid for."""
        mine = self._mine if self._mine.ndim == 1 else self._mine[0]
        each = np.arange(self._runs)
        apart = self.told.sum(axis=1)
        if self._mine.ndim == 1 and self.form.n_arms > 1:
            ahead = np.argsort(-(self.told @ mine), axis=1, kind="stable")
            apart = self.told[each, ahead[:, 0]] - self.told[each, ahead[:, 1]]
        square = (apart * apart).sum(axis=1)
        share = np.divide(apart @ mine, square, out=np.zeros(self._runs), where=square > 0)
        left = mine - share[:, None] * apart
        length = np.linalg.norm(left, axis=1)
        whole = np.linalg.norm(mine)
        clear = length > 1e-6 * whole  # else rewards decide about all of it
        aimed = np.where(clear[:, None], left * (whole / np.where(clear, length, 1.0))[:, None], mine)
        if self._mine.ndim == 1:
            return np.asarray(aimed)
        sign = np.where(np.arange(self.form.n_arms) == 0, 1.0, -1.0)
        return np.asarray(aimed[:, None, :] * sign[:, None])


def _wide(values: Values, context: FloatArray) -> Values:
    """Values (n,) as they are set against contexts (n, …)."""
    return values.reshape(-1, *[1] * (context.ndim - 1))


_WAYS: dict[str, Callable[[Guests, FloatArray], FloatArray]] = {
    "repeat": Guests.repeat,
    "reverse": Guests.reverse,
    "boundary": Guests.boundary,
    "aim": Guests.aim,
}
