"""Algorithms that are told a context: each user chooses by a public rule, and gives a vector to a mechanism.

The three moves are those of every algorithm. `query` hands the user the rule that the released values came
to; what the user brings and chooses stays with the user, who answers with one vector, its *item*; `release`
puts items through a mechanism. All that anybody else gets to see follows from the releases and from what that
other user brings. So a promise about the releases is joint privacy: the user's own action may tell the user's
own context, the actions of all others do not.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.algorithm import Algorithm, Ask, Query, State, play
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.reactions import Guests
from verifiable_dp.core.session import Session
from verifiable_dp.core.symmetric import matrix, outer
from verifiable_dp.core.validate import FloatArray, InputError, IntArray


class Rule(Ask):
    """What a user is asked: to choose by this rule, and to answer with an item. Arrays have n rows."""

    def choose(self, contexts: FloatArray) -> IntArray:
        """Arms (n,) of users with contexts (n, K, d)."""
        raise NotImplementedError

    def items(self, context: FloatArray, reward: FloatArray) -> FloatArray:
        """What users with contexts (n, d) of the arms they chose and rewards (n,) answer, (n, m)."""
        raise NotImplementedError


class ContextualAlgorithm(Algorithm):
    """Base of the bandits with contexts; subclasses are frozen dataclasses whose fields are the parameters.

    Attributes
    ----------
    dimension : int
        d; every arm has a context of d numbers.
    """

    dimension: int

    @property
    def allowed_norm(self) -> float:
        """Largest norm of the contexts that an audit tries: beyond that at which they are clipped."""
        return 1.0

    @property
    def form(self) -> Contexts:
        """Of the contexts that an audit tries."""
        return Contexts(self.n_arms, (self.n_arms, self.dimension), self.allowed_norm, self.bounds)

    @property
    def item_norm(self) -> float | None:
        """The largest Euclidean norm of an item, if the algorithm limits it."""
        return None

    @abstractmethod
    def rule(self, state: Own) -> Rule:
        """What the next user is asked, from the public state."""

    def query(self, state: State) -> Query:
        """One user."""
        n = len(state.run)
        rounds = (state.t < self.horizon).astype(np.int64)
        return Query(
            state.t, rounds, np.zeros((n, self.n_arms), bool), np.ones(n, bool), ask=self.rule(state)
        )

    def play_many(
        self, contexts: npt.ArrayLike, rewards: npt.ArrayLike, n_runs: int, rng: np.random.Generator
    ) -> IntArray:
        """Arms (n_runs, T) of runs on the same contexts (T, K, d) and rewards (T, K)."""
        form = replace(self.form, norm=float(max(1.0, np.linalg.norm(contexts, axis=-1).max(initial=0.0))))
        table = form.table(contexts, rewards)
        if len(table) != self.horizon:
            raise InputError(
                f"contexts must have as many rounds as the horizon, {self.horizon}, got {len(table)}"
            )
        noise = Seeded(int(rng.integers(1 << 62)))
        seen = play(self, UserTable(form, table), noise, np.arange(n_runs), keep=("actions",)).actions
        return arms_of(seen, self.n_arms)

    def play(self, contexts: npt.ArrayLike, rewards: npt.ArrayLike, rng: np.random.Generator) -> IntArray:
        """Arms (T,) of one run on contexts (T, K, d) and rewards (T, K)."""
        arms: IntArray = self.play_many(contexts, rewards, 1, rng)[0]
        return arms

    def session(self, **_: object) -> Session:
        """Not there yet.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(f"session: {self.name} takes contexts, but live sessions do not support contexts")


def arms_of(codes: IntArray, n_arms: int) -> IntArray:
    """Arms of active sets of one arm each, as `Query.codes` gives them."""
    ones = np.eye(n_arms, dtype=bool)
    each = Query(*(np.zeros(n_arms, np.int64),) * 2, ones, np.ones(n_arms, bool)).codes()
    order = np.argsort(each)
    return np.asarray(order[np.searchsorted(each[order], codes)], dtype=np.int64)


@dataclass
class UserTable:
    """Users as a table tells them, one a round, see `Contexts.table`.

    Attributes
    ----------
    form, table
        Contexts and rewards, (T, …) for all runs or (n, T, …) for each of them.
    unseen
        Round of the user whose own action nobody sees; -1: all are seen.
    """

    form: Contexts
    table: FloatArray
    unseen: int = -1
    _met: tuple[Ask | None, IntArray] = field(default=(None, np.zeros(0, np.int64)), repr=False)

    def _brought(self, query: Query, run: IntArray) -> tuple[FloatArray, FloatArray]:
        at = np.minimum(query.start, self.table.shape[-2] - 1)
        return self.form.split(self.table[at] if self.table.ndim == 2 else self.table[run, at])

    def meet(self, query: Query, run: IntArray) -> Query:
        """See `Met.meet`."""
        chosen = np.arange(self.form.n_arms) == self._arm(query, self._brought(query, run)[0])[:, None]
        return replace(query, active=chosen & (query.start != self.unseen)[:, None])

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """The items of users who choose for themselves."""
        contexts, rewards = self._brought(query, run)
        each, arm = np.arange(len(run)), self._arm(query, contexts)
        return _rule(query).items(contexts[each, arm], rewards[each, arm])

    def _arm(self, query: Query, contexts: FloatArray) -> IntArray:
        if self._met[0] is not query.ask:
            self._met = query.ask, _rule(query).choose(contexts)
        arms: IntArray = self._met[1]
        return arms


class Sent(UserTable):
    """Users whom an adversary sends to runs number `first` and on, each by the arms of those before; once.

    Parameters
    ----------
    form
        Of the contexts.
    guests
        The users, see `neighbours.ContextGame.guests`.
    unseen, first
        See `UserTable`; number of the first run.
    """

    def __init__(self, form: Contexts, guests: Guests, unseen: int, first: int) -> None:
        super().__init__(form, guests.rows(0), unseen)
        self.guests, self.first, self._round = guests, first, 0

    def _brought(self, query: Query, run: IntArray) -> tuple[FloatArray, FloatArray]:
        t = int(query.start[0])
        if t != self._round:  # all runs are in the same round
            self.guests.saw(self._round, self.table, self._met[1])
            self.table, self._round = self.guests.rows(t), t
        return self.form.split(self.table[run - self.first])


def _rule(query: Query) -> Rule:
    assert isinstance(query.ask, Rule)
    return query.ask


def clipped(vectors: FloatArray, norm: float | FloatArray) -> FloatArray:
    """Vectors (..., d) that are longer than `norm` brought back to it."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors * np.minimum(1.0, norm / np.maximum(length, norm)))


__all__ = ["ContextualAlgorithm", "Rule", "Sent", "State", "UserTable", "clipped", "matrix", "outer"]
