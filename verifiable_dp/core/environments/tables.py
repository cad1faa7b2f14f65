"""Answers from a fixed table of rewards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import numpy as np

from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.validate import FloatArray, IntArray, WordArray


@dataclass(frozen=True)
class Table:
    """Answers from a fixed reward table (T, K); each distinct query is summed only once."""

    table: FloatArray
    _sums: dict[bytes, FloatArray] = field(default_factory=dict, repr=False)

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        if query.rounds.max() <= 1:
            return self._one_round(query)
        rows = query_words(query)
        first, group = row_groups(rows)
        sums = np.empty((len(first), query.active.shape[1], *answer_size(query)))
        for number, row in enumerate(first.tolist()):
            sums[number] = self._sum(query, row, rows[row].tobytes())
        return np.asarray(sums[group])

    def _one_round(self, query: Query) -> FloatArray:
        if query.ask is None:
            return np.asarray(np.where(query.active, self.table[query.start], 0.0))
        sums = np.zeros((*query.active.shape, *answer_size(query)))
        on = np.flatnonzero(query.rounds)
        arm = query.arm(np.zeros(len(query.rounds), np.int64))[on]
        sums[on, arm] = query.ask.values(self.table[query.start[on], arm], on, arm)
        return sums

    def _sum(self, query: Query, row: int, key: bytes) -> FloatArray:
        if key not in self._sums:
            start, rounds = int(query.start[row]), int(query.rounds[row])
            block = self.table[start : start + rounds]
            one = query.take(np.array([row]))
            sums = np.zeros((self.table.shape[1], *answer_size(query)))
            for arm, when in _rounds_by_arm(one):
                rewards = block[when, arm]
                if query.ask is None:
                    sums[arm] = rewards.sum()
                else:
                    zeros = np.zeros(len(rewards), np.int64)
                    sums[arm] = one.ask.values(rewards, zeros, zeros + arm).sum(axis=0)  # type: ignore[union-attr]
            self._sums[key] = sums
        return self._sums[key]


def answer_size(query: Query) -> tuple[int, ...]:
    """Trailing shape of an answer."""
    return () if query.ask is None or query.ask.size == 1 else (query.ask.size,)


def query_words(query: Query) -> WordArray:
    """What the answer to each row depends on, apart from the rewards: (n, c) 64-bit words."""
    parts = [query.start, query.rounds, query.codes()]
    if query.ask is not None:
        parts += [getattr(query.ask, f.name) for f in fields(query.ask)]
    if query.counts is not None:
        parts.append(query.counts)
    n = len(query.start)
    return np.hstack([np.ascontiguousarray(part).reshape(n, -1).view(np.uint64) for part in parts])


@kernel
def row_groups(rows):  # type: ignore[no-untyped-def]
    """First row of each group of equal `rows` (n, c), (g,), and the group of each row, (n,)."""
    n = len(rows)
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)
    first, group, found = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for i in range(n):
        if i > 0 and np.array_equal(rows[i], rows[i - 1]):
            group[i] = group[i - 1]
            continue
        place = np.uint64(0)
        for word in rows[i]:
            place = (place ^ word) * np.uint64(0x9E3779B97F4A7C15)
            place ^= place >> np.uint64(29)
        at = np.int64(place & np.uint64(size - 1))
        while table[at] >= 0 and not np.array_equal(rows[first[table[at]]], rows[i]):
            at = (at + 1) & (size - 1)
        if table[at] < 0:
            table[at] = found
            first[found] = i
            found += 1
        group[i] = table[at]
    return first[:found].copy(), group


def _rounds_by_arm(query: Query) -> Iterator[tuple[int, slice[int, int, int | None]]]:
    """Arms of the first row's block with the rounds in which they are pulled, counted from its start."""
    arms = np.flatnonzero(query.active[0])
    if query.counts is None:
        for rank, arm in enumerate(arms.tolist()):
            yield arm, slice(rank, int(query.rounds[0]), len(arms))
        return
    pulls = query.pulls()[0]
    ends = np.cumsum(pulls)
    for arm in np.flatnonzero(pulls).tolist():
        yield arm, slice(int(ends[arm] - pulls[arm]), int(ends[arm]))
