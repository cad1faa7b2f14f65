"""Worst neighbours for a bandit that is known only through the actions it plays.

A change of one reward shows where a decision hangs in the balance. So the search finds the rounds in which
runs can leave their common path (the decisions), tunes the rewards before each decision until it falls
either way, and changes one reward that counts for it. Plain pairs (constant tables, first rewards) go
first: they catch what needs no tuning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray, IntArray

Play = Callable[[FloatArray, int], Any]  # table (T, K), number of runs -> arms (n, T)

_BISECTIONS = 18
_MOST_DECISIONS = 3
_MOST_TIMES = 10
_FEW = 8
_FINE = 4
_SHARES = (0.5, 0.8, 0.95)  # share of the runs that take a decision; few stay, few can tell more


def data_pairs(left: Any, right: Any, bounds: tuple[float, float]) -> list[tuple[Any, Any]]:
    """Neighbouring data of the form of `left` and `right`, this pair first.

    For vectors of several entries: one entry (the first, the middle one, the last) moves between the bounds
    while the others are all low, all high, or half low and half high. A mechanism that weighs its entries,
    clips their sum or sorts them may tell one of these pairs apart better than the plain one.
    """
    pairs = [(left, right)]
    entries = np.asarray(left).size
    if np.ndim(left) != 1 or entries < 2:
        return pairs
    low, high = bounds
    half = np.where(np.arange(entries) < entries // 2, high, low)
    for base in (np.full(entries, low), np.full(entries, high), half, half[::-1].copy()):
        for place in (0, entries // 2, entries - 1):
            other = base.copy()
            other[place] = low if base[place] == high else high
            if not any(_same((base, other), pair) for pair in pairs):
                pairs.append((base, other))
    return pairs


def _same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether two pairs are the same, in either order: events of both directions are tried."""
    return any(np.array_equal(one[0], other[i]) and np.array_equal(one[1], other[1 - i]) for i in (0, 1))


@dataclass(frozen=True)
class Duel:
    """The arm that pays more, and those that it is held against."""

    favourite: int
    rivals: tuple[int, ...]


