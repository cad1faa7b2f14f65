"""Event choice: which set of outputs tells two neighbouring inputs apart best.

Scores are learnt on one part of the selection runs and their threshold is chosen on the other; the runs
that decide are fresh ones. A score is an estimate of the log-likelihood ratio: by exact counts for
discrete columns, by binned counts for numbers, and by the transcript's exact ratio where alignment gives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray, IntArray

_BINS = 64
_CUTS = 1024
_MOST_CODES = 4096
_MOST_GROUPS = 64
_LEAST_HITS = 6
_HALVES = 20190602  # key of the generator that halves counts
_SINGLE = 16  # rounds whose prefixes are all looked at


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
    """

    runs: int
    discrete: Mapping[str, IntArray] = field(default_factory=dict)
    numeric: Mapping[str, FloatArray] = field(default_factory=dict)
    likelihood: FloatArray | None = None
    weight: IntArray | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.runs if self.weight is None else len(self.weight)

    def take(self, index: Any, weight: IntArray | None = None) -> Observation:
        """The rows `index`, standing for `weight` runs each if given."""
        if weight is None and self.weight is not None:
            weight = self.weight[index]
        discrete = {name: column[index] for name, column in self.discrete.items()}
        numeric = {name: column[index] for name, column in self.numeric.items()}
        likelihood = None if self.likelihood is None else self.likelihood[index]
        if weight is None:
            runs = len(range(self.runs)[index]) if isinstance(index, slice) else len(index)
            return Observation(runs, discrete, numeric, likelihood)
        return Observation(int(weight.sum()), discrete, numeric, likelihood, weight)

    def rows(self, start: int, stop: int) -> Observation:
        """Runs start .. stop - 1, equal runs being next to one another."""
        if self.weight is None:
            return self.take(slice(start, stop))
        ends = np.clip(np.cumsum(self.weight), start, max(start, stop))
        weight = np.diff(ends, prepend=start)
        kept = np.flatnonzero(weight)
        return self.take(kept, weight[kept])

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


def join(parts: Sequence[Observation]) -> Observation:
    """All runs of `parts`, in order; numeric columns that are missing in some part are dropped."""
    parts = _filled(parts)
    discrete, numeric = parts[0].discrete, parts[0].numeric
    known = [p.likelihood for p in parts if p.likelihood is not None]
    weighted = any(p.weight is not None for p in parts)
    joined = Observation(
        sum(p.runs for p in parts),
        {name: np.concatenate([p.discrete[name] for p in parts]) for name in discrete},
        {name: np.concatenate([p.numeric[name] for p in parts]) for name in numeric},
        np.concatenate(known) if len(known) == len(parts) else None,
        np.concatenate([weight_of(p) for p in parts]) if weighted else None,
    )
    return _merged(joined) if weighted else joined


def weight_of(seen: Observation) -> IntArray:
    """Number of runs that each row stands for, (n,)."""
    return np.ones(seen.size, np.int64) if seen.weight is None else seen.weight


def _merged(seen: Observation) -> Observation:
    """Equal rows made one."""
    if seen.numeric or seen.likelihood is not None or not seen.discrete or not seen.size:
        return seen
    table = np.stack(list(seen.discrete.values()), axis=1)
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    weight = np.bincount(inverse.ravel(), weight_of(seen), len(first)).astype(np.int64)
    return seen.take(first, weight)


class Score(Protocol):
    """Maps an observation to one number a run; large speaks for world 0."""

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        ...

    def describe(self) -> str:
        """What is scored, in words."""
        ...


@dataclass(frozen=True)
class Likelihood:
    """The exact log-likelihood ratio of the transcript."""

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        return np.zeros(seen.size) if seen.likelihood is None else seen.likelihood

    def describe(self) -> str:
        """In words."""
        return "log-likelihood ratio of the released values"


