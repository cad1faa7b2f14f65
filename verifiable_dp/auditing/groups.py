"""Group privacy in audits: pairs that differ in one event, widened to several.

The strongest pair of an auditor says which entry of which arm moves from where to where. A group moves
the same way in other rounds in which that arm is pulled, the nearest ones first: there the changes add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Query, play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.neighbours import AnyPair, GroupPair, Pair, StreamPair, TablePair, UserPair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import FloatArray, InputError, IntArray


@dataclass
class _Pulled:
    """Notes which arm the first run pulls in each round; -1 where it pulls none."""

    arms: IntArray = field(repr=False)

    def block(self, position: IntArray, query: Query) -> None:
        """See `algorithm.Watch`."""
        rounds = int(query.rounds[0])
        steps = np.arange(rounds, dtype=np.int64)
        start = int(query.start[0])
        self.arms[start : start + rounds] = query.take(np.zeros(rounds, np.int64)).arm(steps)


def pulled(algorithm: Algorithm, table: FloatArray, seed: int) -> IntArray:
    """The arms (T,) that one run pulls on a reward table."""
    noted = _Pulled(np.full(len(table), -1, np.int64))
    play(algorithm, Table(table), Seeded(seed), np.zeros(1, np.int64), keep=(), watch=noted)
    return noted.arms


def widened(pair: AnyPair, size: int, arms: IntArray) -> Pair:
    """A pair that differs in `size` events, like the given one does in one.

    Parameters
    ----------
    pair
        A table or a stream pair; a group or a user pair stays as it is.
    size
        k; fewer where the table has fewer rounds.
    arms
        The arm that a run pulls in each round, (T,).

    Raises
    ------
    InputError
        If a group or a user has more events than `size`, or the pair is interactive.
    """
    if not isinstance(pair, Pair):
        raise InputError(
            "pairs: an adaptive adversary has only one challenge round, so it cannot be extended to a group"
        )
    if not _of_one_event(pair):
        if pair.size > size:
            raise InputError(f"pairs: {pair.size} events differ, but the group has size {size}")
        return pair
    left, changed = pair.left.copy(), [arm for _, arm, _ in pair.changes]
    was = float(left[pair.round, pair.arm])
    rounds = _nearest(pair, arms, was)[: size - 1]
    changes = [(t, arm, pair.value) for t in (pair.round, *rounds) for arm in changed]
    for t in rounds:
        left[t, changed] = was
    return GroupPair(left, changes, pair.bounds)


def _of_one_event(pair: object) -> TypeGuard[TablePair | StreamPair]:
    return isinstance(pair, TablePair | StreamPair)


def _nearest(pair: Pair, arms: IntArray, was: float) -> list[int]:
    """Other rounds, best first: the arm is pulled there, the entry is the changed one's, it is near."""
    rounds = np.delete(np.arange(len(pair.left)), pair.round)
    # Every arm of a stream pays the same.
    hit = arms[rounds] >= 0 if pair.relation == "stream" else arms[rounds] == pair.arm
    same = pair.left[rounds, pair.arm] == was
    # Of two rounds as near as each other the later one comes first.
    order = np.lexsort((rounds < pair.round, np.abs(rounds - pair.round), ~same, ~hit))
    return [int(t) for t in rounds[order].tolist()]


def of_algorithm(algorithm: Algorithm, pairs: Sequence[AnyPair], size: int, seed: int) -> list[Pair]:
    """The pairs of an auditor, widened."""
    return [
        widened(pair, size, pulled(algorithm, pair.left, seed))
        if _of_one_event(pair)
        else widened(pair, size, np.zeros(0, np.int64))
        for pair in pairs
    ]


def kind(pairs: Sequence[object] | None) -> str:
    """``user`` if all pairs given are those of users, else ``group``."""
    return "user" if pairs and all(isinstance(pair, UserPair) for pair in pairs) else "group"