@dataclass
class Response:
    """How often a decision is taken at which gap: a logistic curve, from all runs played so far."""

    gaps: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)

    def add(self, gap: float, taken: float, runs: int) -> None:
        """`taken`, a share of `runs` runs, took the decision at `gap`."""
        self.gaps.append(gap)
        self.taken.append(taken)
        self.runs.append(runs)

    def gap(self, share: float) -> float | None:
        """The gap at which a share of the runs decides so; None as long as all agreed everywhere."""
        fit = self._fit()
        if fit is None:
            return None
        centre, width, (level, slope), _ = fit
        place = (math.log(share / (1 - share)) - level) / slope
        return float(np.clip(centre + width * np.clip(place, -2.0, 2.0), 0.0, 1.0))

    def error(self, share: float) -> float:
        """Standard error of the share at that gap."""
        fit = self._fit()
        if fit is None:
            return 1.0
        _, _, (level, slope), covariance = fit
        at = np.array([1.0, (math.log(share / (1 - share)) - level) / slope])
        return float(share * (1 - share) * math.sqrt(at @ covariance @ at))

    def _fit(self) -> tuple[float, float, tuple[float, float], FloatArray] | None:
        """Centre and width of the gaps that matter, level and slope of the logit there, and their covariance.

        The prior, of a curve that rises from .02 to .98 over twice the width, keeps few runs from bending it.
        """
        gaps, taken, runs = (np.array(x, dtype=np.float64) for x in (self.gaps, self.taken, self.runs))
        mixed = (taken > 0) & (taken < 1)
        if not mixed.any():
            return None
        weight = runs * mixed
        centre = float((gaps * weight).sum() / weight.sum())
        # Where all agree the curve has ended: the nearest such gaps bound its width.
        far = np.abs(gaps[~mixed] - centre)
        width = float(max(np.abs(gaps[mixed] - centre).max(), far.min(initial=1.0) / 2, 1e-9))
        x = np.stack([np.ones(len(gaps)), np.clip((gaps - centre) / width, -4, 4)], axis=1)
        beta, prior = np.array([0.0, 2.0]), np.diag([0.1, 1.0])
        for _ in range(25):
            p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
            gradient = x.T @ (runs * (taken - p)) - prior @ (beta - np.array([0.0, 2.0]))
            curvature = (x * (runs * p * (1 - p))[:, None]).T @ x + prior
            beta = beta + np.clip(np.linalg.solve(curvature, gradient), -2, 2)
        if beta[1] < 0.2:
            beta[1] = 0.2
        return centre, width, (float(beta[0]), float(beta[1])), np.linalg.inv(curvature)


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
    most
        Runs that the search may play in all.
    dear
        Rewards, as (round, arm), that are changed besides the first ones: those that tracing found to cost
        too much.
    """

    play: Play
    n_arms: int
    horizon: int
    bounds: tuple[float, float]
    runs: int
    dear: Sequence[tuple[int, int]] = ()
    most: float = math.inf
    played: int = field(default=0, repr=False)
    _first: dict[Any, IntArray] = field(default_factory=dict, repr=False)
    _responses: dict[Any, Response] = field(default_factory=dict, repr=False)
    _tuned: list[FloatArray] = field(default_factory=list, repr=False)

    def _play(self, table: FloatArray, runs: int) -> Any:
        self.played += runs
        return self.play(table, runs)

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
            arms = self._modal(self._play(table, 3))
            far = high if level < high else low
            for when in sorted({0, min(self.n_arms, self.horizon - 1)}):
                pairs.append(TablePair(table, when, int(arms[when]), far, self.bounds))
        alternating = np.where((np.arange(self.horizon)[:, None] + np.arange(self.n_arms)) % 2, high, low)
        arms = self._modal(self._play(alternating, 3))
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
        self._tuned.clear()
        for duel in duels:
            if self.played >= self.most:
                break
            # The path of runs that never find a difference between the arms. Where that is a coin toss it may
            # be the favourite's already, and no run departs: then the path of runs that find the opposite.
            for gap in (0.0, -1.0):
                table = self.table([(self.horizon, gap)], duel)
                reference = self._modal(self._play(table, max(3, self.runs // 8)))
                self._first.clear()
                self._responses.clear()
                found = [pair for share in _SHARES for pair in self._decided(reference, duel, share)]
                pairs.extend(found)
                if found:
                    break
        return pairs + [pair for table in self._tuned for pair in self._at_dear(table)]

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
            self._tuned.append(self.table([*prefix, (self.horizon, gap)], duel))
            prefix, start = [*prefix, (when, gap)], when + self.n_arms
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
            return self._departures(self._play(table, runs), reference)

        key = (duel, tuple(prefix))
        if key not in self._first:
            self._first[key] = departures(1.0, max(8, self.runs // 2))
        first = self._first[key]
        when = self._decision(first, start)
        if when is None:
            return None
        # Where few runs come to this decision, more are played; a few are enough where all agree.
        times = min(_MOST_TIMES, 1 / max((first >= start).mean(), 1e-9))
        few, runs = int(max(4, min(_FEW, self.runs // 4) * times)), int(self.runs * times)
        response = self._responses.setdefault(key, Response())
        low, high, fine = 0.0, 1.0, 0
        for _ in range(_BISECTIONS):
            if self.played >= self.most:
                return None
            guess = response.gap(share)
            if guess is not None and (fine == _FINE or response.error(share) <= 0.2 * (1 - share)):
                return when, guess
            gap = (low + high) / 2 if guess is None else guess
            left = departures(gap, few if guess is None else runs)
            taken = self._taken(left, start, when)
            if np.isnan(taken):
                return None
            response.add(gap, taken, int((left >= start).sum()))
            low, high = (gap, high) if taken < share else (low, gap)
            fine += guess is not None
        return when, gap if guess is None else guess

    def _taken(self, left: IntArray, start: int, when: int) -> float:
        """Share of the runs still on the path at `start` that leave it at `when`; NaN if none is.

        Which arm falls out shows when its turn comes: up to K - 1 rounds later.
        """
        on = left >= start
        return float((left[on] < when + self.n_arms).mean()) if on.any() else float("nan")

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
        arms = self._modal(self._play(table, 3))
        pairs = []
        for arm in (duel.favourite, duel.rivals[0]):
            rounds = np.flatnonzero(arms[:when] == arm)
            if len(rounds):
                base = table.copy()
                base[rounds[0], arm] = low
                pairs.append(TablePair(base, int(rounds[0]), arm, high, self.bounds))
        return pairs

    def _at_dear(self, table: FloatArray) -> list[TablePair]:
        """A tuned table, its last gap kept to the end, with a dear reward at either bound."""
        low, high = self.bounds
        pairs = []
        for when, arm in self.dear:
            base = table.copy()
            base[when, arm] = low
            pairs.append(TablePair(base, when, arm, high, self.bounds))
        return pairs
