"""Event choice: which set of outputs tells two neighbouring inputs apart best.

Scores are learnt on one part of the selection runs and their threshold is chosen on the other; the runs
that decide are fresh ones. A score is an estimate of the log-likelihood ratio (`scores`), or the
transcript's exact ratio where alignment gives it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr

from verifiable_dp.core.validate import FloatArray, IntArray, JsonDict
from verifiable_dp.evidence.blackbox import learning
from verifiable_dp.evidence.blackbox.observations import (
    Observation,
    PrefixName,
    action_columns,
    action_summaries,
    filled,
    join,
    prefix_ends,
)
from verifiable_dp.evidence.blackbox.scores import (
    Binned,
    Boosted,
    Codes,
    Departure,
    Likelihood,
    MetScore,
    Rounds,
    Score,
    ScoreColumn,
)

__all__ = [
    "LEVEL",
    "Event",
    "Observation",
    "Score",
    "action_columns",
    "action_summaries",
    "choose",
    "join",
    "prefix_ends",
]

_CUTS = 1024
_LEAST_HITS = 6
LEVEL = 0.05  # of the bound that is promised
_CLEAR, _ROOM = 5.0, 0.93  # beyond this promise, this share of an event is kept if the rest is near the edge
_SCREEN = 20_000  # rows a side on which all scores are learnt and compared; the best go on to all rows
_FINALISTS = 4


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
        return self.flipped and not isinstance(self.score, ScoreColumn)

    def looks_at(self) -> JsonDict | None:
        """Which places of a run decide: ``what`` they are, and the ``last``, None if all do.

        None where numbers decide that come out of a run.
        """
        if isinstance(self.score, Likelihood | MetScore | Rounds):
            return {"what": "round", "last": None}
        names = self.score.names if isinstance(self.score, Departure) else ()
        if isinstance(self.score, Codes):
            names = (self.score.name,)
        if isinstance(self.score, Binned) and self.score.group is not None:
            names = (self.score.group.name,)
        if isinstance(self.score, Boosted):
            names = (self.score.group,)
        ends = {name.end: name for name in names if isinstance(name, PrefixName)}
        if not ends:
            return None
        last = ends[max(ends)]
        return {"what": last.what, "last": None if last.whole else last.end}

    def describe(self) -> str:
        """In words."""
        # Where low values are in the event, the score is negated: "-x >= -3" is said as "x <= 3".
        low = self.score.sign < 0 if isinstance(self.score, ScoreColumn) else self._mirror
        words = (
            self.score.feature.describe() if isinstance(self.score, ScoreColumn) else self.score.describe()
        )
        return f"{words} <= {0.0 - self.cut:.6g}" if low else f"{words} >= {self.cut + 0.0:.6g}"


def _wilson_lower(share: FloatArray, runs: FloatArray, z: float) -> FloatArray:
    """Lower limit of Wilson's score interval for a binomial proportion."""
    runs = np.maximum(runs, 1e-9)
    middle = share + z**2 / (2 * runs)
    half = z * np.sqrt(share * (1 - share) / runs + z**2 / (4 * runs**2))
    return np.asarray(np.clip((middle - half) / (1 + z**2 / runs), 0.0, 1 - 1e-12))


# ---------------------------------------------------------------- thresholds


def promises(
    k_a: IntArray,
    k_b: IntArray | FloatArray,
    sizes: tuple[int, int],
    *,
    delta: float,
    test_runs: int,
    caution: float,
    level: float = LEVEL,
) -> FloatArray:
    """Lower bound on log((p - delta) / q) that a test of an event will show, from its selection counts.

    The shares are first moved to the limit that the selection runs make sure of, `caution` standard errors
    away; then the bound is that of their expected counts in the test.

    Parameters
    ----------
    k_a, k_b
        Hits in the two worlds, (m,), among `sizes` selection runs.
    delta
        Of the claim.
    test_runs
        Runs a side of the test.
    caution
        In standard errors.
    level
        Of the bound.

    Returns
    -------
    (m,) float
    """
    n_a, n_b = sizes
    doubt = float(ndtr(-caution))
    if delta > 0:
        p = betaincinv(k_a + 1e-9, n_a - k_a + 1.0, doubt) if caution else k_a / n_a
        q = betaincinv(k_b + 0.5, n_b - k_b + 0.5, 1 - doubt)
        p = betaincinv(np.maximum(p * test_runs, 1e-9), (1 - p) * test_runs + 1, level / 2)
        q = betaincinv(q * test_runs + 1, np.maximum((1 - q) * test_runs, 1e-9), 1 - level / 2)
        return np.asarray(np.log(np.maximum(p - delta, 1e-300)) - np.log(q))
    # Worlds are tossed: of the hits, the share of world 0 is binomial. Its complement, which may be tiny,
    # is what is computed with.
    scaled = k_b * (n_a / n_b)
    rare = betaincinv(scaled + 0.5, k_a + 0.5, 1 - doubt)
    hits = (k_a + scaled) * (test_runs / n_a)
    other = betaincinv(rare * hits + 1, np.maximum((1 - rare) * hits, 1e-9), 1 - level)
    other = np.clip(other, 1e-300, 1 - 1e-12)
    return np.asarray(np.log1p(-other) - np.log(other))


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


