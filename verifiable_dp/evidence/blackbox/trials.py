"""Neighbours to try, and what playing them showed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.validate import FloatArray

Data = tuple[npt.ArrayLike, npt.ArrayLike]
# What the changed reward is in either world, as parts of the range: bounds, then values between them.
BOUNDS = (0.0, 1.0)
_BETWEEN = (0.37, 0.81)  # of data: off every coarse grid, on either side of the middle


def data_pairs(
    left: npt.ArrayLike, right: npt.ArrayLike, bounds: tuple[float, float], kind: str = "replace"
) -> list[Data]:
    """Neighbouring data of the form of `left` and `right`, this pair first.

    For vectors of several entries: one entry (the first, the middle one, the last) moves between the bounds,
    becomes 0 or is left out (`kind`: ``replace``, ``zero-out``, ``add-remove``), while the others are all
    low, all high, or half low and half high. A mechanism that weighs its entries, clips their sum or sorts
    them may tell one of these pairs apart better than the plain one.
    """
    pairs = [(left, right)]
    entries = np.asarray(left).size
    if kind == "zero-out" and entries == 1:  # either end may be the one that 0 is told apart from
        for end in filter(None, bounds):
            one, two = changed(np.full(1, end), 0, 0.0, kind)
            _add(pairs, (one, two) if np.ndim(left) else (float(one[0]), float(two[0])))
    if np.ndim(left) != 1 or entries < 2:
        return pairs
    low, high = bounds
    half = np.where(np.arange(entries) < entries // 2, high, low)
    for base in (np.full(entries, low), np.full(entries, high), half, half[::-1].copy()):
        for place in (0, entries // 2, entries - 1):
            value = low if base[place] == high else high
            _add(pairs, changed(base, place, value, kind))
    return pairs


def inner_pairs(left: npt.ArrayLike, bounds: tuple[float, float], kind: str = "replace") -> list[Data]:
    """Neighbouring data of the form of `left` with values strictly between the bounds.

    One entry moves from there to a bound, or to another such value, while the others are all low or lie
    between the bounds, too.
    """
    low, high = bounds
    few, most = (low + part * (high - low) for part in _BETWEEN)
    shape, entries = np.shape(left), np.asarray(left).size
    pairs: list[Data] = []
    for others in (low, few) if entries > 1 else (low,):
        for place in (0, entries - 1):
            for value, other in ((few, low), (few, high), (few, most), (low, high)):
                base = np.full(entries, others)
                base[place] = value
                one, two = changed(base, place, other, kind)
                if ((one > low) & (one < high)).any():
                    _add(pairs, (one, two) if shape else (float(one[0]), float(two[0])))
    return pairs


def changed(base: FloatArray, place: int, value: float, kind: str) -> tuple[FloatArray, FloatArray]:
    """Data, and the same with one entry replaced by a value, made 0 or left out."""
    other = np.delete(base, place) if kind == "add-remove" else base.copy()
    if kind != "add-remove":
        other[place] = value if kind == "replace" else 0.0
    return base, other


def _add(pairs: list[Data], pair: Data) -> None:
    """Add a pair that is none, and not among them yet."""
    if not np.array_equal(*pair) and not any(_same(pair, other) for other in pairs):
        pairs.append(pair)


def _same(one: Data, other: Data) -> bool:
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
        return float(np.clip(centre + width * np.clip(place, -2.0, 2.0), -1.0, 1.0))

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
class Tried:
    """What a search has tried, in numbers.

    Attributes
    ----------
    duels, all_duels
        Duels of arms for which a path was followed, and those that there are.
    paths
        Paths that were followed, at most two for each duel.
    decisions
        Decisions that were tuned.
    pairs, late, inside
        Pairs that were screened; of these, those that change another reward than an arm's first one, and
        those in which the changed reward is not at a bound in both worlds.
    """

    duels: int = 0
    all_duels: int = 0
    paths: int = 0
    decisions: int = 0
    pairs: int = 0
    late: int = 0
    inside: int = 0

    def describe(self) -> str:
        """In words."""
        return (
            f"besides simple neighbours, it tried {self.pairs} pairs around {self.decisions} decisions that "
            f"it brought close to a tie, on {self.paths} paths, for {self.duels} of {self.all_duels} pairs "
            f"of arms. Of those {self.pairs}, {self.late} change a reward other than an arm's first, and "
            f"{self.inside} change a reward that is not at a bound"
        )


@dataclass(frozen=True)
class Trial:
    """A pair to be screened; its tables are made when it is, as large ones do not fit into memory together.

    Attributes
    ----------
    rank
        The lower, the sooner it is screened.
    table
        Makes the table around it.
    round, arm
        The reward that is changed.
    values
        What it is in either world, as parts of the range.
    late
        Whether it is another reward than the arm's first one.
    """

    rank: int
    table: Callable[[], FloatArray]
    round: int
    arm: int
    late: bool
    values: tuple[float, float] = BOUNDS

    @property
    def inside(self) -> bool:
        """Whether the reward lies between the bounds in a world."""
        return any(0 < part < 1 for part in self.values)