@dataclass(frozen=True)
class Column:
    """One numeric column itself; NaN scores lowest."""

    name: str
    sign: int

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        return np.nan_to_num(self.sign * seen.numeric[self.name], nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def describe(self) -> str:
        """In words."""
        return self.name if self.sign > 0 else f"-({self.name})"


@dataclass(frozen=True)
class Codes:
    """Estimated log ratio of each value of a discrete column."""

    name: str
    values: IntArray
    ratios: FloatArray

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,); values that were never seen score 0."""
        column = seen.discrete.get(self.name)
        if column is None:  # no run of this batch is that long
            column = _whole(seen)
        row = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return np.where(self.values[row] == column, self.ratios[row], 0.0)

    def describe(self) -> str:
        """In words."""
        return f"log ratio of {self.name} ({len(self.values)} values)"


@dataclass(frozen=True)
class Binned:
    """Sum over numeric columns of the estimated log ratio of their bins, by groups of a discrete column."""

    columns: tuple[str, ...]
    group: Codes | None
    edges: Mapping[tuple[int, str], FloatArray]
    ratios: Mapping[tuple[int, str], FloatArray]

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        if self.group is None:
            return self._within(seen, 0, np.ones(seen.size, bool))
        total = self.group(seen)
        column = _filled([seen, Observation(0, {self.group.name: np.zeros(0, np.int64)}, seen.numeric)])[
            0
        ].discrete[self.group.name]
        for key in {key for key, _ in self.edges}:
            where = column == key
            if where.any():
                total[where] += self._within(seen, key, where)
        return total

    def _within(self, seen: Observation, key: int, where: BoolArray) -> FloatArray:
        total = np.zeros(int(where.sum()))
        for name in self.columns:
            if (key, name) in self.edges:
                bins = _bin(seen.numeric[name][where], self.edges[key, name])
                total += self.ratios[key, name][bins]
        return total

    def describe(self) -> str:
        """In words."""
        what = ", ".join(self.columns) if len(self.columns) <= 3 else f"{len(self.columns)} numbers"
        return f"log ratio of {what}" + (f" given {self.group.name}" if self.group else "")


@dataclass(frozen=True)
class Event:
    """The runs whose score is at least a threshold.

    Attributes
    ----------
    score, cut
        The score and its threshold.
    flipped
        Whether world 1 is the one in which the event is more frequent.
    promise
        Lower bound on epsilon that the selection runs let one hope for.
    shares
        Frequency in the more and in the less frequent world, on the selection runs.
    held
        Selection runs a side on which the threshold was chosen.
    """

    score: Score
    cut: float
    flipped: bool
    promise: float
    shares: tuple[float, float]
    held: int = 0

    def careful_shares(self) -> tuple[float, float]:
        """The shares with their ratio moved to its lower 95 % limit: what to compute power from."""
        both = sum(self.shares)
        if both <= 0:
            return 0.0, 0.0
        sure = _wilson_lower(np.array(self.shares[0] / both), np.array(both * self.held), 1.645)
        return float(sure) * both, (1 - float(sure)) * both

    def hits(self, seen: Observation) -> int:
        """How many runs of `seen` are in the event."""
        score = self.score(seen)
        inside = (-score if self._mirror else score) >= self.cut
        return int(np.count_nonzero(inside) if seen.weight is None else seen.weight[inside].sum())

    @property
    def _mirror(self) -> bool:
        # A column's own sign says where it is large; ratio scores speak for world 0.
        return self.flipped and not isinstance(self.score, Column)

    def describe(self) -> str:
        """In words."""
        sign = "-" if self._mirror else ""
        return f"{sign}{self.score.describe()} >= {self.cut:.6g}"


def _bin(column: FloatArray, edges: FloatArray) -> IntArray:
    """Bin numbers; the last one is that of NaN."""
    return np.where(np.isnan(column), len(edges) + 1, np.searchsorted(edges, column, side="right"))


def _log_ratio(a: FloatArray | IntArray, b: FloatArray | IntArray, n_a: int, n_b: int) -> FloatArray:
    return np.asarray(np.log((a + 0.5) / (n_a + 1)) - np.log((b + 0.5) / (n_b + 1)))


def learn_codes(name: str, left: Observation, right: Observation) -> Codes | None:
    """Log ratios of the values of a discrete column; None if it has too many values to count."""
    both = np.concatenate([left.discrete[name], right.discrete[name]])
    values, inverse = np.unique(both, return_inverse=True)
    if len(values) < 2 or len(values) > max(64, (left.runs + right.runs) // 8):
        return None
    a, b = (
        np.bincount(part, weight_of(seen), len(values))
        for part, seen in ((inverse[: left.size], left), (inverse[left.size :], right))
    )
    if len(values) > _MOST_CODES:
        kept = np.sort(np.argsort(a + b)[-_MOST_CODES:])
        values, a, b = values[kept], a[kept], b[kept]
    return Codes(name, values, _log_ratio(a, b, left.runs, right.runs))


def learn_bins(left: Observation, right: Observation, group: Codes | None) -> Binned | None:
    """Binned log ratios of all numeric columns, by group."""
    names = tuple(left.numeric)
    keys: list[int] = [0]
    if group is not None:
        column = np.concatenate([left.discrete[group.name], right.discrete[group.name]])
        values, inverse = np.unique(column, return_inverse=True)
        counts = np.bincount(inverse, np.concatenate([weight_of(left), weight_of(right)]))
        common = np.argsort(counts)[::-1][:_MOST_GROUPS]
        keys = [int(values[i]) for i in common if counts[i] >= 100]
    edges, ratios = {}, {}
    for key in keys:
        picked = [
            np.ones(o.size, bool) if group is None else o.discrete[group.name] == key for o in (left, right)
        ]
        for name in names:
            a, b = left.numeric[name][picked[0]], right.numeric[name][picked[1]]
            both = np.concatenate([a, b])
            finite = both[np.isfinite(both)]
            if not len(finite) or not len(a) or not len(b):
                continue
            bins = int(np.clip(len(finite) // 200, 2, _BINS))
            cuts = np.unique(np.quantile(finite, np.linspace(0, 1, bins + 1)[1:-1]))
            edges[key, name] = cuts
            w_a, w_b = weight_of(left)[picked[0]], weight_of(right)[picked[1]]
            counts_a, counts_b = (
                np.bincount(_bin(x, cuts), w, len(cuts) + 2) for x, w in ((a, w_a), (b, w_b))
            )
            ratios[key, name] = _log_ratio(counts_a, counts_b, int(w_a.sum()), int(w_b.sum()))
    return Binned(names, group, edges, ratios) if edges else None


def _wilson_lower(share: FloatArray, runs: FloatArray, z: float) -> FloatArray:
    """Lower limit of Wilson's score interval for a binomial proportion."""
    runs = np.maximum(runs, 1e-9)
    middle = share + z**2 / (2 * runs)
    half = z * np.sqrt(share * (1 - share) / runs + z**2 / (4 * runs**2))
    return np.asarray(np.clip((middle - half) / (1 + z**2 / runs), 0.0, 1 - 1e-12))


