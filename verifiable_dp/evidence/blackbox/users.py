"""Worst neighbours for a bandit that is told contexts: one user brings another context and other rewards.

Plain pairs come first: users who are all alike, and users of two types who like different arms; one early
user, one in the middle or the last one is replaced. Then two things are tuned until a decision hangs in the
balance, where one user counts most: the rewards before it (`search`), and the contexts of late users, each of
which asks on which side of a hyperplane the model lies.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import reactions
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextGame, ContextPair
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.blackbox.search import PairSearch, Play

Row = float | FloatArray | None
_BISECTIONS = 8
_SHARES = (0.5, 0.9)


@dataclass
class UserSearch:
    """Candidate pairs for one target with contexts.

    Parameters
    ----------
    play
        `play(table, runs) -> arms (runs, T)`; every call draws fresh randomness.
    form, horizon
        Of the contexts, and T.
    runs
        Runs for each estimate while tuning.
    reward_only
        Whether the context of the user stays.
    dear
        Rounds, as (round, arm), whose user tracing found to cost too much.
    most
        Runs that the search may play in all.
    """

    play: Play
    form: Contexts
    horizon: int
    runs: int
    reward_only: bool = False
    dear: Sequence[tuple[int, int]] = ()
    most: float = math.inf
    played: int = field(default=0, repr=False)

    def _play(self, table: FloatArray, runs: int) -> IntArray:
        self.played += runs
        return self.play(table, runs)

    @property
    def _middle(self) -> float:
        return sum(self.form.bounds) / 2

    # ------------------------------------------------------------ what a run is made of

    def uniform(self, axis: int, rewards: npt.ArrayLike) -> FloatArray:
        """Users who are all alike; rewards are a number, or those of the arms."""
        contexts = np.tile(self.form.unit(axis), (self.horizon, *[1] * len(self.form.shape)))
        return self._table(contexts, np.broadcast_to(rewards, (self.horizon, self.form.n_arms)))

    def _table(self, contexts: FloatArray, rewards: npt.ArrayLike) -> FloatArray:
        return np.hstack([np.asarray(rewards, np.float64), contexts.reshape(self.horizon, -1)])

    def types(self) -> FloatArray:
        """Two types of users in turn, along two axes: one likes the first arm, the other the last."""
        odd = np.arange(self.horizon) % 2
        each = np.stack([self.form.unit(0), self.form.apart(self.form.unit(0))])
        low, high = self.form.bounds
        paid = np.full((2, self.form.n_arms), low)
        paid[0, 0] = paid[1, -1] = high
        return self._table(each[odd], paid[odd])

    def replaced(self, table: FloatArray, when: int, context: Row = None, reward: Row = None) -> FloatArray:
        """The row of one user with another context, or other rewards."""
        row = np.array(table[when])
        if context is not None:
            row[self.form.n_arms :] = np.ravel(context)
        if reward is not None:
            row[: self.form.n_arms] = reward
        return row

    def around(self, table: FloatArray, when: int) -> Iterator[ContextPair]:
        """One user replaced: another reward; and where contexts count another context, and both."""
        low, high = self.form.bounds
        rewards = table[when, : self.form.n_arms]
        far = np.where(rewards < high, high, low)
        mine = table[when, self.form.n_arms :].reshape(self.form.shape)
        rows = [self.replaced(table, when, reward=far)]
        if not self.reward_only:
            other = self.form.apart(mine)
            rows += [
                self.replaced(table, when, context=other, reward=far),
                self.replaced(table, when, context=-mine),
                self.replaced(table, when, context=other),
            ]
        kept = list[FloatArray]()
        for row in rows:
            if (row != table[when]).any() and not any(np.array_equal(row, one) for one in kept):
                kept.append(row)
                yield ContextPair.of_tables(self.form, table, when, row)

    # ------------------------------------------------------------ candidates

    def plain(self) -> list[ContextPair]:
        """What needs no tuning."""
        low, high = self.form.bounds
        found: list[ContextPair] = []
        for level in (low, high):
            found += list(self.around(self.uniform(0, level), 0))[:2]
        types, last = self.types(), self.horizon - 1
        found += self._own(last)
        early = min(self.form.n_arms, last)
        for when in dict.fromkeys((0, last, early)):
            found += list(self.around(types, when))[: 4 if when == last else 3]
        found += list(self.around(self.uniform(0, low), early))[:2]
        found += list(self.around(self.uniform(0, self._middle), 0))[1:3]
        return found

    def games(self) -> list[ContextGame]:
        """Adversaries who choose the next users by the actions seen.

        The first user's rewards differ; or those of a later one, who has the opposite context if that counts.
        """
        low, high = self.form.bounds
        first, later, when = self.uniform(0, low), self.uniform(0, low), self.horizon // 3
        changed: dict[str, Row] = {"reward": high}
        if not self.reward_only:
            later[when] = self.replaced(later, when, reward=high)
            changed = {"context": -self.form.unit(0)}
        pairs = (
            ContextPair.of_tables(self.form, first, 0, self.replaced(first, 0, reward=high)),
            ContextPair.of_tables(self.form, later, when, self.replaced(later, when, **changed)),
        )
        return [ContextGame(pair, reaction) for pair in pairs for reaction in reactions.everyone()]

    def _own(self, when: int) -> list[ContextPair]:
        """A user whose context leaves no choice but one arm, which the user's own action tells."""
        if self.reward_only or len(self.form.shape) == 1:
            return []
        table = self.types()
        first, last = (np.zeros(self.form.shape) for _ in range(2))
        first[0] = last[-1] = self.form.unit(0)[0]
        table[when] = self.replaced(table, when, first)
        return [ContextPair.of_tables(self.form, table, when, self.replaced(table, when, last))]

    def tuned(self) -> list[ContextPair]:
        """Rewards, then late contexts, for which the next decision may fall either way."""
        found = [pair for table, when in self._balanced() for pair in self.around(table, when)]
        for table in self._asked():
            rounds = dict.fromkeys((0, *(when for when, _ in self.dear)))
            found += [pair for when in rounds for pair in list(self.around(table, when))[:3]]
        return found

    def _balanced(self) -> Iterator[tuple[FloatArray, int]]:
        """Tables whose rewards are tuned while all users are alike, and the round that is changed there."""
        base = self.uniform(0, self._middle)[:, self.form.n_arms :]

        def play(rewards: FloatArray, runs: int) -> IntArray:
            return self._play(np.hstack([rewards, base]), runs)

        inner = PairSearch(
            play, self.form.n_arms, self.horizon, self.form.bounds, self.runs, most=self.most / 2
        )
        seen = set()
        for pair in inner.tuned():
            table = np.hstack([pair.left, base])
            if (key := (pair.round, table.tobytes())) not in seen:
                seen.add(key)
                yield table, pair.round

    def _asked(self) -> Iterator[FloatArray]:
        """Tables whose users after the first few bring contexts that divide the runs by what they learnt."""
        first = min(max(2, self.form.n_arms), max(1, self.horizon // 2))
        for low in (True, False):
            for late in self._directions():
                for share in _SHARES:
                    if self.played >= self.most:
                        return
                    level = self.form.bounds[0] if low else self._middle
                    made = self._hung(functools.partial(self._late, first, level, late), share)
                    if made is not None:
                        yield made

    def _directions(self) -> list[Callable[[float], FloatArray]]:
        """Families of contexts from 0 to 1, along which a late decision turns over."""
        unit, form = self.form.unit(0), self.form
        if len(form.shape) == 1:
            other = self.form.apart(unit)
            return [lambda x: math.cos(x * math.pi / 2) * unit + math.sin(x * math.pi / 2) * other]

        def rival(x: float) -> FloatArray:
            """The first arm has the first user's context, its rivals the share x of the next axis."""
            made = x * np.roll(np.tile(unit[:1], (form.n_arms, 1)), 1, axis=1)
            made[0] = unit[0]
            return made

        return [rival, lambda x: rival(x)[::-1].copy()]

    def _late(self, first: int, level: float, late: Callable[[float], FloatArray], x: float) -> FloatArray:
        """The first users alike, with rewards of `level`; the later ones with one context, rewards low."""
        context = late(x)
        table = self.uniform(0, level)
        table[first:, self.form.n_arms :] = np.ravel(context)
        table[first:, : self.form.n_arms] = self.form.bounds[0]
        return table

    def _hung(self, made: Callable[[float], FloatArray], share: float) -> FloatArray | None:
        """The table of a family at which a share of the runs take the arm that begins it; None if none."""
        ends = [self._last(made(x)) for x in (0.0, 1.0)]
        arm = int(np.bincount(ends[0]).argmax())
        shares = [float((end == arm).mean()) for end in ends]
        if abs(shares[0] - shares[1]) < 0.2:
            return None
        target = shares[1] + share * (shares[0] - shares[1])
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            x = (low + high) / 2
            seen = float((self._last(made(x)) == arm).mean())
            low, high = (x, high) if seen > target else (low, x)
        return made((low + high) / 2)

    def _last(self, table: FloatArray) -> IntArray:
        """Actions of the middle of the late rounds."""
        actions = np.asarray(self._play(table, max(8, self.runs // 2)))
        return actions[:, (self.horizon + min(self.form.n_arms, self.horizon - 1)) // 2].astype(int)
