"""What an adversary saw of some runs, in columns: outputs, codes and summaries of action sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray

_HALVES = 20190602  # key of the generator that halves counts
_SINGLE = 16  # rounds whose prefixes are all looked at
_MOST_ARMS = 8  # whose summaries are kept


class OutputName(str):
    """Name of a column that holds one number of what comes out."""


class PrefixName(str):
    """Name of a column that codes the first `end` places of a sequence of `what`, which may be all of it."""

    what: str
    end: int
    whole: bool

    def __new__(cls, what: str, end: int, whole: bool) -> PrefixName:
        """The name in words, with what it stands for."""
        made = super().__new__(cls, f"all {what}s" if whole else f"{what}s 1 to {end}")
        made.what, made.end, made.whole = what, end, whole
        return made

    def __getnewargs__(self) -> tuple[str, int, bool]:  # type: ignore[override]
        return self.what, self.end, self.whole


@dataclass(frozen=True)
class Observation:
    """What the adversary saw of some runs, in columns with a row for each run or each set of equal runs.

    Attributes
    ----------
    runs
        Number of runs.
    discrete
        Columns of integers (n,): codes of prefixes of the action sequence, of whole outputs, …
    numeric
        Columns of floats (n,), NaN where nothing was seen.
    likelihood
        Exact log-likelihood ratio of each output, world 0 over world 1, if known; (n,).
    weight
        Number of runs that each row stands for, (n,); None: one each.
    actions
        Arms by round, (n, T), of runs that all have as many; else None.
    change
        Round and arm of the one reward that differs between the worlds, and K, if that is known.
    """

    runs: int
    discrete: Mapping[str, IntArray] = field(default_factory=dict)
    numeric: Mapping[str, FloatArray] = field(default_factory=dict)
    likelihood: FloatArray | None = None
    weight: IntArray | None = None
    actions: IntArray | None = None
    change: tuple[int, int, int] | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.runs if self.weight is None else len(self.weight)

    def take(self, index: IntArray | slice[int, int, None], weight: IntArray | None = None) -> Observation:
        """The rows `index`, standing for `weight` runs each if given."""
        if weight is None and self.weight is not None:
            weight = self.weight[index]
        discrete = {name: column[index] for name, column in self.discrete.items()}
        numeric = {name: column[index] for name, column in self.numeric.items()}
        likelihood = None if self.likelihood is None else self.likelihood[index]
        actions = None if self.actions is None else self.actions[index]
        if weight is None:
            runs = len(range(self.runs)[index]) if isinstance(index, slice) else len(index)
            return Observation(runs, discrete, numeric, likelihood, None, actions, self.change)
        return Observation(int(weight.sum()), discrete, numeric, likelihood, weight, actions)

    def rows(self, start: int, stop: int) -> Observation:
        """Runs start .. stop - 1, equal runs being next to one another."""
        if self.weight is None:
            return self.take(slice(start, stop))
        ends = np.clip(np.cumsum(self.weight), start, max(start, stop))
        weight = np.diff(ends, prepend=start)
        kept = np.flatnonzero(weight)
        return self.take(kept, weight[kept])

    def head(self, rows: int | None) -> Observation:
        """The first rows, or all of them."""
        return self if rows is None or self.size <= rows else self.take(slice(0, rows))

    def halves(self) -> tuple[Observation, Observation]:
        """Two disjoint halves of the runs.

        Runs that stand alone are split in their order. Where a row stands for many, a fair coin of a fixed
        generator sends each run to one half: splitting each count in two would give halves that agree
        better than independent runs do.
        """
        if self.weight is None:
            middle = self.runs // 2
            return self.rows(0, middle), self.rows(middle, self.runs)
        generator = np.random.Generator(np.random.Philox(_HALVES))
        first = generator.binomial(self.weight, 0.5)
        parts = [(np.flatnonzero(part), part) for part in (first, self.weight - first)]
        left, right = (self.take(kept, part[kept]) for kept, part in parts)
        return left, right

    @cached_property
    def met(self) -> BoolArray:
        """Which rows have played the reward that differs, (n,): all others have one law in both worlds."""
        if self.change is None or self.actions is None or self.weight is not None:
            return np.zeros(self.size, bool)
        when, arm, _ = self.change
        return np.asarray(self.actions[:, when] == arm)

    @cached_property
    def since(self) -> Observation:
        """The rows that have met the change: what they played after it, and how often its arm before."""
        assert self.change is not None
        assert self.actions is not None
        when, arm, n_arms = self.change
        actions = self.actions[self.met]
        later = actions[:, when + 1 :]
        arms = range(min(n_arms, _MOST_ARMS))
        pulls = {f"later pulls of arm {one}": (later == one).sum(axis=1) for one in arms}
        pulls[f"earlier pulls of arm {arm}"] = (actions[:, :when] == arm).sum(axis=1)
        numeric = {name: column.astype(np.float64) for name, column in pulls.items()}
        last = actions[:, -1].astype(np.int64)
        discrete = {**action_columns(later, "later round"), "last arm": last}
        return Observation(len(actions), discrete, numeric, actions=actions)


def join(parts: Sequence[Observation]) -> Observation:
    """All runs of `parts`, in order; numeric columns that are missing in some part are dropped."""
    parts = filled(parts)
    discrete, numeric = parts[0].discrete, parts[0].numeric
    known = [p.likelihood for p in parts if p.likelihood is not None]
    played = [p.actions for p in parts if p.actions is not None]
    weighted = any(p.weight is not None for p in parts)
    joined = Observation(
        sum(p.runs for p in parts),
        {name: np.concatenate([p.discrete[name] for p in parts]) for name in discrete},
        {name: np.concatenate([p.numeric[name] for p in parts]) for name in numeric},
        np.concatenate(known) if len(known) == len(parts) else None,
        np.concatenate([weight_of(p) for p in parts]) if weighted else None,
        np.concatenate(played) if len(played) == len(parts) else None,
        parts[0].change,
    )
    return _merged(joined) if weighted else joined


def weight_of(seen: Observation) -> IntArray:
    """Number of runs that each row stands for, (n,)."""
    return np.ones(seen.size, np.int64) if seen.weight is None else seen.weight


def _merged(seen: Observation) -> Observation:
    """Equal rows made one."""
    if seen.likelihood is not None or not (seen.discrete or seen.numeric) or not seen.size:
        return seen
    bits = [np.ascontiguousarray(column, np.float64).view(np.int64) for column in seen.numeric.values()]
    table = np.stack([*seen.discrete.values(), *bits], axis=1)
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    weight = np.bincount(inverse.ravel(), weight_of(seen), len(first)).astype(np.int64)
    return seen.take(first, weight)


# ---------------------------------------------------------------- columns of action sequences


def prefix_ends(rounds: int) -> IntArray:
    """Ends of the prefixes that are looked at: each of the first 16 rounds, then geometric, in eights.

    The ends below `rounds` do not depend on it, so that columns of different lengths can be compared.
    """
    ends = list(range(1, min(rounds, _SINGLE) + 1))
    while ends[-1] < rounds:
        ends.append(min(-(-int(ends[-1] * 1.3 + 1) // 8) * 8, rounds))
    return np.array(ends, dtype=np.int64)


def action_columns(actions: IntArray, what: str = "round") -> dict[str, IntArray]:
    """Codes of prefixes of integer sequences (n, s): equal codes stand for equal prefixes.

    A code is a sum of values (eight rounds at once where they are bytes) times fixed random odd weights,
    modulo 2^64; two different prefixes share one with probability of about 2^-63.
    """
    n, rounds = actions.shape
    if rounds == 0:
        return {}
    ends = prefix_ends(rounds)
    if actions.dtype == np.int8 and rounds > 64:
        words, stops = _packed(actions), np.where(ends <= _SINGLE, ends, _SINGLE + -(-(ends - _SINGLE) // 8))
    else:
        words, stops = np.asarray(actions).astype(np.int64) + 1, ends
    weights = np.random.Generator(np.random.Philox(20190601)).integers(0, 2**62, (words.shape[1],)) * 2 + 1
    code, start = np.zeros(n, np.int64), 0
    columns: dict[str, IntArray] = {}
    with np.errstate(over="ignore"):
        for end, stop in zip(ends.tolist(), stops.tolist(), strict=True):
            # The value -1 after the end of a run adds nothing: see `filled`.
            code = code + (words[:, start:stop] * weights[start:stop]).sum(axis=1)
            columns[PrefixName(what, end, end == rounds)], start = code, stop
    return columns


def _packed(actions: IntArray) -> IntArray:
    """The first sixteen rounds a word each, then eight rounds a word; bytes are actions plus one."""
    n, rounds = actions.shape
    tail = np.zeros((n, -(-(rounds - _SINGLE) // 8) * 8), np.int8)
    tail[:, : rounds - _SINGLE] = actions[:, _SINGLE:] + 1
    return np.hstack([actions[:, :_SINGLE].astype(np.int64) + 1, tail.view(np.int64)])


def action_summaries(
    actions: IntArray, n_arms: int, *, sets: bool = False
) -> tuple[dict[str, IntArray], dict[str, FloatArray]]:
    """Summaries of action sequences (n, s), -1 after the end: discrete columns, numeric columns.

    Parameters
    ----------
    actions
        Arms, or codes of sets of arms (bit a for arm a) in blocks.
    n_arms
        Summaries of single arms are those of the first eight.
    sets
        Whether `actions` holds codes of sets.

    Returns
    -------
    discrete, numeric
        For sets, all discrete: the last set and the last block of each arm. For arms: the last arm, and as
        numbers the pulls and the last round of each arm and the number of switches.
    """
    actions = np.asarray(actions)
    n, rounds = actions.shape
    if rounds == 0 or (sets and n_arms > 62):
        return {}, {}
    lengths = (actions >= 0).sum(axis=1)
    last = actions[np.arange(n), np.maximum(lengths - 1, 0)].astype(np.int64)
    if sets:
        held = {
            f"last block of arm {arm}": _last(((actions >> arm) & 1).astype(bool) & (actions >= 0))
            for arm in range(min(n_arms, _MOST_ARMS))
        }
        return {"last set": last, **held}, {}
    numeric: dict[str, IntArray] = {}
    for arm in range(min(n_arms, _MOST_ARMS)):
        played = actions == arm
        numeric[f"pulls of arm {arm}"] = played.sum(axis=1)
        numeric[f"last round of arm {arm}"] = _last(played)
    numeric["switches"] = ((actions[:, 1:] != actions[:, :-1]) & (actions[:, 1:] >= 0)).sum(axis=1)
    return {"last arm": last}, {name: column.astype(np.float64) for name, column in numeric.items()}


def _last(where: BoolArray) -> IntArray:
    """Last column in which `where` (n, s) holds, from 1; 0 if none, (n,)."""
    from_end = where[:, ::-1].argmax(axis=1)
    return np.where(where.any(axis=1), where.shape[1] - from_end, 0).astype(np.int64)


def is_whole(name: str) -> bool:
    """Whether a discrete column codes whole sequences."""
    return isinstance(name, PrefixName) and name.whole


def whole(seen: Observation) -> IntArray:
    """Codes of the whole sequences, (n,)."""
    columns = [column for name, column in seen.discrete.items() if is_whole(name)]
    return columns[0] if columns else np.zeros(seen.size, np.int64)


def filled(parts: Sequence[Observation]) -> list[Observation]:
    """The parts with the same columns: prefixes beyond the longest run of a part are its whole sequences."""
    names = list(dict.fromkeys(name for part in parts for name in part.discrete))
    numeric = [name for name in parts[0].numeric if all(name in p.numeric for p in parts)]
    out = []
    for part in parts:
        columns = {name: part.discrete.get(name, whole(part)) for name in names}
        out.append(replace(part, discrete=columns, numeric={n: part.numeric[n] for n in numeric}))
    return out