def _best_cut(
    a: FloatArray,
    b: FloatArray,
    delta: float,
    test_runs: int,
    caution: float,
    weights: tuple[IntArray | None, IntArray | None] = (None, None),
) -> tuple[float, float, float, float]:
    """Threshold of the best lower bound on log((p - delta) / q): (promise, cut, p, q)."""
    upper_a, upper_b = _Tail(a, weights[0]), _Tail(b, weights[1])
    n_a, n_b = upper_a.runs, upper_b.runs
    both = np.concatenate([upper_a.scores, upper_b.scores])
    cuts = np.unique(both[np.isfinite(both) | (both == np.inf)])
    if not len(cuts):
        return -np.inf, np.inf, 0.0, 0.0
    if len(cuts) > _CUTS:
        cuts = np.unique(np.quantile(cuts[np.isfinite(cuts)], np.linspace(0, 1, _CUTS), method="nearest"))
    k_a, k_b = upper_a.above(cuts), upper_b.above(cuts)
    excess = np.maximum(k_a - delta * n_a, 0)
    # What the selection runs make sure of, and what a test of that size would then show.
    total = excess + k_b * (n_a / n_b)
    sure = _wilson_lower(excess / np.maximum(total, 1e-9), total, caution)
    shown = _wilson_lower(sure, total * test_runs / n_a, 2.0)
    promise = np.log(np.maximum(shown, 1e-300)) - np.log1p(-shown)
    promise[k_a < _LEAST_HITS] = -np.inf
    best = int(np.argmax(promise))
    return float(promise[best]), float(cuts[best]), float(k_a[best] / n_a), float(k_b[best] / n_b)


class _Tail:
    """How many runs score at least so much."""

    def __init__(self, scores: FloatArray, weight: IntArray | None) -> None:
        order = np.argsort(scores) if weight is not None else None
        self.scores = np.sort(scores) if order is None else scores[order]
        self._below = None if order is None or weight is None else np.append(0, np.cumsum(weight[order]))
        self.runs = len(scores) if self._below is None else int(self._below[-1])

    def above(self, cuts: FloatArray) -> IntArray:
        """Runs at or above each cut."""
        place = np.searchsorted(self.scores, cuts)
        return self.runs - (place if self._below is None else self._below[place])


def _scores(left: Observation, right: Observation) -> list[Score]:
    if left.likelihood is not None and right.likelihood is not None:
        return [Likelihood()]  # by Neyman and Pearson nothing else does better
    scores: list[Score] = []
    codes = [learn_codes(name, left, right) for name in left.discrete]
    known = [c for c in codes if c is not None]
    scores.extend(known)
    if left.numeric:
        binned = [learn_bins(left, right, None)]
        if known:
            binned.append(learn_bins(left, right, known[-1]))
        scores.extend(b for b in binned if b is not None)
    return scores