@dataclass(frozen=True)
class _Cut:
    """A threshold, what it promises, and the shares of the two worlds beyond it."""

    promise: float
    cut: float
    shares: tuple[float, float]


_NOTHING = _Cut(-np.inf, np.inf, (0.0, 0.0))


def _best_cut(a: _Tail, b: _Tail, setting: EventSetting) -> _Cut:
    """Threshold of the best promise: among quantiles first, then among all scores around the best of them."""
    both = np.concatenate([a.scores, b.scores])
    both = np.unique(both[np.isfinite(both) | (both == np.inf)])
    if not len(both) or not a.runs or not b.runs:
        return _NOTHING
    cuts = both[_spread(0, len(both) - 1)]
    caution = setting.caution * _many(min(len(both), a.runs))
    best = _NOTHING
    for _ in range(2):
        # What lies beyond everything that the other world shows is always tried.
        edge = np.searchsorted(both, b.scores[-1], side="right")
        tried = np.unique(np.append(cuts, both[min(edge, len(both) - 1)]))
        k_a, k_b = a.above(tried), b.above(tried)
        promised = functools.partial(
            promises,
            sizes=(a.runs, b.runs),
            delta=setting.delta,
            test_runs=setting.test_runs,
            caution=caution,
            level=setting.level,
        )
        # Of thresholds with equally many hits in the other world, the lowest has the most in this one.
        first = np.flatnonzero(np.diff(k_b, prepend=-1))
        promise = np.full(len(tried), -np.inf)
        promise[first] = promised(k_a[first], k_b[first])
        promise[k_a < _LEAST_HITS] = -np.inf
        at = int(np.argmax(promise))
        if promise[at] > _CLEAR and k_b[at] == 0:
            # Just where the other world was not seen any more it may yet be: a little room costs little.
            at = int(np.flatnonzero(k_a >= _ROOM * k_a[at])[-1])
            promise[at] = promised(k_a[[at]], k_b[[at]])[0]
        if promise[at] > best.promise:
            shares = (float(k_a[at] / a.runs), float(k_b[at] / b.runs))
            best = _Cut(float(promise[at]), float(tried[at]), shares)
        if len(both) <= _CUTS:
            break
        around = np.searchsorted(both, tried[[max(at - 1, 0), min(at + 1, len(tried) - 1)]])
        cuts = both[_spread(*around.tolist())]
    return best


def _known_cut(seen: _Tail, setting: EventSetting) -> _Cut:
    """As `_best_cut`, for exact log ratios: the other world's share follows from them, without its runs."""
    scores = seen.scores[::-1]
    hits = seen.above(scores)
    alone = np.diff(hits, prepend=0)  # of rows that score alike the first counts for all
    with np.errstate(over="ignore"):
        other = np.minimum(np.cumsum(alone * np.exp(-scores)), seen.runs)
    tried = _spread(0, len(scores) - 1)
    promise = promises(
        hits[tried],
        other[tried],
        (seen.runs, seen.runs),
        delta=setting.delta,
        test_runs=setting.test_runs,
        caution=0.0,
        level=setting.level,
    )
    promise[hits[tried] < _LEAST_HITS] = -np.inf
    at = int(tried[np.argmax(promise)])
    shares = (float(hits[at] / seen.runs), float(other[at] / seen.runs))
    return _Cut(float(promise.max()), float(scores[at]), shares)


def _many(cuts: int) -> float:
    """Factor of the caution for the best of so many thresholds.

    Nested events whose sizes differ little are one look, so that the number of looks grows with the
    logarithm of what is cut: about three each time that the event doubles.
    """
    return math.sqrt(1 + math.log(min(cuts, 1 + 3 * math.log2(cuts))) / 5)


