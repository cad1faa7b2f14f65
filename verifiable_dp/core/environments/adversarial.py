"""An adversary that pays each reward after seeing the actions so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.adversaries import History, Strategy, play_blocks
from verifiable_dp.core.algorithm import Batch, Query
from verifiable_dp.core.environments.tables import answer_size, query_words, row_groups
from verifiable_dp.core.neighbours import InteractivePair
from verifiable_dp.core.validate import FloatArray, IntArray, WordArray

_CHUNK = 1 << 21  # rewards that are held together where each is asked about


_SHORT = 4  # rounds of a block that are played faster than histories are compared


@dataclass(frozen=True)
class Interactive:
    """Answers from an adversary that sees the actions; `world` 0 or 1 selects the challenge reward.

    It keeps what the adversary knows of runs number `first` .. `first + runs - 1`, so one object serves
    these runs, once.
    """

    pair: InteractivePair
    world: int
    n_arms: int
    runs: int
    first: int = 0
    _past: Past = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_past", Past.fresh(self.runs, self.n_arms))

    @property
    def _value(self) -> float:
        """Reward of the challenge."""
        return self.pair.high if self.world else self.pair.low

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`; each reward of a block depends on the rounds before it.

        Rewards are a function of what the adversary knows: of runs with equal histories one is played.
        """
        row = run - self.first
        past = self._past.take(row)
        if query.rounds.max() <= _SHORT:
            sums = self._play(query, past)
        else:
            first, group = row_groups(np.hstack([query_words(query), past.words()]))
            once = past.take(first)
            sums = self._play(query.take(first), once)[group]
            past = once.take(group)
        self._past.put(row, past)
        return sums

    def _play(self, query: Query, past: Past) -> FloatArray:
        """Sums of the blocks; `past` goes on in place."""
        if isinstance(self.pair.adversary, Strategy):
            return self._compiled(self.pair.adversary, query, past)
        sums = np.zeros((*query.active.shape, *answer_size(query)))
        for step in range(int(query.rounds.max())):
            rows = np.flatnonzero(query.rounds > step)
            arm = query.arm(np.full(len(query.rounds), step))[rows]
            history = past.history(query.start[rows] + step, arm, rows)
            chosen, challenged = self.pair.chosen(history), history.t == self.pair.challenge
            reward = np.where(challenged, self._value, chosen)
            sums[rows, arm] += reward if query.ask is None else query.ask.values(reward, rows, arm)
            past.append(rows, arm, np.where(challenged, self.pair.middle, chosen))
        return sums

    def _compiled(self, strategy: Strategy, query: Query, past: Past) -> FloatArray:
        """As round by round: the loop is compiled; where rewards are asked about they come in chunks."""
        n, longest = len(query.rounds), int(query.rounds.max())
        totals = np.zeros(query.active.shape)
        counts = np.zeros((0, 0), np.int64) if query.counts is None else query.counts
        fixed = (*strategy.compiled, self.pair.challenge, float(self._value), float(self.pair.middle))
        block = (query.start, query.rounds, query.active, counts)
        known = (past.pulls, past.paid, past.last, past.switches)
        if query.ask is None:
            none = np.zeros((n, 0))
            play_blocks(*fixed, *block, 0, longest, *known, totals, none, none.astype(np.int64))
            return totals
        sums = np.zeros((*query.active.shape, *answer_size(query)))
        chunk = max(1, _CHUNK // n)
        for first in range(0, longest, chunk):
            stop = min(first + chunk, longest)
            rewards, arms = np.zeros((n, stop - first)), np.full((n, stop - first), -1)
            play_blocks(*fixed, *block, first, stop, *known, totals, rewards, arms)
            rows, steps = np.nonzero(arms >= 0)
            arm = arms[rows, steps]
            np.add.at(sums, (rows, arm), query.ask.values(rewards[rows, steps], rows, arm))
        return sums


@dataclass(frozen=True)
class Past(Batch):
    """What an adversary knows about n runs, updated in place; see `adversaries.History`."""

    pulls: IntArray
    paid: FloatArray
    last: IntArray
    switches: IntArray

    @classmethod
    def fresh(cls, runs: int, n_arms: int) -> Past:
        """Nothing played."""
        shape = (runs, n_arms)
        return cls(np.zeros(shape, np.int64), np.zeros(shape), np.full(runs, -1), np.zeros(runs, np.int64))

    def words(self) -> WordArray:
        """All of it, (n, c) 64-bit words."""
        parts = (self.pulls, self.paid, self.last[:, None], self.switches[:, None])
        return np.hstack([np.ascontiguousarray(part).view(np.uint64) for part in parts])

    def put(self, row: IntArray, other: Past) -> None:
        """Replace the rows `row`."""
        for name in ("pulls", "paid", "last", "switches"):
            getattr(self, name)[row] = getattr(other, name)

    def history(self, t: IntArray, arm: IntArray, row: IntArray) -> History:
        """What is known of runs `row` (n,) when arm `arm` (n,) is paid in round `t` (n,)."""
        return History(t, arm, self.pulls[row], self.paid[row], self.last[row], self.switches[row])

    def append(self, row: IntArray, arm: IntArray, paid: FloatArray) -> None:
        """A round of runs `row`."""
        self.paid[row, arm] += paid
        self.pulls[row, arm] += 1
        self.switches[row] += (self.last[row] >= 0) & (self.last[row] != arm)
        self.last[row] = arm