def choose(
    left: Observation,
    right: Observation,
    *,
    delta: float = 0.0,
    test_runs: int,
    flipped: bool | None = None,
    caution: float = 2.5,
) -> Event:
    """The event that promises the largest lower bound on epsilon.

    Parameters
    ----------
    left, right
        Selection runs of world 0 and of world 1.
    delta
        Of the claim.
    test_runs
        Runs a side of the test to come.
    flipped
        Fix the direction; None tries both.
    caution
        Standard errors of the selection runs that the promise keeps from the estimate.

    Returns
    -------
    Event
        Its promise is -inf if nothing was seen that differs.
    """
    left, right = _filled([left, right])
    (learn_l, held_l), (learn_r, held_r) = left.halves(), right.halves()
    scores = _scores(learn_l, learn_r)
    best = Event(Likelihood(), np.inf, bool(flipped), -np.inf, (0.0, 0.0))
    directions = (False, True) if flipped is None else (flipped,)
    for score in scores:
        a, b = score(held_l), score(held_r)
        for turn in directions:
            pair = (-b, -a) if turn else (a, b)
            weights = (held_r.weight, held_l.weight) if turn else (held_l.weight, held_r.weight)
            promise, cut, p, q = _best_cut(*pair, delta, test_runs, caution, weights)
            if promise > best.promise:
                best = Event(score, cut, turn, promise, (p, q), held_l.runs)
    known = left.likelihood is not None and right.likelihood is not None
    for name in () if known else left.numeric:
        for sign in (1, -1):
            column = Column(name, sign)
            a, b = column(left), column(right)
            for turn in directions:
                weights = (right.weight, left.weight) if turn else (left.weight, right.weight)
                pair = (b, a) if turn else (a, b)
                promise, cut, p, q = _best_cut(*pair, delta, test_runs, caution, weights)
                if promise > best.promise:
                    best = Event(column, cut, turn, promise, (p, q), left.runs)
    return best


# ---------------------------------------------------------------- columns of action sequences


def prefix_ends(rounds: int) -> IntArray:
    """Ends of the prefixes that are looked at: each of the first 16 rounds, then geometric, in eights.

    The ends below `rounds` do not depend on it, so that columns of different lengths can be compared.
    """
    ends = list(range(1, min(rounds, _SINGLE) + 1))
    while ends[-1] < rounds:
        ends.append(min(-(-int(ends[-1] * 1.3 + 1) // 8) * 8, rounds))
    return np.array(ends, dtype=np.int64)


def action_columns(actions: Any, what: str = "round") -> dict[str, IntArray]:
    """Codes of prefixes of integer sequences (n, s): equal codes stand for equal prefixes.

    A code is a sum of values (eight rounds at once where they are bytes) times fixed random odd weights,
    modulo 2^64; two different prefixes share one with probability of about 2^-63.
    """
    n, rounds = actions.shape
    if rounds == 0:
        return {}
    ends = prefix_ends(rounds)
    words, stops = np.asarray(actions).astype(np.int64) + 1, ends
    if actions.dtype == np.int8 and rounds > 64:
        words, stops = _packed(actions), np.where(ends <= _SINGLE, ends, _SINGLE + -(-(ends - _SINGLE) // 8))
    weights = np.random.Generator(np.random.Philox(20190601)).integers(0, 2**62, (words.shape[1],)) * 2 + 1
    code, start = np.zeros(n, np.int64), 0
    columns: dict[str, IntArray] = {}
    with np.errstate(over="ignore"):
        for end, stop in zip(ends.tolist(), stops.tolist(), strict=True):
            # The value -1 after the end of a run adds nothing: see `_filled`.
            code = code + (words[:, start:stop] * weights[start:stop]).sum(axis=1)
            name = f"all {what}s" if end == rounds else f"{what}s 1 to {end}"
            columns[name], start = code, stop
    return columns


def _packed(actions: Any) -> IntArray:
    """The first sixteen rounds a word each, then eight rounds a word; bytes are actions plus one."""
    n, rounds = actions.shape
    tail = np.zeros((n, -(-(rounds - _SINGLE) // 8) * 8), np.int8)
    tail[:, : rounds - _SINGLE] = actions[:, _SINGLE:] + 1
    return np.hstack([actions[:, :_SINGLE].astype(np.int64) + 1, tail.view(np.int64)])


def _whole(seen: Observation) -> IntArray:
    """Codes of the whole sequences."""
    whole = [column for name, column in seen.discrete.items() if name.startswith("all ")]
    return whole[0] if whole else np.zeros(seen.size, np.int64)


def _filled(parts: Sequence[Observation]) -> list[Observation]:
    """The parts with the same columns: prefixes beyond the longest run of a part are its whole sequences."""
    names = list(dict.fromkeys(name for part in parts for name in part.discrete))
    numeric = [name for name in parts[0].numeric if all(name in p.numeric for p in parts)]
    filled = []
    for part in parts:
        whole = _whole(part)
        columns = {name: part.discrete.get(name, whole) for name in names}
        filled.append(replace(part, discrete=columns, numeric={n: part.numeric[n] for n in numeric}))
    return filled
