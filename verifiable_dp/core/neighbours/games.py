"""Inputs that follow a run: contexts of users, and adversaries who answer its actions."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.adversaries import History, Strategy
from verifiable_dp.core.contexts import Contexts, Unfolding
from verifiable_dp.core.neighbours.pairs import ARMS, PARTS, Pair, run_lengths
from verifiable_dp.core.reactions import Guests, Reaction
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, JsonDict


@runtime_checkable
class Observer(Protocol):
    """An adversary that looks at more than the pulls."""

    def pay(self, history: History) -> FloatArray:
        """Rewards (n,) of the coming round."""
        ...


Adversary = Callable[[IntArray, IntArray, IntArray], FloatArray] | Observer


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
            raise InputError("context and reward must not both equal those that they replace")
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
            "rows": run_lengths(self.left[:, :arms]),
            "contexts": run_lengths(self.left[:, arms:]),
            "shape": list(self.form.shape),
            "norm": self.form.norm,
            "round": self.round,
            "context": row[arms:].tolist(),
            "rewards": row[:arms].tolist(),
        }


class ContextGame(ContextPair):
    """An adversary that sends the users of a run one by one, choosing each based on the actions so far.

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
    rows = ["/".join(f"{x + 0.0:.3g}" for x in row[:ARMS]) for row in np.atleast_2d(values)[:PARTS]]
    more = "/…" if values.shape[-1] > ARMS else ""
    cut = ["…"] if len(np.atleast_2d(values)) > PARTS else []
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
            raise InputError(
                f"the adversary's rewards must have shape {history.arm.shape}, got {rewards.shape}"
            )
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