def _spread(first: int, last: int) -> IntArray:
    """At most `_CUTS` places from first to last, both among them."""
    return np.unique(np.linspace(first, last, min(_CUTS, last - first + 1)).round().astype(np.int64))


# ---------------------------------------------------------------- choice


@dataclass(frozen=True)
class EventSetting:
    """What events are compared by.

    Attributes
    ----------
    test_runs
        Runs a side of the test to come.
    delta
        Of the claim.
    level
        Of the bound on epsilon: a refutation at a small level needs an event that is more frequent.
    caution
        Standard errors of the selection runs that the promise keeps from the estimate, for one threshold;
        up to a half more for the best of many.
    boosted
        Whether boosted trees are among the scores that are learnt.
    directions
        Which are tried: world 0 over world 1 (False), and world 1 over world 0 (True).
    offered
        A score that was learnt elsewhere and is tried beside the others; None if there is none.
    """

    test_runs: int
    delta: float = 0.0
    level: float = LEVEL
    caution: float = 2.5
    boosted: bool = True
    directions: tuple[bool, ...] = (False, True)
    offered: Score | None = None

    def events(self, left: Observation, right: Observation) -> list[Event]:
        """The one that `choose` chooses."""
        return [choose(left, right, self)]

    def best(self, score: Score, left: Observation, right: Observation) -> Event:
        """The best event of one score."""
        best = Event(Likelihood(), np.inf, self.directions[0], -np.inf, (0.0, 0.0))
        mirrored = not isinstance(score, ScoreColumn)
        a, b = score(left), score(right)
        for turn in self.directions:
            sign = -1.0 if turn and mirrored else 1.0
            pair = _Tail(sign * a, left.weight), _Tail(sign * b, right.weight)
            one, other = pair[::-1] if turn else pair
            known = isinstance(score, Likelihood) and one.runs
            found = _known_cut(one, self) if known else _best_cut(one, other, self)
            if found.promise > best.promise:
                best = Event(score, found.cut, turn, found.promise, found.shares, left.runs)
        return best


def choose(left: Observation, right: Observation, setting: EventSetting) -> Event:
    """The event that promises the largest lower bound on epsilon.

    Parameters
    ----------
    left, right
        Selection runs of world 0 and of world 1.
    setting
        What they are compared by.

    Returns
    -------
    Event
        Its promise is -inf if nothing was seen that differs.
    """
    left, right = filled([left, right])
    best = Event(Likelihood(), np.inf, setting.directions[0], -np.inf, (0.0, 0.0))
    if left.likelihood is not None and right.likelihood is not None:
        # By Neyman and Pearson nothing else does better.
        events = [setting.best(Likelihood(), left, right)]
    else:
        events = [*_learnt(left, right, setting), *_plain(left, right, setting)]
        if setting.offered is not None:
            events.append(setting.best(setting.offered, left, right))
    return max([best, *events], key=lambda event: event.promise)


def _learnt(left: Observation, right: Observation, setting: EventSetting) -> Iterator[Event]:
    """Best events of learnt scores: learnt on one half of the runs, their thresholds chosen on the other."""
    (learn_l, held_l), (learn_r, held_r) = left.halves(), right.halves()
    recipes = learning.recipes(learn_l, learn_r, setting.boosted)

    def events(some: Sequence[learning.Recipe], rows: int | None) -> list[tuple[Event, learning.Recipe]]:
        parts = [part.head(rows) for part in (learn_l, learn_r, held_l, held_r)]
        scores = [(recipe(parts[0], parts[1]), recipe) for recipe in some]
        return [(setting.best(score, *parts[2:]), recipe) for score, recipe in scores if score is not None]

    if max(left.size, right.size) > 4 * _SCREEN:
        first = sorted(events(recipes, _SCREEN), key=lambda found: -found[0].promise)
        recipes = [recipe for _, recipe in first[:_FINALISTS]]
    for event, _ in events(recipes, None):
        yield event


def _plain(left: Observation, right: Observation, setting: EventSetting) -> Iterator[Event]:
    """Best events of the numbers themselves: nothing is learnt, all runs serve to choose the threshold."""
    features = [*learning.features(left), *learning.digits(left, right)]
    columns = [ScoreColumn(f, sign) for f, sign in itertools.product(features, (1, -1))]
    if max(left.size, right.size) > 4 * _SCREEN:
        some = left.head(_SCREEN), right.head(_SCREEN)
        columns.sort(key=lambda column: -setting.best(column, *some).promise)
        columns = columns[:_FINALISTS]
    for column in columns:
        yield setting.best(column, left, right)
