"""Worst neighbours for a bandit that is known only through the actions it plays.

A change of one reward shows where a decision hangs in the balance. So the search finds the rounds in which
runs can leave their common path (the decisions), tunes the rewards before each decision until it falls
either way, and changes one reward that counts for it. Plain pairs (constant tables, first rewards) go
first: they catch what needs no tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray, IntArray
from verifiable_dp.neighbours import TablePair

Play = Callable[[FloatArray, int], Any]  # table (T, K), number of runs -> arms (n, T)

_BISECTIONS = 18
_MOST_DECISIONS = 3
_MOST_TIMES = 10
_SHARES = (0.5, 0.8, 0.95)  # share of the runs that take a decision; few stay, few can tell more


@dataclass(frozen=True)
class Duel:
    """The arm that pays more, and those that it is held against."""

    favourite: int
    rivals: tuple[int, ...]


@dataclass
class Search:
    """Candidate pairs for one target.

    Parameters
    ----------
    play
        `play(table, runs) -> arms (runs, T)`; every call draws fresh randomness.
    n_arms, horizon, bounds
        K, T and the range of the rewards.
    runs
        Runs for each estimate while tuning.
    """

    play: Play
    n_arms: int
    horizon: int
    bounds: tuple[float, float]
    runs: int
    log: list[str] = field(default_factory=list)

    def candidates(self) -> list[TablePair]:
        """Pairs, the plain ones first."""
        return self.plain() + self.tuned()

    # ------------------------------------------------------------ plain pairs

    def plain(self) -> list[TablePair]:
        """Constant tables, and one alternating: an early reward moves to the other bound."""
        low, high = self.bounds
        middle = (low + high) / 2
        pairs = []
        for level in (low, high, middle):
            table = np.full((self.horizon, self.n_arms), level)
            arms = self._modal(self.play(table, 3))
            far = high if level < high else low
            for when in sorted({0, min(self.n_arms, self.horizon - 1)}):
                pairs.append(TablePair(table, when, int(arms[when]), far, self.bounds))
        alternating = np.where((np.arange(self.horizon)[:, None] + np.arange(self.n_arms)) % 2, high, low)
        arms = self._modal(self.play(alternating, 3))
        value = low if alternating[0, arms[0]] == high else high
        pairs.append(TablePair(alternating, 0, int(arms[0]), value, self.bounds))
        return pairs

    # ------------------------------------------------------------ tuned pairs

    def table(self, gaps: Sequence[tuple[int, float]], duel: Duel) -> FloatArray:
        """The favourite pays middle + gap / 2, its rivals middle - gap / 2; [(until round, gap), …].

        Arms that are neither pay the low reward.
        """
        low, high = self.bounds
        middle, width = (low + high) / 2, high - low
        table = np.full((self.horizon, self.n_arms), low)
        start = 0
        for end, gap in gaps:
            table[start:end, duel.rivals] = middle - gap * width / 2
            table[start:end, duel.favourite] = middle + gap * width / 2
            start = end
        return table

    def tuned(self) -> list[TablePair]:
        """For each duel, target probability and number of decisions, pairs around the tuned table."""
        last = self.n_arms - 1
        # What is played next may be the first arm anyway: so the last one is favoured, too.
        duels = [Duel(0, tuple(range(1, self.n_arms))), Duel(last, (0,))]
        pairs: list[TablePair] = []
        for duel in duels:
            # The path of runs that never find a difference between the arms.
            even = self.table([(self.horizon, 0.0)], duel)
            reference = self._modal(self.play(even, max(3, self.runs // 8)))
            for share in _SHARES:
                pairs.extend(self._decided(reference, duel, share))
        return pairs

    def _decided(self, reference: IntArray, duel: Duel, share: float) -> list[TablePair]:
        """Pairs around one decision, around two in a row, and so on."""
        pairs: list[TablePair] = []
        prefix: list[tuple[int, float]] = []
        start = 0
        for decision in range(_MOST_DECISIONS):
            tuned = self._tune(reference, prefix, start, share, duel)
            if tuned is None:
                break
            when, gap = tuned
            # A decision often falls some rounds after what it rests on; the gap holds up to it.
            gaps = [*prefix, (when, gap), (self.horizon, 1.0 if decision == 0 else gap)]
            pairs.extend(self._around(self.table(gaps, duel), when, duel))
            prefix, start = [*prefix, (when, gap)], when + 1
            if when >= self.horizon - 1:
                break
        return pairs

    def _tune(
        self,
        reference: IntArray,
        prefix: list[tuple[int, float]],
        start: int,
        share: float,
        duel: Duel,
    ) -> tuple[int, float] | None:
        """Round of the next decision after `start` and the gap at which a share of the runs takes it."""

        def departures(gap: float, runs: int) -> IntArray:
            table = self.table([*prefix, (self.horizon, gap)], duel)
            return self._departures(self.play(table, runs), reference)

        first = departures(1.0, max(8, self.runs // 2))
        when = self._decision(first, start)
        if when is None:
            return None
        # Where few runs come to this decision, more are played.
        runs = int(self.runs * min(_MOST_TIMES, 1 / max((first >= start).mean(), 1e-9)))
        low, high, gap = 0.0, 1.0, 1.0
        for _ in range(_BISECTIONS):
            gap = (low + high) / 2
            taken = self._taken(departures(gap, max(4, runs // 4)), start, when)
            if 0 < taken < 1:  # a few runs are enough where all agree
                taken = self._taken(departures(gap, runs), start, when)
            if np.isnan(taken):
                return None
            if abs(taken - share) <= 0.3 * (1 - share) and 0 < taken < 1:
                break
            low, high = (gap, high) if taken < share else (low, gap)
        return when, gap

    def _taken(self, left: IntArray, start: int, when: int) -> float:
        """Share of the runs still on the path at `start` that leave it by `when`; NaN if none is."""
        on = left >= start
        return float((left[on] <= when).mean()) if on.any() else float("nan")

    def _decision(self, left: IntArray, start: int) -> int | None:
        """The commonest first departure after `start`; None if hardly any run departs."""
        left = left[left >= start]
        gone = left[left < self.horizon]
        if len(gone) < max(1, len(left) // 4):
            return None
        values, counts = np.unique(gone, return_counts=True)
        return int(values[np.argmax(counts)])

    def _modal(self, actions: Any) -> IntArray:
        """The path that runs follow most, round by round among those still on it, (T,)."""
        on = np.ones(len(actions), bool)
        path = np.zeros(actions.shape[1], np.int64)
        for t in range(actions.shape[1]):
            column = actions[on, t]
            if (column == column[0]).all():
                path[t] = column[0]
                continue
            path[t] = np.bincount(column).argmax()
            on &= actions[:, t] == path[t]
        return path

    def _departures(self, actions: Any, reference: IntArray) -> IntArray:
        """First round at which each run leaves `reference`, T if never, (n,)."""
        differs = actions != reference
        return np.where(differs.any(axis=1), differs.argmax(axis=1), self.horizon)

    def _around(self, table: FloatArray, when: int, duel: Duel) -> list[TablePair]:
        """The tuned table with one early reward at either bound: of the favourite, and of a rival."""
        low, high = self.bounds
        arms = self._modal(self.play(table, 3))
        pairs = []
        for arm in (duel.favourite, duel.rivals[0]):
            rounds = np.flatnonzero(arms[:when] == arm)
            if len(rounds):
                base = table.copy()
                base[rounds[0], arm] = low
                pairs.append(TablePair(base, int(rounds[0]), arm, high, self.bounds))
        return pairs
