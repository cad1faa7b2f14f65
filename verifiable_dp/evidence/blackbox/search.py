"""Worst neighbours for a bandit that is known only through the actions it plays.

A change of one reward shows where a decision hangs in the balance. So the search finds the rounds in which
runs can leave their common path (the decisions), tunes the rewards before each decision until it falls
either way, and changes one reward that counts for it. Every arm is favoured over every other one, and the
path that runs are held against is once that of equal arms and once that of the opposite gap. A few runs then
tell which pairs are worth more. Plain pairs (constant tables, first rewards) go first: they catch what needs
no tuning.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeVar

import numpy as np

from verifiable_dp.core.neighbours import GroupPair, TablePair, neighbour
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray
from verifiable_dp.evidence.blackbox.trials import BOUNDS, Duel, Response, Trial, Tried

AnyTable = TablePair | GroupPair
_Item = TypeVar("_Item")
Play = Callable[[FloatArray, int], IntArray]  # table (T, K), number of runs -> arms (n, T)

_BISECTIONS = 18
_MOST_DECISIONS = 3
_MOST_TIMES = 10
_FEW = 8
_FINE = 4
_SHARES = (0.5, 0.8, 0.95)  # share of the runs that take a decision; few stay, few can tell more
_TUNING = 0.45  # part of the runs that tables are tuned with; the others screen pairs
_STEPS = 24  # estimates that one duel should be able to pay
_SCREEN = (24, 96, 240)  # runs a side that screen a pair: the better third gets more
_KEPT = 8  # pairs that come out of the search
_MOST_SCREENED = 720
_SELDOM = 0.1  # an arm that this share of the runs plays in a round may have its reward changed there
_SHARED = 8  # tables whose screening runs are held
_MOST_ROUNDS = 48  # rounds of one table whose rewards are changed in turn
_INSIDE = ((1 / 64, 63 / 64), (1 / 4, 3 / 4), (0.0, 63 / 64), (1 / 64, 1.0), (0.0, 1 / 2))


def _separation(left: IntArray, right: IntArray) -> float:
    """Log ratio of the shares of the best event, less its standard error, from codes in two worlds."""
    _, inverse = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = (np.bincount(part, minlength=inverse.max() + 1) for part in np.split(inverse, [len(left)]))
    best = 0.0
    for one, other in ((a, b), (b, a)):
        order = np.argsort(-(one + 0.5) / (other + 0.5), kind="stable")
        above, below = np.cumsum(one[order]) + 0.5, np.cumsum(other[order]) + 0.5
        best = max(best, float((np.log(above / below) - np.sqrt(1 / above + 1 / below)).max()))
    return best


def _thirds(counts: IntArray) -> IntArray:
    """Which third of them each number falls into, (n,)."""
    return np.asarray(np.searchsorted(np.quantile(counts, (1 / 3, 2 / 3)), counts), np.int64)


def _coarse_first(count: int, most: int) -> list[int]:
    """At most `most` places of `count`: the first, the middle, the last, the quarters, and so on."""
    found = dict.fromkeys([0, (count - 1) // 2, count - 1] if count else [])
    parts = 4
    while len(found) < min(count, most):
        found |= dict.fromkeys(i * (count - 1) // parts for i in range(1, parts, 2))
        parts = 2 * parts
    return list(found)[:most]


def _spread(order: Sequence[int], groups: Sequence[Hashable], most: int) -> list[int]:
    """The first `most` places of `order`; up to three quarters are the first places of groups, one each.

    Few runs hardly meet the rare events that tell most: alone against the many pairs of another table, the
    few of a table on which runs take two rare decisions in a row would seldom be kept.
    """
    firsts = dict[Hashable, int]()
    for place in order:
        firsts.setdefault(groups[place], place)
    kept = list(dict.fromkeys([*list(firsts.values())[: 3 * most // 4], *order]))[:most]
    return sorted(kept, key=order.index)


def _in_turn(lists: Sequence[Sequence[_Item]]) -> list[_Item]:
    """The first of each list, then the second of each, and so on."""
    return [item for row in itertools.zip_longest(*lists) for item in row if item is not None]


@dataclass
class PairSearch:
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
    adjacency
        One of `units.ADJACENCIES`.
    """

    play: Play
    n_arms: int
    horizon: int
    bounds: tuple[float, float]
    runs: int
    dear: Sequence[tuple[int, int]] = ()
    most: float = math.inf
    adjacency: str = "replace"
    played: int = field(default=0, repr=False)
    tried: Tried = field(default_factory=Tried, repr=False)
    _until: float = field(default=math.inf, repr=False)
    _runs: int = field(default=0, repr=False)
    _first: dict[tuple[object, ...], IntArray] = field(default_factory=dict, repr=False)
    _responses: dict[tuple[object, ...], Response] = field(default_factory=dict, repr=False)
    _tuned: list[FloatArray] = field(default_factory=list, repr=False)
    _screens: dict[tuple[bytes, int], IntArray] = field(default_factory=dict, repr=False)

    def _play(self, table: FloatArray, runs: int) -> IntArray:
        self.played += runs
        return self.play(table, runs)

    # ------------------------------------------------------------ plain pairs

    def plain(self) -> list[AnyTable]:
        """Constant tables, and one alternating: an early reward moves to the other bound."""
        low, high = self.bounds
        middle = (low + high) / 2
        pairs: list[AnyTable] = []
        for level in (low, high, middle):
            table = np.full((self.horizon, self.n_arms), level)
            arms = self._modal(self._play(table, 3))
            far = high if level < high else low
            for when in sorted({0, min(self.n_arms, self.horizon - 1)}):
                pairs.append(self._neighbour(table, (when, int(arms[when])), (level, far)))
        alternating = np.where((np.arange(self.horizon)[:, None] + np.arange(self.n_arms)) % 2, high, low)
        arms = self._modal(self._play(alternating, 3))
        values = (high, low) if alternating[0, arms[0]] == high else (low, high)
        pairs.append(self._neighbour(alternating, (0, int(arms[0])), values))
        # Later rounds that move up show where an arm's rewards depend on the round.
        for arm, phase in itertools.product(range(self.n_arms), (0, 1)) if self._moves_up else ():
            table = np.full((self.horizon, self.n_arms), middle)
            table[:, arm] = np.where((np.arange(self.horizon) + phase) % 2, high, low)
            pairs.append(self._neighbour(table, (0, arm), (float(table[0, arm]), middle)))
        return pairs

    @property
    def _moves_up(self) -> bool:
        return self.adjacency == "add-remove"

    def _neighbour(self, table: FloatArray, place: tuple[int, int], values: tuple[float, float]) -> AnyTable:
        return neighbour(self.adjacency, table, place, values, self.bounds)

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

    def duels(self) -> list[Duel]:
        """The first arm against all others, then all ordered duels, favouring one arm after another."""
        arms = range(self.n_arms)
        whole = [Duel(0, tuple(arms[1:]))] if self.n_arms > 2 else []
        return whole + [Duel(a, ((a + step) % self.n_arms,)) for step in arms[1:] for a in arms]

    def tuned(self) -> list[AnyTable]:
        """The most promising of the pairs around tuned tables, and those that change a dear reward."""
        self._tuned.clear()
        duels = self.duels()
        self.tried = Tried(all_duels=len(duels))
        jobs = [(duel, opposite) for opposite in (False, True) for duel in duels]
        # Long before the last duel the runs may be used up: those that are left are shared evenly.
        most = min(self.most, self.played + _TUNING * (self.most - self.played))
        levels, found = self._of_levels(), list[list[Trial]]()
        met: set[Duel] = set()
        for number, (duel, opposite) in enumerate(jobs):
            self._until = self.played + (most - self.played) / (len(jobs) - number)
            self._runs = int(np.clip((self._until - self.played) / _STEPS, _FEW, self.runs))
            if self.played + 4 * _FEW > most:
                break
            # Where no gap tells the arms apart the path may be the favourite's already: so the other is
            # followed, too.
            table = self.table([(self.horizon, -1.0 if opposite else 0.0)], duel)
            reference = self._modal(self._play(table, max(3, self._runs // 8)))
            self._first.clear()
            self._responses.clear()
            met.add(duel)
            self.tried.paths += 1
            found.append([t for share in _SHARES for t in self._decided(reference, duel, share, opposite)])
        self.tried.duels = len(met)
        return self._screened(levels, found) + [
            pair for table in self._tuned for pair in self._at_dear(table)
        ]

    def _decided(self, reference: IntArray, duel: Duel, share: float, opposite: bool) -> list[Trial]:
        """Pairs around one decision, around two in a row, and so on."""
        trials: list[Trial] = []
        prefix: list[tuple[int, float]] = []
        start = 0
        for decision in range(_MOST_DECISIONS):
            tuned = self._tune(reference, prefix, start, share, duel, opposite) if self._affordable else None
            if tuned is None:
                break
            when, gap = tuned
            self.tried.decisions += 1
            # A decision often falls some rounds after what it rests on; the gap holds up to it.
            gaps = [*prefix, (when, gap), (self.horizon, 1.0 if decision == 0 else gap)]
            trials += self._around(
                functools.partial(self.table, gaps, duel), (start, when), duel, whole=share == _SHARES[0]
            )
            if self.dear and not opposite:
                self._tuned.append(self.table([*prefix, (self.horizon, gap)], duel))
            prefix, start = [*prefix, (when, gap)], when + self.n_arms
            if when >= self.horizon - 1:
                break
        return trials

    @property
    def _affordable(self) -> bool:
        return self.played + 4 * _FEW <= self._until

    def _tune(
        self,
        reference: IntArray,
        prefix: list[tuple[int, float]],
        start: int,
        share: float,
        duel: Duel,
        opposite: bool,
    ) -> tuple[int, float] | None:
        """Round of the next decision after `start` and the gap at which a share of the runs takes it."""

        def departures(gap: float, runs: int) -> IntArray:
            table = self.table([*prefix, (self.horizon, gap)], duel)
            return self._departures(self._play(table, runs), reference)

        key = (duel, tuple(prefix))
        if key not in self._first:
            self._first[key] = departures(1.0, max(8, self._runs // 2))
        first = self._first[key]
        when = self._decision(first, start)
        if when is None:
            return None
        # Where few runs come to this decision, more are played; a few are enough where all agree.
        times = min(_MOST_TIMES, 1 / max((first >= start).mean(), 1e-9))
        few, runs = int(max(4, min(_FEW, self._runs // 4) * times)), int(self._runs * times)
        response = self._responses.setdefault(key, Response())
        low, high, fine = (-1.0 if opposite else 0.0), 1.0, 0
        for _ in range(_BISECTIONS):
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
            if self.played >= self._until:
                break
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

    def _modal(self, actions: IntArray) -> IntArray:
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

    def _departures(self, actions: IntArray, reference: IntArray) -> IntArray:
        """First round at which each run leaves `reference`, T if never, (n,)."""
        differs = actions != reference
        return np.where(differs.any(axis=1), differs.argmax(axis=1), self.horizon)

    def _around(
        self, table: Callable[[], FloatArray], window: tuple[int, int], duel: Duel, *, whole: bool
    ) -> list[Trial]:
        """The tuned table with one reward changed, of the favourite or of a rival.

        That is the arm's first reward, its last one before the decision, and its first one since the previous
        decision; if `whole` with values inside the bounds, and in every round, too.
        """
        arms = self._modal(self._play(table(), 3))
        start, when = window
        trials = []
        for order, arm in enumerate((duel.favourite, duel.rivals[0])):
            rounds = np.flatnonzero(arms[:when] == arm).tolist()
            since = [t for t in rounds if t >= start][:1]
            places = dict.fromkeys([*rounds[:1], *rounds[-1:], *since] if whole else rounds[:1])
            for late, place in enumerate(places):
                for rank, values in enumerate(self._values if whole else (BOUNDS,)):
                    trials.append(Trial(order + 2 * late + rank, table, place, arm, late > 0, values))
        return trials + (self._everywhere(table, arms) if whole else [])

    def _everywhere(self, table: Callable[[], FloatArray], arms: IntArray) -> list[Trial]:
        """The table with the reward of one round after another changed, the last rounds first."""
        rounds = np.unique(np.linspace(0, self.horizon - 1, min(_MOST_ROUNDS, self.horizon)).astype(np.int64))
        last = len(_INSIDE) + 4  # after the others
        return [
            Trial(last + i // 4, table, t, int(arms[t]), t >= self.n_arms)
            for i, t in enumerate(rounds[::-1].tolist())
        ]

    def _of_levels(self) -> list[list[Trial]]:
        """Constant tables: rewards of each arm early and late, also inside the bounds; a list for each level.

        Arms that few runs play in a round count, too: their rewards may weigh more.
        """
        low, high = self.bounds
        found = []
        for level in (0.5, 0.0, 1.0):
            shape, value = (self.horizon, self.n_arms), low + level * (high - low)
            table = functools.partial(np.full, shape, value)
            played = self._play(table(), int(max(3, min(_SCREEN[0], self.runs, self.most / 100))))
            trials = []
            for arm in range(self.n_arms):
                share = (played == arm).mean(axis=0)
                always, often = np.flatnonzero(share == 1), np.flatnonzero((share >= _SELDOM) & (share < 1))
                coarse = [rounds[_coarse_first(len(rounds), _MOST_ROUNDS)] for rounds in (always, often)]
                places = _in_turn([rounds.tolist() for rounds in coarse])[:_MOST_ROUNDS]
                ranks = [i.bit_length() for i in range(len(places))]
                trials += [
                    Trial(rank, table, place, arm, rank > 0)
                    for rank, place in zip(ranks, places, strict=True)
                ]
                trials += [
                    Trial(1 + 2 * i, table, place, arm, i > 0, _INSIDE[0])
                    for i, place in enumerate(places[:2])
                ]
            found.append(trials)
        return found

    @property
    def _values(self) -> Sequence[tuple[float, float]]:
        """What the changed reward is: all but replacing it tells its two values apart."""
        return (BOUNDS, *_INSIDE) if self.adjacency == "replace" else (BOUNDS, BOUNDS[::-1], *_INSIDE)

    def _pair(self, trial: Trial) -> AnyTable:
        low, high = self.bounds
        first, second = (low + part * (high - low) for part in trial.values)
        return self._neighbour(trial.table(), (trial.round, trial.arm), (first, second))

    # ------------------------------------------------------------ screening

    def _screened(
        self, levels: Sequence[Sequence[Trial]], found: Sequence[Sequence[Trial]]
    ) -> list[AnyTable]:
        """The most promising trials, of each list in turn: first by few runs, the better third by more."""
        # Half of them are constant tables: rewards of all rounds are tried there, and runs are shared.
        queue = _in_turn(
            [_in_turn([sorted(t, key=attrgetter("rank")) for t in lists]) for lists in (levels, found)]
        )
        left = self.most - self.played
        # All three steps together cost about four times the first one.
        queue = self._distinct(queue, int(min(_MOST_SCREENED, max(_KEPT, left / (8 * _SCREEN[0])))))
        self.tried.pairs = len(queue)
        self.tried.late = sum(trial.late for trial in queue)
        self.tried.inside = sum(trial.inside for trial in queue)
        for runs in _SCREEN:
            if len(queue) <= _KEPT:
                break
            told = [self._told(self._pair(trial), runs) for trial in queue]
            order = sorted(range(len(queue)), key=lambda i: -told[i])
            kept = _spread(order, [trial.table for trial in queue], max(_KEPT, len(queue) // 3))
            queue = [queue[i] for i in (kept if runs < _SCREEN[-1] else order)]
        return [self._pair(trial) for trial in queue[:_KEPT]]

    def _distinct(self, queue: Sequence[Trial], most: int) -> list[Trial]:
        """The first `most` trials that are not the same pair: tables of many duels are alike."""
        found: dict[tuple[bytes, ...], Trial] = {}
        for trial in queue:
            if len(found) == most:
                break
            pair = self._pair(trial)
            key = tuple(hashlib.sha256(world.tobytes()).digest() for world in pair.worlds())
            found.setdefault(key, trial)
        return list(found.values())

    def _told(self, pair: AnyTable, runs: int) -> float:
        """How well some runs tell the tables apart: a cautious log ratio of the best plain event.

        Where one reward differs, the runs that play it tell more than all of them.
        """
        left, right = (self._screening(table, runs) for table in pair.worlds())
        both = np.concatenate([left, right])
        world = np.arange(len(both)) >= len(left)
        told = [self._apart(both, world, np.ones(len(both), bool), None)]
        if isinstance(pair, TablePair):
            met = both[:, pair.round] == pair.arm
            if met.any():
                told.append(self._apart(both, world, met, pair))
        return max(told)

    def _apart(self, both: IntArray, world: BoolArray, met: BoolArray, pair: TablePair | None) -> float:
        """The best event of the `met` rows, by where they leave their common path and how they end.

        With the pair also by how often they play its arm, before the change and after it.
        """
        some, ends = both[met], both[met][:, -1].astype(np.int64)
        gone = self._departures(some, self._modal(some))
        at = some[np.arange(len(some)), np.minimum(gone, self.horizon - 1)]
        seen = [(gone * self.n_arms + at) * self.n_arms + ends, ends]
        if pair is not None:
            when, arm = pair.round, pair.arm
            later = _thirds((some[:, when + 1 :] == arm).sum(axis=1))
            earlier = _thirds((some[:, :when] == arm).sum(axis=1))
            seen += [later, 3 * later + earlier]
        told = []
        for one in seen:
            codes = np.full(len(both), -1, np.int64)
            codes[met] = one
            told.append(_separation(codes[~world], codes[world]))
        return max(told)

    def _screening(self, table: FloatArray, runs: int) -> IntArray:
        """Runs on a table that screen pairs: many pairs share one of their tables."""
        key = (table.tobytes(), runs)
        if key not in self._screens:
            while len(self._screens) >= _SHARED:
                self._screens.pop(next(iter(self._screens)))
            self._screens[key] = self._play(table, runs)
        else:
            self._screens[key] = self._screens.pop(key)
        return self._screens[key]

    def _at_dear(self, table: FloatArray) -> list[AnyTable]:
        """A tuned table, its last gap kept to the end, with a dear reward at either bound."""
        low, high = self.bounds
        pairs: list[AnyTable] = []
        for when, arm in self.dear:
            pairs.append(self._neighbour(table, (when, arm), (low, high)))
        return pairs
